import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { messageOf, refreshEnvironment } from '../kit/index.ts'
import type { DevSession } from './dev-options.ts'
import type { ExpectedReload } from './draft/folder-draft.ts'
import { ensureDevelopmentUser } from './development-user.ts'
import type { ReloadRequest, ReloadResult } from './reloader.ts'
import { isWatchedFile, watchProject, type Change } from './watch-project.ts'

export interface ReloadOnSaveOptions {
  /** The result of the load before the first save. */
  readonly first: ReloadResult
  reloadFiles(reload: ReloadRequest): Promise<ReloadResult>
}

/** Reloads on each save. */
export interface SaveWatcher {
  /** Must be called before the pages of the backend write files: their reload is printed as theirs. */
  expect(files: readonly string[]): ExpectedReload
  /** Reloads all files. */
  flush(): Promise<void>
  close(): Promise<void>
}

// Longer than the watcher takes to report a save, and than an editor's pause within one.
const failureSettleMs = 100
const expectedMs = 10_000
/** Limits the loads of a project that another process keeps changing. */
const maxLoads = 20

/** Reloads the project on each save. Reports nothing for files that change nothing. */
export async function reloadOnSave(
  { options, server, draft }: DevSession,
  { first, reloadFiles }: ReloadOnSaveOptions,
): Promise<SaveWatcher> {
  const { folder, console } = options
  let last = first
  draft.reloaded(first)
  let isServing = !('failed' in first)
  let isClosed = false
  let areVariablesOutdated = false
  const expected = new Set<{
    readonly files: ReadonlySet<string>
    readonly missing: Set<string>
    done(isReloaded: boolean): void
  }>()
  let scopes = 'failed' in first ? '' : first.scopes.join(' ')

  /** @param isSilent without named files, do not report if nothing changed */
  /** The snapshots of tables that reloads have written, by file. */
  const snapshots = new Map<string, string>()
  const textOf = (file: string) => readFile(path.join(folder, file), 'utf8').catch(() => '')

  /** Leaves out the snapshots that a reload has written itself. Undefined if nothing else has changed. */
  async function withoutOwn(change: Change): Promise<readonly string[] | undefined> {
    const isForeign = async (file: string) => !snapshots.has(file) || snapshots.get(file) !== (await textOf(file))
    const foreign = await Promise.all(change.files.map(isForeign))
    const files = change.files.filter((_, index) => foreign[index])
    return files.length > 0 ? files : undefined
  }

  async function noteSnapshots(written: readonly string[]): Promise<void> {
    for (const file of written.filter((one) => one.endsWith('.json')))
      snapshots.set(file.split(path.sep).join('/'), await textOf(file))
  }

  async function reload(change: Change, isSilent: boolean): Promise<void> {
    const startedAt = performance.now()
    const before = last
    let ms: number | undefined
    const onServed = async (served: readonly string[]) => {
      if (served.join(' ') !== scopes) await ensureDevelopmentUser(folder, server.host.system, served)
      scopes = served.join(' ')
      ms = performance.now() - startedAt
      watching.release()
    }
    const { files } = await loadSettled(change, onServed)
    watching.follow(last.assets)
    draft.reloaded(last)
    if (!('failed' in last)) await noteSnapshots(last.migration.written)
    const origin = findOrigin(files)
    noteReloaded(files)
    const isQuiet = files.length === 0 ? isSilent : !files.some(isSource)
    if (isQuiet && last.state === before.state) return
    const named = files.some(isSource) ? files.filter(isSource) : files
    if ('failed' in last) return console.reloadFailed({ ...last, files: named, isServing, origin })
    isServing = true
    const { diagnostics, migration } = last
    console.reloaded({ files: named, diagnostics, migration, isFixed: 'failed' in before, ms: ms!, origin })
  }

  function findOrigin(files: readonly string[]): 'backend' | undefined {
    const written = [...expected].flatMap((one) => [...one.files])
    // The watcher also reports new folders.
    const isOfBackend = (file: string) => written.some((one) => one === file || one.startsWith(`${file}/`))
    return files.length > 0 && files.every(isOfBackend) ? 'backend' : undefined
  }

  function noteReloaded(files: readonly string[]): void {
    for (const one of expected) {
      for (const file of files) one.missing.delete(file)
      if (one.missing.size === 0) one.done(true)
    }
  }

  const tryReload = (change: Change, isSilent = false) =>
    reload(change, isSilent).catch((error: unknown) =>
      console.reloadFailed({ files: change.files, diagnostics: [], error, isServing }),
    )

  /**
   * Sets `last`. A failure counts only if the files are still as they were loaded: they may have been read while an
   * editor or a checkout was writing them.
   * @returns the change with all saves that were loaded with it
   */
  async function loadSettled(change: Change, onServed: NonNullable<ReloadRequest['onServed']>): Promise<Change> {
    let all = change
    for (let loads = 1; ; loads++) {
      const isFileChanged = all.files.includes('.env')
      if (isFileChanged) tryReadVariables(options)
      const isFullReload = isFileChanged || areVariablesOutdated
      areVariablesOutdated = false
      const state = watching.readState()
      last = await reloadFiles({ changed: all.isMove ? undefined : new Set(all.files), isFullReload, onServed })
      if (!('failed' in last) || loads === maxLoads || isClosed) return all
      await pause(failureSettleMs)
      const { files } = watching.takeChange()
      if (files.length === 0 && watching.readState() === state) return all
      all = { files: [...new Set([...all.files, ...files])].toSorted(), isMove: true }
    }
  }

  const everything: Change = { files: [], isMove: true }
  const watching = await watchProject(folder, {
    outside: first.assets,
    isUsed: (file) => last.assets.has(file),
    onChange: async (change) => {
      if (change.files.length === 0) return tryReload(everything, true)
      const foreign = await withoutOwn(change)
      if (foreign === undefined) noteReloaded(change.files)
      else await tryReload({ ...change, files: foreign })
    },
    // Requests wait from the save until it is loaded, so that none uses outdated code.
    onBegin: (file) => (isSource(file) || last.assets.has(file) ? server.hold() : () => undefined),
    onError: (error) => console.warned(messageOf(error)),
    onWarning: (message) => console.warned(message),
  })

  const stopListening = server.feed.listen((changes) => {
    if (changes !== 'reset' && !changes.some(({ kind }) => kind === 'variable')) return
    areVariablesOutdated = true
    void watching.run(() => tryReload(everything, changes === 'reset'))
  })

  // Saves between the first load and the start of the watcher.
  void watching.run(() => tryReload(everything, true))
  return {
    expect(files) {
      const { promise, resolve } = Promise.withResolvers<boolean>()
      const watched = files.filter((file) => isWatchedFile(file))
      const timer = setTimeout(() => one.done(false), expectedMs)
      const one = {
        files: new Set(watched),
        missing: new Set(watched),
        done(isReloaded: boolean) {
          clearTimeout(timer)
          expected.delete(one)
          resolve(isReloaded)
        },
      }
      expected.add(one)
      if (watched.length === 0) one.done(true)
      return { done: promise, cancel: () => one.done(false) }
    },
    flush: () => watching.run(() => tryReload(everything)),
    close: () => {
      isClosed = true
      stopListening()
      return watching.close()
    },
  }
}

function tryReadVariables({ variables, folder, console }: DevSession['options']): void {
  try {
    const late = refreshEnvironment(variables, folder).filter((name) => readAtStart.has(name))
    if (late.length > 0) console.warned(`${late.join(', ')} is only read at start: restart dev to apply the change.`)
  } catch (error) {
    console.warned(`${messageOf(error)}. The previous values stay in use.`)
  }
}

const readAtStart = new Set(['HOST', 'PORT', 'LOG_LEVEL', 'WAYPOST_BASE_URL', 'WAYPOST_SECRET', 'WAYPOST_SYSTEM_URL'])

/** Whether a save of this file is reported even if nothing changed. */
function isSource(file: string): boolean {
  return file === '.env' || (/\.([cm]?[jt]s|ya?ml|json)$/.test(file) && !file.startsWith('test/'))
}
