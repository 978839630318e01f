import { messageOf } from '../kit/index.ts'
import type { DevSession } from './dev-options.ts'
import { ensureDevelopmentUser } from './development-user.ts'
import type { TakenOver } from './take-over.ts'
import { watchProject, type Watching } from './watch-project.ts'

export interface Following {
  /** What came of the look at the files before the first save. */
  readonly first: TakenOver
  takeOver(): Promise<TakenOver>
}

/** Takes over each save; says nothing of files that change nothing, for example one that this output goes to. */
export function followSaves(
  { options: { folder, console }, server }: DevSession,
  { first, takeOver }: Following,
): Promise<Watching> {
  let last = first
  let isServing = !('refused' in first)
  const reload = async (changed: readonly string[]) => {
    const began = performance.now()
    const before = last
    last = await takeOver()
    const sources = changed.filter(isSource)
    if (last.state === before.state && changed.length > 0 && sources.length === 0) return
    const files = sources.length === 0 ? changed : sources
    if ('refused' in last) return console.refused({ ...last, files, isServing })
    isServing = true
    await ensureDevelopmentUser(folder, server.host.system, last.scopes)
    const { diagnostics, migration } = last
    console.reloaded({ files, diagnostics, migration, isMended: 'refused' in before, ms: performance.now() - began })
  }
  return watchProject(folder, {
    onChange: (files) => {
      if (files.includes('.env')) console.warned('.env is read when dev starts: start it again to use what changed.')
      return reload(files).catch((error: unknown) => console.refused({ files, diagnostics: [], error, isServing }))
    },
    // From a save on requests wait until it was taken over: none sees code that is already gone.
    onBegin: (file) => (isSource(file) ? server.hold() : () => undefined),
    onError: (error) => console.warned(`Files cannot be watched: ${messageOf(error)}`),
  })
}

/** Who saves one of these wants to see that it was noticed. */
function isSource(file: string): boolean {
  return /\.([cm]?[jt]s|ya?ml|json)$/.test(file) && !file.startsWith('test/')
}
