import { loadUserScopes, resolveClient, resolveUser, splitScopes } from '../auth/index.ts'
import type { Host } from '../host/index.ts'
import { listPage, listRows, type Page, type System, type SystemTables } from '../store/index.ts'

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
  readonly userId: string | null
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

/** A column to sort by, descending with a minus. */
export type NameOrder = 'name' | '-name' | 'created' | '-created'

export interface UserFilter {
  readonly scope?: string | undefined
  readonly status?: ListedUser['status'] | undefined
  /** A part of the name or email address. */
  readonly search?: string | undefined
  /** `name` by default. */
  readonly sort?: NameOrder | undefined
  readonly cursor?: string | undefined
  readonly limit: number
}

/** Lists users. @throws WP_STORE_CURSOR */
export async function listHostUsers(
  { system }: Pick<Host, 'system'>,
  { scope, status, search, sort = 'name', cursor, limit }: UserFilter,
): Promise<Page<ListedUser>> {
  const page = await listPage(system, 'User', {
    where: {
      ...(status === undefined ? {} : { status }),
      ...(search === undefined
        ? {}
        : { $or: [{ name: contains(system, search) }, { email: contains(system, search) }] }),
    },
    members: scope === undefined ? [] : [{ key: 'id', in: 'UserScope', column: 'user_id', where: { scope } } as const],
    // A name belongs to one user, and to any number of clients.
    sort: sort.endsWith('name')
      ? [['name', directionOf(sort)]]
      : [
          ['created_at', directionOf(sort)],
          ['id', directionOf(sort)],
        ],
    cursor,
    limit,
  })
  const ids = page.entry.map(({ id }) => id)
  const given = await listRows(system, 'UserScope', { where: { user_id: { $in: ids } }, orderBy: { scope: 'asc' } })
  const scopes = Map.groupBy(given, (row) => row.user_id)
  return { ...page, entry: page.entry.map((row) => toListedUser(row, scopes.get(row.id) ?? [])) }
}

type UserRow = Pick<SystemTables['waypost_user'], 'id' | 'name' | 'status' | 'created_at'> & {
  readonly email?: string | null | undefined
}

function toListedUser(
  { id, name, email, status, created_at: createdAt }: UserRow,
  scopes: readonly { scope: string }[],
): ListedUser {
  return { id, name, email: email ?? null, status, scopes: scopes.map(({ scope }) => scope), createdAt }
}

/** Loads a user by id, also within a transaction. */
export async function loadUser({ db }: Pick<System, 'db'>, id: string): Promise<ListedUser> {
  const row = await db.selectFrom('waypost_user').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  return toListedUser(
    row,
    (await loadUserScopes(db, id)).toSorted().map((scope) => ({ scope })),
  )
}

/** Finds a user by id or name. @throws WP_AUTH_USER_UNKNOWN */
export async function findHostUser({ system }: Pick<Host, 'system'>, user: string): Promise<ListedUser> {
  return loadUser(system, (await resolveUser(system, user)).id)
}

function directionOf(sort: string): 'asc' | 'desc' {
  return sort.startsWith('-') ? 'desc' : 'asc'
}

/** Matches texts that contain another, ignoring case. SQLite has no escape character: `_` matches any character. */
function contains({ kind }: System, text: string): object {
  const clean = text.replaceAll('\0', '')
  return kind === 'sqlite' ? { $like: `%${clean}%` } : { $ilike: `%${clean.replaceAll(/[\\%_]/g, String.raw`\$&`)}%` }
}

export interface ClientFilter {
  /** The owner, by name or id. */
  readonly user?: string | undefined
  readonly scope?: string | undefined
  readonly status?: ListedClient['status'] | undefined
  /** A part of the name. */
  readonly search?: string | undefined
  /** `name` by default. */
  readonly sort?: NameOrder | undefined
  readonly cursor?: string | undefined
  readonly limit: number
}

/** Lists clients. @throws WP_AUTH_USER_UNKNOWN, WP_STORE_CURSOR */
export async function listHostClients(
  { system }: Pick<Host, 'system'>,
  { user, scope, status, search, sort = 'name', cursor, limit }: ClientFilter,
): Promise<Page<ListedClient>> {
  const page = await listPage(system, 'Client', {
    where: {
      ...(user === undefined ? {} : { user_id: (await resolveUser(system, user)).id }),
      ...(status === undefined ? {} : { status }),
      ...(search === undefined ? {} : { name: contains(system, search) }),
    },
    members:
      scope === undefined ? [] : [{ key: 'id', in: 'ClientScope', column: 'client_id', where: { scope } } as const],
    sort: [
      [sort.endsWith('name') ? 'name' : 'created_at', directionOf(sort)],
      ['id', directionOf(sort)],
    ],
    cursor,
    limit,
  })
  const ids = page.entry.map(({ id }) => id)
  const [given, owners] = await Promise.all([
    listRows(system, 'ClientScope', { where: { client_id: { $in: ids } }, orderBy: { scope: 'asc' } }),
    namesOf(
      system,
      'User',
      page.entry.map((client) => client.user_id),
    ),
  ])
  const scopes = Map.groupBy(given, (row) => row.client_id)
  const toListed = (row: ClientRow) =>
    toListedClient(row, { scopes: scopes.get(row.id) ?? [], user: owners.get(row.user_id ?? '') })
  return { ...page, entry: page.entry.map(toListed) }
}

