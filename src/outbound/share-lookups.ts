import type { LookupAddress } from 'node:dns'
import type { Lookup } from './connector.ts'

type Done = (error: Error | null, found: LookupAddress[]) => void

/**
 * Asks for a name once while it is being looked up, however many ask; nothing is remembered. Each lookup keeps one of
 * libuv's four threads, so that a single name whose server does not answer would hold up all other names.
 */
export function shareLookups(lookup: Lookup): Lookup {
  const underWay = new Map<string, Done[]>()
  return (host, options, done) => {
    const key = JSON.stringify([host, options.family, options.hints])
    const others = underWay.get(key)
    if (others !== undefined) {
      others.push(done)
      return
    }
    const asking = [done]
    underWay.set(key, asking)
    lookup(host, options, (error, found) => {
      underWay.delete(key)
      for (const one of asking) one(error, found)
    })
  }
}
