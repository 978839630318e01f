import type { FastifyRateLimitStore, FastifyRateLimitStoreCtor } from '@fastify/rate-limit'
import type { Clock } from '../kit/index.ts'

/** What is counted for rates, by caller and rate: in this server, over all of its generations. */
export type RateCounters = FastifyRateLimitStoreCtor

interface Window {
  readonly startedAt: number
  count: number
}

type Counted = Parameters<FastifyRateLimitStore['incr']>[1]

const mostWindows = 100_000

/** Makes the counters of a server: one map behind every store that `@fastify/rate-limit` makes for a route. */
export function makeRateCounters(clock: Clock): RateCounters {
  const windows = new Map<string, Window>()

  function count(key: string, lengthMs: number): { current: number; ttl: number } {
    const now = clock.now()
    let window = windows.get(key)
    if (window === undefined || window.startedAt + lengthMs <= now) {
      windows.delete(key) // and set again behind the others, so that the first is the oldest
      if (windows.size >= mostWindows) windows.delete(windows.keys().next().value!)
      window = { startedAt: now, count: 0 }
      windows.set(key, window)
    }
    window.count += 1
    return { current: window.count, ttl: window.startedAt + lengthMs - now }
  }

  return class Store implements FastifyRateLimitStore {
    incr(key: string, counted: Counted, lengthMs = 0): void {
      counted(null, count(key, lengthMs))
    }

    child(): Store {
      return this
    }
  }
}
