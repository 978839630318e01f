import {
  addClient,
  chooseClient,
  findUser,
  isBackendScope,
  listClients,
  loadUserScopes,
  renewClientSecret,
  setClientStatus,
  type EndedAccess,
  type ListedClient,
  type NewClient,
} from '../../auth/index.ts'
import type { Host } from '../host.ts'

/** Adds a client. Without scopes it gets all that its owner has, but those of administration. */
export async function addHostClient(
  host: Host,
  request: Omit<NewClient, 'scopes'> & { scopes: readonly string[] | undefined },
): Promise<{ client_id: string; client_secret?: string; scopes: readonly string[] }> {
  const owner = await findUser(host.system, request.user)
  const owned = await loadUserScopes(host.system.db, owner.id)
  const scopes = request.scopes ?? owned.filter((scope) => !isBackendScope(scope))
  const { id, secret } = await addClient(host.system, { ...request, scopes })
  return { client_id: id, ...(secret === undefined ? {} : { client_secret: secret }), scopes }
}

/** Clients by name, of all users or of one. */
export async function listHostClients(
  { system }: Host,
  { user, limit }: { user?: string | undefined; limit: number },
): Promise<readonly ListedClient[]> {
  const userId = user === undefined ? undefined : (await findUser(system, user)).id
  return listClients(system, { userId, limit })
}

/** Gives a client, by its id or name, another secret. @returns it, this once */
export async function renewHostClientSecret(
  { system }: Host,
  idOrName: string,
): Promise<{ client_id: string; client_secret: string; name: string }> {
  const client = await chooseClient(system, idOrName)
  return { client_id: client.id, client_secret: await renewClientSecret(system, client), name: client.name }
}

/** Disables or enables a client, by its id or name. */
export async function changeHostClientStatus(
  { system, clock }: Host,
  { client: idOrName, status }: { client: string; status: 'active' | 'disabled' },
): Promise<EndedAccess & { client_id: string; name: string }> {
  const { id, name } = await chooseClient(system, idOrName)
  return { client_id: id, name, ...(await setClientStatus(system, { id, status, now: clock.now() })) }
}
