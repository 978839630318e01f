import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

export type Address = ipaddr.IPv4 | ipaddr.IPv6

/**
 * Parses an IP address without its zone. Returns undefined if the text is not an address, and the IPv4 address if it is
 * IPv4-mapped.
 */
export function parseAddress(text: string): Address | undefined {
  if (isIP(text) === 0) return undefined
  const [bare = ''] = text.split('%', 1)
  return ipaddr.process(bare.replace(/^::(?=[\d.]+$)/, '0::')) // otherwise ::1.2.3.4 would be read as ::ffff:1.2.3.4
}

/**
 * Returns the network by which callers are counted: the IPv4 address, or the /64 of an IPv6 address, all of which one
 * caller usually controls.
 */
export function networkOf(text: string): string {
  const address = parseAddress(text)
  if (address instanceof ipaddr.IPv6) return address.toNormalizedString().split(':').slice(0, 4).join(':')
  return address?.toString() ?? text
}

/** Whether an address is a loopback address or belongs to a private network. */
export function isPrivateAddress(text: string): boolean {
  return privateRanges.has(parseAddress(text)?.range() ?? '')
}

const privateRanges: ReadonlySet<string> = new Set(['private', 'loopback', 'uniqueLocal'])

/** Whether a text is an IP address or a range such as `10.0.0.0/8`. */
export function isAddressRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0 || address.includes('%')) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
}
