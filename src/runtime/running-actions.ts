/** How long an action may still use its resources after its caller has disconnected. */
const graceMs = 5000

/** Counts running actions, including those whose caller has disconnected or timed out. */
export class RunningActions {
  #count = 0
  #waiting: (() => void)[] = []

  begin(): void {
    this.#count += 1
  }

  end(): void {
    this.#count -= 1
    if (this.#count === 0) for (const resolve of this.#waiting.splice(0)) resolve()
  }

  /** Resolves when no action runs, or after 5 s. */
  async whenIdle(): Promise<void> {
    if (this.#count === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, graceMs)
    this.#waiting.push(resolve)
    await promise
    clearTimeout(timer)
  }
}
