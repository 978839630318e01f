import type { Draft, TrafficLog } from '../backend/index.ts'
import type { SignInLinks } from '../auth/index.ts'
import type { Address, RequestExchange, RequestReport, Logger, Pressure, StallWatch } from '../runtime/index.ts'
import type { CronOptions } from '../jobs/index.ts'
import type { Host, Identity, LoadPlugins, ServerTracing } from '../host/index.ts'
import type { ClosedModules } from '../release/index.ts'

export interface ServerOptions {
  readonly host: Host
  readonly identity: Identity
  readonly address: Address
  /** Makes requests wait until `started` is called, because routes would return 404 until a release is loaded. */
  readonly isStarting?: boolean
  /** While pressure is high, requests are rejected. Undefined disables this. */
  readonly pressure?: Pressure | undefined
  /** Records spans, if tracing is enabled. */
  readonly tracing?: ServerTracing | undefined
  /** Checks the `Host` header of each request. @returns the host name if it is not allowed */
  refusedHost?: ((header: string | undefined) => string | undefined) | undefined
  /** How long to wait for requests in flight when stopping; 10 s by default. */
  readonly stopLimitMs?: number | undefined
  readonly logger: Logger
  /** For `dev` and tests: results are checked, and pages of this machine may call the API. */
  readonly isDevelopment: boolean
  /** Links that sign a user in once; for `dev`. */
  readonly signInLinks?: SignInLinks | undefined
  /** The last requests, for the pages of the backend; for `dev`. */
  readonly traffic?: TrafficLog | undefined
  /** The definition that the pages of the backend edit; for `dev`. */
  readonly draft?: Draft | undefined
  /** Replaces the loading of plugins, in tests. */
  readonly loadPlugins?: LoadPlugins
  /** Run cronjobs on this server. */
  readonly cron?: CronOptions
  /** Detects that this process stood still; by default by the clocks of the machine. */
  readonly stalls?: StallWatch
  /** Called when code that is no longer served was closed and left something open. By default that is logged. */
  onClosed?(closed: ClosedModules): void
  onResponse?(answered: RequestReport): void
  /** For the coverage of tests. */
  onExchange?(exchange: RequestExchange): void
  onServerError?(error: unknown, request: { id: string; method: string; path: string }): void
}
