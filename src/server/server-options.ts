import type { PluginSet } from '../plugin/index.ts'
import type { Address, Answered, Logger, Pressure } from '../runtime/index.ts'
import type { CronjobReport } from './cron/run-slot.ts'
import type { Host } from './host.ts'
import type { Identity } from './open-identity.ts'
import type { ServerTracing } from './tracing/make-tracing.ts'

export interface ServerOptions {
  readonly host: Host
  readonly identity: Identity
  readonly address: Address
  /** While it is high, requests are refused; without it never. */
  readonly pressure?: Pressure | undefined
  /** Spans of what it does, where they are collected. */
  readonly tracing?: ServerTracing | undefined
  /** How long requests in flight are waited for at the end; 10 s by default. */
  readonly stopLimitMs?: number | undefined
  readonly logger: Logger
  /** `dev` and tests: results are checked, pages of this machine may call. */
  readonly isDevelopment: boolean
  /** Plugins; those that ship with Waypost by default. */
  readonly plugins?: PluginSet
  /** Run cronjobs; without it others do. */
  readonly cron?: CronOptions
  onAnswered?(answered: Answered): void
  onServerError?(error: unknown, request: { id: string; method: string; path: string }): void
}

/** How a server runs cronjobs. */
export interface CronOptions {
  /** Forget slots that came before it started. */
  readonly fromNow?: boolean
  /** Called after each run. */
  onRan?(report: CronjobReport): void
}
