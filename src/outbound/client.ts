import { lookup } from 'node:dns'
import type { RequestInit } from 'undici'
import { systemClock, type Clock, type Variables } from '../kit/index.ts'
import { makeAddressPolicy, metadataRanges, privateRanges, type AddressPolicy } from './addresses.ts'
import type { GuardedAgent } from './agent.ts'
import { OpenPosts, parseTarget, postOnce, type Post, type PostResult, type Target } from './post-once.ts'
import { isUnknownName, makeResolver, shareLookups, type Lookup } from './resolve-names.ts'
import { isIP } from 'node:net'
import { errors } from './errors.ts'
import { readProxies } from './read-proxies.ts'

/** Outgoing HTTP, to allowed addresses only, without redirects. */
export interface Outbound {
  /** Posts once. Never throws; the result contains the failure. */
  post(post: Post): Promise<PostResult>
  /**
   * Checks a URL before it is stored.
   * @throws WP_OUTBOUND_URL, WP_OUTBOUND_HOST_UNKNOWN, WP_OUTBOUND_ADDRESS, WP_OUTBOUND_BUSY
   */
  checkUrl(url: string): Promise<void>
  /**
   * Sends any request, with streamed bodies. A redirect is an error unless `redirect` is `manual`. Rejects if no response
   * begins within 30 s. With the network `private`, private addresses are allowed, except for metadata services.
   */
  fetch(
    input: string | URL,
    init?: globalThis.RequestInit & { readonly network?: 'public' | 'private' },
  ): Promise<globalThis.Response>
  close(): Promise<void>
}

/** Records a span for a POST. `send` posts with additional headers. */
export type TracePost = (
  post: { readonly host: string; readonly event: string | undefined },
  send: (headers: Readonly<Record<string, string>>) => Promise<PostResult>,
) => Promise<PostResult>

export interface OutboundOptions {
  /**
   * Returns the opened ranges besides public addresses. Called for each connection, because a release can change them.
   */
  allow(): readonly string[]
  /** Allow loopback; for development Systems. */
  readonly loopback: boolean
  readonly clock?: Clock
  /** The name resolver; `dns.lookup` by default. */
  readonly lookup?: Lookup
  readonly tracePost?: TracePost | undefined
  /** Name the proxies, see `readProxies`; by default no proxy is used. */
  readonly variables?: Variables
}

export function openOutbound(options: OutboundOptions): Outbound {
  const policy = followPolicy(options)
  const names = shareLookups(options.lookup ?? lookup)
  const proxies = readProxies(options.variables ?? {})
  const resolve = makeResolver(names)
  const clock = options.clock ?? systemClock
  // Never removed, because a kept-alive connection may still lead to an opened address after the name has changed.
  const opened = new Set<string>()
  const targetOf = cacheTargets()
  const posts = new OpenPosts()
  const open = async (policy: AddressPolicy, onOpened: (host: string) => void) =>
    (await import('./agent.ts')).openAgent({ policy, lookup: names, onOpened, proxies })
  let loading: Promise<GuardedAgent> | undefined
  let guarded: GuardedAgent | undefined
  const load = async () => (guarded = await (loading ??= open(policy, (host) => opened.add(host))))
  // A separate agent, so that other requests cannot use its open connections.
  let loadingPrivate: Promise<GuardedAgent> | undefined
  const loadPrivate = () => {
    const wide = { allow: options.allow, loopback: true, more: privateRanges, deny: metadataRanges }
    return (loadingPrivate ??= open(followPolicy(wide), () => undefined))
  }
  const start = ({ agent, isFull }: GuardedAgent, post: Post): Promise<PostResult> => {
    const target = targetOf(post.url)
    if (target === undefined) return Promise.resolve({ failure: 'ERR_INVALID_URL', latencyMs: 0 })
    const context = { agent, open: posts, target, clock, reset: isFull(), opened }
    if (options.tracePost === undefined) return postOnce(context, post)
    const send = (more: Post['headers']) => postOnce(context, { ...post, headers: { ...post.headers, ...more } })
    return options.tracePost({ host: target.host, event: post.headers['waypost-event'] }, send)
  }
  return {
    post: (post) => (guarded === undefined ? load().then((agent) => start(agent, post)) : start(guarded, post)),
    checkUrl: (url) => checkUrl({ policy, resolve, mayBeUnknown: proxies !== undefined }, url),
    fetch: async (input, { network, ...init } = {}) =>
      fetchGuarded(await (network === 'private' ? loadPrivate() : load()), input, init),
    async close() {
      const agents = await Promise.all([loading, loadingPrivate])
      await Promise.all(agents.map(async (one) => one?.destroy()))
    },
  }
}

