import { messageOf, refreshEnvironment } from '../kit/index.ts'
import type { DevSession } from './dev-options.ts'
import { ensureDevelopmentUser } from './development-user.ts'
import type { Look, TakenOver } from './take-over.ts'
import { watchProject, type Change } from './watch-project.ts'

export interface Following {
  /** What came of the look at the files before the first save. */
  readonly first: TakenOver
  takeOver(look: Look): Promise<TakenOver>
}

/** Saves that are followed. */
export interface FollowedSaves {
  /** Looks at every file, as if something had been saved. */
  flush(): Promise<void>
  close(): Promise<void>
}

/** Takes over each save; says nothing of files that change nothing. */
export async function followSaves(
  { options: { folder, variables, console }, server }: DevSession,
  { first, takeOver }: Following,
): Promise<FollowedSaves> {
  let last = first
  let isServing = !('refused' in first)
  let scopes = scopesOf(first)

  /** @param isQuiet say nothing if nothing is new */
  async function look({ files, isMove }: Change, { isQuiet, letGo }: LookingHow): Promise<void> {
    const began = performance.now()
    const before = last
    let ms: number | undefined
    last = await takeOver({
      changed: isMove ? undefined : new Set(files),
      isAllNew: files.includes('.env'),
      onServed: () => {
        ms = performance.now() - began
        letGo()
      },
    })
    if (isQuiet && last.state === before.state) return
    const named = files.some(isSource) ? files.filter(isSource) : files
    if ('refused' in last) return console.refused({ ...last, files: named, isServing })
    isServing = true
    if (scopesOf(last) !== scopes) await ensureDevelopmentUser(folder, server.host.system, last.scopes)
    scopes = scopesOf(last)
    const { diagnostics, migration } = last
    console.reloaded({ files: named, diagnostics, migration, isMended: 'refused' in before, ms: ms! })
  }
  const tryLook = (change: Change, how: LookingHow) =>
    look(change, how).catch((error: unknown) =>
      console.refused({ files: change.files, diagnostics: [], error, isServing }),
    )

  const everything: Change = { files: [], isMove: true }
  const watching = await watchProject(folder, {
    isUsed: (file) => last.assets.has(file),
    onChange: (change, letGo) => {
      if (change.files.includes('.env')) tryReadVariables()
      return tryLook(change, { isQuiet: !change.files.some(isSource), letGo })
    },
    // From a save on requests wait until it was taken over: none sees code that is already gone.
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

  // What was saved since the first look, when nobody watched.
  void watching.run(() => tryLook(everything, { isQuiet: true, letGo: () => undefined }))
  return {
    flush: () => watching.run(() => tryLook(everything, { isQuiet: false, letGo: () => undefined })),
    close: () => watching.close(),
  }
}

interface LookingHow {
  /** Say nothing if nothing is new. */
  readonly isQuiet: boolean
  /** Called as soon as requests get what the files say. */
  letGo(): void
}

const readAtStart = new Set(['HOST', 'PORT', 'LOG_LEVEL', 'WAYPOST_BASE_URL', 'WAYPOST_SECRET', 'WAYPOST_SYSTEM_URL'])

function scopesOf(taken: TakenOver): string {
  return 'refused' in taken ? '' : taken.scopes.join(' ')
}

/** Who saves one of these wants to see that it was noticed. */
function isSource(file: string): boolean {
  return file === '.env' || (/\.([cm]?[jt]s|ya?ml|json)$/.test(file) && !file.startsWith('test/'))
}
