import { runDue, type ClaimedRun, type RunEnd, type RunReport } from '../../events/index.ts'
import {
  catalogOf,
  openLogKeeper,
  type Host,
  type KeptLog,
  type LoadPlugins,
  termsOf,
  withSystemVariables,
} from '../../host/index.ts'
import { markActionLogger } from '../../kit/index.ts'
import { loadActiveRelease } from '../../release/index.ts'
import type { Logger } from '../../runtime/index.ts'
import { errors } from '../errors.ts'
import { listenerTerms } from './listener-terms.ts'
import { openStandaloneListeners } from './open-standalone.ts'

export interface RunDueRequest {
  readonly listener: string
  readonly logger: Logger
  readonly loadPlugins?: LoadPlugins | undefined
  onRun(report: RunReport): void
}

const lateMs = 2000

/**
 * Runs what is due for one listener in this process, each run once. For tests.
 * @throws WP_SERVER_LISTENER_UNKNOWN, or the error of code that cannot be loaded
 */
export async function runDueListeners(
  host: Host,
  { listener: name, logger, loadPlugins, onRun }: RunDueRequest,
): Promise<void> {
  const release = await loadActiveRelease(host.system)
  const { listeners = {} } = release?.manifest ?? {}
  if (release === undefined || !Object.hasOwn(listeners, name))
    throw errors.WP_SERVER_LISTENER_UNKNOWN({ name, known: Object.keys(listeners).join(', ') || 'none' })
  const { variables } = await withSystemVariables(host, Object.keys(release.manifest.variables))
  const { settings } = termsOf(release, variables)
  const set = await openStandaloneListeners(host, release, { logger, loadPlugins })
  const keepLog = await openLogKeeper(host.logSecrets)
  const stop = new AbortController()
  const execute = async (
    run: ClaimedRun,
    how: { readonly timeoutMs: number; readonly once: boolean },
  ): Promise<RunEnd> => {
    let kept: KeptLog | undefined
    const logged = () => kept?.text() ?? null
    const result = await set.run(run, {
      ...how,
      lateMs,
      log: () => (kept ??= keepLog(markActionLogger(logger.child({ listener: name, run: run.id })))).logger,
      logged,
      signal: stop.signal,
      progress: () => undefined,
    })
    return { ...result, log: logged() }
  }
  const listed = listenerTerms({ listeners: { [name]: listeners[name]! } })
  try {
    await runDue({
      system: host.system,
      clock: host.clock,
      catalog: () => catalogOf(release.manifest),
      settings: () => settings,
      listeners: () => listed,
      executor: { execute, abort: () => stop.abort(), close: async () => undefined },
      onRun,
    })
  } finally {
    await set.close()
  }
}
