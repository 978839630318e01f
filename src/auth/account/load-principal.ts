import type { Principal } from '../../contract/index.ts'
import { isUuid } from '../../kit/index.ts'
import type { System } from '../../store/index.ts'
import { loginClientId } from './clients.ts'
import { loadUserScopes } from './users.ts'

/** Returns the principal of a user without a token, with all scopes of the user; undefined if the user may not act. */
export async function loadUserPrincipal({ guardDb }: System, id: string): Promise<Principal | undefined> {
  if (!isUuid(id)) return undefined
  const user = await guardDb
    .selectFrom('waypost_user')
    .select(['id', 'name'])
    .where('id', '=', id)
    .where('status', '=', 'active')
    .executeTakeFirst()
  if (user === undefined) return undefined
  return { user, client: { id: loginClientId }, scopes: await loadUserScopes(guardDb, id) }
}
