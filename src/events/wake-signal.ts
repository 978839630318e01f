/** Wakes a waiting loop. */
export function makeWakeSignal() {
  let isNotified = false
  let wake = () => {}
  return {
    notify() {
      isNotified = true
      wake()
    },
    /** Resolves when `notify` was called, also since the last wait, or after `ms`. */
    async wait(ms: number): Promise<void> {
      if (!isNotified) {
        const { promise, resolve } = Promise.withResolvers<void>()
        wake = resolve
        const timer = setTimeout(resolve, ms)
        await promise
        clearTimeout(timer)
      }
      isNotified = false
    },
  }
}
