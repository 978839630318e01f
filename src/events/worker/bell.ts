/** Wakes one who waits. */
export interface Bell {
  ring(): void
  /** Resolves when it rings or rang since the last wait, when the signal aborts, or after the time. */
  wait(ms: number): Promise<void>
}

export function makeBell(signal: AbortSignal | undefined): Bell {
  let rang = false
  let wake = () => {}
  return {
    ring() {
      rang = true
      wake()
    },
    async wait(ms) {
      if (!rang && !signal?.aborted) {
        const { promise, resolve } = Promise.withResolvers<void>()
        wake = resolve
        const timer = setTimeout(resolve, ms)
        signal?.addEventListener('abort', wake, { once: true })
        await promise
        clearTimeout(timer)
        signal?.removeEventListener('abort', wake)
      }
      rang = false
    },
  }
}
