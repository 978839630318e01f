import type { PluginSet } from '../plugin/index.ts'
import type { Answered, Logger } from '../runtime/index.ts'
import type { Host } from './host.ts'
import type { Identity } from './open-identity.ts'

export interface ServerOptions {
  readonly host: Host
  readonly identity: Identity
  readonly address: { readonly host: string; readonly port: number }
  readonly logger: Logger
  /** `dev` and tests: results are checked, pages of this machine may call. */
  readonly isDevelopment: boolean
  /** Plugins; those that ship with Waypost by default. */
  readonly plugins?: PluginSet
  onAnswered?(answered: Answered): void
  onServerError?(error: unknown, request: { id: string; method: string; path: string }): void
}
