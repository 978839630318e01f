import type { LookupAddress, LookupOptions } from 'node:dns'
import { isIP } from 'node:net'
import { Agent, buildConnector, fetch, Pool } from 'undici'
import { acceptContinue } from './accept-continue.ts'
import type { AddressPolicy } from './addresses.ts'
import { errors } from './errors.ts'

// Loaded with the first outgoing request, because undici takes 10 MB.

/** Finds all addresses of a name, like `dns.lookup`. */
export type Lookup = (
  host: string,
  options: LookupOptions & { readonly all: true },
  done: (error: Error | null, found: LookupAddress[]) => void,
) => void

const connectTimeoutMs = 10_000

type LookupCallback = (error: Error | null, address: string | LookupAddress[], family?: number) => void

/** Maximum number of connections to keep alive, so that many endpoints do not use up the process's file descriptors. */
const maxIdleConnections = 512
const keepAliveMs = 10_000

export interface GuardedAgent {
  readonly agent: Agent
  readonly fetch: typeof fetch
  /** Whether so many connections are open that the next one should be closed after its request. */
  isFull(): boolean
}

/**
 * Opens an agent that connects only to allowed addresses.
 * @param onOpened called with each host that resolves to an opened address
 */
export function openAgent(policy: AddressPolicy, lookup: Lookup, onOpened: (host: string) => void): GuardedAgent {
  let connections = 0
  const agent = new Agent({
    connect: acceptContinue(
      countSockets(guardedConnector(policy, lookup, onOpened), (change) => (connections += change)),
    ),
    // A stalled stream of HTTP/2 must not block others. As options of the agent, these would slow down each request.
    factory: (origin, options: Pool.Options) => new Pool(origin, { ...options, allowH2: false, useMilo: false }),
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs, // regardless of the server's hint
    maxHeaderSize: 16 * 1024,
    headersTimeout: 0, // the time limit of the whole POST applies
    bodyTimeout: 0,
  })
  return { agent, fetch, isFull: () => connections > maxIdleConnections }
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
