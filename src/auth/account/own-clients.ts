import type { Transaction } from 'kysely'
import { makeSecret, makeUuid } from '../../kit/index.ts'
import type { System, SystemTables } from '../../store/index.ts'
import { errors } from '../errors.ts'
import { assertClientName } from './client-name.ts'
import { insertClient } from './clients.ts'
import { isUuid } from './is-uuid.ts'
import { assertMayGive, checkClientParts, type ClientParts, type Owner } from './own-client-rules.ts'
import { splitScopes } from './scopes.ts'

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
