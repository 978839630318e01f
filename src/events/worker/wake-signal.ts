/** Wakes a waiting loop. */
export interface WakeSignal {
  notify(): void
  /** Resolves when `notify` was called (also since the last wait), when the signal aborts, or after `ms`. */
  wait(ms: number): Promise<void>
}

export function makeWakeSignal(signal: AbortSignal | undefined): WakeSignal {
  let isNotified = false
  let wake = () => {}
  return {
    notify() {
      isNotified = true
      wake()
    },
    async wait(ms) {
      if (!isNotified && !signal?.aborted) {
        const { promise, resolve } = Promise.withResolvers<void>()
        wake = resolve
        const timer = setTimeout(resolve, ms)
        signal?.addEventListener('abort', wake, { once: true })
        await promise
        clearTimeout(timer)
        signal?.removeEventListener('abort', wake)
      }
      isNotified = false
    },
  }
}
