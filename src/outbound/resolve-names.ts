import { errors } from './errors.ts'
import type { LookupAddress, LookupOptions } from 'node:dns'

/** Finds all addresses of a name, like `dns.lookup`. */
export type Lookup = (
  host: string,
  options: LookupOptions & { readonly all: true },
  done: (error: Error | null, found: LookupAddress[]) => void,
) => void

/** Whether a lookup found that there is no such name. Other errors, such as a time limit, say nothing of the name. */
export function isUnknownName(error: unknown): boolean {
  return ['ENOTFOUND', 'ENODATA'].includes((error as { readonly code?: string } | undefined)?.code ?? '')
}

export interface ResolveOptions {
  /**
   * Maximum number of concurrent lookups. A lookup counts until it completes, even if its caller has stopped waiting.
   */
  readonly maxConcurrent: number
  /** Maximum number of waiting callers. */
  readonly maxQueued: number
  /** Total waiting time per caller. */
  readonly limitMs: number
}

/**
 * Half of libuv's four threads: a slow name server occupies one for each lookup, and files and password hashes need
 * them too. Subscribers choose the names.
 */
const defaultOptions: ResolveOptions = { maxConcurrent: 2, maxQueued: 100, limitMs: 10_000 }

/** Makes a function that finds all addresses of a name. @throws WP_OUTBOUND_HOST_UNKNOWN, WP_OUTBOUND_BUSY */
export function makeResolver(
  lookup: Lookup,
  options: ResolveOptions = defaultOptions,
): (host: string) => Promise<string[]> {
  const queue = new Set<() => void>()
  let running = 0

  function startNext(): void {
    const [start] = queue
    if (start === undefined || running >= options.maxConcurrent) return
    queue.delete(start)
    start()
  }

  return (host) => {
    const { promise, resolve, reject } = Promise.withResolvers<string[]>()
    const fail = (cause?: unknown) => reject(errors.WP_OUTBOUND_HOST_UNKNOWN({ host }, { cause }))
    const rejectBusy = () => reject(errors.WP_OUTBOUND_BUSY({}, { retryAfterSeconds: 10 }))
    if (queue.size >= options.maxQueued) {
      rejectBusy()
      return promise
    }
    const timer = setTimeout(() => (queue.delete(start) ? rejectBusy() : fail()), options.limitMs)
    const start = () => {
      running++
      lookup(host, { all: true }, (error, found) => {
        running--
        clearTimeout(timer)
        if (error !== null) fail(error)
        else if (found.length === 0) fail({ code: 'ENODATA' })
        else resolve(found.map((one) => one.address))
        startNext()
      })
    }
    queue.add(start)
    startNext()
    return promise
  }
}

type Done = (error: Error | null, found: LookupAddress[]) => void

/**
 * Combines concurrent lookups of the same name; caches nothing. Each lookup occupies one of libuv's four threads, so
 * one name with an unresponsive server could otherwise block all others.
 */
export function shareLookups(lookup: Lookup): Lookup {
  const pendingLookups = new Map<string, Done[]>()
  return (host, options, done) => {
    const key = JSON.stringify([host, options.family, options.hints])
    const others = pendingLookups.get(key)
    if (others !== undefined) {
      others.push(done)
      return
    }
    const callbacks = [done]
    pendingLookups.set(key, callbacks)
    lookup(host, options, (error, found) => {
      pendingLookups.delete(key)
      for (const one of callbacks) one(error, found)
    })
  }
}
