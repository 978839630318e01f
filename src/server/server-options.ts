import type { PluginSet } from '../plugin/index.ts'
import type { Address, Answered, Logger, Pressure } from '../runtime/index.ts'
import type { CronOptions } from '../jobs/index.ts'
import type { Host, Identity, ServerTracing } from '../host/index.ts'

export interface ServerOptions {
  readonly host: Host
  readonly identity: Identity
  readonly address: Address
  /** While it is high, requests are refused; without it never. */
  readonly pressure?: Pressure | undefined
  /** Spans of what it does, where they are collected. */
  readonly tracing?: ServerTracing | undefined
  /** Looks at the `Host` header of each request. @returns the host where its requests are not answered */
  refusedHost?: ((header: string | undefined) => string | undefined) | undefined
  /** How long requests in flight are waited for at the end; 10 s by default. */
  readonly stopLimitMs?: number | undefined
  readonly logger: Logger
  /** `dev` and tests: results are checked, pages of this machine may call. */
  readonly isDevelopment: boolean
  /** Plugins; those that ship with Waypost by default. */
  readonly plugins?: PluginSet
  /** Run cronjobs; without it others do. */
  readonly cron?: CronOptions
  onResponse?(answered: Answered): void
  onServerError?(error: unknown, request: { id: string; method: string; path: string }): void
}
