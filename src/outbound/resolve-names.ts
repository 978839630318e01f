import type { Lookup } from './connector.ts'
import { errors } from './errors.ts'

export interface ResolveOptions {
  /** Names that are looked up at once, until they are answered: longer than anybody waits for them. */
  readonly atOnce: number
  /** Callers at most that wait for their turn. */
  readonly mostWaiting: number
  /** How long one caller waits in all. */
  readonly limitMs: number
}

/**
 * Half of libuv's four threads: a lookup keeps one for as long as a slow name server takes, and files and password
 * hashes need them too. Whoever subscribes chooses the names.
 */
const usual: ResolveOptions = { atOnce: 2, mostWaiting: 100, limitMs: 10_000 }

/** Finds all addresses of a name. @throws WP_OUTBOUND_HOST_UNKNOWN, WP_OUTBOUND_BUSY */
export function makeResolver(lookup: Lookup, options: ResolveOptions = usual): (host: string) => Promise<string[]> {
  const waiting = new Set<() => void>()
  let running = 0

  function startNext(): void {
    const [start] = waiting
    if (start === undefined || running >= options.atOnce) return
    waiting.delete(start)
    start()
  }

  return (host) => {
    const { promise, resolve, reject } = Promise.withResolvers<string[]>()
    const fail = (cause?: unknown) => reject(errors.WP_OUTBOUND_HOST_UNKNOWN({ host }, { cause }))
    const refuse = () => reject(errors.WP_OUTBOUND_BUSY({}, { retryAfterSeconds: 10 }))
    if (waiting.size >= options.mostWaiting) {
      refuse()
      return promise
    }
    const timer = setTimeout(() => (waiting.delete(start) ? refuse() : fail()), options.limitMs)
    const start = () => {
      running++
      lookup(host, { all: true }, (error, found) => {
        running--
        clearTimeout(timer)
        if (error !== null || found.length === 0) fail(error)
        else resolve(found.map((one) => one.address))
        startNext()
      })
    }
    waiting.add(start)
    startNext()
    return promise
  }
}
