import type { Clock } from '../../kit/index.ts'

/** A stream that is being sent. */
export interface OpenStream {
  /** The number of items that were sent. */
  readonly count: number
  /** Shows the client that the connection is alive. */
  remind(): void
}

/** The streams of values that a server sends, across its generations. */
export class OpenStreams {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #repeat: (check: () => void) => () => void
  readonly #open = new Map<OpenStream, { count: number; sentAt: number }>()
  readonly #slots = new Map<string, number>()
  #stop: (() => void) | undefined

  /** @param repeat repeats a check, by default each second. Returns a function that ends it */
  constructor(clock: Pick<Clock, 'monotonic'>, repeat = eachSecond) {
    this.#clock = clock
    this.#repeat = repeat
  }

  /** The number of streams. */
  get size(): number {
    return this.#open.size
  }

  /**
   * Reserves one of the streams that a caller may have at the same time.
   * @returns a function that frees it; undefined if there is none left
   */
  reserve(caller: string, limit: number): (() => void) | undefined {
    const count = this.#slots.get(caller) ?? 0
    if (count >= limit) return undefined
    this.#slots.set(caller, count + 1)
    return () => {
      const left = this.#slots.get(caller)! - 1
      if (left === 0) this.#slots.delete(caller)
      else this.#slots.set(caller, left)
    }
  }

  /** Reminds the client of a stream while nothing else is sent, until it is removed. */
  add(stream: OpenStream): void {
    this.#open.set(stream, { count: 0, sentAt: this.#clock.monotonic() })
    this.#stop ??= this.#repeat(() => this.#remind())
  }

  remove(stream: OpenStream): void {
    this.#open.delete(stream)
    if (this.#open.size > 0) return
    this.#stop?.()
    this.#stop = undefined
  }

  #remind(): void {
    const now = this.#clock.monotonic()
    for (const [stream, known] of this.#open) {
      if (stream.count === known.count && now - known.sentAt < quietMs) continue
      if (stream.count === known.count) stream.remind()
      known.count = stream.count
      known.sentAt = now
    }
  }
}

/** Proxies close connections on which nothing is sent, many of them after 30 s. */
const quietMs = 15_000

function eachSecond(check: () => void): () => void {
  const timer = setInterval(check, 1000).unref()
  return () => clearInterval(timer)
}
