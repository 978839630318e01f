import { isClientSecret, findClient, type ClientRecord } from './clients.ts'
import { OAuthError } from './errors.ts'
import type { System } from '../store/index.ts'

/** Parameters of a form-encoded OAuth2 request: each once, an empty one counts as absent. */
export type Form = Readonly<Record<string, string>>

/** Reads a parsed form. @throws OAuthError invalid_request for a repeated parameter */
export function readForm(body: unknown): Form {
  const form: Record<string, string> = {}
  for (const [name, value] of Object.entries((body ?? {}) as Record<string, unknown>)) {
    if (typeof value !== 'string') throw new OAuthError('invalid_request', `The parameter "${name}" stands more than once`)
    if (value !== '') form[name] = value
  }
  return form
}

/**
 * The client that a request to an OAuth2 endpoint authenticates as: by Basic (RFC 6749 §2.3.1, both halves
 * form-decoded) or in the body, never both. A public client names itself in the body.
 * @throws OAuthError invalid_client, invalid_request
 */
export async function authenticateClient(system: System, authorization: string | undefined, form: Form): Promise<ClientRecord> {
  const inBody = form['client_id'] !== undefined || form['client_secret'] !== undefined
  if (authorization !== undefined && form['client_secret'] !== undefined) {
    throw new OAuthError('invalid_request', 'The client authenticates twice: in the Authorization header and in the body')
  }
  if (authorization === undefined && !inBody) throw invalidClient('The client has to authenticate')
  const { id, secret } = authorization === undefined ? readBody(form) : readBasic(authorization)
  if (form['client_id'] !== undefined && form['client_id'] !== id) {
    throw new OAuthError('invalid_request', 'client_id is not the client of the Authorization header')
  }
  const client = await findClient(system, id)
  const isPublic = client !== undefined && client.secretHash === null
  const proven = isPublic ? secret === undefined : isClientSecret(client, secret ?? '')
  if (client === undefined || !proven || client.status !== 'active') throw invalidClient('Unknown client or wrong secret')
  return client
}

function readBody(form: Form): { id: string; secret: string | undefined } {
  return { id: form['client_id'] ?? '', secret: form['client_secret'] }
}

function readBasic(authorization: string): { id: string; secret: string } {
  const match = /^Basic +([A-Za-z0-9+/]+=*) *$/i.exec(authorization)
  const text = match === null ? '' : Buffer.from(match[1]!, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (colon < 0) throw invalidClient('The Authorization header is not of the form "Basic base64(id:secret)"')
  try {
    return { id: decodeForm(text.slice(0, colon)), secret: decodeForm(text.slice(colon + 1)) }
  } catch {
    throw invalidClient('The Authorization header is not form-encoded')
  }
}

function decodeForm(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '))
}

function invalidClient(description: string): OAuthError {
  return new OAuthError('invalid_client', description, {
    status: 401,
    headers: { 'www-authenticate': 'Basic realm="waypost", charset="UTF-8"' },
  })
}