type ClientRow = Omit<SystemTables['waypost_client'], 'user_id' | 'secret_hash' | 'disabled_by'> & {
  readonly user_id?: string | null | undefined
  readonly secret_hash?: string | null | undefined
}

function toListedClient(
  row: ClientRow,
  { scopes, user }: { scopes: readonly { scope: string }[]; user: string | undefined },
): ListedClient {
  return {
    id: row.id,
    name: row.name,
    user: user ?? null,
    userId: row.user_id ?? null,
    isPublic: (row.secret_hash ?? null) === null,
    status: row.status,
    grants: splitScopes(row.grants),
    scopes: scopes.map(({ scope }) => scope),
    redirectUris: JSON.parse(row.redirect_uris) as string[],
    createdAt: row.created_at,
  }
}

/** Loads a client by id, also within a transaction. */
export async function loadClient({ db }: Pick<System, 'db'>, id: string): Promise<ListedClient> {
  const row = await db
    .selectFrom('waypost_client as client')
    .leftJoin('waypost_user as user', 'user.id', 'client.user_id')
    .selectAll('client')
    .select('user.name as user')
    .where('client.id', '=', id)
    .executeTakeFirstOrThrow()
  const scopes = db.selectFrom('waypost_client_scope').select('scope').where('client_id', '=', id)
  const given = (await scopes.execute()).toSorted((one, other) => (one.scope < other.scope ? -1 : 1))
  return toListedClient(row, { scopes: given, user: row.user ?? undefined })
}

/** Finds a client by id or name. @throws WP_AUTH_CLIENT_NO_MATCH, WP_AUTH_CLIENT_AMBIGUOUS */
export async function findHostClient({ system }: Pick<Host, 'system'>, client: string): Promise<ListedClient> {
  return loadClient(system, (await resolveClient(system, client)).id)
}

export interface TokenFilter {
  /** By name or id. */
  readonly user?: string | undefined
  /** By id or name. */
  readonly client?: string | undefined
  /** `-created`, newest first, by default. Lists of all tokens are read from an index with the other orders only. */
  readonly sort?: '-created' | 'expires' | '-expires' | undefined
  readonly cursor?: string | undefined
  readonly limit: number
}

const tokenSorts = {
  '-created': [
    ['created_at', 'desc'],
    ['jti', 'asc'],
  ],
  expires: [
    ['expires_at', 'asc'],
    ['jti', 'asc'],
  ],
  '-expires': [
    ['expires_at', 'desc'],
    ['jti', 'desc'],
  ],
} as const

/**
 * Lists valid access tokens: not expired, not revoked, and with an active user and client. A page may have fewer entries
 * than its limit although `next` is present.
 * @throws WP_AUTH_USER_UNKNOWN, WP_AUTH_CLIENT_NO_MATCH, WP_STORE_CURSOR
 */
export async function listHostTokens(
  { system, clock }: Pick<Host, 'system' | 'clock'>,
  { user, client, sort = '-created', cursor, limit }: TokenFilter,
): Promise<Page<ListedToken>> {
  const page = await listPage(system, 'AccessToken', {
    where: {
      revoked_at: null,
      expires_at: { $gt: clock.now() },
      ...(user === undefined ? {} : { user_id: (await resolveUser(system, user)).id }),
      ...(client === undefined ? {} : { client_id: (await resolveClient(system, client)).id }),
    },
    sort: tokenSorts[sort],
    cursor,
    limit,
  })
  const tokens = page.entry
  const [users, clients] = await Promise.all([
    namesOf(
      system,
      'User',
      tokens.map((token) => token.user_id),
      { status: 'active' },
    ),
    namesOf(
      system,
      'Client',
      tokens.map((token) => token.client_id),
      { status: 'active' },
    ),
  ])
  // Disabling a user or client revokes its tokens, so that hardly any are left out here.
  const active = tokens.filter((row) => users.has(row.user_id) && clients.has(row.client_id))
  const entry = active.map((row) => ({
    jti: row.jti,
    user: users.get(row.user_id) ?? '',
    client: { id: row.client_id, name: clients.get(row.client_id) ?? '' },
    scopes: splitScopes(row.scope),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    usedAt: row.used_at ?? null,
  }))
  return { ...page, entry }
}

async function namesOf(
  system: System,
  table: 'User' | 'Client',
  ids: readonly (string | null | undefined)[],
  where: { readonly status?: 'active' } = {},
): Promise<ReadonlyMap<string, string>> {
  const known = [...new Set(ids)].filter((id) => typeof id === 'string')
  const rows = await listRows(system, table, { where: { ...where, id: { $in: known } } })
  return new Map(rows.map(({ id, name }) => [id, name]))
}
