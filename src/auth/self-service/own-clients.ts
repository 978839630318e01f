import type { Transaction } from 'kysely'
import { makeSecret, makeUuid, isUuid } from '../../kit/index.ts'
import type { System, SystemTables } from '../../store/index.ts'
import { errors } from '../errors.ts'
import { assertClientName } from '../account/client-name.ts'
import { insertClient, grantTypes } from '../account/clients.ts'
import { splitScopes, checkScopes, isBackendScope } from '../account/scopes.ts'
import { checkRedirectUris } from '../account/redirect-uris.ts'

/** A client as its owner sees it. */
export interface OwnClient extends ClientParts {
  readonly id: string
  readonly name: string
  readonly status: 'active' | 'disabled'
  /** Whoever administers disabled it: its owner cannot enable it. */
  readonly isBarred: boolean
  readonly createdAt: number
}

/** Clients of a user at most. */
export const ownClientLimit = 50

type Db = Pick<System['db'], 'selectFrom'>

export async function listOwnClients(db: Db, userId: string): Promise<readonly OwnClient[]> {
  const clients = await selectClients(db, userId).orderBy('created_at').orderBy('id').execute()
  const given = Map.groupBy(await selectScopes(db, userId).execute(), (row) => row.client_id)
  return clients.map((row) => toOwnClient(row, given.get(row.id) ?? []))
}

/** @throws WP_AUTH_CLIENT_UNKNOWN, also for somebody else's */
export async function findOwnClient(db: Db, userId: string, id: string): Promise<OwnClient> {
  const row = isUuid(id) ? await selectClients(db, userId).where('id', '=', id).executeTakeFirst() : undefined
  if (row === undefined) throw errors.WP_AUTH_CLIENT_UNKNOWN({ client: id.slice(0, 64) })
  return toOwnClient(row, await selectScopes(db, userId).where('given.client_id', '=', id).execute())
}

/**
 * Adds a client of the user's own.
 * @returns it and, this once, its secret
 * @throws WP_AUTH_CLIENT_LIMIT, WP_AUTH_CLIENT_NAME, and what `assertMayGive` and `checkClientParts` throw
 */
export async function addOwnClient(
  system: System,
  owner: Owner,
  asked: ClientParts & { readonly name: string },
): Promise<{ client: OwnClient; secret: string | undefined }> {
  assertClientName(asked.name)
  const parts = checkClientParts(asked)
  assertMayGive(owner, parts.scopes)
  const id = makeUuid()
  const secret = parts.public ? undefined : makeSecret()
  return system.transaction(async (trx) => {
    await lockOwner(system, trx, owner.id)
    const { length } = await selectClients(trx, owner.id).execute()
    if (length >= ownClientLimit) throw errors.WP_AUTH_CLIENT_LIMIT({ limit: ownClientLimit })
    await insertClient(system, trx, { ...parts, id, userId: owner.id, secret })
    return { client: await findOwnClient(trx, owner.id, id), secret }
  })
}

/** Of two changes at once the second sees what the first did. A transaction that writes is alone on SQLite anyway. */
export async function lockOwner(system: System, trx: Transaction<SystemTables>, userId: string): Promise<void> {
  if (system.kind === 'sqlite') return
  await trx.selectFrom('waypost_user').select('id').where('id', '=', userId).forUpdate().execute()
}

function selectClients(db: Db, userId: string) {
  return db.selectFrom('waypost_client').selectAll().where('user_id', '=', userId)
}

function selectScopes(db: Db, userId: string) {
  return db
    .selectFrom('waypost_client_scope as given')
    .innerJoin('waypost_client as client', 'client.id', 'given.client_id')
    .select(['given.client_id', 'given.scope'])
    .where('client.user_id', '=', userId)
    .orderBy('given.scope')
}

function toOwnClient(row: SystemTables['waypost_client'], given: readonly { scope: string }[]): OwnClient {
  return {
    id: row.id,
    name: row.name,
    scopes: given.map(({ scope }) => scope),
    grants: splitScopes(row.grants),
    redirectUris: JSON.parse(row.redirect_uris) as string[],
    public: row.secret_hash === null,
    status: row.status,
    isBarred: row.status === 'disabled' && row.disabled_by !== 'owner',
    createdAt: row.created_at,
  }
}

/** Somebody at work on what is his own: what his token carries is all that he can give on. */
export interface Owner {
  readonly id: string
  readonly scopes: readonly string[]
}

/** What decides how far a client reaches. */
export interface ClientParts {
  readonly scopes: readonly string[]
  readonly grants: readonly string[]
  readonly redirectUris: readonly string[]
  readonly public: boolean
}

/**
 * Checks how the parts of a client go together.
 * @param held grants that the client has already; who administers may have given it one that its owner cannot
 * @throws WP_AUTH_GRANT_UNKNOWN, WP_AUTH_GRANT_RESERVED, WP_AUTH_CLIENT_PARTS, WP_AUTH_REDIRECT_URI, WP_AUTH_REDIRECT_URIS
 */
export function checkClientParts<Parts extends ClientParts>(parts: Parts, held: readonly string[] = []): Parts {
  const grants = [...new Set(parts.grants)]
  for (const grant of grants) {
    if (!(grantTypes as readonly string[]).includes(grant)) throw errors.WP_AUTH_GRANT_UNKNOWN({ grant })
    // Whoever makes such a client collects passwords of others.
    if (grant === 'password' && !held.includes(grant)) throw errors.WP_AUTH_GRANT_RESERVED({ grant })
  }
  const redirectUris = checkRedirectUris(parts.redirectUris)
  if (grants.includes('authorization_code') && redirectUris.length === 0) {
    throw errors.WP_AUTH_CLIENT_PARTS({ reason: 'authorization_code needs a redirect URI' })
  }
  if (grants.includes('client_credentials') && parts.public) {
    throw errors.WP_AUTH_CLIENT_PARTS({ reason: 'client_credentials needs a secret, but public clients have none' })
  }
  return { ...parts, grants, redirectUris, scopes: checkScopes(parts.scopes) }
}

/**
 * Nobody gives on what he lacks, and a login alone never gives scopes of administration to a client, which outlives it.
 * @throws WP_AUTH_SCOPE_RESERVED, WP_AUTH_SCOPE_NOT_CARRIED
 */
export function assertMayGive(owner: Owner, scopes: readonly string[]): void {
  const reserved = scopes.filter(isBackendScope)
  if (reserved.length > 0) throw errors.WP_AUTH_SCOPE_RESERVED({ scopes: list(reserved) })
  const lacked = scopes.filter((scope) => !owner.scopes.includes(scope))
  if (lacked.length > 0) throw errors.WP_AUTH_SCOPE_NOT_CARRIED({ scopes: list(lacked) })
}

/**
 * Whoever gets a client's secret, or its codes at another redirect URI, gets its scopes: a narrowed token must not come
 * to more in this way.
 * @throws WP_AUTH_SCOPE_RESERVED, WP_AUTH_SCOPE_NOT_CARRIED
 */
export function assertMayManage(owner: Owner, client: ClientParts, userScopes: readonly string[]): void {
  assertMayGive(
    owner,
    client.scopes.filter((scope) => isBackendScope(scope) || userScopes.includes(scope)),
  )
}

function list(scopes: readonly string[]): string {
  return scopes.slice(0, 10).join(', ').slice(0, 300)
}
