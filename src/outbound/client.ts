import { lookup as resolve, type LookupAddress, type LookupOptions } from 'node:dns'
import { isIP } from 'node:net'
import { Agent, buildConnector, request } from 'undici'
import { messageOf } from '../kit/index.ts'
import { makeAddressPolicy, type AddressPolicy } from './addresses.ts'
import { errors } from './errors.ts'

/** What came of one POST. */
export interface PostResult {
  /** HTTP status; undefined when there was no answer. */
  readonly status?: number
  /** Why there was no answer. */
  readonly failure?: string
  readonly retryAfterMs?: number
  readonly latencyMs: number
  /** The first bytes of the answer. */
  readonly answer?: string
}

export interface Post {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly timeoutMs: number
  readonly signal?: AbortSignal
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
  /** Sockets at most to one origin. */
  readonly connections?: number
}

const answerBytes = 4096
const longestRetryAfterMs = 24 * 3_600_000

export function openOutbound(options: OutboundOptions): Outbound {
  const policy = followPolicy(options)
  const agent = new Agent({
    connect: guardedConnector(policy),
    connections: options.connections ?? 64,
    keepAliveTimeout: 10_000,
    maxHeaderSize: 16 * 1024,
  })
  return {
    post: (post) => postOnce(agent, post),
    checkUrl: (url) => checkUrl(policy, url),
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

async function postOnce(agent: Agent, post: Post): Promise<PostResult> {
  const began = performance.now()
  const latencyMs = () => Math.round(performance.now() - began)
  const timeout = AbortSignal.timeout(post.timeoutMs)
  try {
    const response = await request(post.url, {
      method: 'POST',
      headers: post.headers,
      body: post.body,
      dispatcher: agent,
      signal: post.signal === undefined ? timeout : AbortSignal.any([timeout, post.signal]),
    })
    const answer = await readStart(response.body)
    const retryAfterMs = parseRetryAfter(response.headers['retry-after'])
    return { status: response.statusCode, latencyMs: latencyMs(), answer, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
  } catch (error) {
    if (timeout.aborted) return { failure: `timeout ${post.timeoutMs / 1000} s`, latencyMs: latencyMs() }
    return { failure: describe(error), latencyMs: latencyMs() }
  }
}

/** The first bytes of a body; the socket of a longer one is given up rather than drained. */
async function readStart(body: AsyncIterable<Buffer> & { destroy(): unknown; on(event: 'error', listener: () => void): unknown }) {
  body.on('error', () => undefined)
  const parts: Buffer[] = []
  let size = 0
  for await (const part of body) {
    parts.push(part.subarray(0, answerBytes - size))
    size += part.length
    if (size >= answerBytes) {
      body.destroy()
      break
    }
  }
  return Buffer.concat(parts).toString('utf8').replaceAll('\0', '')
}

/** Seconds or a date (RFC 9110 §10.2.3), in milliseconds from now, at most a day. */
function parseRetryAfter(header: string | string[] | undefined): number | undefined {
  if (typeof header !== 'string') return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, longestRetryAfterMs) : undefined
}

async function checkUrl(policy: AddressPolicy, text: string): Promise<void> {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.username || url.password || url.hash || text.length > 2048) {
    throw errors.WP_OUTBOUND_URL({ url: text.slice(0, 200) })
  }
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const addresses = isIP(host) === 0 ? await resolveAll(host) : [host]
  if (!addresses.every((address) => policy.isAllowed(address))) throw errors.WP_OUTBOUND_ADDRESS({ host })
}

function resolveAll(host: string): Promise<string[]> {
  return new Promise((done, fail) => {
    resolve(host, { all: true }, (cause, found) => {
      if (cause !== null || found.length === 0) fail(errors.WP_OUTBOUND_HOST_UNKNOWN({ host }, { cause }))
      else done(found.map((one) => one.address))
    })
  })
}

/** Checks what is really connected to: literal addresses before the dial, names as they resolve for it. */
function guardedConnector(policy: AddressPolicy): buildConnector.connector {
  const connect = buildConnector({
    timeout: 10_000,
    lookup: (host: string, options: LookupOptions, done: (error: Error | null, found: never, family?: number) => void) => {
      resolve(host, { ...options, all: true }, (error, found: LookupAddress[]) => {
        if (error !== null) return done(error, [] as never)
        const [first] = found
        if (first === undefined || !found.every((one) => policy.isAllowed(one.address))) {
          return done(errors.WP_OUTBOUND_ADDRESS({ host }), [] as never)
        }
        return options.all ? done(null, found as never) : done(null, first.address as never, first.family)
      })
    },
  } as buildConnector.BuildOptions)
  return (options, done) => {
    const host = options.hostname.replace(/^\[|\]$/g, '')
    if (isIP(host) !== 0 && !policy.isAllowed(host)) return done(errors.WP_OUTBOUND_ADDRESS({ host }), null)
    return connect(options, done)
  }
}

function describe(error: unknown): string {
  const code = (error as { code?: string }).code
  return typeof code === 'string' && /^[A-Z_]+$/.test(code) ? code : messageOf(error).slice(0, 200)
}
