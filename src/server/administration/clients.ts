import { addClient, backendScopes, findUser, loadUserScopes, type NewClient } from '../../auth/index.ts'
import type { Host } from '../host.ts'

/** Adds a client. Without scopes it gets all that its owner has, but those of administration. */
export async function addHostClient(
  host: Host,
  request: Omit<NewClient, 'scopes'> & { scopes: readonly string[] | undefined },
): Promise<{ client_id: string; client_secret?: string; scopes: readonly string[] }> {
  const owner = await findUser(host.system, request.user)
  const owned = await loadUserScopes(host.system.db, owner.id)
  const scopes = request.scopes ?? owned.filter((scope) => !(backendScopes as readonly string[]).includes(scope))
  const { id, secret } = await addClient(host.system, { ...request, scopes })
  return { client_id: id, ...(secret === undefined ? {} : { client_secret: secret }), scopes }
}
