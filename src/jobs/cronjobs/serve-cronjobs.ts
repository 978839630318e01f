import type { ConnectionRegistry } from '../../connection/index.ts'
import { type Host, type LoadPlugins, type ReleaseToServe, leaseMs, logClosed } from '../../host/index.ts'
import type { PrepareConfig, ServicesOf } from '../../plugin/index.ts'
import type { ClosedModules } from '../../release/index.ts'
import type { Logger } from '../../runtime/index.ts'
import type { CronjobReport } from './run-slot.ts'
import { openCronjobs } from './open-cronjobs.ts'
import { CronScheduler } from './scheduler.ts'

/** How a server runs cronjobs. */
export interface CronOptions {
  /** Skip slots from before the start of the server. */
  readonly fromNow?: boolean
  /** Called after each run. */
  onRan?(report: CronjobReport): void
}

/** The resources of a server that its cronjobs use. */
export interface ServeCronjobsOptions {
  readonly options: {
    readonly host: Host
    readonly logger: Logger
    readonly isDevelopment: boolean
    readonly cron?: CronOptions
    onClosed?(closed: ClosedModules): void
  }
  readonly loadPlugins: LoadPlugins
  readonly services: ServicesOf
  readonly prepareConfig: PrepareConfig
  readonly registry: ConnectionRegistry
}

/** The cronjobs of a server. */
export interface CronjobService {
  /**
   * Calls `serve`, which activates a release on this server, and then runs the cronjobs of that release.
   * @throws what `serve` throws, or the error of code that cannot be loaded
   */
  follow(toRun: ReleaseToServe, serve: () => Promise<void>): Promise<void>
  /** Starts no more runs and waits for current ones. After 10 s they are aborted. */
  stop(): Promise<void>
}

/** Starts to run the cronjobs of the release that is served, if this server runs cronjobs. */
export function serveCronjobs({ options, ...sources }: ServeCronjobsOptions): CronjobService {
  const { host, logger, isDevelopment, cron: cronOptions } = options
  const onClosed = options.onClosed ?? ((closed: ClosedModules) => logClosed(closed, logger))
  if (cronOptions === undefined) return { follow: (_, serve) => serve(), stop: async () => undefined }
  const cron = new CronScheduler({
    system: host.system,
    clock: host.clock,
    logger,
    secrets: host.logSecrets,
    leaseMs,
    fromNow: cronOptions.fromNow ?? false,
    onRan(report) {
      logReport(logger, report)
      cronOptions.onRan?.(report)
    },
    onError: (error) => logger.warn({ err: error }, 'cronjobs paused: System is unavailable'),
    onRecovered: () => logger.info('cronjobs continue: System is available'),
  })
  return {
    async follow(toRun, serve) {
      const set = await openCronjobs({ host, isDevelopment, onClosed, ...sources }, toRun)
      try {
        await serve()
      } catch (error) {
        await set.close()
        throw error
      }
      cron.follow(set)
    },
    stop: () => cron.stop(),
  }
}

/** Logs one line for each run. */
export function logReport(logger: Logger, { name, slot, outcome, ms, error }: CronjobReport): void {
  const line = { cronjob: name, slot: new Date(slot).toISOString(), ms: Math.round(ms) }
  if (outcome === 'done') logger.info(line, 'cronjob finished')
  else logger.error({ ...line, err: error }, 'cronjob failed')
}
