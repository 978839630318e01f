const steps = 4

/**
 * Calls `expire` after `ms` milliseconds, which are counted in steps: a stall of this process, for example on a busy
 * machine, counts as one step, because the process could not read what arrived meanwhile.
 * @returns a function that cancels it
 */
function startTimer(ms: number, expire: () => void): () => void {
  let timer: NodeJS.Timeout | undefined
  const wait = (left: number) => {
    if (left === 0) expire()
    else timer = setTimeout(wait, Math.ceil(ms / steps), left - 1)
  }
  wait(steps)
  return () => clearTimeout(timer)
}

/**
 * Waits at most `ms` milliseconds for `work`; for example, a database whose connection is half open never responds. Work
 * that misses its deadline continues unobserved. A stall of this process counts as a quarter of the time at most.
 * @param late returns the result after the deadline, or throws
 */
export async function withDeadline<Value, Late>(
  work: Promise<Value>,
  ms: number,
  late: () => Late,
): Promise<Value | Late> {
  const expired = Promise.withResolvers<Late>()
  const cancel = startTimer(ms, () => expired.resolve((async () => late())()))
  work.catch(() => undefined) // it may fail after the deadline
  try {
    return await Promise.race([work, expired.promise])
  } finally {
    cancel()
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
  let cancel: (() => void) | undefined
  const expired = Promise.withResolvers<Late>()
  const begin = () => {
    const ms = limitMs()
    cancel = startTimer(ms, () => expired.resolve((async () => late(ms))()))
  }
  if (signal.aborted) begin()
  else signal.addEventListener('abort', begin, { once: true })
  work.catch(() => undefined)
  try {
    return await Promise.race([work, expired.promise])
  } finally {
    signal.removeEventListener('abort', begin)
    cancel?.()
  }
}
