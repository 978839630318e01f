import { isWaypostError, type Clock } from '../kit/index.ts'

/** How long System may be busy. A run with `once` on SQLite keeps all others from writing for seconds. */
const maxBusyMs = 30_000

/** Tells disturbances that pass from errors that must be reported. */
export class Patience {
  readonly #clock: Pick<Clock, 'monotonic'>
  #failures = 0
  #busySince: number | undefined

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** Consecutive failures. */
  get failures(): number {
    return this.#failures
  }

  succeeded(): void {
    this.#failures = 0
    this.#busySince = undefined
  }

  /**
   * Whether an error must be reported: the second in a row of another system, one of System that was busy for half a
   * minute, or any other.
   */
  isOver(error: unknown): boolean {
    this.#failures++
    if (!isWaypostError(error) || error.kind !== 'external') return true
    if (error.code !== 'WP_STORE_BUSY') return this.#failures > 1
    const now = this.#clock.monotonic()
    this.#busySince ??= now
    return now - this.#busySince >= maxBusyMs
  }
}
