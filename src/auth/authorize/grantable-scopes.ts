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
