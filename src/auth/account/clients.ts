import { timingSafeEqual } from 'node:crypto'
import type { Transaction } from 'kysely'
import { makeSecret, makeUuid, sha256, isUuid } from '../../kit/index.ts'
import type { System, SystemTables } from '../../store/index.ts'
import { errors } from '../errors.ts'
import { assertClientName } from './client-name.ts'
import { checkRedirectUris } from './redirect-uris.ts'
import { checkScopes, intersect, isBackendScope, splitScopes } from './scopes.ts'
import { findUser, loadUserScopes } from './users.ts'

/** The built-in public client to which all login tokens belong. A migration creates it. */
export const loginClientId = '00000000-0000-4000-8000-000000000001'

export const grantTypes = ['client_credentials', 'refresh_token', 'authorization_code', 'password'] as const
export type GrantType = (typeof grantTypes)[number]

export interface ClientRecord {
  readonly id: string
  readonly name: string
  /** The owner; null for built-in clients. */
  readonly userId: string | null
  readonly secretHash: string | null
  readonly grants: readonly string[]
  readonly redirectUris: readonly string[]
  readonly status: 'active' | 'disabled'
  /** Milliseconds since 1970. */
  readonly createdAt: number
}

export interface NewClient {
  readonly name: string
  /** Name of the owner, on whose behalf client_credentials acts. */
  readonly user: string
  readonly scopes: readonly string[]
  readonly grants: readonly string[]
  readonly redirectUris: readonly string[]
  /** A public client has no secret. */
  readonly public: boolean
}

/**
 * Adds an OAuth2 client.
 * @returns its id and its secret, which cannot be shown again
 * @throws WP_AUTH_USER_UNKNOWN, WP_AUTH_SCOPE_LACKED, WP_AUTH_GRANT_UNKNOWN, WP_AUTH_CLIENT_NAME, WP_AUTH_REDIRECT_URI,
 * WP_AUTH_REDIRECT_URIS
 */
export async function addClient(
  system: System,
  client: NewClient,
): Promise<{ id: string; secret: string | undefined }> {
  assertClientName(client.name)
  const unknown = client.grants.find((grant) => !(grantTypes as readonly string[]).includes(grant))
  if (unknown !== undefined) throw errors.WP_AUTH_GRANT_UNKNOWN({ grant: unknown })
  const redirectUris = checkRedirectUris(client.redirectUris)
  const owner = await findUser(system, client.user)
  const scopes = checkScopes(client.scopes)
  const owned = await loadUserScopes(system.db, owner.id)
  const missing = scopes.filter((scope) => !owned.includes(scope))
  if (missing.length > 0) throw errors.WP_AUTH_SCOPE_LACKED({ user: owner.name, scopes: missing.join(',') })
  const id = makeUuid()
  const secret = client.public ? undefined : makeSecret()
  const { name, grants } = client
  await system.transaction((trx) =>
    insertClient(system, trx, { id, userId: owner.id, secret, name, scopes, grants, redirectUris }),
  )
  return { id, secret }
}

/** Stores a client that has been checked. */
export async function insertClient(
  system: System,
  trx: Transaction<SystemTables>,
  client: Omit<NewClient, 'user' | 'public'> & { id: string; userId: string; secret: string | undefined },
): Promise<void> {
  const { id, secret } = client
  await trx
    .insertInto('waypost_client')
    .values({
      id,
      name: client.name,
      user_id: client.userId,
      secret_hash: secret === undefined ? null : sha256(secret),
      grants: [...new Set(client.grants)].join(' '),
      redirect_uris: JSON.stringify(client.redirectUris),
      status: 'active',
      created_at: system.now(),
    })
    .execute()
  await insertClientScopes(trx, id, client.scopes)
}

async function insertClientScopes(
  trx: Transaction<SystemTables>,
  id: string,
  scopes: readonly string[],
): Promise<void> {
  if (scopes.length === 0) return
  await trx
    .insertInto('waypost_client_scope')
    .values(scopes.map((scope) => ({ client_id: id, scope })))
    .execute()
}

/** Stores changed parts of a client that were checked. */
export async function storeClientParts(
  trx: Transaction<SystemTables>,
  id: string,
  { name, grants, redirectUris, scopes }: Partial<Pick<NewClient, 'name' | 'grants' | 'redirectUris' | 'scopes'>>,
): Promise<void> {
  if (scopes !== undefined) {
    await trx.deleteFrom('waypost_client_scope').where('client_id', '=', id).execute()
    await insertClientScopes(trx, id, scopes)
  }
  // Codes that are on their way to a removed redirect URI must not be redeemed.
  if (redirectUris !== undefined) {
    await trx.deleteFrom('waypost_code').where('client_id', '=', id).where('used_at', 'is', null).execute()
  }
  const columns = {
    ...(name === undefined ? {} : { name }),
    ...(grants === undefined ? {} : { grants: [...new Set(grants)].join(' ') }),
    ...(redirectUris === undefined ? {} : { redirect_uris: JSON.stringify(redirectUris) }),
  }
  if (Object.keys(columns).length === 0) return
  await trx.updateTable('waypost_client').set(columns).where('id', '=', id).execute()
}

