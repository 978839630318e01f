/** Where time comes from; tests pass one that they turn. */
export interface Clock {
  /** Wall clock, milliseconds since 1970. */
  now(): number
  /** A clock that never goes back, in milliseconds from an arbitrary start. */
  monotonic(): number
}

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() }
