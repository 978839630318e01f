/** Takes as many at once as there are places; the others wait, the first come first. */
export class Places {
  #taken = 0
  #limit = 1
  #isClosed = false
  readonly #waiting: ((isOpen: boolean) => void)[] = []

  /** Those who wait for a place. */
  get waiting(): number {
    return this.#waiting.length
  }

  setLimit(limit: number): void {
    this.#limit = limit
    this.#fill()
  }

  /** @returns false, and there is no place to give back, once it is closed */
  take(): Promise<boolean> | boolean {
    if (this.#isClosed) return false
    if (this.#taken < this.#limit && this.#waiting.length === 0) {
      this.#taken++
      return true
    }
    return new Promise((resolve) => void this.#waiting.push(resolve))
  }

  giveBack(): void {
    this.#taken--
    this.#fill()
  }

  /** Nobody gets a place any more, those who wait included. */
  close(): void {
    this.#isClosed = true
    for (const resolve of this.#waiting.splice(0)) resolve(false)
  }

  #fill(): void {
    while (this.#taken < this.#limit && this.#waiting.length > 0) {
      this.#taken++
      this.#waiting.shift()!(true)
    }
  }
}
