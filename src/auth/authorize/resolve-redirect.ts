import { PageError } from '../errors.ts'
import type { System } from '../../store/index.ts'
import {
  backendClientId,
  backendRedirectPath,
  docsClientId,
  docsRedirectPath,
  findClient,
  isOwnPages,
  portalClientId,
  portalRedirectPath,
  type ClientRecord,
} from '../account/clients.ts'
import { isRedirectUri, loopbackHosts, isSameRedirectUri } from '../account/redirect-uris.ts'
import { parseQuery, type QueryParameters } from './query-parameters.ts'

/** An authorization request with a known client and redirect URI. */
export interface RedirectableRequest {
  /** The original query, for redirects to the same request. */
  readonly query: string
  readonly parameters: QueryParameters
  readonly client: ClientRecord
  readonly redirectUri: string
  /** Whether the request contained a redirect URI. If so, the token request must contain it too (RFC 6749 §4.1.3). */
  readonly hasRedirectUri: boolean
}

export interface RedirectOptions {
  readonly system: System
  /** The base of the redirect URIs of the API reference and the portal. */
  readonly issuer: string
  /** In development, the pages of this server can be reached by any name of this machine. */
  readonly isDevelopment: boolean
  /** The URL below which the backend is; undefined if it is off. */
  readonly backendUrl: string | undefined
  /** Whether the portal is on. */
  readonly hasPortal: boolean
  /** The host of the request, with its port. */
  readonly host: string
}

/**
 * Finds client and redirect URI of a request. Until both are valid, the browser must not be redirected (RFC 6749
 * §4.1.2.1).
 * @throws PageError
 */
export async function resolveRedirect(options: RedirectOptions, query: string): Promise<RedirectableRequest> {
  const parameters = parseQuery(query)
  const client = await findActiveClient(options.system, parameters)
  const uris = redirectUrisOf(client, options)
  const requested = singleValue(parameters, 'redirect_uri')
  const redirectUri = requested ?? defaultRedirectUri(uris)
  // These pages get codes without consent, so another port of this machine must not get them.
  const isSame = isOwnPages(client.id) ? (uri: string) => uri === redirectUri : isSameUri(redirectUri)
  if (!isRedirectUri(redirectUri) || !uris.some(isSame)) {
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

function isSameUri(redirectUri: string): (uri: string) => boolean {
  return (uri) => isSameRedirectUri(redirectUri, uri)
}

/** Returns the redirect URIs of a client. Those of this server's pages depend on its URL. */
export function redirectUrisOf(
  client: Pick<ClientRecord, 'id' | 'redirectUris'>,
  { issuer, isDevelopment, backendUrl, hasPortal, host }: Omit<RedirectOptions, 'system'>,
): readonly string[] {
  const here = isDevelopment ? [`http://${host}`] : []
  if (client.id === backendClientId) {
    return backendUrl === undefined ? [] : [backendUrl, ...here].map((base) => base + backendRedirectPath)
  }
  if (client.id === portalClientId) return hasPortal ? [issuer, ...here].map((base) => base + portalRedirectPath) : []
  if (client.id !== docsClientId) return client.redirectUris
  const local = isDevelopment ? loopbackHosts.map((host) => `http://${host}`) : []
  return [issuer, ...local].map((base) => base + docsRedirectPath)
}

async function findActiveClient(system: System, parameters: QueryParameters): Promise<ClientRecord> {
  const id = singleValue(parameters, 'client_id')
  const hint = 'Go back to the app and report the problem to its developer.'
  if (id === undefined)
    throw new PageError('The request does not name an app', 'The parameter client_id is missing.', { hint })
  const client = await findClient(system, id)
  if (client === undefined) throw new PageError('Unknown app', 'No app is registered with this client_id.', { hint })
  if (client.status === 'active') return client
  throw new PageError('This app is disabled', 'The app can no longer access your account.', {
    hint: 'An administrator of this server can enable it again.',
  })
}

function singleValue(parameters: QueryParameters, name: 'client_id' | 'redirect_uri'): string | undefined {
  if (parameters.repeated.has(name)) {
    throw new PageError('This request is not valid', `The parameter ${name} is repeated.`)
  }
  return parameters.text(name)
}

function defaultRedirectUri(uris: readonly string[]): string {
  const [uri] = uris
  if (uri !== undefined && uris.length === 1) return uri
  throw new PageError('The redirect address of this app is not valid', 'The parameter redirect_uri is missing.', {
    hint: 'App developers: redirect_uri can only be omitted if exactly one redirect URI is registered.',
  })
}
