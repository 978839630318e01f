import { isIP } from 'node:net'
import type { AddressPolicy } from './addresses.ts'
import type { Lookup } from './connector.ts'
import { errors } from './errors.ts'

const longestUrl = 2048
/** What a URL parser would strip or encode silently; NUL among it, which PostgreSQL has no text with. */
const unwritten = /[\s\p{Cc}\p{Cs}]/u
const lookupTimeoutMs = 10_000

/** @throws WP_OUTBOUND_URL, WP_OUTBOUND_HOST_UNKNOWN, WP_OUTBOUND_ADDRESS */
export async function checkUrl(policy: AddressPolicy, lookup: Lookup, text: string): Promise<void> {
  const url = text.length > longestUrl || unwritten.test(text) ? null : URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.username || url.password || url.hash) {
    throw errors.WP_OUTBOUND_URL({ url: text.slice(0, 200) })
  }
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const addresses = isIP(host) === 0 ? await resolveAll(lookup, host) : [host]
  if (!addresses.every((address) => policy.isAllowed(address))) throw errors.WP_OUTBOUND_ADDRESS({ host })
}

function resolveAll(lookup: Lookup, host: string): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const fail = (cause?: unknown) => reject(errors.WP_OUTBOUND_HOST_UNKNOWN({ host }, { cause }))
    const timer = setTimeout(fail, lookupTimeoutMs)
    lookup(host, { all: true }, (error, found) => {
      clearTimeout(timer)
      if (error !== null || found.length === 0) fail(error)
      else resolve(found.map((one) => one.address))
    })
  })
}
