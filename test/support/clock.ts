import type { Clock } from '../../src/kit/index.ts'

/** The real clock with an offset that tests can change. */
export interface TestClock extends Clock {
  /** Moves the time of day forward. */
  forward(ms: number): void
  /** Stops the monotonic clock, so that nothing expires. Only `pass` moves it from then on. */
  freeze(): void
  pass(ms: number): void
}

export function makeTestClock(): TestClock {
  let offset = 0
  let passed = 0
  let frozenAt: number | undefined
  return {
    now: () => Date.now() + offset,
    monotonic: () => (frozenAt ?? performance.now()) + passed,
    forward(ms) {
      offset += ms
    },
    freeze() {
      frozenAt ??= Math.ceil(performance.now()) // an integer, because adding and subtracting 1000 would round fractions
    },
    pass(ms) {
      passed += ms
    },
  }
}
