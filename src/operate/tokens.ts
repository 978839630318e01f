import {
  authErrors,
  checkScopes,
  isBackendScope,
  countPasswordlessAccess,
  resolveClient,
  resolveUser,
  endAccess,
  issueTokens,
  loadUserScopes,
  lockUser,
  lockTokenFamily,
  loginClientId,
  nothingEnded,
  openKeyRing,
  openTokenIssuer,
  readTokenId,
  revokeTokens,
  splitScopes,
  type AccessSubject,
  type Batches,
  type EndedAccess,
  type Leaving,
} from '../auth/index.ts'
import { parseDuration } from '../kit/index.ts'
import { loadActiveRelease } from '../release/index.ts'
import type { System } from '../store/index.ts'
import { defaultIssuer, loadTerms, openIdentity, type Host } from '../host/index.ts'
import { assertMayGrant } from './access-rules.ts'
import { changeSystem, revokeHostRest, type ActingHost } from './change-system.ts'
import { errors } from './errors.ts'

const maxLifetimeMs = 365 * 86_400_000

/** Issues an access token for a user, without a refresh token. */
export async function issueHostToken(
  host: ActingHost,
  request: {
    user: string
    scopes: readonly string[] | undefined
    expires: string | undefined
    /** A token of the user with whose family the new one ends. */
    endsWith?: string | undefined
  },
): Promise<{ access_token: string; jti: string; expires_in: number; scope: string }> {
  const lifetimeMs = request.expires === undefined ? undefined : parseDuration(request.expires)
  if (request.expires !== undefined && (lifetimeMs === undefined || lifetimeMs < 1000 || lifetimeMs > maxLifetimeMs)) {
    throw authErrors.WP_AUTH_LIFETIME({ value: request.expires })
  }
  const user = await resolveUser(host.system, request.user)
  if (user.status !== 'active') throw authErrors.WP_AUTH_USER_DISABLED({ name: user.name })
  const owned = await loadUserScopes(host.system.db, user.id)
  const scopes = checkScopes(request.scopes ?? owned)
  assertMayGrant(host.actor, scopes)
  const missing = scopes.filter((scope) => !owned.includes(scope))
  if (missing.length > 0) throw authErrors.WP_AUTH_SCOPE_LACKED({ user: user.name, scopes: missing.join(',') })

  const { secrets, issuer } = await openIdentity(host, { issuer: defaultIssuer })
  const { settings } = await loadTerms(host)
  const keys = await openKeyRing(host.system, secrets)
  await keys.prepare(settings.token_algorithm)
  const { endsWith: other } = request
  return changeSystem(host, async (system, audit) => {
    const endsWith = other === undefined ? null : await lockFamily({ system, issuer }, { userId: user.id, jti: other })
    const issued = await issueTokens(
      openTokenIssuer({ system, keys, clock: host.clock, secrets, issuer, settings: () => settings }),
      { userId: user.id, clientId: loginClientId, scopes },
      {
        refresh: false,
        endsWith,
        ...(lifetimeMs === undefined ? {} : { lifetimeMs }),
      },
    )
    const { accessToken, jti, expiresIn } = issued
    const expires = new Date(host.clock.now() + expiresIn * 1000).toISOString()
    await audit({ action: 'token.issue', subject: { id: jti, name: jti }, after: { user: user.name, scopes, expires } })
    return { access_token: accessToken, jti, expires_in: expiresIn, scope: scopes.join(' ') }
  })
}

/**
 * Issues a token of 15 minutes for a user to try the routes of the active release: with the scopes of its methods that the
 * user has, and never with those of administration. It ends when the user signs out.
 * @param jti the token of the page
 */
export async function issueTryToken(
  host: ActingHost,
  { user, jti }: { readonly user: string; readonly jti: string | undefined },
): Promise<Awaited<ReturnType<typeof issueHostToken>>> {
  const release = await loadActiveRelease(host.system)
  const needed = new Set(release?.manifest.routes.flatMap(({ methods }) => methods.flatMap(({ scopes }) => scopes)))
  const { id } = await resolveUser(host.system, user)
  const owned = await loadUserScopes(host.system.db, id)
  const scopes = owned.filter((scope) => needed.has(scope) && !isBackendScope(scope))
  return issueHostToken(host, { user, scopes, expires: '15m', endsWith: jti })
}

