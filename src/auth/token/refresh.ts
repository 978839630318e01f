import { createHmac } from 'node:crypto'
import type { Transaction } from 'kysely'
import { sha256 } from '../../kit/index.ts'
import type { SystemTables } from '../../store/index.ts'
import { signAccessToken, type SignedToken } from './access-token.ts'
import type { Caller } from './caller.ts'
import { loadSharedScopes } from '../account/clients.ts'
import { OAuthError } from '../errors.ts'
import { revokeInTransaction } from './revoke.ts'
import { intersect, splitScopes } from '../account/scopes.ts'
import { storeAccessToken, storeRefreshToken, type IssuedTokens, type TokenIssuer } from './tokens.ts'

export interface RefreshRequest {
  readonly refreshToken: string
  readonly clientId: string
  readonly caller: Caller
  /** A narrower scope than granted; undefined for the full scope. */
  readonly scopes?: readonly string[] | undefined
}

interface Family {
  readonly id: string
  readonly user_id: string
  readonly scope: string
  readonly expires_at: number
  readonly password_at: number | null
}

/**
 * Rotates a refresh token (RFC 9700 §4.14.2). The successor is derived from its predecessor and only its hash is
 * stored, so that a client that did not receive the response can get the same successor within the grace period. Any
 * other reuse revokes the family.
 * @throws OAuthError invalid_grant, invalid_scope; WP_AUTH_CALLER_GONE, WP_AUTH_REQUEST_LATE
 */
export async function refreshTokens(issuer: TokenIssuer, request: RefreshRequest): Promise<IssuedTokens> {
  await request.caller.assertStillWaiting()
  const family = await findFamily(issuer, request)
  const scopes = await grantedScopes(issuer, family, request)
  const passwordAt = family.password_at ?? undefined
  const grantee = { userId: family.user_id, clientId: request.clientId, scopes, passwordAt }
  // Sign before the transaction, which locks the family's row.
  const leftMs = family.expires_at - issuer.clock.now()
  const maxLifetime = passwordAt === undefined ? Infinity : leftMs
  const token = await signAccessToken(issuer, grantee, Math.min(issuer.settings().token_lifetime, maxLifetime))
  const refreshToken = await issuer.system.transaction(async (trx) => {
    const rotated = await rotate(issuer, trx, { request, family, token, scopes })
    await request.caller.assertStillWaiting()
    return rotated
  })
  if (refreshToken === undefined) {
    await issuer.applyChanges()
    throw new OAuthError(
      'invalid_grant',
      'This refresh token was used before; all tokens of this grant are now revoked',
    )
  }
  return { accessToken: token.jwt, expiresIn: token.expiresIn, refreshToken, scopes }
}

/** Finds the family of a token of this client. Tokens of other clients are not found, and their families stay valid. */
async function findFamily(issuer: TokenIssuer, request: RefreshRequest): Promise<Family> {
  const now = issuer.clock.now()
  const family = await issuer.system.db
    .selectFrom('waypost_refresh_token as token')
    .innerJoin('waypost_token_family as family', 'family.id', 'token.family_id')
    .innerJoin('waypost_user as user', 'user.id', 'family.user_id')
    .innerJoin('waypost_client as client', 'client.id', 'family.client_id')
    .select(['family.id', 'family.user_id', 'family.scope', 'family.expires_at', 'family.password_at'])
    .where('token.hash', '=', sha256(request.refreshToken))
    .where('token.expires_at', '>', now)
    .where('family.client_id', '=', request.clientId)
    .where('family.expires_at', '>', now)
    .where('family.revoked_at', 'is', null)
    .where('user.status', '=', 'active')
    .where('client.status', '=', 'active')
    .executeTakeFirst()
  if (family === undefined) throw new OAuthError('invalid_grant', 'The refresh token is unknown, expired or revoked')
  return family
}

