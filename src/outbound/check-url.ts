import { isIP } from 'node:net'
import type { AddressPolicy } from './addresses.ts'
import { errors } from './errors.ts'

const maxUrlLength = 2048
/** Characters that URL parsers strip or encode silently, including NUL, which PostgreSQL cannot store. */
const strippedCharacters = /[\s\p{Cc}\p{Cs}]/u

export interface CheckOptions {
  readonly policy: AddressPolicy
  /** Finds all addresses of a name. */
  resolve(host: string): Promise<readonly string[]>
}

/**
 * Checks that a URL may be posted to.
 * @throws WP_OUTBOUND_URL, WP_OUTBOUND_HOST_UNKNOWN, WP_OUTBOUND_ADDRESS, WP_OUTBOUND_BUSY
 */
export async function checkUrl({ policy, resolve }: CheckOptions, text: string): Promise<void> {
  const url = text.length > maxUrlLength || strippedCharacters.test(text) ? null : URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.username || url.password || url.hash) {
    throw errors.WP_OUTBOUND_URL({ url: text.slice(0, 200) })
  }
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const addresses = isIP(host) === 0 ? await resolve(host) : [host]
  if (!addresses.every((address) => policy.isAllowed(address))) throw errors.WP_OUTBOUND_ADDRESS({ host })
}