/** Locks the family of a token that may be revoked meanwhile. @throws WP_AUTH_TOKEN */
async function lockFamily(
  server: { readonly system: System; readonly issuer: string },
  { userId, jti }: { readonly userId: string; readonly jti: string },
): Promise<string | null> {
  return server.system.transaction(async (trx) => {
    await lockUser(server.system, trx, userId)
    return lockTokenFamily(server, trx, jti)
  })
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
 * Revokes one token, all access of a user including sessions, or all tokens of a client, in batches if there are many.
 * @returns the numbers of items that were still valid
 */
export async function revokeHostTokens(
  host: ActingHost,
  request: RevokeRequest,
  batches: Batches = {},
): Promise<EndedAccess> {
  const now = host.clock.now()
  if (request.jti !== undefined) {
    const { jti } = request
    return changeSystem(host, async (system, audit) => {
      const found = await findToken(system, jti)
      const tokens = await revokeTokens(system, { jti: found.jti }, now)
      const after = { user: found.user, tokens }
      await audit({ action: 'token.revoke', subject: { id: found.jti, name: found.jti }, after })
      return { ...nothingEnded, tokens }
    })
  }
  const leaving: Leaving = { ...batches }
  const { of, ended } = await changeSystem(host, async (system, audit) => {
    const { of, ...facts } = await findAccess(system, request)
    const ended = await system.transaction(async (trx) => {
      // Changes that a user makes to their account lock the user before the token.
      if ('userId' in of) await lockUser(system, trx, of.userId)
      return endAccess(system, trx, { of, now, leaving })
    })
    const { tokens, sessions } = ended
    await audit({ action: 'token.revoke', after: { ...facts, tokens, sessions } })
    return { of, ended }
  })
  await revokeHostRest(host, of, leaving)
  return ended
}

/** A token that was pasted, also one that has ended. */
export interface FoundToken {
  readonly jti: string
  /** Undefined if the user or client was deleted. */
  readonly user: string | undefined
  readonly client: { readonly id: string; readonly name: string } | undefined
  readonly scopes: readonly string[]
  readonly state: 'valid' | 'expired' | 'revoked'
  /** Milliseconds since 1970, like the other time. */
  readonly createdAt: number
  readonly expiresAt: number
}

/**
 * Finds an access token by its id, or by the token itself.
 * @throws WP_AUTH_TOKEN_UNKNOWN
 */
export async function findHostToken(
  { system, clock }: Pick<Host, 'system' | 'clock'>,
  text: string,
): Promise<FoundToken> {
  const { jti } = await findToken(system, text)
  const row = await system.db
    .selectFrom('waypost_token as token')
    .leftJoin('waypost_user as user', 'user.id', 'token.user_id')
    .leftJoin('waypost_client as client', 'client.id', 'token.client_id')
    .select(['token.scope', 'token.created_at', 'token.expires_at', 'token.revoked_at', 'token.client_id'])
    .select(['user.name as user', 'client.name as client'])
    .where('token.jti', '=', jti)
    .executeTakeFirstOrThrow()
  return {
    jti,
    user: row.user ?? undefined,
    client: row.client === null ? undefined : { id: row.client_id, name: row.client },
    scopes: splitScopes(row.scope),
    state: row.revoked_at !== null ? 'revoked' : row.expires_at <= clock.now() ? 'expired' : 'valid',
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  }
}

async function findToken({ db }: System, text: string): Promise<{ jti: string; user: string | undefined }> {
  const jti = readTokenId(text) ?? text
  const token = await db
    .selectFrom('waypost_token as token')
    .leftJoin('waypost_user as user', 'user.id', 'token.user_id')
    .select(['token.jti', 'user.name as user'])
    .where('token.jti', '=', jti)
    .executeTakeFirst()
  if (token !== undefined) return { jti, user: token.user ?? undefined }
  const hint = 'Pass its jti or the whole token. List the valid tokens with waypost token:list.'
  throw authErrors.WP_AUTH_TOKEN_UNKNOWN({ jti: jti.slice(0, 64), hint })
}

async function findAccess(
  system: System,
  { user, client }: RevokeRequest,
): Promise<{ of: AccessSubject; user?: string; client?: string }> {
  if (user !== undefined) {
    const { id, name } = await resolveUser(system, user)
    return { of: { userId: id }, user: name }
  }
  if (client === undefined) throw errors.WP_SERVER_REVOKE_WHAT()
  const { id, name } = await resolveClient(system, client)
  return { of: { clientId: id }, client: name }
}

/**
 * Counts what is valid now: tokens and sessions of a user, with the clients and subscriptions that need no password; or
 * tokens and subscriptions of a client.
 * @throws WP_AUTH_USER_UNKNOWN, WP_AUTH_CLIENT_NO_MATCH
 */
export async function countHostAccess(
  { system, clock }: Pick<Host, 'system' | 'clock'>,
  subject: { readonly user: string } | { readonly client: string },
): Promise<EndedAccess> {
  const { of } = await findAccess(system, subject)
  const [column, id] = 'userId' in of ? (['user_id', of.userId] as const) : (['client_id', of.clientId] as const)
  const now = clock.now()
  const { db } = system
  const count = async (query: { execute(): Promise<readonly unknown[]> }) => (await query.execute()).length
  const tokens = db.selectFrom('waypost_token').select('jti').where(column, '=', id)
  const valid = await count(tokens.where('revoked_at', 'is', null).where('expires_at', '>', now))
  if ('clientId' in of) {
    const subscriptions = db.selectFrom('waypost_subscription').select('id').where('client_id', '=', id)
    return {
      ...nothingEnded,
      tokens: valid,
      subscriptions: await count(subscriptions.where('status', '<>', 'disabled')),
    }
  }
  const sessions = db.selectFrom('waypost_session').select('user_id').where('user_id', '=', id)
  const passwordless = await countPasswordlessAccess(db, id)
  return { tokens: valid, sessions: await count(sessions.where('expires_at', '>', now)), ...passwordless }
}
