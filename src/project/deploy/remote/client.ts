import { setTimeout as pause } from 'node:timers/promises'
import { WaypostError } from '../../../kit/index.ts'
import type { Access } from './credentials.ts'
import { errors } from './errors.ts'
import { printable } from './check-response.ts'
import { sendToServer, type RemoteResponse, type ServerRequest } from './send.ts'

/** An activation waits for other activations and migrations. */
export const activateTimeoutMs = 120_000

type SendOptions = Pick<ServerRequest, 'timeoutMs' | 'signal'>

/** A client of a server's deployment endpoints. */
export interface ReleaseClient {
  get<Body>(path: string): Promise<Body>
  post<Body>(path: string, json: object, options?: SendOptions): Promise<Body>
}

export interface ReleaseClientOptions {
  readonly server: string
  readonly access: Access
}

/** Creates a client. Errors of the server keep its message, with a hint for this side of the connection. */
export function makeReleaseClient(options: ReleaseClientOptions): ReleaseClient {
  const { server, access } = options
  const ask = async <Body>(request: Omit<ServerRequest, 'server' | 'headers' | 'fetch'>): Promise<Body> => {
    const headers = { authorization: `Bearer ${access.token}` }
    const response = await sendWithRetry({ ...request, server, headers, fetch: access.fetch })
    const isSuccess = response.status >= 200 && response.status < 300
    if (isSuccess && typeof response.body === 'object' && response.body !== null) return response.body as Body
    throw errorOf(options, request.path, response)
  }
  return {
    get: (path) => ask({ path, method: 'GET' }),
    post: (path, json, options = {}) => ask({ path, method: 'POST', json, ...options }),
  }
}

const maxTries = 10
const maxPauseSeconds = 10

const busyCodes: ReadonlySet<string | undefined> = new Set(['WP_BACKEND_BUSY', 'WP_BACKEND_CLIENT_BUSY'])

/** Retries for a while if the server is busy with other uploads, since it has not processed the request. */
async function sendWithRetry(request: ServerRequest): Promise<RemoteResponse> {
  for (let tries = 1; ; tries += 1) {
    const response = await sendToServer(request)
    const seconds = Number(response.headers.get('retry-after')) || 1
    const isBusy = busyCodes.has(readProblem(response).code)
    if (!isBusy || tries === maxTries || seconds > maxPauseSeconds) return response
    await pause(seconds * 1000)
  }
}

interface Problem {
  /** `WP_…`; undefined if the response is not from Waypost. */
  readonly code: string | undefined
  readonly detail: string
  readonly hint: string | undefined
}

function readProblem({ body }: RemoteResponse): Problem {
  const {
    type,
    detail,
    hint,
    errors: list,
  } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>
  return {
    code: typeof type === 'string' ? /^urn:waypost:errors#(WP_[A-Z_]{1,64})$/.exec(type)?.[1] : undefined,
    detail: [printable(detail), ...describeFirst(list)].join(': '),
    hint: printable(hint) || undefined,
  }
}

/** Describes the first schema error. */
function describeFirst(list: unknown): string[] {
  const [first] = Array.isArray(list) ? (list as { path?: unknown; message?: unknown }[]) : []
  return first === undefined ? [] : [`${printable(first.path, 200)} ${printable(first.message, 200)}`]
}

function errorOf({ server, access }: ReleaseClientOptions, path: string, response: RemoteResponse): Error {
  const { status, headers } = response
  const problem = readProblem(response)
  const reason = problem.detail || `${path} responded with ${status}`
  if (status === 429 || status === 503) {
    return errors.WP_PROJECT_REMOTE_LATER({ server, reason, seconds: Number(headers.get('retry-after')) || 10 })
  }
  if (problem.code === undefined) return foreignError(server, path, response)
  if (status >= 500) return errors.WP_PROJECT_REMOTE_FAILED({ server, status, reason })
  if (problem.code === 'WP_RUNTIME_NOT_FOUND') return errors.WP_PROJECT_REMOTE_OLD({ server })
  if (status === 401 && access.isProvided) return errors.WP_PROJECT_REMOTE_TOKEN({ server, reason })
  if (problem.code === 'WP_AUTH_SCOPE' || problem.code === 'WP_AUTH_USER_SCOPE') {
    // RFC 6750 §3.1: the accepted scopes, each sufficient by itself.
    const accepted = /scope="([^"]*)"/.exec(headers.get('www-authenticate') ?? '')?.[1]?.split(' ') ?? []
    const scopes = accepted.includes('backend.read') ? 'backend.read' : 'backend.read,backend.deploy'
    return errors.WP_PROJECT_REMOTE_SCOPE({ server, reason, scopes })
  }
  return new WaypostError(problem.code, { kind: 'user', status, message: reason, hint: problem.hint })
}

/** The error of a response that is not from Waypost but from a proxy or another server. */
function foreignError(server: string, path: string, { status, sentBytes: bytes }: RemoteResponse): Error {
  if (status === 413) return errors.WP_PROJECT_REMOTE_SIZE({ server, bytes })
  const reason = `${path} responded with ${status}`
  return status >= 500 && status !== 501
    ? errors.WP_PROJECT_REMOTE_FAILED({ server, status, reason: 'the response is not from Waypost' })
    : errors.WP_PROJECT_REMOTE_NO_WAYPOST({ server, reason })
}
