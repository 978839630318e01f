import type { Settings } from '../../kit/index.ts'
import type { Feed, Secrets, System } from '../../store/index.ts'
import { openClients } from '../account/client-lookup.ts'
import type { TokenSigner } from './access-token.ts'
import { makeTokenWriter } from './token-writer.ts'
import type { TokenIssuer } from './tokens.ts'

export interface TokenIssuerOptions extends TokenSigner {
  readonly system: System
  readonly secrets: Secrets
  /** The settings of the active release. */
  settings(): Settings
  /** Of a server: what is remembered keeps in step with System, and what is changed here counts here at once. */
  readonly feed?: Feed
}

export function openTokenIssuer({ feed, secrets, ...options }: TokenIssuerOptions): TokenIssuer {
  const { system } = options
  return {
    ...options,
    refreshKeys: secrets.deriveKeys('refresh'),
    clients: openClients(system, feed),
    writer: makeTokenWriter(system),
    // Nothing that is remembered counts while the feed cannot be read.
    noticeChanges: async () => feed?.catchUp().catch(() => undefined),
  }
}
