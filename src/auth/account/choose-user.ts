import type { System } from '../../store/index.ts'
import { isUuid } from './is-uuid.ts'
import { findUser, type UserRecord } from './users.ts'

/**
 * The user that somebody means by its id, as it stands in tokens and logs, or its name. The id comes first: nobody
 * takes another user's place by a name that looks like its id.
 * @throws WP_AUTH_USER_UNKNOWN naming the nearest
 */
export async function chooseUser(system: System, idOrName: string): Promise<UserRecord> {
  const users = system.db.selectFrom('waypost_user').select(['id', 'name', 'status'])
  const byId = isUuid(idOrName) ? await users.where('id', '=', idOrName).executeTakeFirst() : undefined
  return byId ?? findUser(system, idOrName)
}
