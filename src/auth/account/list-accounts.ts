import type { System } from '../../store/index.ts'
import { splitScopes } from './scopes.ts'

export interface ListedUser {
  readonly id: string
  readonly name: string
  readonly email: string | null
  readonly status: 'active' | 'disabled'
  readonly scopes: readonly string[]
  /** Milliseconds since 1970. */
  readonly createdAt: number
}

export interface ListedClient {
  readonly id: string
  readonly name: string
  /** Name of the owner; null for those that are built in. */
  readonly user: string | null
  readonly isPublic: boolean
  readonly status: 'active' | 'disabled'
  readonly grants: readonly string[]
  readonly scopes: readonly string[]
  readonly redirectUris: readonly string[]
  readonly createdAt: number
}

/** Users by name, those with a scope if one is given. */
export async function listUsers(
  { db }: System,
  { scope, limit }: { scope?: string | undefined; limit: number },
): Promise<readonly ListedUser[]> {
  const holders = db.selectFrom('waypost_user_scope').select('user_id')
  const users = await db
    .selectFrom('waypost_user')
    .select(['id', 'name', 'email', 'status', 'created_at'])
    .$if(scope !== undefined, (query) => query.where('id', 'in', holders.where('scope', '=', scope!)))
    .orderBy('name')
    .limit(limit)
    .execute()
  const ids = users.map(({ id }) => id)
  const given = ids.length === 0 ? [] : await holders.select('scope').where('user_id', 'in', ids).execute()
  const scopes = groupScopes(given.map((row) => ({ id: row.user_id, scope: row.scope })))
  return users.map(({ created_at: createdAt, ...user }) => ({ ...user, scopes: scopes(user.id), createdAt }))
}

/** Clients by name, those of one owner if one is given. */
export async function listClients(
  { db }: System,
  { userId, limit }: { userId?: string | undefined; limit: number },
): Promise<readonly ListedClient[]> {
  const clients = await db
    .selectFrom('waypost_client as client')
    .leftJoin('waypost_user as user', 'user.id', 'client.user_id')
    .selectAll('client')
    .select('user.name as user_name')
    .$if(userId !== undefined, (query) => query.where('client.user_id', '=', userId!))
    .orderBy('client.name')
    .orderBy('client.id')
    .limit(limit)
    .execute()
  const ids = clients.map(({ id }) => id)
  const all = db.selectFrom('waypost_client_scope').select(['client_id as id', 'scope'])
  const scopes = groupScopes(ids.length === 0 ? [] : await all.where('client_id', 'in', ids).execute())
  return clients.map((row) => ({
    id: row.id,
    name: row.name,
    user: row.user_name,
    isPublic: row.secret_hash === null,
    status: row.status,
    grants: splitScopes(row.grants),
    scopes: scopes(row.id),
    redirectUris: JSON.parse(row.redirect_uris) as string[],
    createdAt: row.created_at,
  }))
}

function groupScopes(rows: readonly { id: string; scope: string }[]): (id: string) => readonly string[] {
  const groups = Map.groupBy(rows, ({ id }) => id)
  return (id) => (groups.get(id) ?? []).map(({ scope }) => scope).toSorted()
}
