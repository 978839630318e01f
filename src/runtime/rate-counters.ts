import type { FastifyRateLimitStore, FastifyRateLimitStoreCtor } from '@fastify/rate-limit'
import type { Clock } from '../kit/index.ts'

/** Counters for rate limits, by caller and rate, of this server and all its generations. */
export type RateCounters = FastifyRateLimitStoreCtor

interface Window {
  readonly startedAt: number
  count: number
}

type CountCallback = Parameters<FastifyRateLimitStore['incr']>[1]

const maxWindows = 100_000

/** Makes the counters of a server: one map shared by all stores that `@fastify/rate-limit` creates. */
export function makeRateCounters(clock: Clock): RateCounters {
  const windows = new Map<string, Window>()

  function count(key: string, lengthMs: number): { current: number; ttl: number } {
    const now = clock.now()
    let window = windows.get(key)
    if (window === undefined || window.startedAt + lengthMs <= now) {
      windows.delete(key) // and inserted again at the end, so that the first is the oldest
      if (windows.size >= maxWindows) windows.delete(windows.keys().next().value!)
      window = { startedAt: now, count: 0 }
      windows.set(key, window)
    }
    window.count += 1
    return { current: window.count, ttl: window.startedAt + lengthMs - now }
  }

  return class Store implements FastifyRateLimitStore {
    incr(key: string, counted: CountCallback, lengthMs = 0): void {
      counted(null, count(key, lengthMs))
    }

    child(): Store {
      return this
    }
  }
}
