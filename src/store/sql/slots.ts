interface Waiter<Item> {
  take(item: Item): void
  fail(error: Error): void
}

/** A few things that one user at a time may have, handed out in the order of asking. */
export class Slots<Item> {
  readonly #idle: Item[]
  readonly #waiting = new Set<Waiter<Item>>()

  constructor(items: readonly Item[]) {
    this.#idle = [...items]
  }

  /** Rejects with `tooLate()` when none came free in time. */
  take(limitMs: number, tooLate: () => Error): Promise<Item> {
    const item = this.#idle.pop()
    if (item !== undefined) return Promise.resolve(item)
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer)
        this.#waiting.delete(waiter)
      }
      const waiter: Waiter<Item> = {
        take: (freed) => (leave(), resolve(freed)),
        fail: (error) => (leave(), reject(error)),
      }
      const timer = setTimeout(() => waiter.fail(tooLate()), limitMs)
      this.#waiting.add(waiter)
    })
  }

  give(item: Item): void {
    const [next] = this.#waiting
    if (next === undefined) this.#idle.push(item)
    else next.take(item)
  }

  /** Sends away everyone who waits. */
  refuse(error: Error): void {
    for (const waiter of this.#waiting) waiter.fail(error)
  }
}
