import type { Clock } from '../../kit/index.ts'

const windowMs = 20

/** How fast something goes: counted over windows of 20 ms. */
export class Pace {
  readonly #clock: Clock
  #began = -Infinity
  #count = 0
  #last = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  count(): void {
    this.#turn()
    this.#count++
  }

  /** How many there are likely to be within the next window. */
  next(): number {
    this.#turn()
    return Math.max(this.#last, this.#count)
  }

  #turn(): void {
    const now = this.#clock.monotonic()
    const passed = now - this.#began
    if (passed < windowMs) return
    this.#last = passed < 2 * windowMs ? this.#count : 0
    this.#count = 0
    this.#began = now
  }
}
