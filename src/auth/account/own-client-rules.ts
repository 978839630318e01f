import { errors } from '../errors.ts'
import { grantTypes } from './clients.ts'
import { checkRedirectUris } from './redirect-uris.ts'
import { checkScopes, isBackendScope } from './scopes.ts'

/** Somebody at work on what is his own: what his token carries is all that he can give on. */
export interface Owner {
  readonly id: string
  readonly scopes: readonly string[]
}

/** What decides how far a client reaches. */
export interface ClientParts {
  readonly scopes: readonly string[]
  readonly grants: readonly string[]
  readonly redirectUris: readonly string[]
  readonly public: boolean
}

/**
 * Checks how the parts of a client go together.
 * @param held grants that the client has already; who administers may have given it one that its owner cannot
 * @throws WP_AUTH_GRANT_UNKNOWN, WP_AUTH_GRANT_RESERVED, WP_AUTH_CLIENT_PARTS, WP_AUTH_REDIRECT_URI, WP_AUTH_REDIRECT_URIS
 */
export function checkClientParts<Parts extends ClientParts>(parts: Parts, held: readonly string[] = []): Parts {
  const grants = [...new Set(parts.grants)]
  for (const grant of grants) {
    if (!(grantTypes as readonly string[]).includes(grant)) throw errors.WP_AUTH_GRANT_UNKNOWN({ grant })
    // Whoever makes such a client collects passwords of others.
    if (grant === 'password' && !held.includes(grant)) throw errors.WP_AUTH_GRANT_RESERVED({ grant })
  }
  const redirectUris = checkRedirectUris(parts.redirectUris)
  if (grants.includes('authorization_code') && redirectUris.length === 0) {
    throw errors.WP_AUTH_CLIENT_PARTS({ reason: 'authorization_code needs a redirect URI' })
  }
  if (grants.includes('client_credentials') && parts.public) {
    throw errors.WP_AUTH_CLIENT_PARTS({ reason: 'client_credentials needs a secret, which a public client has not' })
  }
  return { ...parts, grants, redirectUris, scopes: checkScopes(parts.scopes) }
}

/**
 * Nobody gives on what he lacks, and a login alone never gives scopes of administration to a client, which outlives it.
 * @throws WP_AUTH_SCOPE_RESERVED, WP_AUTH_SCOPE_NOT_CARRIED
 */
export function assertMayGive(owner: Owner, scopes: readonly string[]): void {
  const reserved = scopes.filter(isBackendScope)
  if (reserved.length > 0) throw errors.WP_AUTH_SCOPE_RESERVED({ scopes: list(reserved) })
  const lacked = scopes.filter((scope) => !owner.scopes.includes(scope))
  if (lacked.length > 0) throw errors.WP_AUTH_SCOPE_NOT_CARRIED({ scopes: list(lacked) })
}

/**
 * Whoever gets a client's secret, or its codes at another redirect URI, gets its scopes: a narrowed token must not come
 * to more in this way.
 * @throws WP_AUTH_SCOPE_RESERVED, WP_AUTH_SCOPE_NOT_CARRIED
 */
export function assertMayManage(owner: Owner, client: ClientParts, userScopes: readonly string[]): void {
  assertMayGive(
    owner,
    client.scopes.filter((scope) => isBackendScope(scope) || userScopes.includes(scope)),
  )
}

function list(scopes: readonly string[]): string {
  return scopes.slice(0, 10).join(', ').slice(0, 300)
}
