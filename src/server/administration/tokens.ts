import {
  authErrors,
  checkScopes,
  findUser,
  issueTokens,
  loadUserScopes,
  loginClientId,
  openKeyRing,
  openTokenIssuer,
  readTokenId,
  revokeTokens,
} from '../../auth/index.ts'
import { parseDuration } from '../../kit/index.ts'
import { loadTerms } from '../active-release.ts'
import { errors } from '../errors.ts'
import type { Host } from '../host.ts'
import { openIdentity } from '../open-identity.ts'

const longestLifetimeMs = 365 * 86_400_000

/** Issues an access token for a user, without a refresh token. */
export async function issueHostToken(
  host: Host,
  request: { user: string; scopes: readonly string[] | undefined; expires: string | undefined },
): Promise<{ access_token: string; jti: string; expires_in: number; scope: string }> {
  const lifetimeMs = request.expires === undefined ? undefined : parseDuration(request.expires)
  if (
    request.expires !== undefined &&
    (lifetimeMs === undefined || lifetimeMs < 1000 || lifetimeMs > longestLifetimeMs)
  ) {
    throw authErrors.WP_AUTH_LIFETIME({ value: request.expires })
  }
  const user = await findUser(host.system, request.user)
  if (user.status !== 'active') throw authErrors.WP_AUTH_USER_DISABLED({ name: user.name })
  const owned = await loadUserScopes(host.system.db, user.id)
  const scopes = checkScopes(request.scopes ?? owned)
  const lacked = scopes.filter((scope) => !owned.includes(scope))
  if (lacked.length > 0) throw authErrors.WP_AUTH_SCOPE_LACKED({ user: user.name, scopes: lacked.join(',') })

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

/** Revokes one token, by its id or itself, or all of a user or client. @returns how many access tokens were still valid */
export async function revokeHostTokens(
  host: Host,
  request: { jti?: string | undefined; user?: string | undefined; client?: string | undefined },
): Promise<number> {
  const now = host.clock.now()
  if (request.jti !== undefined) {
    const jti = readTokenId(request.jti) ?? request.jti
    const known = await host.system.db
      .selectFrom('waypost_token')
      .select('jti')
      .where('jti', '=', jti)
      .executeTakeFirst()
    if (known === undefined) throw authErrors.WP_AUTH_TOKEN_UNKNOWN({ jti: jti.slice(0, 64) })
    return revokeTokens(host.system, { jti }, now)
  }
  if (request.user !== undefined) {
    return revokeTokens(host.system, { userId: (await findUser(host.system, request.user)).id }, now)
  }
  if (request.client === undefined) throw errors.WP_SERVER_REVOKE_WHAT()
  const client = await host.system.db
    .selectFrom('waypost_client')
    .select('id')
    .where('id', '=', request.client)
    .executeTakeFirst()
  if (client === undefined) throw authErrors.WP_AUTH_CLIENT_UNKNOWN({ client: request.client })
  return revokeTokens(host.system, { clientId: client.id }, now)
}
