import { PageError } from '../errors.ts'
import type { System } from '../../store/index.ts'
import { findClient, type ClientRecord, docsClientId, docsRedirectPath } from '../account/clients.ts'
import { isRedirectUri, loopbackHosts, isSameRedirectUri } from '../account/redirect-uris.ts'
import { parseQuery, type QueryParameters } from './query-parameters.ts'

/** An authorization request whose answer has somewhere to go. */
export interface AddressedRequest {
  /** As it came, to be asked again. */
  readonly query: string
  readonly parameters: QueryParameters
  readonly client: ClientRecord
  readonly redirectUri: string
  /** Whether the request named it; if so, the token request has to (RFC 6749 §4.1.3). */
  readonly hasRedirectUri: boolean
}

export interface AddressOptions {
  readonly system: System
  /** Below it is the redirect URI of the reference. */
  readonly issuer: string
  /** The reference may be reached by any name of this machine. */
  readonly isDevelopment: boolean
}

/**
 * Finds out who asks and where the answer goes. Until both are sure nobody is redirected (RFC 6749 §4.1.2.1).
 * @throws PageError
 */
export async function addressRequest(options: AddressOptions, query: string): Promise<AddressedRequest> {
  const parameters = parseQuery(query)
  const client = await findActiveClient(options.system, parameters)
  const uris = redirectUrisOf(client, options)
  const requested = once(parameters, 'redirect_uri')
  const redirectUri = requested ?? onlyOne(uris)
  if (!isRedirectUri(redirectUri) || !uris.some((uri) => isSameRedirectUri(redirectUri, uri))) {
    throw new PageError(
      'The redirect address of this app is not valid',
      'The app asked to send you back to an address that is not registered for it.',
      {
        hint: 'App developers: redirect_uri must exactly match a registered redirect URI.',
      },
    )
  }
  return { query, parameters, client, redirectUri, hasRedirectUri: requested !== undefined }
}

/** The redirect URIs that a client registered; that of the reference follows from where the server is. */
export function redirectUrisOf(
  client: Pick<ClientRecord, 'id' | 'redirectUris'>,
  { issuer, isDevelopment }: Omit<AddressOptions, 'system'>,
): readonly string[] {
  if (client.id !== docsClientId) return client.redirectUris
  const local = isDevelopment ? loopbackHosts.map((host) => `http://${host}`) : []
  return [issuer, ...local].map((base) => base + docsRedirectPath)
}

async function findActiveClient(system: System, parameters: QueryParameters): Promise<ClientRecord> {
  const id = once(parameters, 'client_id')
  const hint = 'Go back to the app and report the problem to its developer.'
  if (id === undefined)
    throw new PageError('The app is missing in the request', 'The parameter client_id is missing.', { hint })
  const client = await findClient(system, id)
  if (client === undefined) throw new PageError('Unknown app', 'No app is registered with this client_id.', { hint })
  if (client.status === 'active') return client
  throw new PageError('This app is disabled', 'The app can no longer access your account.', {
    hint: 'An administrator of this server can enable it again.',
  })
}

function once(parameters: QueryParameters, name: 'client_id' | 'redirect_uri'): string | undefined {
  if (parameters.repeated.has(name)) {
    throw new PageError('This request is not valid', `The parameter ${name} is repeated.`)
  }
  return parameters.text(name)
}

function onlyOne(uris: readonly string[]): string {
  const [uri] = uris
  if (uri !== undefined && uris.length === 1) return uri
  throw new PageError('The redirect address of this app is not valid', 'The parameter redirect_uri is missing.', {
    hint: 'App developers: redirect_uri can only be omitted if exactly one redirect URI is registered.',
  })
}
