import { messageOf, refreshEnvironment } from '../kit/index.ts'
import type { DevSession } from './dev-options.ts'
import { ensureDevelopmentUser } from './development-user.ts'
import type { ReloadRequest, ReloadResult } from './reloader.ts'
import { watchProject, type Change } from './watch-project.ts'

export interface ReloadOnSaveOptions {
  /** The result of the load before the first save. */
  readonly first: ReloadResult
  reloadFiles(reload: ReloadRequest): Promise<ReloadResult>
}

/** Reloads on each save. */
export interface SaveWatcher {
  /** Reloads all files. */
  flush(): Promise<void>
  close(): Promise<void>
}

/** Reloads the project on each save. Reports nothing for files that change nothing. */
export async function reloadOnSave(
  { options: { folder, variables, console }, server }: DevSession,
  { first, reloadFiles }: ReloadOnSaveOptions,
): Promise<SaveWatcher> {
  let last = first
  let isServing = !('failed' in first)
  let scopes = scopesOf(first)

  /** @param isQuiet do not report if nothing changed */
  async function reload({ files, isMove }: Change, { isSilent, release }: ReloadReporting): Promise<void> {
    const startedAt = performance.now()
    const before = last
    let ms: number | undefined
    last = await reloadFiles({
      changed: isMove ? undefined : new Set(files),
      isFullReload: files.includes('.env'),
      onServed: () => {
        ms = performance.now() - startedAt
        release()
      },
    })
    if (isSilent && last.state === before.state) return
    const named = files.some(isSource) ? files.filter(isSource) : files
    if ('failed' in last) return console.reloadFailed({ ...last, files: named, isServing })
    isServing = true
    if (scopesOf(last) !== scopes) await ensureDevelopmentUser(folder, server.host.system, last.scopes)
    scopes = scopesOf(last)
    const { diagnostics, migration } = last
    console.reloaded({ files: named, diagnostics, migration, isFixed: 'failed' in before, ms: ms! })
  }
  const tryReload = (change: Change, reporting: ReloadReporting) =>
    reload(change, reporting).catch((error: unknown) =>
      console.reloadFailed({ files: change.files, diagnostics: [], error, isServing }),
    )

  const everything: Change = { files: [], isMove: true }
  const watching = await watchProject(folder, {
    isUsed: (file) => last.assets.has(file),
    onChange: (change, release) => {
      if (change.files.includes('.env')) tryReadVariables()
      return tryReload(change, { isSilent: !change.files.some(isSource), release })
    },
    // Requests wait from the save until it is loaded, so that none uses outdated code.
    onBegin: (file) => (isSource(file) || last.assets.has(file) ? server.hold() : () => undefined),
    onError: (error) => console.warned(`Cannot watch files: ${messageOf(error)}`),
  })

  function tryReadVariables(): void {
    try {
      readVariables()
    } catch (error) {
      console.warned(`${messageOf(error)}. The previous values stay in use.`)
    }
  }

  function readVariables(): void {
    const late = refreshEnvironment(variables, folder).filter((name) => readAtStart.has(name))
    if (late.length > 0) console.warned(`${late.join(', ')} is only read at start: restart dev to apply the change.`)
  }

  // Saves between the first load and the start of the watcher.
  void watching.run(() => tryReload(everything, { isSilent: true, release: () => undefined }))
  return {
    flush: () => watching.run(() => tryReload(everything, { isSilent: false, release: () => undefined })),
    close: () => watching.close(),
  }
}

interface ReloadReporting {
  /** Do not report if nothing changed. */
  readonly isSilent: boolean
  /** Called as soon as requests get the new version. */
  release(): void
}

const readAtStart = new Set(['HOST', 'PORT', 'LOG_LEVEL', 'WAYPOST_BASE_URL', 'WAYPOST_SECRET', 'WAYPOST_SYSTEM_URL'])

function scopesOf(result: ReloadResult): string {
  return 'failed' in result ? '' : result.scopes.join(' ')
}

/** Whether a save of this file is reported even if nothing changed. */
function isSource(file: string): boolean {
  return file === '.env' || (/\.([cm]?[jt]s|ya?ml|json)$/.test(file) && !file.startsWith('test/'))
}
