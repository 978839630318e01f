import { executeHostCronjobs } from '../execute-cronjobs.ts'
import type { Host, LoadPlugins } from '../../host/index.ts'
import type { Logger } from '../../runtime/index.ts'
import { logReport } from './serve-cronjobs.ts'

/** Runs of cronjobs that administrators start on a server. */
export interface ManualRuns {
  /**
   * Starts a cronjob of the active release, even if it is not due. Resolves when it has begun.
   * @throws WP_SERVER_CRONJOB, WP_SERVER_CRONJOB_UNKNOWN, WP_SERVER_CRONJOB_BUSY, or the error of code that cannot be
   * loaded
   */
  start(name: string): Promise<void>
  /** Starts no more runs and waits for current ones. After 10 s they are aborted. */
  stop(): Promise<void>
}

export interface ManualRunsOptions {
  readonly host: Host
  readonly logger: Logger
  readonly loadPlugins: LoadPlugins
}

export function openManualRuns({ host, logger, loadPlugins }: ManualRunsOptions): ManualRuns {
  const stop = new AbortController()
  const running = new Set<Promise<unknown>>()
  return {
    async start(name) {
      const { promise: started, resolve: onStarted } = Promise.withResolvers<void>()
      const request = { name, logger, loadPlugins, onStarted, signal: stop.signal }
      const run = executeHostCronjobs(host, request).then(({ reports }) => {
        for (const report of reports) logReport(logger, report)
      })
      const ended = run.catch(() => undefined).finally(() => running.delete(ended))
      running.add(ended)
      await Promise.race([started, run])
    },
    async stop() {
      stop.abort()
      await Promise.all(running)
    },
  }
}
