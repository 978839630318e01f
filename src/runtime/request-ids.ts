import type { IncomingMessage } from 'node:http'
import { makeId } from '../kit/index.ts'
import type { Proxies } from './proxies.ts'

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'

/**
 * Makes the function that gives each request an id for the log: the `X-Request-Id` of a trusted proxy, or a unique id
 * that people can read aloud.
 */
export function makeRequestIds(proxies: Proxies | undefined): (request: IncomingMessage) => string {
  const nextId = makeIdGenerator()
  if (proxies === undefined) return nextId
  return (request) => {
    const given = request.headers['x-request-id']
    const isValid = typeof given === 'string' && /^[\w.:-]{1,64}$/.test(given)
    return isValid && proxies.isFrom(request) ? given : nextId()
  }
}

/** Makes ids. The prefix is computed once for 36 ids. */
function makeIdGenerator(): () => string {
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
