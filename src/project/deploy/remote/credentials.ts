import { variable, type Variables } from '../../../kit/index.ts'
import { errors } from './errors.ts'
import { printable } from './check-answer.ts'
import { sendToServer, type ServerAnswer } from './send.ts'

/** What requests are sent with. */
export interface Access {
  readonly token: string
  /** Says whose the token is, for errors. */
  readonly isGiven: boolean
  /** Gives back a token that was made for this; that it cannot be does no harm. */
  close(): Promise<void>
}

interface Client {
  readonly id: string
  readonly secret: string
}

/** Scopes that are asked for: a client that has only the first one gets that, which is enough for a plan. */
const wanted = 'backend.read backend.deploy'

/**
 * The token of `WAYPOST_TOKEN`, or one that the server gives to the client of `WAYPOST_CLIENT_ID`.
 * @throws WP_PROJECT_REMOTE_CREDENTIALS, WP_PROJECT_REMOTE_CLIENT, WP_PROJECT_REMOTE_SCOPE
 */
export async function openAccess(server: string, variables: Variables): Promise<Access> {
  const token = variable(variables, 'WAYPOST_TOKEN')
  if (token !== undefined) return { token, isGiven: true, close: async () => undefined }
  const client = readClient(server, variables)
  const issued = await requestToken(server, client)
  return {
    token: issued,
    isGiven: false,
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
    form: { grant_type: 'client_credentials', scope: wanted },
  })
  const body = (answer.body ?? {}) as Readonly<Record<string, unknown>>
  const token = body['access_token']
  if (answer.status === 200 && typeof token === 'string' && /^[\w.~+/=-]+$/.test(token)) return token
  throw refuse(server, client, { answer, body })
}

interface Refusal {
  readonly answer: ServerAnswer
  readonly body: Readonly<Record<string, unknown>>
}

function refuse(server: string, { id }: Client, { answer, body }: Refusal): Error {
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
    const scopes = wanted.replace(' ', ',')
    return errors.WP_PROJECT_REMOTE_SCOPE({ server, reason: 'the client does not have the scopes', scopes })
  }
  return errors.WP_PROJECT_REMOTE_CLIENT({ server, client: printable(id, 64), reason })
}

const momentMs = 3000

async function revokeToken(server: string, client: Client, token: string): Promise<void> {
  const form = { token, token_type_hint: 'access_token' }
  const headers = { authorization: basic(client) }
  const revoking = {
    server,
    path: '/authorization/revoke',
    method: 'POST',
    headers,
    form,
    timeoutMs: momentMs,
  } as const
  await sendToServer(revoking).catch(() => undefined) // it is over within the hour
}

/** RFC 6749 §2.3.1: each half is form-encoded. */
function basic({ id, secret }: Client): string {
  const text = [id, secret].map((half) => encodeURIComponent(half)).join(':')
  return `Basic ${Buffer.from(text).toString('base64')}`
}
