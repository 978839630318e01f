import { variable, type Variables } from '../../../kit/index.ts'
import { loadFetch } from '../../../outbound/index.ts'
import { errors } from './errors.ts'
import { printable } from './check-response.ts'
import { sendToServer, type RemoteResponse } from './send.ts'

/** The credentials of requests. */
export interface Access {
  readonly token: string
  /** Whether the token was given in the environment, for errors. */
  readonly isProvided: boolean
  /** Uses the proxies of the environment. */
  readonly fetch: typeof globalThis.fetch
  /** Revokes a token that was requested for this. Failures are ignored. */
  close(): Promise<void>
}

interface Client {
  readonly id: string
  readonly secret: string
  /** The names of the variables with both, and with a token. */
  readonly names: { readonly id: string; readonly secret: string; readonly token: string }
}

interface SendingClient extends Client {
  readonly fetch: typeof globalThis.fetch
}

/** The requested scopes. A client with only the first one gets that, which is enough for a plan. */
const requestedScopes = 'backend.read backend.deploy'

/** The server to deploy to, or the one that a release is copied from. Neither gets the credentials of the other. */
export type ServerRole = 'target' | 'source'

/**
 * Returns the token of `WAYPOST_TOKEN`, or requests one for the client of `WAYPOST_CLIENT_ID`. For a source, the names
 * begin with `WAYPOST_FROM_`.
 * @throws WP_PROJECT_REMOTE_CREDENTIALS, WP_PROJECT_REMOTE_CLIENT, WP_PROJECT_REMOTE_SCOPE, WP_OUTBOUND_PROXY
 */
export async function openAccess(server: string, variables: Variables, role: ServerRole = 'target'): Promise<Access> {
  const prefix = role === 'target' ? 'WAYPOST_' : 'WAYPOST_FROM_'
  const token = variable(variables, `${prefix}TOKEN`)
  const fetch = await loadFetch(variables)
  if (token !== undefined) return { token, isProvided: true, fetch, close: async () => undefined }
  const client = { ...readClient(server, variables, prefix), fetch }
  const issued = await requestToken(server, client)
  return {
    token: issued,
    isProvided: false,
    fetch,
    close: () => revokeToken(server, client, issued),
  }
}

function readClient(server: string, variables: Variables, prefix: string): Client {
  const names = { id: `${prefix}CLIENT_ID`, secret: `${prefix}CLIENT_SECRET`, token: `${prefix}TOKEN` }
  const id = variable(variables, names.id)
  const secret = variable(variables, names.secret)
  if (id !== undefined && secret !== undefined) return { id, secret, names }
  throw errors.WP_PROJECT_REMOTE_CREDENTIALS({ server, ...names, missing: id === undefined ? names.id : names.secret })
}

async function requestToken(server: string, client: SendingClient): Promise<string> {
  const response = await sendToServer({
    server,
    path: '/authorization/token',
    method: 'POST',
    headers: { authorization: basic(client) },
    fetch: client.fetch,
    form: { grant_type: 'client_credentials', scope: requestedScopes },
  })
  const body = (response.body ?? {}) as Readonly<Record<string, unknown>>
  const token = body['access_token']
  if (response.status === 200 && typeof token === 'string' && /^[\w.~+/=-]+$/.test(token)) return token
  throw errorOf(server, client, { response, body })
}

interface TokenProblem {
  readonly response: RemoteResponse
  readonly body: Readonly<Record<string, unknown>>
}

function errorOf(server: string, { id, names }: Client, { response, body }: TokenProblem): Error {
  const { status, headers } = response
  const reason = printable(body['error_description']) || printable(body['error'])
  if (status === 429 || status === 503) {
    const seconds = Number(headers.get('retry-after')) || 10
    return errors.WP_PROJECT_REMOTE_LATER({ server, reason: reason || `it responded with ${status}`, seconds })
  }
  if (typeof body['error'] !== 'string') {
    return errors.WP_PROJECT_REMOTE_NO_WAYPOST({ server, reason: `/authorization/token responded with ${status}` })
  }
  if (body['error'] === 'invalid_scope') {
    const scopes = requestedScopes.replace(' ', ',')
    return errors.WP_PROJECT_REMOTE_SCOPE({ server, reason: 'the client does not have the scopes', scopes })
  }
  return errors.WP_PROJECT_REMOTE_CLIENT({ server, client: printable(id, 64), reason, ...names })
}

const revokeTimeoutMs = 3000

async function revokeToken(server: string, client: SendingClient, token: string): Promise<void> {
  const form = { token, token_type_hint: 'access_token' }
  const headers = { authorization: basic(client) }
  const revoking = {
    server,
    path: '/authorization/revoke',
    method: 'POST',
    headers,
    form,
    timeoutMs: revokeTimeoutMs,
    fetch: client.fetch,
  } as const
  await sendToServer(revoking).catch(() => undefined) // it expires within the hour
}

/** RFC 6749 §2.3.1: each half is form-encoded. */
function basic({ id, secret }: Client): string {
  const text = [id, secret].map((half) => encodeURIComponent(half)).join(':')
  return `Basic ${Buffer.from(text).toString('base64')}`
}
