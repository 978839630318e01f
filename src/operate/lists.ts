import { resolveClient, resolveUser, splitScopes } from '../auth/index.ts'
import type { Host } from '../host/index.ts'
import { listRows, type System } from '../store/index.ts'

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
  /** Name of the owner; null for built-in clients. */
  readonly user: string | null
  readonly isPublic: boolean
  readonly status: 'active' | 'disabled'
  readonly grants: readonly string[]
  readonly scopes: readonly string[]
  readonly redirectUris: readonly string[]
  /** Milliseconds since 1970. */
  readonly createdAt: number
}

export interface ListedToken {
  readonly jti: string
  readonly user: string
  readonly client: { readonly id: string; readonly name: string }
  readonly scopes: readonly string[]
  /** Milliseconds since 1970, like the other times. */
  readonly createdAt: number
  readonly expiresAt: number
  /** When a server last saw the token; written from time to time. */
  readonly usedAt: number | null
}

/** Lists users by name: all, or those with a scope. */
export async function listHostUsers(
  { system }: Pick<Host, 'system'>,
  { scope, limit }: { scope?: string | undefined; limit: number },
): Promise<readonly ListedUser[]> {
  const users = await listRows(system, 'User', {
    ...(scope === undefined
      ? {}
      : { members: [{ key: 'id', in: 'UserScope', column: 'user_id', where: { scope } } as const] }),
    orderBy: { name: 'asc' },
    limit,
  })
  const ids = users.map(({ id }) => id)
  const given = await listRows(system, 'UserScope', { where: { user_id: { $in: ids } }, orderBy: { scope: 'asc' } })
  const scopes = Map.groupBy(given, (row) => row.user_id)
  return users.map(({ id, name, email, status, created_at: createdAt }) => {
    return { id, name, email: email ?? null, status, scopes: (scopes.get(id) ?? []).map((row) => row.scope), createdAt }
  })
}

/** Lists clients by name: all, or those of one owner. @throws WP_AUTH_USER_UNKNOWN */
export async function listHostClients(
  { system }: Pick<Host, 'system'>,
  { user, limit }: { user?: string | undefined; limit: number },
): Promise<readonly ListedClient[]> {
  const where = user === undefined ? {} : { user_id: (await resolveUser(system, user)).id }
  const clients = await listRows(system, 'Client', { where, orderBy: { name: 'asc', id: 'asc' }, limit })
  const ids = clients.map(({ id }) => id)
  const [given, owners] = await Promise.all([
    listRows(system, 'ClientScope', { where: { client_id: { $in: ids } }, orderBy: { scope: 'asc' } }),
    namesOf(
      system,
      'User',
      clients.map((client) => client.user_id),
    ),
  ])
  const scopes = Map.groupBy(given, (row) => row.client_id)
  return clients.map((row) => ({
    id: row.id,
    name: row.name,
    user: owners.get(row.user_id ?? '') ?? null,
    isPublic: (row.secret_hash ?? null) === null,
    status: row.status,
    grants: splitScopes(row.grants),
    scopes: (scopes.get(row.id) ?? []).map(({ scope }) => scope),
    redirectUris: JSON.parse(row.redirect_uris) as string[],
    createdAt: row.created_at,
  }))
}

/**
 * Lists valid access tokens, newest first: not expired, not revoked, and with an active user and client.
 * @throws WP_AUTH_USER_UNKNOWN, WP_AUTH_CLIENT_NO_MATCH
 */
export async function listHostTokens(
  { system, clock }: Pick<Host, 'system' | 'clock'>,
  { user, client, limit }: { user?: string | undefined; client?: string | undefined; limit: number },
): Promise<readonly ListedToken[]> {
  const tokens = await listRows(system, 'AccessToken', {
    where: {
      revoked_at: null,
      expires_at: { $gt: clock.now() },
      ...(user === undefined ? {} : { user_id: (await resolveUser(system, user)).id }),
      ...(client === undefined ? {} : { client_id: (await resolveClient(system, client)).id }),
    },
    members: [
      { key: 'user_id', in: 'User', column: 'id', where: { status: 'active' } },
      { key: 'client_id', in: 'Client', column: 'id', where: { status: 'active' } },
    ],
    orderBy: { created_at: 'desc', jti: 'asc' },
    limit,
  })
  const [users, clients] = await Promise.all([
    namesOf(
      system,
      'User',
      tokens.map((token) => token.user_id),
    ),
    namesOf(
      system,
      'Client',
      tokens.map((token) => token.client_id),
    ),
  ])
  return tokens.map((row) => ({
    jti: row.jti,
    user: users.get(row.user_id) ?? '',
    client: { id: row.client_id, name: clients.get(row.client_id) ?? '' },
    scopes: splitScopes(row.scope),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    usedAt: row.used_at ?? null,
  }))
}

async function namesOf(
  system: System,
  table: 'User' | 'Client',
  ids: readonly (string | null | undefined)[],
): Promise<ReadonlyMap<string, string>> {
  const known = [...new Set(ids)].filter((id) => typeof id === 'string')
  const rows = await listRows(system, table, { where: { id: { $in: known } } })
  return new Map(rows.map(({ id, name }) => [id, name]))
}
