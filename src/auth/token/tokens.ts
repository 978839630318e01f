import type { Kysely } from 'kysely'
import { makeSecret, makeUuid, sha256, type Settings } from '../../kit/index.ts'
import type { System, SystemTables } from '../../store/index.ts'
import { signAccessToken, type Grantee, type SignedToken, type TokenSigner } from './access-token.ts'

/** What issuing tokens needs of its server. */
export interface TokenIssuer extends TokenSigner {
  readonly system: System
  /** The settings of the active release. */
  settings(): Settings
  /** 32 bytes from which successors of refresh tokens are derived, the newest first. */
  readonly refreshKeys: readonly Buffer[]
  /** Makes this process notice at once what it changed; a command, which caches nothing, has no need of it. */
  noticeChanges?(): Promise<void>
}

/** A token answer, before the separator of its scopes is chosen. */
export interface IssuedTokens {
  readonly accessToken: string
  readonly expiresIn: number
  readonly refreshToken?: string
  readonly scopes: readonly string[]
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
      used_at: null,
    })
    .execute()
}

/** Issues the tokens of a new grant; with a refresh token they begin a family. */
export async function issueTokens(
  issuer: TokenIssuer,
  grantee: Grantee,
  options: { refresh: boolean; lifetimeMs?: number },
): Promise<IssuedTokens & { jti: string }> {
  const token = await signAccessToken(issuer, grantee, options.lifetimeMs ?? issuer.settings().token_lifetime)
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
    await storeRefreshToken(trx, refreshToken, {
      familyId,
      now,
      expiresAt: Math.min(familyEnds, now + settings.refresh_lifetime),
    })
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
