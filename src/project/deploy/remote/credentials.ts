import { variable, type Variables } from '../../../kit/index.ts'
import { errors } from './errors.ts'
import { printable } from './check-answer.ts'
import { sendToServer, type ServerAnswer } from './send.ts'

/** The credentials of requests. */
export interface Access {
  readonly token: string
  /** Whether the token was given in the environment, for errors. */
  readonly isProvided: boolean
  /** Revokes a token that was requested for this. Failures are ignored. */
  close(): Promise<void>
}

interface Client {
  readonly id: string
  readonly secret: string
}

/** The requested scopes. A client with only the first one gets that, which is enough for a plan. */
const requestedScopes = 'backend.read backend.deploy'

/**
 * Returns the token of `WAYPOST_TOKEN`, or requests one for the client of `WAYPOST_CLIENT_ID`.
 * @throws WP_PROJECT_REMOTE_CREDENTIALS, WP_PROJECT_REMOTE_CLIENT, WP_PROJECT_REMOTE_SCOPE
 */
export async function openAccess(server: string, variables: Variables): Promise<Access> {
  const token = variable(variables, 'WAYPOST_TOKEN')
  if (token !== undefined) return { token, isProvided: true, close: async () => undefined }
  const client = readClient(server, variables)
  const issued = await requestToken(server, client)
  return {
    token: issued,
    isProvided: false,
    close: () => revokeToken(server, client, issued),
  }
}

function readClient(server: string, variables: Variables): Client {
  const id = variable(variables, 'WAYPOST_CLIENT_ID')
  const secret = variable(variables, 'WAYPOST_CLIENT_SECRET')
  if (id !== undefined && secret !== undefined) return { id, secret }
  const missing = id === undefined ? 'WAYPOST_CLIENT_ID' : 'WAYPOST_CLIENT_SECRET'
  throw errors.WP_PROJECT_REMOTE_CREDENTIALS({ server, missing })
}

async function requestToken(server: string, client: Client): Promise<string> {
  const answer = await sendToServer({
    server,
    path: '/authorization/token',
    method: 'POST',
    headers: { authorization: basic(client) },
    form: { grant_type: 'client_credentials', scope: requestedScopes },
  })
  const body = (answer.body ?? {}) as Readonly<Record<string, unknown>>
  const token = body['access_token']
  if (answer.status === 200 && typeof token === 'string' && /^[\w.~+/=-]+$/.test(token)) return token
  throw errorOf(server, client, { answer, body })
}

interface TokenProblem {
  readonly answer: ServerAnswer
  readonly body: Readonly<Record<string, unknown>>
}

function errorOf(server: string, { id }: Client, { answer, body }: TokenProblem): Error {
  const { status, headers } = answer
  const reason = printable(body['error_description']) || printable(body['error'])
  if (status === 429 || status === 503) {
    const seconds = Number(headers.get('retry-after')) || 10
    return errors.WP_PROJECT_REMOTE_LATER({ server, reason: reason || `it answered ${status}`, seconds })
  }
  if (typeof body['error'] !== 'string') {
    return errors.WP_PROJECT_REMOTE_NO_WAYPOST({ server, answer: `/authorization/token answered ${status}` })
  }
  if (body['error'] === 'invalid_scope') {
    const scopes = requestedScopes.replace(' ', ',')
    return errors.WP_PROJECT_REMOTE_SCOPE({ server, reason: 'the client does not have the scopes', scopes })
  }
  return errors.WP_PROJECT_REMOTE_CLIENT({ server, client: printable(id, 64), reason })
}

const revokeTimeoutMs = 3000

async function revokeToken(server: string, client: Client, token: string): Promise<void> {
  const form = { token, token_type_hint: 'access_token' }
  const headers = { authorization: basic(client) }
  const revoking = {
    server,
    path: '/authorization/revoke',
    method: 'POST',
    headers,
    form,
    timeoutMs: revokeTimeoutMs,
  } as const
  await sendToServer(revoking).catch(() => undefined) // it expires within the hour
}

/** RFC 6749 §2.3.1: each half is form-encoded. */
function basic({ id, secret }: Client): string {
  const text = [id, secret].map((half) => encodeURIComponent(half)).join(':')
  return `Basic ${Buffer.from(text).toString('base64')}`
}
