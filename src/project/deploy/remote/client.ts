import { setTimeout as pause } from 'node:timers/promises'
import { WaypostError } from '../../../kit/index.ts'
import type { Access } from './credentials.ts'
import { errors } from './errors.ts'
import { printable } from './check-answer.ts'
import { sendToServer, type ServerAnswer, type ServerRequest } from './send.ts'

/** An activation waits for others, and for the migrations of others. */
export const activateTimeoutMs = 120_000

/** The deployment endpoints of a server. */
export interface ReleaseClient {
  get<Answer>(path: string): Promise<Answer>
  post<Answer>(path: string, json: object, options?: { readonly timeoutMs?: number }): Promise<Answer>
}

export interface ReleaseClientOptions {
  readonly server: string
  readonly access: Access
}

/** What a server refuses is thrown in its own words, with what to do on this side of the line. */
export function makeReleaseClient(options: ReleaseClientOptions): ReleaseClient {
  const { server, access } = options
  const ask = async <Answer>(request: Omit<ServerRequest, 'server' | 'headers'>): Promise<Answer> => {
    const headers = { authorization: `Bearer ${access.token}` }
    const answer = await sendPatiently({ ...request, server, headers })
    const isFine = answer.status >= 200 && answer.status < 300
    if (isFine && typeof answer.body === 'object' && answer.body !== null) return answer.body as Answer
    throw refuse(options, request.path, answer)
  }
  return {
    get: (path) => ask({ path, method: 'GET' }),
    post: (path, json, { timeoutMs } = {}) =>
      ask({ path, method: 'POST', json, ...(timeoutMs === undefined ? {} : { timeoutMs }) }),
  }
}

const mostTries = 10
const longestPauseSeconds = 10

const busyCodes: ReadonlySet<string | undefined> = new Set(['WP_BACKEND_BUSY', 'WP_BACKEND_CLIENT_BUSY'])

/** A server that is busy with other uploads has not read this one: tries again for a while. */
async function sendPatiently(request: ServerRequest): Promise<ServerAnswer> {
  for (let tries = 1; ; tries += 1) {
    const answer = await sendToServer(request)
    const seconds = Number(answer.headers.get('retry-after')) || 1
    const isBusy = busyCodes.has(readProblem(answer).code)
    if (!isBusy || tries === mostTries || seconds > longestPauseSeconds) return answer
    await pause(seconds * 1000)
  }
}

interface Problem {
  /** `WP_…`; undefined where it is not of a Waypost. */
  readonly code: string | undefined
  readonly detail: string
  readonly hint: string | undefined
}

function readProblem({ body }: ServerAnswer): Problem {
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

/** The first thing that does not fit a schema. */
function describeFirst(list: unknown): string[] {
  const [first] = Array.isArray(list) ? (list as { path?: unknown; message?: unknown }[]) : []
  return first === undefined ? [] : [`${printable(first.path, 200)} ${printable(first.message, 200)}`]
}

function refuse({ server, access }: ReleaseClientOptions, path: string, answer: ServerAnswer): Error {
  const { status, headers } = answer
  const problem = readProblem(answer)
  const reason = problem.detail || `${path} answered ${status}`
  if (status === 429 || status === 503) {
    return errors.WP_PROJECT_REMOTE_LATER({ server, reason, seconds: Number(headers.get('retry-after')) || 10 })
  }
  if (problem.code === undefined) return refuseForeign(server, path, answer)
  if (status >= 500) return errors.WP_PROJECT_REMOTE_FAILED({ server, status, reason })
  if (problem.code === 'WP_RUNTIME_NOT_FOUND') return errors.WP_PROJECT_REMOTE_OLD({ server })
  if (status === 401 && access.isGiven) return errors.WP_PROJECT_REMOTE_TOKEN({ server, reason })
  if (problem.code === 'WP_AUTH_SCOPE' || problem.code === 'WP_AUTH_USER_SCOPE') {
    // RFC 6750 §3.1: what the endpoint takes, each of them alone.
    const accepted = /scope="([^"]*)"/.exec(headers.get('www-authenticate') ?? '')?.[1]?.split(' ') ?? []
    const scopes = accepted.includes('backend.read') ? 'backend.read' : 'backend.read,backend.deploy'
    return errors.WP_PROJECT_REMOTE_SCOPE({ server, reason, scopes })
  }
  return new WaypostError(problem.code, { kind: 'user', status, message: reason, hint: problem.hint })
}

/** What is not said in the words of a Waypost was said by something else: in front of it, or in its place. */
function refuseForeign(server: string, path: string, { status, sentBytes: bytes }: ServerAnswer): Error {
  if (status === 413) return errors.WP_PROJECT_REMOTE_SIZE({ server, bytes })
  const reason = `${path} answered ${status}`
  return status >= 500 && status !== 501
    ? errors.WP_PROJECT_REMOTE_FAILED({ server, status, reason: 'the response is not from Waypost' })
    : errors.WP_PROJECT_REMOTE_NO_WAYPOST({ server, answer: reason })
}
