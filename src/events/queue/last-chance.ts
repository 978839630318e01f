import type { Clock } from '../../kit/index.ts'

/** How long a worker that always has other work leaves those waiting that have to go alone. */
const longestWaitMs = 60_000
const idleEveryMs = 5000

/** When a worker looks for a delivery that has to go alone: such a look is not cheap where very much is due. */
export class LastChanceSchedule {
  readonly #clock: Clock
  #next: number
  #nextBusy: number
  /** Whether one waits until nothing else is under way. */
  isWanted = false
  /** Whether one is under way. */
  isRunning = false

  constructor(clock: Clock) {
    this.#clock = clock
    this.#next = -Infinity
    this.#nextBusy = clock.monotonic() + longestWaitMs
  }

  /** Whether to look now, for a worker that has nothing else to do, or that has. */
  isTime(isIdle: boolean, isLast: boolean): boolean {
    const now = this.#clock.monotonic()
    return isIdle ? isLast || now >= this.#next : now >= this.#nextBusy
  }

  looked(hasFound: boolean): void {
    const now = this.#clock.monotonic()
    this.#nextBusy = now + longestWaitMs
    this.#next = hasFound ? -Infinity : now + idleEveryMs
  }
}
