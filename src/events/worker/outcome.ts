import type { Settings } from '../../kit/index.ts'
import type { PostResult } from '../../outbound/index.ts'
import type { Held } from './memory.ts'

export type Outcome = 'delivered' | 'retrying' | 'dead'

/** What an attempt means for its delivery. */
export interface Verdict {
  readonly outcome: Outcome
  /** Milliseconds until the next attempt, for `retrying`. */
  readonly delayMs: number
}

const maxRetries = 3

/** Returns success, a retry (at most three), or the end. */
export function decideVerdict(settings: Settings, { failures }: { failures: number }, result: PostResult): Verdict {
  const { status = 0, retryAfterMs = 0 } = result
  if (status >= 200 && status < 300 && result.failure === undefined) return { outcome: 'delivered', delayMs: 0 }
  if (failures >= maxRetries) return { outcome: 'dead', delayMs: 0 }
  const delays = settings.delivery_delays
  const delay = delays[Math.min(failures, delays.length - 1)] ?? 0
  const jittered = delay * (0.8 + 0.4 * Math.random())
  return { outcome: 'retrying', delayMs: Math.ceil(Math.max(jittered, retryAfterMs)) }
}

/** One POST and its outcome. */
export interface Completion {
  readonly delivery: Held
  readonly result: PostResult
  /** By the database's clock. */
  readonly startedAt: number
  readonly verdict: Verdict
}

/** Upper bounds of the latency buckets, in milliseconds. One more bucket counts everything slower. */
export const latencyBounds = [10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000] as const

/** The number of attempts with one outcome in one latency bucket, summed over all workers and all time. */
export interface AttemptTotal {
  readonly outcome: Outcome
  /** Index into `latencyBounds`, from 0. */
  readonly bucket: number
  readonly count: number
  readonly sum_ms: number
}
