import { systemClock, type Clock } from '../kit/index.ts'
import type { Change } from './changes.ts'
import { openFeedSource, type FeedRead, type FeedSource } from './feed-sources.ts'
import type { System } from './system.ts'

/** Called with what changed, in order; `reset` when changes may have been missed and nothing cached counts. */
export type FeedListener = (changes: readonly Change[] | 'reset') => void

/** One process's view of the change feed. */
export interface Feed {
  /** The last position seen. */
  position(): number
  /** Whether the last successful poll began less than a second ago, by the monotonic clock. */
  isFresh(): boolean
  /**
   * Reads the feed now; afterwards everything that was committed before the call has reached the listeners. When it
   * cannot be read it throws, and the feed is not fresh before it could be read.
   */
  catchUp(): Promise<void>
  /** @returns the way to stop listening */
  listen(listener: FeedListener): () => void
  close(): Promise<void>
}

export interface StartFeedOptions {
  readonly clock?: Clock
  /** Called when the feed cannot be read, once until it can be read again, and with what a listener throws. */
  readonly onError?: (error: unknown) => void
}

const trustedMs = 1000

/** Starts to follow the change feed; resolves when the first poll has succeeded. */
export async function startFeed(system: System, options: StartFeedOptions = {}): Promise<Feed> {
  const feed = new PolledFeed(system, options)
  try {
    await feed.start()
    return feed
  } catch (error) {
    await feed.close()
    throw error
  }
}

class PolledFeed implements Feed {
  readonly #source: FeedSource
  readonly #clock: Clock
  readonly #onError: (error: unknown) => void
  readonly #listeners = new Set<FeedListener>()
  #timer: NodeJS.Timeout | undefined
  #position = 0
  /** Of the change at the position; unknown at first, and kept when that one is pruned. */
  #mark: string | undefined
  #lastBegan = -Infinity
  #running: Promise<void> | undefined
  #again: Promise<void> | undefined
  #isFailing = false
  #isClosed = false

  constructor(system: System, options: StartFeedOptions) {
    this.#clock = options.clock ?? systemClock
    this.#onError = options.onError ?? (() => undefined)
    this.#source = openFeedSource(system, () => this.#wake())
  }

  async start(): Promise<void> {
    this.#position = (await this.#source.read(Number.MAX_SAFE_INTEGER)).head
    await this.#poll()
    this.#timer = setInterval(() => this.#tick(), this.#source.pollMs).unref()
  }

  position(): number {
    return this.#position
  }

  isFresh(): boolean {
    return this.#clock.monotonic() - this.#lastBegan < trustedMs
  }

  async catchUp(): Promise<void> {
    try {
      await this.#pollSoon()
    } catch (error) {
      this.#lastBegan = -Infinity // the caller knows of a change that what is cached does not
      throw error
    }
  }

  listen(listener: FeedListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#lastBegan = -Infinity // nobody hears of changes any more
    clearInterval(this.#timer)
    this.#listeners.clear()
    await this.#source.close()
    await Promise.allSettled([this.#running, this.#again])
  }

  async #poll(): Promise<void> {
    const began = this.#clock.monotonic()
    let isBehind: boolean
    do {
      const read = await this.#source.read(this.#position)
      if (this.#isClosed) return
      const isReset = read.isReconnected || !this.#follows(read)
      const last = read.changes.at(-1)
      this.#position = isReset ? read.head : (last?.position ?? this.#position)
      this.#mark = isReset ? undefined : ((last ?? read.here)?.mark ?? this.#mark)
      if (isReset || last !== undefined) this.#tell(isReset ? 'reset' : read.changes)
      isBehind = isReset || this.#position < read.head // after a reset what stands at the head has to be read
    } while (isBehind)
    this.#lastBegan = began
    this.#isFailing = false
  }

  /**
   * Whether what was read goes on where the last read ended. A lower head or a gap means that changes were missed; so
   * does another change at the same place: a backup was restored, and positions have grown past ours since.
   */
  #follows({ head, here, changes }: FeedRead): boolean {
    if (here !== undefined && this.#mark !== undefined && here.mark !== this.#mark) return false
    if (changes.length === 0) return head === this.#position
    return changes.every((change, index) => change.position === this.#position + 1 + index)
  }

  #tell(news: Parameters<FeedListener>[0]): void {
    for (const listener of this.#listeners) {
      try {
        listener(news)
      } catch (error) {
        this.#onError(error) // the others have to hear of it all the same
      }
    }
  }

  // A poll under way may have read before the caller's commit: what is asked for meanwhile is a second one, which all
  // who ask share.
  #pollSoon(): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    if (this.#running === undefined) {
      this.#running = this.#poll().finally(() => (this.#running = undefined))
      return this.#running
    }
    this.#again ??= this.#running
      .catch(() => undefined)
      .then(() => {
        this.#again = undefined
        return this.#pollSoon()
      })
    return this.#again
  }

  #wake(): void {
    this.#pollSoon().catch((error: unknown) => this.#fail(error))
  }

  #tick(): void {
    const began = this.#clock.monotonic()
    try {
      if (this.#source.mayHaveChanged()) this.#wake()
      else this.#lastBegan = began
    } catch (error) {
      this.#fail(error)
    }
  }

  #fail(error: unknown): void {
    if (!this.#isFailing && !this.#isClosed) this.#onError(error)
    this.#isFailing = true
  }
}
