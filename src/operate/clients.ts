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
import type { Host } from '../host/index.ts'

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
  host: Host,
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
  const { id, secret } = await addClient(host.system, { ...client, user: owner.name })
  const { grants, redirectUris } = client
  return {
    client_id: id,
    ...(secret === undefined ? {} : { client_secret: secret }),
    scopes: client.scopes,
    grants,
    redirect_uris: redirectUris,
  }
}

/** Clients with redirect URIs use codes; those without act for their owner, which requires a secret. */
function chooseDefaultGrants({ redirectUris, public: isPublic }: Pick<NewClient, 'redirectUris' | 'public'>) {
  return [isPublic || redirectUris.length > 0 ? 'authorization_code' : 'client_credentials', 'refresh_token']
}

/** Replaces the secret of a client, given by id or name. @returns the secret, which cannot be shown again */
export async function renewHostClientSecret(
  { system }: Host,
  idOrName: string,
): Promise<{ client_id: string; client_secret: string; name: string }> {
  const client = await resolveClient(system, idOrName)
  return { client_id: client.id, client_secret: await renewClientSecret(system, client), name: client.name }
}

/** Disables or enables a client, given by id or name. */
export async function changeHostClientStatus(
  { system, clock }: Host,
  { client: idOrName, status }: { client: string; status: 'active' | 'disabled' },
): Promise<EndedAccess & { client_id: string; name: string }> {
  const { id, name } = await resolveClient(system, idOrName)
  return { client_id: id, name, ...(await setClientStatus(system, { id, status, now: clock.now() })) }
}
