import type { Clock } from '../../kit/index.ts'

/** How long a worker that always has other work delays deliveries that must be posted alone. */
const maxWaitMs = 60_000
const idleIntervalMs = 5000

/**
 * Schedules the search for deliveries that must be posted alone. The search is expensive when many deliveries are due.
 */
export class LastChanceSchedule {
  readonly #clock: Clock
  #next: number
  #nextBusy: number
  /** Whether such a delivery waits until nothing else is in flight. */
  isWaiting = false
  /** Whether such a delivery is in flight. */
  isRunning = false

  constructor(clock: Clock) {
    this.#clock = clock
    this.#next = -Infinity
    this.#nextBusy = clock.monotonic() + maxWaitMs
  }

  /** Whether to search now, given whether the worker is idle and whether this is its last scan. */
  isTime(isIdle: boolean, isLast: boolean): boolean {
    const now = this.#clock.monotonic()
    return isIdle ? isLast || now >= this.#next : now >= this.#nextBusy
  }

  recordSearch(hasFound: boolean): void {
    const now = this.#clock.monotonic()
    this.#nextBusy = now + maxWaitMs
    this.#next = hasFound ? -Infinity : now + idleIntervalMs
  }
}
