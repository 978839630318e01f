import {
  authErrors,
  checkScopes,
  resolveClient,
  resolveUser,
  endAccess,
  issueTokens,
  loadUserScopes,
  loginClientId,
  nothingEnded,
  openKeyRing,
  openTokenIssuer,
  readTokenId,
  revokeTokens,
  type AccessSubject,
  type EndedAccess,
} from '../auth/index.ts'
import { parseDuration } from '../kit/index.ts'
import type { System } from '../store/index.ts'
import { loadTerms, type Host, openIdentity } from '../host/index.ts'
import { errors } from './errors.ts'

const maxLifetimeMs = 365 * 86_400_000

/** Issues an access token for a user, without a refresh token. */
export async function issueHostToken(
  host: Host,
  request: { user: string; scopes: readonly string[] | undefined; expires: string | undefined },
): Promise<{ access_token: string; jti: string; expires_in: number; scope: string }> {
  const lifetimeMs = request.expires === undefined ? undefined : parseDuration(request.expires)
  if (request.expires !== undefined && (lifetimeMs === undefined || lifetimeMs < 1000 || lifetimeMs > maxLifetimeMs)) {
    throw authErrors.WP_AUTH_LIFETIME({ value: request.expires })
  }
  const user = await resolveUser(host.system, request.user)
  if (user.status !== 'active') throw authErrors.WP_AUTH_USER_DISABLED({ name: user.name })
  const owned = await loadUserScopes(host.system.db, user.id)
  const scopes = checkScopes(request.scopes ?? owned)
  const missing = scopes.filter((scope) => !owned.includes(scope))
  if (missing.length > 0) throw authErrors.WP_AUTH_SCOPE_LACKED({ user: user.name, scopes: missing.join(',') })

  const { secrets, issuer } = await openIdentity(host)
  const { settings } = await loadTerms(host.system, host.variables)
  const issued = await issueTokens(
    openTokenIssuer({
      system: host.system,
      keys: await openKeyRing(host.system, secrets),
      clock: host.clock,
      secrets,
      issuer,
      settings: () => settings,
    }),
    { userId: user.id, clientId: loginClientId, scopes },
    { refresh: false, ...(lifetimeMs === undefined ? {} : { lifetimeMs }) },
  )
  return { access_token: issued.accessToken, jti: issued.jti, expires_in: issued.expiresIn, scope: scopes.join(' ') }
}

/** The tokens to revoke. Exactly one property must be set. */
export interface RevokeRequest {
  /** The id of a token, or the token itself. */
  readonly jti?: string | undefined
  readonly user?: string | undefined
  /** Id or name. */
  readonly client?: string | undefined
}

/**
 * Revokes one token, all access of a user including sessions, or all tokens of a client.
 * @returns the numbers of items that were still valid
 */
export async function revokeHostTokens({ system, clock }: Host, request: RevokeRequest): Promise<EndedAccess> {
  const now = clock.now()
  if (request.jti !== undefined) return { ...nothingEnded, tokens: await revokeOne(system, request.jti, now) }
  const of = await findAccess(system, request)
  return system.transaction((trx) => endAccess(system, trx, { of, now }))
}

async function revokeOne(system: System, text: string, now: number): Promise<number> {
  const jti = readTokenId(text) ?? text
  const token = system.db.selectFrom('waypost_token').select('jti').where('jti', '=', jti)
  if ((await token.executeTakeFirst()) === undefined) {
    const hint = 'Pass its jti or the whole token. List the valid tokens with waypost token:list.'
    throw authErrors.WP_AUTH_TOKEN_UNKNOWN({ jti: jti.slice(0, 64), hint })
  }
  return revokeTokens(system, { jti }, now)
}

async function findAccess(system: System, { user, client }: RevokeRequest): Promise<AccessSubject> {
  if (user !== undefined) return { userId: (await resolveUser(system, user)).id }
  if (client === undefined) throw errors.WP_SERVER_REVOKE_WHAT()
  return { clientId: (await resolveClient(system, client)).id }
}
