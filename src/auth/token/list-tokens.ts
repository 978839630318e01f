import type { System } from '../../store/index.ts'
import { splitScopes } from '../account/scopes.ts'

export interface ListedToken {
  readonly jti: string
  readonly user: string
  readonly client: { readonly id: string; readonly name: string }
  readonly scopes: readonly string[]
  /** Milliseconds since 1970, as the others. */
  readonly createdAt: number
  readonly expiresAt: number
  /** When a server last saw it used; written now and then. */
  readonly usedAt: number | null
}

export interface TokenFilter {
  readonly userId?: string | undefined
  readonly clientId?: string | undefined
  readonly now: number
  readonly limit: number
}

/** Access tokens that count: neither expired nor revoked, of a user and a client that are active; the newest first. */
export async function listTokens({ db }: System, filter: TokenFilter): Promise<readonly ListedToken[]> {
  const { userId, clientId, now, limit } = filter
  const rows = await db
    .selectFrom('waypost_token as token')
    .innerJoin('waypost_user as user', 'user.id', 'token.user_id')
    .innerJoin('waypost_client as client', 'client.id', 'token.client_id')
    .select(['token.jti', 'token.client_id', 'token.scope', 'token.created_at', 'token.expires_at', 'token.used_at'])
    .select(['user.name as user_name', 'client.name as client_name'])
    .where('token.revoked_at', 'is', null)
    .where('token.expires_at', '>', now)
    .where('user.status', '=', 'active')
    .where('client.status', '=', 'active')
    .$if(userId !== undefined, (query) => query.where('token.user_id', '=', userId!))
    .$if(clientId !== undefined, (query) => query.where('token.client_id', '=', clientId!))
    .orderBy('token.created_at', 'desc')
    .orderBy('token.jti')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    jti: row.jti,
    user: row.user_name,
    client: { id: row.client_id, name: row.client_name },
    scopes: splitScopes(row.scope),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    usedAt: row.used_at,
  }))
}
