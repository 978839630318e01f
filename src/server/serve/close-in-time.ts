import type { Logger } from '../../runtime/index.ts'

const stepAfterLateMs = 1000

/**
 * Takes the steps of an end. A database whose line is half open answers never: what waits for it is left behind, and
 * what comes then, which waits for the same, is not waited for as long again.
 * @param longestStepMs longer than requests in flight are waited for
 */
export async function closeInTime(
  steps: readonly (() => Promise<unknown>)[],
  { logger, longestStepMs }: { readonly logger: Logger; readonly longestStepMs: number },
): Promise<void> {
  let limitMs = longestStepMs
  for (const step of steps) {
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(() => {
      logger.warn(`a part of this server did not stop within ${limitMs / 1000} s; it is left behind`)
      limitMs = stepAfterLateMs
      late.resolve()
    }, limitMs)
    await Promise.race([step(), late.promise]).finally(() => clearTimeout(timer))
  }
}
