import type { IncomingMessage } from 'node:http'
import { compile } from '@fastify/proxy-addr'
import { parseAddress } from '../kit/index.ts'

/** The proxies in front of a server. */
export interface Proxies {
  /** Whether a request came from one of them. */
  isFrom(request: IncomingMessage): boolean
  /**
   * Reduces `X-Forwarded-For` to what these proxies say: addresses without ports, brackets and zones, from the caller on. To
   * its left is what the caller itself may have written. Where a proxy names no address (`unknown`), it counts as the caller.
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
      const said: string[] = []
      for (const entry of String(text).split(',').toReversed()) {
        const address = parseForwarded(entry.trim())
        if (address === undefined) break
        said.unshift(address)
        if (!trusts(address, said.length)) break
      }
      if (said.length === 0) delete request.headers['x-forwarded-for']
      else request.headers['x-forwarded-for'] = said.join(', ')
    },
  }
}

/** Some proxies add the port of the caller, which would make another caller of each connection. */
function parseForwarded(entry: string): string | undefined {
  const [, bracketed, dotted] = /^(?:\[([^\]]+)\]|(\d+(?:\.\d+){3}))(?::\d{1,5})?$/.exec(entry) ?? []
  return parseAddress(bracketed ?? dotted ?? entry)?.toString()
}