async function grantedScopes(issuer: TokenIssuer, family: Family, request: RefreshRequest): Promise<readonly string[]> {
  const granted = splitScopes(family.scope)
  const wider = request.scopes?.filter((scope) => !granted.includes(scope)) ?? []
  if (wider.length > 0) throw new OAuthError('invalid_scope', `The grant does not include ${wider.join(', ')}`)
  const shared = await loadSharedScopes(issuer.system, request.clientId, family.user_id)
  const scopes = intersect(request.scopes ?? granted, shared)
  if (scopes.length === 0 && granted.length > 0)
    throw new OAuthError('invalid_scope', 'None of the granted scopes is available any longer')
  return scopes
}

interface Rotation {
  readonly request: RefreshRequest
  readonly family: Family
  readonly token: SignedToken
  readonly scopes: readonly string[]
}

/**
 * Rotates with one compare-and-set under the lock of the family's row.
 * @returns the successor; undefined if the token had been used before and the family has been revoked
 */
async function rotate(
  issuer: TokenIssuer,
  trx: Transaction<SystemTables>,
  rotation: Rotation,
): Promise<string | undefined> {
  const { request, family, token, scopes } = rotation
  const now = issuer.clock.now()
  await lockFamily(issuer, trx, family)
  const successor = await findSuccessor(issuer, trx, { request, family, now })
  if (successor === undefined) {
    request.caller.assertOnTime()
    await revokeInTransaction(issuer.system, trx, { which: { familyId: family.id }, now })
    return undefined
  }
  const grantee = { userId: family.user_id, clientId: request.clientId, scopes }
  await storeAccessToken(trx, token, { grantee, familyId: family.id, now })
  return successor
}

async function lockFamily(issuer: TokenIssuer, trx: Transaction<SystemTables>, family: Family): Promise<void> {
  const locked = await trx
    .selectFrom('waypost_token_family')
    .select('revoked_at')
    .where('id', '=', family.id)
    .$if(issuer.system.kind === 'postgresql', (query) => query.forUpdate())
    .executeTakeFirst()
  if (locked === undefined || locked.revoked_at !== null) {
    throw new OAuthError('invalid_grant', 'The refresh token is unknown, expired or revoked')
  }
}

interface RefreshUse {
  readonly request: RefreshRequest
  readonly family: Family
  readonly now: number
}

/** Finds the successor: a new one for the first use, the same one for a retry, undefined for a used token. */
async function findSuccessor(
  issuer: TokenIssuer,
  trx: Transaction<SystemTables>,
  { request, family, now }: RefreshUse,
): Promise<string | undefined> {
  const { refresh_grace: grace, refresh_lifetime: lifetime } = issuer.settings()
  const hash = sha256(request.refreshToken)
  const asked = request.scopes?.toSorted().join(' ') ?? ''
  const used = await trx
    .selectFrom('waypost_refresh_token')
    .select(['used_at', 'used_scope'])
    .where('hash', '=', hash)
    .executeTakeFirstOrThrow()
  if (used.used_at !== null) {
    const isRetry = now - used.used_at <= grace && used.used_scope === asked
    return isRetry ? findUnusedSuccessor(trx, issuer, request.refreshToken) : undefined
  }
  const successor = successorOf(request.refreshToken, issuer.refreshKeys[0]!)
  const use = trx.updateTable('waypost_refresh_token').set({ used_at: now, used_scope: asked })
  await use.where('hash', '=', hash).execute()
  const expiresAt = Math.min(family.expires_at, now + lifetime)
  await storeRefreshToken(trx, successor, { familyId: family.id, now, expiresAt })
  return successor
}

/**
 * Finds the successor that was already issued, if it is still unused. It may have been derived with an older secret.
 */
async function findUnusedSuccessor(
  trx: Transaction<SystemTables>,
  issuer: TokenIssuer,
  predecessor: string,
): Promise<string | undefined> {
  for (const key of issuer.refreshKeys) {
    const successor = successorOf(predecessor, key)
    const row = await trx
      .selectFrom('waypost_refresh_token')
      .select('used_at')
      .where('hash', '=', sha256(successor))
      .executeTakeFirst()
    if (row !== undefined) return row.used_at === null ? successor : undefined
  }
  return undefined
}

function successorOf(refreshToken: string, key: Buffer): string {
  return createHmac('sha256', key).update(refreshToken).digest('base64url')
}
