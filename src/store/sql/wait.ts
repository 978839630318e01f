import { setTimeout as delay } from 'node:timers/promises'

export interface Attempts<Value> {
  /** Whether a failure means "not yet". */
  readonly isNotYet: (error: unknown) => boolean
  /** By the monotonic clock of `performance.now()`. */
  readonly deadline: number
  readonly tooLate: (cause: unknown) => Error
  readonly attempt: () => Value
  /** 4 ms by default. */
  readonly longestPauseMs?: number
}

/** Tries until it succeeds or the time is up, with short random pauses, so that several who try do not march in step. */
export async function untilDone<Value>(attempts: Attempts<Value>): Promise<Awaited<Value>> {
  const { attempt, isNotYet, deadline, tooLate, longestPauseMs = 4 } = attempts
  for (let pauses = 0; ; pauses++) {
    try {
      return await attempt()
    } catch (error) {
      if (!isNotYet(error)) throw error
      if (performance.now() >= deadline) throw tooLate(error)
    }
    await delay(Math.random() * Math.min(2 ** pauses, longestPauseMs))
  }
}
