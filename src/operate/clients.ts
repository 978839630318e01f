import {
  addClient,
  checkClientParts,
  chooseClient,
  chooseUser,
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
 * Adds a client. Without scopes it gets all that its owner has, but those of administration; without grants those that
 * go with what it is.
 * @throws WP_AUTH_CLIENT_PARTS for one that could never get a token
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
  const owner = await chooseUser(host.system, request.user)
  const owned = await loadUserScopes(host.system.db, owner.id)
  const scopes = request.scopes ?? owned.filter((scope) => !isBackendScope(scope))
  // The operator may give every grant, that of passwords too.
  const client = checkClientParts({ ...request, scopes, grants: request.grants ?? chooseGrants(request) }, ['password'])
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

/** Users come back to a redirect URI; whoever has none speaks for its owner, which takes a secret. */
function chooseGrants({ redirectUris, public: isPublic }: Pick<NewClient, 'redirectUris' | 'public'>) {
  return [isPublic || redirectUris.length > 0 ? 'authorization_code' : 'client_credentials', 'refresh_token']
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
