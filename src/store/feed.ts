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
    const began = this.#clock.monotonic()
    const { head } = await this.#source.read(Number.MAX_SAFE_INTEGER)
    this.#position = head
    this.#lastBegan = began
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
    clearInterval(this.#timer)
    this.#listeners.clear()
    await this.#source.close()
    await Promise.allSettled([this.#running, this.#again])
  }

  async #poll(): Promise<void> {
    const began = this.#clock.monotonic()
    let read: FeedRead
    do {
      read = await this.#source.read(this.#position)
      if (this.#isClosed) return
      if (read.isReconnected || !follows(read, this.#position)) {
        this.#position = read.head
        this.#tell('reset')
      } else if (read.changes.length > 0) {
        this.#position += read.changes.length
        this.#tell(read.changes)
      }
    } while (this.#position < read.head)
    this.#lastBegan = began
    this.#isFailing = false
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

/** Whether what was read goes on where the last read ended: a lower head or a gap means that changes were missed. */
function follows({ head, changes }: FeedRead, position: number): boolean {
  if (changes.length === 0) return head === position
  return changes.every((change, index) => change.position === position + 1 + index)
}
