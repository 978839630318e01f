import type { Pruner } from './open-pruner.ts'

const pruneLookMs = 10 * 60_000

/** Looks now and then whether it is time to prune. @returns the way to stop */
export function keepPruning(pruner: Pruner): () => Promise<void> {
  pruner.touch()
  const timer = setInterval(() => pruner.touch(), pruneLookMs).unref()
  return async () => {
    clearInterval(timer)
    await pruner.close(0)
  }
}
