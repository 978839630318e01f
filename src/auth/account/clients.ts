import { timingSafeEqual } from 'node:crypto'
import { makeSecret, makeUuid, sha256 } from '../../kit/index.ts'
import type { System, SystemTables } from '../../store/index.ts'
import { errors } from '../errors.ts'
import { isUuid } from './is-uuid.ts'
import { checkScopes, intersect, splitScopes } from './scopes.ts'
import { findUser, loadUserScopes } from './users.ts'

/** Every login token belongs to this public client; it stands in System from the start. */
export const loginClientId = '00000000-0000-4000-8000-000000000001'

export const grantTypes = ['client_credentials', 'refresh_token', 'authorization_code', 'password'] as const

export interface ClientRecord {
  readonly id: string
  readonly name: string
  /** The owner; null for the login client. */
  readonly userId: string | null
  readonly secretHash: string | null
  readonly grants: readonly string[]
  readonly redirectUris: readonly string[]
  readonly status: 'active' | 'disabled'
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
 * @throws WP_AUTH_USER_UNKNOWN, WP_AUTH_SCOPE_LACKED, WP_AUTH_GRANT_UNKNOWN, WP_AUTH_NAME
 */
export async function addClient(
  system: System,
  client: NewClient,
): Promise<{ id: string; secret: string | undefined }> {
  if (!/^[^\p{Cc}]{1,64}$/u.test(client.name)) throw errors.WP_AUTH_NAME({ name: client.name })
  const unknown = client.grants.find((grant) => !(grantTypes as readonly string[]).includes(grant))
  if (unknown !== undefined) throw errors.WP_AUTH_GRANT_UNKNOWN({ grant: unknown })
  const owner = await findUser(system, client.user)
  const scopes = checkScopes(client.scopes)
  const owned = await loadUserScopes(system.db, owner.id)
  const lacked = scopes.filter((scope) => !owned.includes(scope))
  if (lacked.length > 0) throw errors.WP_AUTH_SCOPE_LACKED({ user: owner.name, scopes: lacked.join(',') })
  const id = makeUuid()
  const secret = client.public ? undefined : makeSecret()
  await system.transaction(async (trx) => {
    await trx
      .insertInto('waypost_client')
      .values({
        id,
        name: client.name,
        user_id: owner.id,
        secret_hash: secret === undefined ? null : sha256(secret),
        grants: [...new Set(client.grants)].join(' '),
        redirect_uris: JSON.stringify(client.redirectUris),
        status: 'active',
        created_at: system.now(),
      })
      .execute()
    if (scopes.length > 0) {
      await trx
        .insertInto('waypost_client_scope')
        .values(scopes.map((scope) => ({ client_id: id, scope })))
        .execute()
    }
  })
  return { id, secret }
}

export async function findClient(system: System, id: string): Promise<ClientRecord | undefined> {
  if (!isUuid(id)) return undefined
  const row = await system.db.selectFrom('waypost_client').selectAll().where('id', '=', id).executeTakeFirst()
  return row && toClientRecord(row)
}

export function toClientRecord(row: SystemTables['waypost_client']): ClientRecord {
  const { id, name, status, user_id: userId, secret_hash: secretHash } = row
  const redirectUris = JSON.parse(row.redirect_uris) as string[]
  return { id, name, userId, secretHash, status, grants: splitScopes(row.grants), redirectUris }
}

/** What a client and a user share; the login client passes on all that its user has. */
export async function loadSharedScopes(system: System, clientId: string, userId: string): Promise<readonly string[]> {
  const owned = await loadUserScopes(system.db, userId)
  if (clientId === loginClientId) return owned
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
