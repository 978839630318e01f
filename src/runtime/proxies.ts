import type { IncomingMessage } from 'node:http'
import { compile } from '@fastify/proxy-addr'
import { parseAddress } from '../kit/index.ts'

/** The proxies in front of a server. */
export interface Proxies {
  /** Whether a request came from one of them. */
  isFrom(request: IncomingMessage): boolean
  /**
   * Reduces `X-Forwarded-For` to the trusted entries: addresses without ports, brackets and zones, starting with the
   * caller. Entries further left may be forged by the caller. If a proxy sends no address (`unknown`), the proxy counts
   * as the caller.
   */
  readForwarded(request: IncomingMessage): void
}

/** @param trusted addresses and ranges, or `loopback`, `linklocal`, `uniquelocal` */
export function makeProxies(trusted: readonly string[]): Proxies {
  const trusts = compile([...trusted])
  const isFrom = ({ socket }: IncomingMessage) => trusts(socket.remoteAddress ?? '', 0)
  return {
    isFrom,
    readForwarded(request) {
      const text = request.headers['x-forwarded-for']
      if (text === undefined || !isFrom(request)) return
      const addresses: string[] = []
      for (const entry of String(text).split(',').toReversed()) {
        const address = parseForwarded(entry.trim())
        if (address === undefined) break
        addresses.unshift(address)
        if (!trusts(address, addresses.length)) break
      }
      if (addresses.length === 0) delete request.headers['x-forwarded-for']
      else request.headers['x-forwarded-for'] = addresses.join(', ')
    },
  }
}

/** Parses one entry. Some proxies add the caller's port, which would make each connection look like another caller. */
function parseForwarded(entry: string): string | undefined {
  const [, inBrackets, dotted] = /^(?:\[([^\]]+)\]|(\d+(?:\.\d+){3}))(?::\d{1,5})?$/.exec(entry) ?? []
  return parseAddress(inBrackets ?? dotted ?? entry)?.toString()
}
