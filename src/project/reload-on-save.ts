import { setTimeout as pause } from 'node:timers/promises'
import { messageOf, refreshEnvironment } from '../kit/index.ts'
import type { DevSession } from './dev-options.ts'
import type { ExpectedChange, ExpectedReload } from './draft/folder-draft.ts'
import { ensureDevelopmentUser } from './development-user.ts'
import type { ReloadRequest, ReloadResult } from './reloader.ts'
import { makeExpectedReloads, type Written } from './expected-reloads.ts'
import { makeOwnSnapshots } from './own-snapshots.ts'
import { watchProject, type Change } from './watch-project.ts'

export interface ReloadOnSaveOptions {
  /** The result of the load before the first save. */
  readonly first: ReloadResult
  reloadFiles(reload: ReloadRequest): Promise<ReloadResult>
}

/** Reloads on each save. */
export interface SaveWatcher {
  /** Must be called before the pages of the backend write files: their reload is printed as theirs. */
  expect(changes: readonly ExpectedChange[]): ExpectedReload
  /** Reloads all files. */
  flush(): Promise<void>
  close(): Promise<void>
}

// Longer than the watcher takes to report a save, and than an editor's pause within one.
const failureSettleMs = 100
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
  const loader = makeLoader(options, reloadFiles)
  const expected = makeExpectedReloads(folder)
  const snapshots = makeOwnSnapshots(folder)
  let scopes = 'failed' in first ? '' : first.scopes.join(' ')

  /** @param isSilent without named files, do not report if nothing changed */
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
    const load = async (all: Change) => (last = await loader.load(all, onServed))
    const { listWritten } = expected
    const settled = await loadSettled(change, { watching, load, listWritten, isClosed: () => isClosed })
    const { files, isMove, written } = settled
    watching.follow(last.assets)
    draft.reloaded(last, isMove ? undefined : files)
    if (!('failed' in last)) await snapshots.note(last.migration.written)
    const origin = expected.findOrigin(files)
    expected.note(files, written)
    const isQuiet = files.length === 0 ? isSilent : !files.some(isSource)
    if (isQuiet && last.state === before.state) return
    isServing ||= !('failed' in last)
    report(console, { result: last, files, isServing, isFixed: 'failed' in before, ms, origin })
  }

  const tryReload = (change: Change, isSilent = false) =>
    reload(change, isSilent).catch((error: unknown) =>
      console.reloadFailed({ files: change.files, diagnostics: [], error, isServing }),
    )

  const everything: Change = { files: [], isMove: true }
  const watching = await watchProject(folder, {
    outside: first.assets,
    isUsed: (file) => isAsset(last.assets, file) || isEnvFile(options, file),
    onChange: async (change) => {
      if (change.files.length === 0) return tryReload(everything, true)
      const foreign = await snapshots.leaveOut(change.files)
      if (foreign.length === 0) expected.note(change.files)
      else await tryReload({ ...change, files: foreign })
    },
    // Requests wait from the save until it is loaded, so that none uses outdated code.
    onBegin: (file) => (isSource(file) || isAsset(last.assets, file) ? server.hold() : () => undefined),
    onError: (error) => console.warned(messageOf(error)),
    onWarning: (message) => console.warned(message),
  })

  const stopListening = listenToVariables(server, (isReset) => {
    loader.outdateVariables()
    void watching.run(() => tryReload(everything, isReset))
  })

  // Saves between the first load and the start of the watcher.
  void watching.run(() => tryReload(everything, true))
  return {
    expect: expected.expect,
    flush: () => watching.run(() => tryReload(everything)),
    close: () => {
      isClosed = true
      stopListening()
      return watching.close()
    },
  }
}

interface Reported {
  readonly result: ReloadResult
  readonly files: readonly string[]
  readonly isServing: boolean
  readonly isFixed: boolean
  readonly ms: number | undefined
  readonly origin: 'backend' | undefined
}

function report(console: DevSession['options']['console'], { result, files, isServing, ms, ...more }: Reported): void {
  const named = files.some(isSource) ? files.filter(isSource) : files
  if ('failed' in result) return console.reloadFailed({ ...result, files: named, isServing, origin: more.origin })
  const { diagnostics, migration } = result
  console.reloaded({ files: named, diagnostics, migration, ms: ms!, ...more })
}

function makeLoader(options: DevSession['options'], reloadFiles: ReloadOnSaveOptions['reloadFiles']) {
  let areVariablesOutdated = false
  return {
    outdateVariables() {
      areVariablesOutdated = true
    },
    load({ files, isMove }: Change, onServed: NonNullable<ReloadRequest['onServed']>): Promise<ReloadResult> {
      const isFileChanged = files.some((file) => isEnvFile(options, file))
      if (isFileChanged) tryReadVariables(options)
      const isFullReload = isFileChanged || areVariablesOutdated
      areVariablesOutdated = false
      return reloadFiles({ changed: isMove ? undefined : new Set(files), isFullReload, onServed })
    },
  }
}

interface Loading {
  readonly watching: Awaited<ReturnType<typeof watchProject>>
  load(change: Change): Promise<ReloadResult>
  listWritten(): Written
  isClosed(): boolean
}

/**
 * Loads until the result counts: a failure only does if the files are still as they were loaded, because they may have
 * been read while an editor or a checkout was writing them.
 * @returns the change with all saves that were loaded with it, and the expected files that were written by then
 */
async function loadSettled(
  change: Change,
  { watching, load, listWritten, isClosed }: Loading,
): Promise<Change & { readonly written: Written }> {
  let all = change
  for (let loads = 1; ; loads++) {
    const state = watching.readState()
    const written = listWritten()
    const result = await load(all)
    if (!('failed' in result) || loads === maxLoads || isClosed()) return { ...all, written }
    await pause(failureSettleMs)
    const { files } = watching.takeChange()
    if (files.length === 0 && watching.readState() === state) return { ...all, written }
    all = { files: [...new Set([...all.files, ...files])].toSorted(), isMove: true }
  }
}

function listenToVariables({ feed }: DevSession['server'], onChange: (isReset: boolean) => void): () => void {
  return feed.listen((changes) => {
    if (changes === 'reset' || changes.some(({ kind }) => kind === 'variable')) onChange(changes === 'reset')
  })
}

function tryReadVariables({ variables, folder, envFiles, console }: DevSession['options']): void {
  try {
    const late = refreshEnvironment(variables, folder, envFiles).filter((name) => readAtStart.has(name))
    if (late.length > 0) console.warned(`${late.join(', ')} is only read at start: restart dev to apply the change.`)
  } catch (error) {
    console.warned(`${messageOf(error)}. The previous values stay in use.`)
  }
}

const readAtStart = new Set(['HOST', 'PORT', 'LOG_LEVEL', 'WAYPOST_BASE_URL', 'WAYPOST_SECRET', 'WAYPOST_SYSTEM_URL'])

/** Whether a file is part of the release: named by code, or in a folder, whose name ends with a slash. */
function isAsset(assets: ReadonlySet<string>, file: string): boolean {
  if (assets.has(file)) return true
  const names = file.split('/')
  return names.some((_, index) => assets.has(`${names.slice(0, index).join('/')}/`))
}

function isEnvFile({ envFiles = ['.env'] }: DevSession['options'], file: string): boolean {
  return envFiles.includes(file)
}

/** Whether a save of this file is reported even if nothing changed. */
function isSource(file: string): boolean {
  return /^\.env(\.[\w-]+){0,2}$/.test(file) || (/\.([cm]?[jt]s|ya?ml|json)$/.test(file) && !file.startsWith('test/'))
}
