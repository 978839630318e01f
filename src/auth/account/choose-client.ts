import { nearest } from '../../kit/index.ts'
import type { System } from '../../store/index.ts'
import { errors } from '../errors.ts'
import { findClient, type ClientRecord } from './clients.ts'

/**
 * The client that somebody means by its id or its name.
 * @throws WP_AUTH_CLIENT_NO_MATCH naming the nearest, WP_AUTH_CLIENT_AMBIGUOUS where several have the name
 */
export async function chooseClient(system: System, idOrName: string): Promise<ClientRecord> {
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
    hint: guess === undefined ? 'waypost client:list shows those that there are.' : `Did you mean "${guess}"?`,
  })
}
