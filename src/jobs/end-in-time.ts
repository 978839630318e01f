export interface EndLimit {
  /** Whoever aborts it wants an end. */
  readonly signal: AbortSignal | undefined
  /** How long the work may take from then on. */
  limitMs(): number
  /** What is thrown when it takes longer. */
  tooLate(limitMs: number): Error
}

/**
 * Waits for work, and for no longer than a while once a signal aborts: a database whose line is half open answers never.
 * Work that is left behind ends with the process.
 */
export async function endInTime<Value>(work: Promise<Value>, limit: EndLimit): Promise<Value> {
  const { signal } = limit
  if (signal === undefined) return work
  const late = Promise.withResolvers<never>()
  let timer: NodeJS.Timeout | undefined
  const begin = () => {
    const limitMs = limit.limitMs()
    timer = setTimeout(() => late.reject(limit.tooLate(limitMs)), limitMs)
  }
  if (signal.aborted) begin()
  else signal.addEventListener('abort', begin, { once: true })
  work.catch(() => undefined) // when nobody waits for it any more
  try {
    return await Promise.race([work, late.promise])
  } finally {
    signal.removeEventListener('abort', begin)
    clearTimeout(timer)
  }
}
