import type { LookupAddress, LookupOptions } from 'node:dns'
import { isIP } from 'node:net'
import { buildConnector } from 'undici'
import type { AddressPolicy } from './addresses.ts'
import { errors } from './errors.ts'

/** Finds all addresses of a name, like `dns.lookup`. */
export type Lookup = (
  host: string,
  options: LookupOptions & { readonly all: true },
  done: (error: Error | null, found: LookupAddress[]) => void,
) => void

const connectTimeoutMs = 10_000

type LookupCallback = (error: Error | null, address: string | LookupAddress[], family?: number) => void

/**
 * Makes a connector that checks the address being connected to: literal addresses before connecting, because they are
 * not looked up, and names when they resolve.
 * @param onOpened called with each host that resolves to an opened address
 */
export function guardedConnector(
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
