/** Counts running actions, including those whose caller has disconnected or timed out. */
export class RunningActions {
  #count = 0
  #onIdle: (() => void) | undefined

  begin(): void {
    this.#count += 1
  }

  end(): void {
    this.#count -= 1
    if (this.#count === 0) this.#onIdle?.()
  }

  /** Resolves when no action runs, or after the limit. */
  async whenIdle(limitMs: number): Promise<void> {
    if (this.#count === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, limitMs)
    this.#onIdle = resolve
    await promise
    clearTimeout(timer)
  }
}
