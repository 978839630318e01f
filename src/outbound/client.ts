import { lookup } from 'node:dns'
import { Agent, type buildConnector } from 'undici'
import { systemClock, type Clock } from '../kit/index.ts'
import { makeAddressPolicy, type AddressPolicy } from './addresses.ts'
import { checkUrl } from './check-url.ts'
import { guardedConnector, type Lookup } from './connector.ts'
import { postOnce, type Post, type PostResult } from './post-once.ts'
import { makeResolver } from './resolve-names.ts'
import { shareLookups } from './share-lookups.ts'

/** HTTP to the outside: only to allowed addresses, without redirects and without proxies. */
export interface Outbound {
  /** Posts once; never throws: what failed is in the result. */
  post(post: Post): Promise<PostResult>
  /**
   * Checks an address before it is stored.
   * @throws WP_OUTBOUND_URL, WP_OUTBOUND_HOST_UNKNOWN, WP_OUTBOUND_ADDRESS, WP_OUTBOUND_BUSY
   */
  checkUrl(url: string): Promise<void>
  close(): Promise<void>
}

/** Posts within a span. What it calls posts, with more headers. */
export type TracePost = (
  post: { readonly host: string; readonly event: string | undefined },
  send: (headers: Readonly<Record<string, string>>) => Promise<PostResult>,
) => Promise<PostResult>

export interface OutboundOptions {
  /** Ranges that are opened beside the public ones; asked for with each connection, since a release may change them. */
  allow(): readonly string[]
  /** Opens loopback: on a development System. */
  readonly loopback: boolean
  readonly clock?: Clock
  /** How names become addresses: `dns.lookup` by default. */
  readonly lookup?: Lookup
  readonly tracePost?: TracePost | undefined
}

/** Connections that are kept for a while: very many endpoints must not use up what a process may have open. */
const mostKept = 512
const keepMs = 10_000

export function openOutbound(options: OutboundOptions): Outbound {
  const policy = followPolicy(options)
  const names = shareLookups(options.lookup ?? lookup)
  const resolve = makeResolver(names)
  const clock = options.clock ?? systemClock
  // For good: a connection that is kept may lead there still when its name leads elsewhere.
  const opened = new Set<string>()
  let connections = 0
  const agent = new Agent({
    connect: countSockets(
      guardedConnector(policy, names, (host) => opened.add(host)),
      (change) => (connections += change),
    ),
    allowH2: false, // one hung stream must not hold up the others
    keepAliveTimeout: keepMs,
    keepAliveMaxTimeout: keepMs, // whatever the other side says
    maxHeaderSize: 16 * 1024,
    headersTimeout: 0, // the time limit of the whole POST counts
    bodyTimeout: 0,
  })
  return {
    async post(post) {
      const send = (more?: Post['headers']) => {
        const headers = more === undefined ? post.headers : { ...post.headers, ...more }
        return postOnce({ agent, clock, reset: connections > mostKept }, { ...post, headers })
      }
      const about = { host: hostOf(post.url), event: post.headers['waypost-event'] }
      const result = await (options.tracePost === undefined ? send() : options.tracePost(about, send))
      return opened.size > 0 && opened.has(hostOf(post.url)) ? { ...result, hidden: true } : result
    },
    checkUrl: (url) => checkUrl({ policy, resolve }, url),
    close: () => agent.destroy(),
  }
}

/** Tells of each connection that came about, and of its end. */
function countSockets(connect: buildConnector.connector, onChange: (change: 1 | -1) => void): buildConnector.connector {
  return (options, done) =>
    connect(options, (...[error, socket]) => {
      if (error !== null) return done(error, null)
      onChange(1)
      socket.once('close', () => onChange(-1))
      return done(null, socket)
    })
}

function hostOf(url: string): string {
  return URL.parse(url)?.hostname.replace(/^\[|\]$/g, '') ?? ''
}

/** The policy of the ranges that are open now. */
function followPolicy(options: OutboundOptions): AddressPolicy {
  let ranges = options.allow()
  let policy = makeAddressPolicy({ allow: ranges, loopback: options.loopback })
  const current = () => {
    if (options.allow() !== ranges) {
      ranges = options.allow()
      policy = makeAddressPolicy({ allow: ranges, loopback: options.loopback })
    }
    return policy
  }
  return {
    isAllowed: (address) => current().isAllowed(address),
    isOpened: (address) => current().isOpened(address),
  }
}
