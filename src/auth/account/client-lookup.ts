import { makeFeedCache, type Change, type Feed, type System } from '../../store/index.ts'
import { toClientRecord, type ClientRecord, findClient } from './clients.ts'
import { isUuid, nearest } from '../../kit/index.ts'
import { errors } from '../errors.ts'

/** A client with the scopes that it can use as its owner. */
export interface KnownClient extends ClientRecord {
  readonly isOwnerActive: boolean
  /** The scopes that both the client and its owner have; empty for a client without an owner. */
  readonly ownScopes: readonly string[]
}

/** Finds clients, cached for use on every request. */
export interface ClientLookup {
  find(id: string): Promise<KnownClient | undefined>
  /** Reads the client from System, bypassing the cache. */
  read(id: string): Promise<KnownClient | undefined>
  close(): void
}

const cacheLimit = 10_000

/** @param feed invalidates cached clients; without it, every lookup is a query */
export function openClients(system: System, feed?: Feed): ClientLookup {
  const read = (id: string) => readClient(system, id)
  if (feed === undefined) return { find: read, read, close: () => undefined }
  const cache = makeFeedCache<KnownClient>({ feed, limit: cacheLimit, subjectsOf })
  return {
    find: async (id) => cache.get(id) ?? cache.load(id, () => read(id)),
    read,
    close: () => cache.close(),
  }
}

function subjectsOf({ id, userId }: KnownClient): Change[] {
  return [
    { kind: 'client', subject: id },
    { kind: 'user', subject: userId ?? '' },
  ]
}

async function readClient(system: System, id: string): Promise<KnownClient | undefined> {
  if (!isUuid(id)) return undefined
  const rows = await system.db
    .selectFrom('waypost_client as client')
    .leftJoin('waypost_user as owner', 'owner.id', 'client.user_id')
    .leftJoin('waypost_client_scope as given', 'given.client_id', 'client.id')
    .leftJoin('waypost_user_scope as owned', (join) =>
      join.onRef('owned.user_id', '=', 'client.user_id').onRef('owned.scope', '=', 'given.scope'),
    )
    .selectAll('client')
    .select(['owner.status as owner_status', 'owned.scope as shared'])
    .where('client.id', '=', id)
    .orderBy('owned.scope')
    .execute()
  const row = rows[0]
  if (row === undefined) return undefined
  return {
    ...toClientRecord(row),
    isOwnerActive: row.owner_status === 'active',
    ownScopes: rows.flatMap(({ shared }) => shared ?? []),
  }
}

/**
 * Finds a client by its id or its name.
 * @throws WP_AUTH_CLIENT_NO_MATCH naming the nearest, WP_AUTH_CLIENT_AMBIGUOUS if several have the name
 */
export async function resolveClient(system: System, idOrName: string): Promise<ClientRecord> {
  const byId = await findClient(system, idOrName)
  if (byId !== undefined) return byId
  const named = await system.db
    .selectFrom('waypost_client as client')
    .leftJoin('waypost_user as user', 'user.id', 'client.user_id')
    .select(['client.id', 'user.name as owner'])
    .where('client.name', '=', idOrName.replaceAll('\0', ''))
    .orderBy('client.id')
    .limit(10)
    .execute()
  if (named.length > 1) {
    throw errors.WP_AUTH_CLIENT_AMBIGUOUS({
      client: idOrName,
      ids: named.map(({ id, owner }) => `${id}${owner === null ? '' : ` of ${owner}`}`).join(', '),
    })
  }
  const [only] = named
  if (only !== undefined) return (await findClient(system, only.id))!
  const known = await system.db.selectFrom('waypost_client').select(['id', 'name']).orderBy('id').limit(1000).execute()
  const guess = nearest(
    idOrName,
    known.flatMap(({ id, name }) => [name, id]),
  )
  throw errors.WP_AUTH_CLIENT_NO_MATCH({
    client: idOrName.slice(0, 64),
    hint: guess === undefined ? 'List the clients with waypost client:list.' : `Did you mean "${guess}"?`,
  })
}