/**
 * Returns a `fetch` that uses the proxies of variables, for servers that the user of a command names: no address is checked.
 * @throws WP_OUTBOUND_PROXY
 */
export async function loadFetch(variables: Variables): Promise<typeof globalThis.fetch> {
  const proxies = readProxies(variables)
  if (proxies === undefined) return globalThis.fetch
  for (const variable of proxies.unusable.values()) throw errors.WP_OUTBOUND_PROXY({ variable })
  const { openProxyAgent } = await import('./proxy-agent.ts')
  const { agent: dispatcher, fetch } = openProxyAgent(proxies, {})
  return ((input: string, init?: RequestInit) => fetch(input, { ...init, dispatcher })) as typeof globalThis.fetch
}

const firstByteMs = 30_000

async function fetchGuarded(
  { agent: dispatcher, fetch }: GuardedAgent,
  input: string | URL,
  init: globalThis.RequestInit = {},
): Promise<globalThis.Response> {
  const late = new AbortController()
  const timer = setTimeout(() => {
    late.abort(new DOMException(`No response within ${firstByteMs / 1000} s`, 'TimeoutError'))
  }, firstByteMs)
  const signal = init.signal ? AbortSignal.any([init.signal, late.signal]) : late.signal
  const redirect = init.redirect === 'manual' ? 'manual' : 'error'
  try {
    return await fetch(input, { ...init, redirect, signal, dispatcher } as RequestInit)
  } finally {
    clearTimeout(timer)
  }
}

const maxTargets = 1000

/** Parses URLs that are used again and again. @returns a function that returns undefined for an invalid URL */
function cacheTargets(): (url: string) => Target | undefined {
  const targets = new Map<string, Target>()
  return (url) => {
    const known = targets.get(url)
    if (known !== undefined) return known
    if (!URL.canParse(url)) return undefined
    if (targets.size >= maxTargets) targets.clear()
    const target = parseTarget(url)
    targets.set(url, target)
    return target
  }
}

interface FollowOptions extends Pick<OutboundOptions, 'allow' | 'loopback'> {
  /** Opened in addition to `allow`. */
  readonly more?: readonly string[]
  readonly deny?: readonly string[]
}

/** Makes a policy that follows the currently opened ranges. */
function followPolicy({ allow, loopback, more = [], deny = [] }: FollowOptions): AddressPolicy {
  const make = () => makeAddressPolicy({ allow: [...ranges, ...more], loopback, deny })
  let ranges = allow()
  let policy = make()
  const current = () => {
    if (allow() !== ranges) {
      ranges = allow()
      policy = make()
    }
    return policy
  }
  return {
    isAllowed: (address) => current().isAllowed(address),
    isOpened: (address) => current().isOpened(address),
  }
}

const maxUrlLength = 2048
/** Characters that URL parsers strip or encode silently, including NUL, which PostgreSQL cannot store. */
const strippedCharacters = /[\s\p{Cc}\p{Cs}]/u

export interface CheckOptions {
  readonly policy: AddressPolicy
  /** Finds all addresses of a name. */
  resolve(host: string): Promise<readonly string[]>
  /** Whether a name that this machine does not know is accepted, because a proxy may know it. */
  readonly mayBeUnknown?: boolean
}

/**
 * Checks that a URL may be posted to.
 * @throws WP_OUTBOUND_URL, WP_OUTBOUND_HOST_UNKNOWN, WP_OUTBOUND_ADDRESS, WP_OUTBOUND_BUSY
 */
export async function checkUrl({ policy, resolve, mayBeUnknown = false }: CheckOptions, text: string): Promise<void> {
  const url = text.length > maxUrlLength || strippedCharacters.test(text) ? null : URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.username || url.password || url.hash) {
    throw errors.WP_OUTBOUND_URL({ url: text.slice(0, 200) })
  }
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const acceptUnknown = (error: unknown) => {
    if (mayBeUnknown && isUnknownName((error as Error).cause)) return []
    throw error
  }
  const addresses = isIP(host) === 0 ? await resolve(host).catch(acceptUnknown) : [host]
  if (!addresses.every((address) => policy.isAllowed(address))) throw errors.WP_OUTBOUND_ADDRESS({ host })
}
