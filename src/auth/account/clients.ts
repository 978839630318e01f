import { timingSafeEqual } from 'node:crypto'
import type { Transaction } from 'kysely'
import { makeSecret, makeUuid, sha256, isUuid } from '../../kit/index.ts'
import type { System, SystemTables } from '../../store/index.ts'
import { errors } from '../errors.ts'
import { assertClientName } from './client-name.ts'
import { checkRedirectUris } from './redirect-uris.ts'
import { checkScopes, intersect, isBackendScope, splitScopes } from './scopes.ts'
import { findUser, loadUserScopes } from './users.ts'

/** Every login token belongs to this public client; it stands in System from the start. */
export const loginClientId = '00000000-0000-4000-8000-000000000001'

export const grantTypes = ['client_credentials', 'refresh_token', 'authorization_code', 'password'] as const
export type GrantType = (typeof grantTypes)[number]

export interface ClientRecord {
  readonly id: string
  readonly name: string
  /** The owner; null for the login client. */
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
  /** Name of the owner, as whom client_credentials acts. */
  readonly user: string
  readonly scopes: readonly string[]
  readonly grants: readonly string[]
  readonly redirectUris: readonly string[]
  /** Has no secret. */
  readonly public: boolean
}

/**
 * Adds an OAuth2 client.
 * @returns its id and, this once, its secret
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
  const lacked = scopes.filter((scope) => !owned.includes(scope))
  if (lacked.length > 0) throw errors.WP_AUTH_SCOPE_LACKED({ user: owner.name, scopes: lacked.join(',') })
  const id = makeUuid()
  const secret = client.public ? undefined : makeSecret()
  const { name, grants } = client
  await system.transaction((trx) =>
    insertClient(system, trx, { id, userId: owner.id, secret, name, scopes, grants, redirectUris }),
  )
  return { id, secret }
}

/** Stores a client that was checked. */
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

export async function insertClientScopes(
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

/** What a client and a user share; the login client passes on all that its user has, the reference all but administration. */
export async function loadSharedScopes(system: System, clientId: string, userId: string): Promise<readonly string[]> {
  const owned = await loadUserScopes(system.db, userId)
  if (clientId === loginClientId) return owned
  if (clientId === docsClientId) return owned.filter((scope) => !isBackendScope(scope))
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

/** Whether a secret is the client's; takes as long for a client that there is not. */
export function isClientSecret(client: ClientRecord | undefined, secret: string): boolean {
  const stored = client?.secretHash ?? sha256('no client has this secret')
  return timingSafeEqual(Buffer.from(sha256(secret)), Buffer.from(stored)) && client?.secretHash != null
}

/** The public client that the reference at `/docs` authorizes as; it stands in System from the start. */
export const docsClientId = '00000000-0000-4000-8000-000000000002'

/**
 * Where the reference is given its code, below the issuer: not `/docs` itself, since the window that asked must still
 * reach the one that was opened, which `Cross-Origin-Opener-Policy` forbids to every page but this one.
 */
export const docsRedirectPath = '/docs/signed-in'

/**
 * What a user can let a client do. Scopes of administration mean full control of the server: only a client that is
 * built in or the user's own gets them.
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

/** Whether a request can come to anything at all, whoever its user is: nobody logs in for nothing. */
export async function mayAskFor(
  system: System,
  client: Pick<ClientRecord, 'id' | 'userId'>,
  requested: readonly string[] | undefined,
): Promise<boolean> {
  if (client.userId === null) return true // what is built in has what its user has
  const rows = await system.db
    .selectFrom('waypost_client_scope')
    .select('scope')
    .where('client_id', '=', client.id)
    .execute()
  return rows.some(({ scope }) => requested === undefined || requested.includes(scope))
}
