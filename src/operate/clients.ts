import {
  addClient,
  checkClientParts,
  resolveClient,
  resolveUser,
  isBackendScope,
  loadUserScopes,
  renewClientSecret,
  setClientStatus,
  type EndedAccess,
  type NewClient,
} from '../auth/index.ts'
import { changeSystem, type ActingHost } from './change-system.ts'

export interface ClientRequest extends Omit<NewClient, 'scopes' | 'grants'> {
  readonly scopes: readonly string[] | undefined
  readonly grants: readonly string[] | undefined
}

/**
 * Adds a client. Scopes default to all scopes of its owner except those of administration; grants default to those that
 * match its redirect URIs.
 * @throws WP_AUTH_CLIENT_PARTS for a client that could never get a token
 */
export async function addHostClient(
  host: ActingHost,
  request: ClientRequest,
): Promise<{
  client_id: string
  client_secret?: string
  scopes: readonly string[]
  grants: readonly string[]
  redirect_uris: readonly string[]
}> {
  const owner = await resolveUser(host.system, request.user)
  const owned = await loadUserScopes(host.system.db, owner.id)
  const scopes = request.scopes ?? owned.filter((scope) => !isBackendScope(scope))
  // Operators can assign every grant, including `password`.
  const client = checkClientParts({ ...request, scopes, grants: request.grants ?? chooseDefaultGrants(request) }, [
    'password',
  ])
  const { name, grants, redirectUris } = client
  const parts = { scopes: client.scopes, grants, redirect_uris: redirectUris }
  return changeSystem(host, async (system, audit) => {
    const { id, secret } = await addClient(system, { ...client, user: owner.name })
    const after = { ...parts, user: owner.name, public: client.public }
    await audit({ action: 'client.add', subject: { id, name }, after })
    return { client_id: id, ...(secret === undefined ? {} : { client_secret: secret }), ...parts }
  })
}

/** Clients with redirect URIs use codes; those without act for their owner, which requires a secret. */
function chooseDefaultGrants({ redirectUris, public: isPublic }: Pick<NewClient, 'redirectUris' | 'public'>) {
  return [isPublic || redirectUris.length > 0 ? 'authorization_code' : 'client_credentials', 'refresh_token']
}

/** Replaces the secret of a client, given by id or name. @returns the secret, which cannot be shown again */
export async function renewHostClientSecret(
  host: ActingHost,
  idOrName: string,
): Promise<{ client_id: string; client_secret: string; name: string }> {
  return changeSystem(host, async (system, audit) => {
    const { id, name } = await resolveClient(system, idOrName)
    const secret = await renewClientSecret(system, { id, name })
    await audit({ action: 'client.secret', subject: { id, name } })
    return { client_id: id, client_secret: secret, name }
  })
}

/** Disables or enables a client, given by id or name. */
export async function changeHostClientStatus(
  host: ActingHost,
  { client: idOrName, status }: { client: string; status: 'active' | 'disabled' },
): Promise<EndedAccess & { client_id: string; name: string }> {
  return changeSystem(host, async (system, audit) => {
    const { id, name, status: before } = await resolveClient(system, idOrName)
    const ended = await setClientStatus(system, { id, status, now: host.clock.now() })
    const action = status === 'disabled' ? 'client.disable' : 'client.enable'
    await audit({ action, subject: { id, name }, before: { status: before }, after: { status, ...ended } })
    return { client_id: id, name, ...ended }
  })
}
