import type { ConnectionRegistry } from '../../connection/index.ts'
import { type Host, type ToServe, leaseMs } from '../../host/index.ts'
import type { PluginSet, PrepareConfig } from '../../plugin/index.ts'
import type { Logger } from '../../runtime/index.ts'
import type { CronjobReport } from './run-slot.ts'
import { openCronjobs } from './open-cronjobs.ts'
import { Cron } from './cron.ts'

/** How a server runs cronjobs. */
export interface CronOptions {
  /** Skips slots from before the server started. */
  readonly fromNow?: boolean
  /** Called after each run. */
  onRan?(report: CronjobReport): void
}

/** What the cronjobs of a server run with. */
export interface CronjobServing {
  readonly options: { readonly host: Host; readonly logger: Logger; readonly cron?: CronOptions }
  readonly plugins: PluginSet
  readonly prepareConfig: PrepareConfig
  readonly registry: ConnectionRegistry
}

/** The cronjobs of a server. */
export interface ServedCronjobs {
  /** Runs those of a release as soon as it is served, which the given work brings about. @throws what either throws */
  follow(toRun: ToServe, serve: () => Promise<void>): Promise<void>
  /** Starts nothing any more, and waits for what runs: 10 s, then it is told to end. */
  stop(): Promise<void>
}

/** Starts to run the cronjobs of whichever release is served, if this server runs any. */
export function serveCronjobs({ options, plugins, prepareConfig, registry }: CronjobServing): ServedCronjobs {
  const { host, logger, cron: wanted } = options
  if (wanted === undefined) return { follow: (_, serve) => serve(), stop: async () => undefined }
  const cron = new Cron({
    system: host.system,
    clock: host.clock,
    logger,
    leaseMs,
    fromNow: wanted.fromNow ?? false,
    onRan(report) {
      logReport(logger, report)
      wanted.onRan?.(report)
    },
    onError: (error) => logger.warn({ err: error }, 'cronjobs paused: System is unavailable'),
  })
  return {
    async follow(toRun, serve) {
      const set = await openCronjobs({ host, plugins, prepareConfig, registry }, toRun)
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

/** One line for each run. */
export function logReport(logger: Logger, { name, slot, outcome, ms, error }: CronjobReport): void {
  const line = { cronjob: name, slot: new Date(slot).toISOString(), ms: Math.round(ms) }
  if (outcome === 'done') logger.info(line, 'cronjob finished')
  else logger.error({ ...line, err: error }, 'cronjob failed')
}
