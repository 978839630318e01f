import { setTimeout as delay } from 'node:timers/promises'

export interface RetryOptions<Value> {
  /** Whether to retry after an error. */
  readonly isRetryable: (error: unknown) => boolean
  /** By the monotonic clock of `performance.now()`. */
  readonly deadline: number
  readonly onTimeout: (cause: unknown) => Error
  readonly attempt: () => Value
  /** 4 ms by default. */
  readonly maxPauseMs?: number
}

/**
 * Retries until it succeeds or the deadline passes. Pauses are short and random, so that concurrent callers do not
 * retry in step.
 */
export async function retry<Value>(options: RetryOptions<Value>): Promise<Awaited<Value>> {
  const { attempt, isRetryable, deadline, onTimeout, maxPauseMs = 4 } = options
  for (let pauses = 0; ; pauses++) {
    try {
      return await attempt()
    } catch (error) {
      if (!isRetryable(error)) throw error
      if (performance.now() >= deadline) throw onTimeout(error)
    }
    await delay(Math.random() * Math.min(2 ** pauses, maxPauseMs))
  }
}
