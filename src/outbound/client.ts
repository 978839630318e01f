import { lookup } from 'node:dns'
import { Agent, request } from 'undici'
import { messageOf, systemClock, type Clock } from '../kit/index.ts'
import { makeAddressPolicy, type AddressPolicy } from './addresses.ts'
import { checkUrl } from './check-url.ts'
import { guardedConnector, type Lookup } from './connector.ts'
import { readAnswer } from './read-answer.ts'
import { parseRetryAfter } from './retry-after.ts'

/** What came of one POST. */
export interface PostResult {
  /** HTTP status; undefined when there was no answer. */
  readonly status?: number
  /** Why there was no answer, or none that could be read to its end. */
  readonly failure?: string
  /** How long the answer asks to wait, at most a day. */
  readonly retryAfterMs?: number
  readonly latencyMs: number
  /** The first 4 KB of the answer, as text. */
  readonly answer?: string
  /** Whether it came, or would have come, from an address that only `allow` opens: its owner shows it to whom he likes. */
  readonly hidden?: boolean
}

export interface Post {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** For all of it: name, connection, request and the whole answer. */
  readonly timeoutMs: number
}

/** HTTP to the outside: only to allowed addresses, without redirects and without proxies. */
export interface Outbound {
  /** Posts once; never throws: what failed is in the result. */
  post(post: Post): Promise<PostResult>
  /** Checks an address before it is stored. @throws WP_OUTBOUND_URL, WP_OUTBOUND_HOST_UNKNOWN, WP_OUTBOUND_ADDRESS */
  checkUrl(url: string): Promise<void>
  close(): Promise<void>
}

export interface OutboundOptions {
  /** Ranges that are opened beside the public ones; asked for with each connection, since a release may change them. */
  allow(): readonly string[]
  /** Opens loopback: on a development System. */
  readonly loopback: boolean
  readonly clock?: Clock
  /** How names become addresses: `dns.lookup` by default. */
  readonly lookup?: Lookup
}

export function openOutbound(options: OutboundOptions): Outbound {
  const policy = followPolicy(options)
  const names = options.lookup ?? lookup
  const clock = options.clock ?? systemClock
  const agent = new Agent({
    connect: guardedConnector(policy, names),
    allowH2: false, // one hung stream must not hold up the others
    keepAliveTimeout: 10_000,
    maxHeaderSize: 16 * 1024,
    headersTimeout: 0, // the time limit of the whole POST counts
    bodyTimeout: 0,
  })
  return {
    post: (post) => postOnce(agent, clock, post),
    checkUrl: (url) => checkUrl(policy, names, url),
    close: () => agent.destroy(),
  }
}

/** The policy of the ranges that are open now. */
function followPolicy(options: OutboundOptions): AddressPolicy {
  let ranges = options.allow()
  let policy = makeAddressPolicy({ allow: ranges, loopback: options.loopback })
  return {
    isAllowed(address) {
      if (options.allow() !== ranges) {
        ranges = options.allow()
        policy = makeAddressPolicy({ allow: ranges, loopback: options.loopback })
      }
      return policy.isAllowed(address)
    },
  }
}

async function postOnce(agent: Agent, clock: Clock, post: Post): Promise<PostResult> {
  const began = clock.monotonic()
  const latencyMs = () => Math.round(clock.monotonic() - began)
  const timeout = AbortSignal.timeout(post.timeoutMs)
  const { url, headers, body } = post
  let status: number | undefined
  try {
    const options = { method: 'POST', headers, body, dispatcher: agent, signal: timeout } as const
    const response = await orAborted(request(url, options), timeout)
    status = response.statusCode
    const read = await readAnswer(response.body)
    const retryAfterMs = parseRetryAfter(response.headers['retry-after'], clock.now())
    return { status, latencyMs: latencyMs(), ...read, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
  } catch (error) {
    const failure = timeout.aborted ? `timeout ${post.timeoutMs / 1000} s` : describe(error)
    return { failure, latencyMs: latencyMs(), ...(status === undefined ? {} : { status }) }
  }
}

/** undici looks at a signal only once there is a connection, which may take longer than the time that is left. */
async function orAborted<Value>(pending: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([pending, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

function describe(error: unknown): string {
  const code = (error as { code?: unknown }).code
  return typeof code === 'string' && /^[A-Z0-9_]+$/.test(code) ? code : messageOf(error).slice(0, 200)
}
