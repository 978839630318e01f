/**
 * Waits at most `ms` milliseconds for `work`; for example, a database whose connection is half open never answers. Work
 * that misses its deadline continues unobserved.
 * @param late returns the result after the deadline, or throws
 */
export async function withDeadline<Value, Late>(
  work: Promise<Value>,
  ms: number,
  late: () => Late,
): Promise<Value | Late> {
  let timer: NodeJS.Timeout | undefined
  const expired = new Promise<Late>((resolve) => {
    timer = setTimeout(() => resolve((async () => late())()), ms)
  })
  work.catch(() => undefined) // it may fail after the deadline
  try {
    return await Promise.race([work, expired])
  } finally {
    clearTimeout(timer)
  }
}

export interface AbortDeadline<Late> {
  /** Without a signal the work has no deadline. */
  readonly signal: AbortSignal | undefined
  /** Milliseconds between the abort and the deadline. */
  limitMs(): number
  /** Returns the result after the deadline, or throws. */
  late(limitMs: number): Late
}

/** Waits for work whose deadline starts when a signal aborts. */
export async function withDeadlineAfterAbort<Value, Late>(
  work: Promise<Value>,
  { signal, limitMs, late }: AbortDeadline<Late>,
): Promise<Value | Late> {
  if (signal === undefined) return work
  let timer: NodeJS.Timeout | undefined
  const expired = Promise.withResolvers<Late>()
  const begin = () => {
    const ms = limitMs()
    timer = setTimeout(() => expired.resolve((async () => late(ms))()), ms)
  }
  if (signal.aborted) begin()
  else signal.addEventListener('abort', begin, { once: true })
  work.catch(() => undefined)
  try {
    return await Promise.race([work, expired.promise])
  } finally {
    signal.removeEventListener('abort', begin)
    clearTimeout(timer)
  }
}
