interface Waiter<Item> {
  acquire(item: Item): void
  fail(error: Error): void
}

/** A fixed set of items that are handed out exclusively, in order of request. */
export class Slots<Item> {
  readonly #idle: Item[]
  readonly #waiting = new Set<Waiter<Item>>()

  constructor(items: readonly Item[]) {
    this.#idle = [...items]
  }

  /** Rejects with `onTimeout()` if no item became free in time. */
  acquire(limitMs: number, onTimeout: () => Error): Promise<Item> {
    const item = this.#idle.pop()
    if (item !== undefined) return Promise.resolve(item)
    return new Promise((resolve, reject) => {
      const settle = () => {
        clearTimeout(timer)
        this.#waiting.delete(waiter)
      }
      const waiter: Waiter<Item> = {
        acquire: (freed) => (settle(), resolve(freed)),
        fail: (error) => (settle(), reject(error)),
      }
      const timer = setTimeout(() => waiter.fail(onTimeout()), limitMs)
      this.#waiting.add(waiter)
    })
  }

  release(item: Item): void {
    const [next] = this.#waiting
    if (next === undefined) this.#idle.push(item)
    else next.acquire(item)
  }

  /** Rejects all waiting requests. */
  rejectWaiting(error: Error): void {
    for (const waiter of this.#waiting) waiter.fail(error)
  }
}
