import type { IncomingMessage } from 'node:http'
import { makeId } from '../kit/index.ts'
import type { Proxies } from './proxies.ts'

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'

/**
 * Gives each request an id, by which its lines in the log are found: the one that a trusted proxy gave it by
 * `X-Request-Id`, or one that a person can read aloud and no other process gives.
 */
export function makeRequestIds(proxies: Proxies | undefined): (request: IncomingMessage) => string {
  const own = countIds()
  if (proxies === undefined) return own
  return (request) => {
    const given = request.headers['x-request-id']
    const isFit = typeof given === 'string' && /^[\w.:-]{1,64}$/.test(given)
    return isFit && proxies.isFrom(request) ? given : own()
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
