import type { LookupAddress, LookupOptions } from 'node:dns'
import { isIP } from 'node:net'
import { Agent, buildConnector, fetch, Pool, type Dispatcher } from 'undici'
import { acceptContinue } from './accept-continue.ts'
import type { AddressPolicy } from './addresses.ts'
import { errors } from './errors.ts'
import type { Lookup } from './resolve-names.ts'
import { openProxyAgent } from './proxy-agent.ts'
import type { Proxies } from './read-proxies.ts'

// Loaded with the first outgoing request, because undici takes 10 MB.

const connectTimeoutMs = 10_000

type LookupCallback = (error: Error | null, address: string | LookupAddress[], family?: number) => void

/** Maximum number of connections to keep alive, so that many endpoints do not use up the process's file descriptors. */
const maxIdleConnections = 512
const keepAliveMs = 10_000

export interface GuardedAgent {
  readonly agent: Dispatcher
  readonly fetch: typeof fetch
  /** Ends open requests. */
  destroy(): Promise<void>
  /** Whether so many connections are open that the next one should be closed after its request. */
  isFull(): boolean
}

export interface AgentOptions {
  readonly policy: AddressPolicy
  readonly lookup: Lookup
  /** Called with each host that resolves to an opened address. */
  onOpened(host: string): void
  readonly proxies?: Proxies | undefined
}

/** Opens an agent that connects only to allowed addresses, or through proxies. */
export function openAgent({ proxies, ...guard }: AgentOptions): GuardedAgent {
  let connections = 0
  const count = (change: 1 | -1) => void (connections += change)
  const options: Agent.Options = {
    connect: guardedConnector(guard.policy, guard.lookup, guard.onOpened),
    // A stalled stream of HTTP/2 must not block others. As options of the agent, these would slow down each request.
    factory: (origin, { connect, ...options }: Pool.Options) =>
      new Pool(origin, {
        ...options,
        connect: acceptContinue(countSockets(connect as buildConnector.connector, count)),
        allowH2: false,
        useMilo: false,
      }),
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs, // regardless of the server's hint
    maxHeaderSize: 16 * 1024,
    headersTimeout: 0, // the time limit of the whole POST applies
    bodyTimeout: 0,
  }
  const { agent, destroy } = proxies === undefined ? openDirectAgent(options) : openProxyAgent(proxies, options, guard)
  return { agent, destroy, fetch, isFull: () => connections > maxIdleConnections }
}

function openDirectAgent(options: Agent.Options) {
  const agent = new Agent(options)
  return { agent, destroy: () => agent.destroy() }
}

/**
 * Makes a connector that checks the address being connected to: literal addresses before connecting, because they are
 * not looked up, and names when they resolve.
 */
function guardedConnector(
  policy: AddressPolicy,
  lookup: Lookup,
  onOpened: (host: string) => void,
): buildConnector.connector {
  const connect = buildConnector({
    allowH2: false,
    timeout: connectTimeoutMs,
    lookup: (host: string, options: LookupOptions, done: LookupCallback) => {
      lookup(host, { ...options, all: true }, (error, found) => {
        if (error !== null) return done(error, '')
        const [first] = found
        if (first === undefined || !found.every((one) => policy.isAllowed(one.address))) {
          return done(errors.WP_OUTBOUND_ADDRESS({ host }), '')
        }
        if (found.some((one) => policy.isOpened(one.address))) onOpened(host)
        return options.all === true ? done(null, found) : done(null, first.address, first.family)
      })
    },
  })
  return (options, done) => {
    const host = options.hostname.replace(/^\[|\]$/g, '')
    if (isIP(host) !== 0 && !policy.isAllowed(host)) return done(errors.WP_OUTBOUND_ADDRESS({ host }), null)
    if (policy.isOpened(host)) onOpened(host)
    return connect(options, done)
  }
}

/** Reports each opened and closed connection. */
function countSockets(connect: buildConnector.connector, onChange: (change: 1 | -1) => void): buildConnector.connector {
  return (options, done) =>
    connect(options, (...[error, socket]) => {
      if (error !== null) return done(error, null)
      onChange(1)
      socket.once('close', () => onChange(-1))
      return done(null, socket)
    })
}
