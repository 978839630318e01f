import { SignJWT } from 'jose'
import type { Kysely } from 'kysely'
import { makeSecret, makeUuid, sha256, type Clock, type Settings } from '../kit/index.ts'
import { recordChanges, type Change, type System, type SystemTables } from '../store/index.ts'
import type { KeyRing } from './keys.ts'

/** What issuing tokens needs of its server. */
export interface TokenIssuer {
  readonly system: System
  readonly keys: KeyRing
  readonly clock: Clock
  /** `iss` and `aud` of every access token. */
  readonly issuer: string
  /** The settings of the active release. */
  settings(): Settings
  /** 32 bytes from which successors of refresh tokens are derived, the newest first. */
  readonly refreshKeys: readonly Buffer[]
}

/** Whom a token speaks for. */
export interface Grantee {
  readonly userId: string
  readonly clientId: string
  readonly scopes: readonly string[]
}

export interface SignedToken {
  readonly jwt: string
  readonly jti: string
  /** Lifetime in seconds. */
  readonly expiresIn: number
  readonly expiresAt: number
}

/** A token answer, before the separator of its scopes is chosen. */
export interface IssuedTokens {
  readonly accessToken: string
  readonly expiresIn: number
  readonly refreshToken?: string
  readonly scopes: readonly string[]
}

/** Signs an access token after RFC 9068. It does not count before `storeAccessToken` has stored it. */
export async function signAccessToken(
  issuer: TokenIssuer,
  grantee: Grantee,
  lifetimeMs = issuer.settings().token_lifetime,
): Promise<SignedToken> {
  const issuedAt = Math.floor(issuer.clock.now() / 1000)
  const expiresIn = Math.max(1, Math.floor(lifetimeMs / 1000))
  const jti = makeUuid()
  const { kid, key } = issuer.keys.signer
  const jwt = await new SignJWT({ client_id: grantee.clientId, scope: grantee.scopes.join(' ') })
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid })
    .setIssuer(issuer.issuer)
    .setAudience(issuer.issuer)
    .setSubject(grantee.userId)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + expiresIn)
    .setJti(jti)
    .sign(key)
  return { jwt, jti, expiresIn, expiresAt: (issuedAt + expiresIn) * 1000 }
}

export async function storeAccessToken(
  db: Kysely<SystemTables>,
  token: SignedToken,
  options: { grantee: Grantee; familyId: string | null; now: number },
): Promise<void> {
  await db
    .insertInto('waypost_token')
    .values({
      jti: token.jti,
      user_id: options.grantee.userId,
      client_id: options.grantee.clientId,
      family_id: options.familyId,
      scope: options.grantee.scopes.join(' '),
      created_at: options.now,
      expires_at: token.expiresAt,
      revoked_at: null,
    })
    .execute()
}

/** Issues the tokens of a new grant; with a refresh token they begin a family. */
export async function issueTokens(
  issuer: TokenIssuer,
  grantee: Grantee,
  options: { refresh: boolean; lifetimeMs?: number },
): Promise<IssuedTokens & { jti: string }> {
  const token = await signAccessToken(issuer, grantee, options.lifetimeMs)
  const now = issuer.clock.now()
  const answer = { accessToken: token.jwt, jti: token.jti, expiresIn: token.expiresIn, scopes: grantee.scopes }
  if (!options.refresh) {
    await storeAccessToken(issuer.system.db, token, { grantee, familyId: null, now })
    return answer
  }
  const familyId = makeUuid()
  const refreshToken = makeSecret()
  const settings = issuer.settings()
  const familyEnds = now + settings.refresh_family_lifetime
  await issuer.system.transaction(async (trx) => {
    await trx
      .insertInto('waypost_token_family')
      .values({
        id: familyId,
        user_id: grantee.userId,
        client_id: grantee.clientId,
        scope: grantee.scopes.join(' '),
        created_at: now,
        expires_at: familyEnds,
        revoked_at: null,
      })
      .execute()
    await storeRefreshToken(trx, refreshToken, { familyId, now, expiresAt: Math.min(familyEnds, now + settings.refresh_lifetime) })
    await storeAccessToken(trx, token, { grantee, familyId, now })
  })
  return { ...answer, refreshToken }
}

export async function storeRefreshToken(
  db: Kysely<SystemTables>,
  refreshToken: string,
  options: { familyId: string; now: number; expiresAt: number },
): Promise<void> {
  await db
    .insertInto('waypost_refresh_token')
    .values({
      hash: sha256(refreshToken),
      family_id: options.familyId,
      created_at: options.now,
      expires_at: options.expiresAt,
      used_at: null,
      used_scope: null,
    })
    .execute()
}

/** Which tokens to revoke: exactly one of them is given. */
export interface Revocation {
  readonly jti?: string
  readonly familyId?: string
  readonly userId?: string
  readonly clientId?: string
}

/**
 * Revokes access tokens and the families that could renew them, and tells every server.
 * @returns how many access tokens were still valid
 */
export async function revokeTokens(system: System, which: Revocation, now: number): Promise<number> {
  const { column, value, kind } = revocationTarget(which)
  return system.transaction(async (trx) => {
    const tokens = await trx
      .updateTable('waypost_token')
      .set({ revoked_at: now })
      .where(column, '=', value)
      .where('revoked_at', 'is', null)
      .where('expires_at', '>', now)
      .executeTakeFirstOrThrow()
    if (column !== 'jti') {
      await trx
        .updateTable('waypost_token_family')
        .set({ revoked_at: now })
        .where(column === 'family_id' ? 'id' : column, '=', value)
        .where('revoked_at', 'is', null)
        .execute()
    }
    await recordChanges(system, trx, [{ kind, subject: value }])
    return Number(tokens.numUpdatedRows)
  })
}

type TokenColumn = 'jti' | 'family_id' | 'user_id' | 'client_id'

function revocationTarget(which: Revocation): { column: TokenColumn; value: string; kind: Change['kind'] } {
  if (which.jti !== undefined) return { column: 'jti', value: which.jti, kind: 'token' }
  if (which.familyId !== undefined) return { column: 'family_id', value: which.familyId, kind: 'family' }
  if (which.userId !== undefined) return { column: 'user_id', value: which.userId, kind: 'user' }
  return { column: 'client_id', value: which.clientId ?? '', kind: 'client' }
}
