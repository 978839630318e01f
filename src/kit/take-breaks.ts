import { setImmediate as nextTurn } from 'node:timers/promises'

const maxMs = 10

/**
 * Returns a function that a long loop calls after each step: other work gets its turn when the loop has run for 10 ms.
 */
export function takeBreaks(): () => Promise<void> | undefined {
  let since = performance.now()
  const rest = async () => {
    await nextTurn()
    since = performance.now()
  }
  return () => (performance.now() - since < maxMs ? undefined : rest())
}
