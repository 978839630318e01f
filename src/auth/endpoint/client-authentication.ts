import type { ClientLookup, KnownClient } from '../account/client-lookup.ts'
import { isClientSecret } from '../account/clients.ts'
import { invalidClient, OAuthError } from '../errors.ts'

/** Parameters of a form-encoded OAuth2 request: none is repeated, and empty ones count as absent. */
export type Form = Readonly<Record<string, string>>

/** Parameters that clients may repeat (RFC 8707 §2, RFC 8693 §2.1). */
const repeatableParameters: ReadonlySet<string> = new Set(['resource', 'audience'])

/** Converts a parsed form. @throws OAuthError invalid_request for a repeated parameter */
export function readForm(body: unknown): Form {
  const form = Object.create(null) as Record<string, string> // without a prototype, `__proto__` is an ordinary name
  for (const [name, value] of Object.entries((body ?? {}) as Record<string, unknown>)) {
    if (repeatableParameters.has(name)) continue
    if (typeof value !== 'string') {
      throw new OAuthError('invalid_request', `The parameter "${name}" is repeated`)
    }
    if (value !== '') form[name] = value
  }
  return form
}

/**
 * Authenticates the client of an OAuth2 request by Basic (RFC 6749 §2.3.1, both parts form-decoded) or in the body, but
 * not both. A public client sends only its id.
 * @throws OAuthError invalid_client, invalid_request
 */
export async function authenticateClient(
  clients: ClientLookup,
  authorization: string | undefined,
  form: Form,
): Promise<KnownClient> {
  const { id, secret } = authorization === undefined ? readBody(form) : readHeader(authorization, form)
  let client = await clients.find(id)
  // The secret may just have been renewed, so bypass the cache. An unknown client has already been looked up in System,
  // so a wrong secret takes the same time.
  if (client !== undefined && !isAuthenticated(client, secret)) client = await clients.read(id)
  if (!isAuthenticated(client, secret) || client?.status !== 'active')
    throw invalidClient('Unknown client or wrong secret')
  return client
}

function isAuthenticated(client: KnownClient | undefined, secret: string | undefined): boolean {
  const isPublic = client !== undefined && client.secretHash === null
  return isPublic ? secret === undefined : isClientSecret(client, secret ?? '')
}

interface Credentials {
  readonly id: string
  readonly secret: string | undefined
}

function readBody(form: Form): Credentials {
  if (form['client_id'] === undefined) throw invalidClient('Client authentication is required')
  return { id: form['client_id'], secret: form['client_secret'] }
}

function readHeader(authorization: string, form: Form): Credentials {
  if (form['client_secret'] !== undefined) {
    throw new OAuthError(
      'invalid_request',
      'The client credentials were sent twice: in the Authorization header and in the body',
    )
  }
  // Valid credentials contain no comma; one means that two headers were joined.
  if (authorization.includes(',')) {
    throw new OAuthError('invalid_request', 'The Authorization header is repeated')
  }
  const credentials = parseBasic(authorization)
  if (credentials === undefined) {
    throw invalidClient(
      'The Authorization header must have the form Basic BASE64(ID:SECRET), with ID and SECRET form-encoded',
    )
  }
  if (form['client_id'] !== undefined && form['client_id'] !== credentials.id) {
    throw new OAuthError('invalid_request', 'client_id does not match the client in the Authorization header')
  }
  return credentials
}

/** Parses an Authorization header with the scheme Basic; undefined if it is not one. */
export function parseBasic(authorization: string): Credentials | undefined {
  const match = /^Basic +([A-Za-z0-9+/]+=*) *$/i.exec(authorization)
  const text = match === null ? '' : Buffer.from(match[1]!, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (colon < 0) return undefined
  try {
    return { id: decodeForm(text.slice(0, colon)), secret: decodeForm(text.slice(colon + 1)) || undefined }
  } catch {
    return undefined
  }
}

function decodeForm(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '))
}
