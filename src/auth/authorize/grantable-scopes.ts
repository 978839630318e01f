import type { System } from '../../store/index.ts'
import { loadSharedScopes, type ClientRecord } from '../account/clients.ts'
import { isBackendScope } from '../account/scopes.ts'

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
