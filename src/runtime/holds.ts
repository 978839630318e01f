const longestHoldMs = 10_000

/** Reasons to let requests wait. */
export interface Holds {
  /** When every hold was let go or took too long; undefined while there is none. */
  all(): Promise<unknown> | undefined
  /** Whether what takes so long is the start. */
  isStarting(): boolean
  hold(isStarting?: boolean): () => void
}

export function makeHolds(): Holds {
  const holds = new Set<Promise<void>>()
  let starting = 0
  return {
    all: () => (holds.size === 0 && starting === 0 ? undefined : Promise.all(holds)),
    isStarting: () => starting > 0,
    hold(isStarting = false) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(end, longestHoldMs)
      let isHeld = true
      holds.add(promise)
      if (isStarting) starting += 1
      function end(): void {
        clearTimeout(timer)
        holds.delete(promise)
        resolve()
      }
      return () => {
        if (isStarting && isHeld) starting -= 1
        isHeld = false
        end()
      }
    },
  }
}
