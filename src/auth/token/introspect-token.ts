import { decodeJwt } from 'jose'
import { sha256 } from '../../kit/index.ts'
import { loadSharedScopes, type ClientRecord } from '../account/clients.ts'
import { intersect, splitScopes } from '../account/scopes.ts'
import { verifyAccessToken } from './access-token.ts'
import type { TokenIssuer } from './tokens.ts'

/** The response for an active token (RFC 7662 §2.2). */
export interface Introspection {
  readonly active: true
  /** The current scopes, without those that its user or client has lost. */
  readonly scope: string
  readonly client_id: string
  readonly username: string
  /** Marks refresh tokens, for resource servers that check only `active`. */
  readonly token_type: 'bearer' | 'refresh_token'
  /** Seconds since 1970. */
  readonly exp: number
  readonly iat: number
  readonly sub: string
  readonly aud: string
  readonly iss: string
  readonly jti?: string
}

/**
 * Introspects a token as stored in System. Clients can introspect their own tokens and those of clients with the same
 * owner.
 * @returns undefined if the token is not active, is unknown, or belongs to another owner
 */
export async function introspectToken(
  issuer: TokenIssuer,
  caller: ClientRecord,
  token: string,
): Promise<Introspection | undefined> {
  return (await describeRefreshToken(issuer, caller, token)) ?? (await describeAccessToken(issuer, caller, token))
}

async function describeAccessToken(
  issuer: TokenIssuer,
  caller: ClientRecord,
  text: string,
): Promise<Introspection | undefined> {
  const verified = await verifyAccessToken(issuer, text)
  if (!('jti' in verified)) return undefined
  const { db } = issuer.system
  const row = await db
    .selectFrom('waypost_token as token')
    .innerJoin('waypost_user as user', 'user.id', 'token.user_id')
    .innerJoin('waypost_client as client', 'client.id', 'token.client_id')
    .select(['token.client_id', 'token.scope', 'token.expires_at', 'token.created_at', 'token.user_id'])
    .select(['user.name', 'client.user_id as owner'])
    .where('token.jti', '=', verified.jti)
    .where('token.expires_at', '>', issuer.clock.now())
    .where('token.revoked_at', 'is', null)
    .where('user.status', '=', 'active')
    .where('client.status', '=', 'active')
    .executeTakeFirst()
  if (row === undefined || !canIntrospect(caller, row)) return undefined
  const shared = await loadSharedScopes(issuer.system, row.client_id, row.user_id)
  const scopes = intersect(splitScopes(row.scope), shared)
  const { iat = 0 } = decodeJwt(text)
  return { ...describe(issuer, row, scopes), iat, token_type: 'bearer', jti: verified.jti }
}

async function describeRefreshToken(
  issuer: TokenIssuer,
  caller: ClientRecord,
  text: string,
): Promise<Introspection | undefined> {
  const now = issuer.clock.now()
  const row = await issuer.system.db
    .selectFrom('waypost_refresh_token as token')
    .innerJoin('waypost_token_family as family', 'family.id', 'token.family_id')
    .innerJoin('waypost_user as user', 'user.id', 'family.user_id')
    .innerJoin('waypost_client as client', 'client.id', 'family.client_id')
    .select(['family.client_id', 'family.scope', 'token.expires_at', 'token.created_at', 'family.user_id'])
    .select(['user.name', 'client.user_id as owner'])
    .where('token.hash', '=', sha256(text))
    .where('token.used_at', 'is', null)
    .where('token.expires_at', '>', now)
    .where('family.expires_at', '>', now)
    .where('family.revoked_at', 'is', null)
    .where('user.status', '=', 'active')
    .where('client.status', '=', 'active')
    .executeTakeFirst()
  if (row === undefined || !canIntrospect(caller, row)) return undefined
  const shared = await loadSharedScopes(issuer.system, row.client_id, row.user_id)
  const scopes = intersect(splitScopes(row.scope), shared)
  return { ...describe(issuer, row, scopes), token_type: 'refresh_token' }
}

interface Row {
  readonly client_id: string
  readonly user_id: string
  readonly owner: string | null
  readonly name: string
  readonly expires_at: number
  readonly created_at: number
}

function canIntrospect(caller: ClientRecord, { client_id: clientId, owner }: Row): boolean {
  return clientId === caller.id || (owner !== null && owner === caller.userId)
}

function describe({ issuer }: TokenIssuer, row: Row, scopes: readonly string[]): Omit<Introspection, 'token_type'> {
  return {
    active: true,
    scope: scopes.join(' '),
    client_id: row.client_id,
    username: row.name,
    exp: Math.floor(row.expires_at / 1000),
    iat: Math.floor(row.created_at / 1000),
    sub: row.user_id,
    aud: issuer,
    iss: issuer,
  }
}
