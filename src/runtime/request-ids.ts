import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { makeId } from '../kit/index.ts'

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'

/**
 * Gives each request an id, by which its lines in the log are found: the one that a trusted proxy gave it by
 * `X-Request-Id`, or one that a person can read aloud and no other process gives.
 */
export function makeRequestIds(trustedProxies: readonly string[]): (request: IncomingMessage) => string {
  const own = countIds()
  if (trustedProxies.length === 0) return own
  const isTrusted = makeTrust(trustedProxies)
  return (request) => {
    const given = request.headers['x-request-id']
    const isFit = typeof given === 'string' && /^[\w.:-]{1,64}$/.test(given)
    return isFit && isTrusted(request.socket.remoteAddress ?? '') ? given : own()
  }
}

/** All but the last digit is written once for 36. */
function countIds(): () => string {
  const prefix = makeId('', 5)
  let count = 0
  let start = prefix
  return () => {
    const digit = count % digits.length
    if (digit === 0 && count > 0) start = prefix + (count / digits.length).toString(36).toUpperCase()
    count += 1
    return start + digits[digit]
  }
}

/** Ranges by the names that Fastify knows too. */
const named: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}

function makeTrust(proxies: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const range of proxies.flatMap((proxy) => named[proxy] ?? [proxy])) {
    const [address = '', bits] = range.split('/')
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
    list.addSubnet(address, bits === undefined ? (family === 'ipv4' ? 32 : 128) : Number(bits), family)
  }
  return (address) => isIP(address) !== 0 && list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6')
}
