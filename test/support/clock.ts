import type { Clock } from '../../src/kit/index.ts'

/** The real clock, and how far tests turned it. */
export interface TestClock extends Clock {
  /** Turns the time of day forward. */
  forward(ms: number): void
  /** Stops the monotonic clock, so that nothing grows old by itself; only `pass` moves it from now on. */
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
      frozenAt ??= Math.ceil(performance.now()) // whole, or adding 1000 to it and taking it away again would round
    },
    pass(ms) {
      passed += ms
    },
  }
}
