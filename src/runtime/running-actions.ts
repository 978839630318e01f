/** Counts the actions that run, also those whose caller has gone or was told that it takes too long. */
export class RunningActions {
  #count = 0
  #whenNone: (() => void) | undefined

  begin(): void {
    this.#count += 1
  }

  end(): void {
    this.#count -= 1
    if (this.#count === 0) this.#whenNone?.()
  }

  /** Resolves when none runs any more, or when the time is over. */
  async idle(limitMs: number): Promise<void> {
    if (this.#count === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, limitMs)
    this.#whenNone = resolve
    await promise
    clearTimeout(timer)
  }
}