export async function findClient(system: System, id: string): Promise<ClientRecord | undefined> {
  if (!isUuid(id)) return undefined
  const row = await system.db.selectFrom('waypost_client').selectAll().where('id', '=', id).executeTakeFirst()
  return row && toClientRecord(row)
}

export function toClientRecord(row: SystemTables['waypost_client']): ClientRecord {
  const { id, name, status, user_id: userId, secret_hash: secretHash } = row
  const redirectUris = JSON.parse(row.redirect_uris) as string[]
  return {
    id,
    name,
    userId,
    secretHash,
    status,
    grants: splitScopes(row.grants),
    redirectUris,
    createdAt: row.created_at,
  }
}

/**
 * Loads the scopes that both a client and a user have. The login client has all scopes of its user, the clients of the
 * API reference and the portal all except those of administration, the client of the backend only those.
 */
export async function loadSharedScopes(system: System, clientId: string, userId: string): Promise<readonly string[]> {
  const owned = await loadUserScopes(system.db, userId)
  if (clientId === loginClientId) return owned
  if (clientId === docsClientId || clientId === portalClientId) return owned.filter((scope) => !isBackendScope(scope))
  if (clientId === backendClientId) return owned.filter(isBackendScope)
  const rows = await system.db
    .selectFrom('waypost_client_scope')
    .select('scope')
    .where('client_id', '=', clientId)
    .execute()
  return intersect(
    owned,
    rows.map((row) => row.scope),
  )
}

/** Whether a secret belongs to the client. Takes the same time for unknown clients. */
export function isClientSecret(client: ClientRecord | undefined, secret: string): boolean {
  const stored = client?.secretHash ?? sha256('no client has this secret')
  return timingSafeEqual(Buffer.from(sha256(secret)), Buffer.from(stored)) && client?.secretHash != null
}

/** The built-in public client of the API reference at `/docs`. A migration creates it. */
export const docsClientId = '00000000-0000-4000-8000-000000000002'

/**
 * The redirect path of the API reference, relative to the issuer. It is not `/docs` itself: only this page has a
 * `Cross-Origin-Opener-Policy` that keeps the window connected to the page that opened it.
 */
export const docsRedirectPath = '/docs/signed-in'

/** The built-in public client of the backend's pages. A migration creates it. */
export const backendClientId = '00000000-0000-4000-8000-000000000003'

/** The redirect path of the backend's pages, relative to the URL of the backend. */
export const backendRedirectPath = '/backend/ui/signed-in'

/** The built-in public client of the portal's pages. A migration creates it. */
export const portalClientId = '00000000-0000-4000-8000-000000000004'

/** The redirect path of the portal's pages, relative to the issuer. */
export const portalRedirectPath = '/portal/signed-in'

/**
 * Whether a client belongs to pages of Waypost that get codes without consent: the backend or the portal. Signing out
 * there also ends the session.
 */
export function isOwnPages(clientId: string): boolean {
  return clientId === backendClientId || clientId === portalClientId
}

/** The clients whose tokens act as the user, who logged in or uses the portal, and not as a program of someone. */
export const userClientIds: readonly string[] = [loginClientId, portalClientId]

/**
 * Loads the scopes that a user can grant to a client. Scopes of administration mean full control of the server; only
 * built-in clients and the user's own clients can get them.
 */
export async function loadGrantableScopes(
  system: System,
  client: Pick<ClientRecord, 'id' | 'userId'>,
  userId: string,
): Promise<readonly string[]> {
  const shared = await loadSharedScopes(system, client.id, userId)
  const isOwn = client.userId === null || client.userId === userId
  return isOwn ? shared : shared.filter((scope) => !isBackendScope(scope))
}

/** Whether a request can succeed for any user. Otherwise the user would log in for nothing. */
export async function couldSucceed(
  system: System,
  client: Pick<ClientRecord, 'id' | 'userId'>,
  requested: readonly string[] | undefined,
): Promise<boolean> {
  if (client.userId === null) return true // built-in clients have the scopes of their user
  const rows = await system.db
    .selectFrom('waypost_client_scope')
    .select('scope')
    .where('client_id', '=', client.id)
    .execute()
  return rows.some(({ scope }) => requested === undefined || requested.includes(scope))
}
