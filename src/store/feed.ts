import { systemClock, watchOutage, type Clock, type Outage } from '../kit/index.ts'
import { openFeedSource, type FeedRead, type FeedSource } from './feed-sources.ts'
import type { Change, System } from './system.ts'

/** Called with changes in order, or with `reset` if changes may have been missed and cached values are invalid. */
export type FeedListener = (changes: readonly Change[] | 'reset') => void

/** A process's view of the change feed. */
export interface Feed {
  /** The last position that was read. */
  position(): number
  /** Whether the last successful poll began less than one second ago, by the monotonic clock. */
  isFresh(): boolean
  /**
   * Reads the feed now. Afterwards listeners have received everything that was committed before the call. Throws if the
   * feed cannot be read; the feed is then not fresh until a read succeeds.
   */
  catchUp(): Promise<void>
  /** @returns a function that removes the listener */
  listen(listener: FeedListener): () => void
  close(): Promise<void>
}

export interface StartFeedOptions {
  readonly clock?: Clock
  /** Called once when the feed becomes unreadable, and with errors that listeners throw. */
  readonly onError?: (error: unknown) => void
  /** Called when the feed can be read again. */
  readonly onRecovered?: () => void
}

const maxAgeMs = 1000

/** Starts to follow the change feed. Resolves after the first successful poll. */
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
  /** The mark of the change at `#position`. Unknown at first; kept if that change is pruned. */
  #mark: string | undefined
  #lastBegan = -Infinity
  #currentPoll: Promise<void> | undefined
  #nextPoll: Promise<void> | undefined
  readonly #outage: Outage
  #isClosed = false

  constructor(system: System, options: StartFeedOptions) {
    this.#clock = options.clock ?? systemClock
    this.#onError = options.onError ?? (() => undefined)
    this.#outage = watchOutage({ onFailed: options.onError, onSucceeded: options.onRecovered })
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
    return this.#clock.monotonic() - this.#lastBegan < maxAgeMs
  }

  async catchUp(): Promise<void> {
    try {
      await this.#pollSoon()
    } catch (error) {
      this.#lastBegan = -Infinity // the caller knows of a change that cached values may not reflect
      throw error
    }
  }

  listen(listener: FeedListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#lastBegan = -Infinity // listeners receive no more changes
    clearInterval(this.#timer)
    this.#listeners.clear()
    await this.#source.close()
    await Promise.allSettled([this.#currentPoll, this.#nextPoll])
  }

  async #poll(): Promise<void> {
    const startedAt = this.#clock.monotonic()
    let isBehind: boolean
    do {
      const read = await this.#source.read(this.#position)
      if (this.#isClosed) return
      const isReset = read.isReconnected || !this.#isContinuous(read)
      const last = read.changes.at(-1)
      this.#position = isReset ? read.head : (last?.position ?? this.#position)
      this.#mark = isReset ? undefined : ((last ?? read.atPosition)?.mark ?? this.#mark)
      if (isReset || last !== undefined) this.#notify(isReset ? 'reset' : read.changes)
      isBehind = isReset || this.#position < read.head // after a reset, the change at the head must be read
    } while (isBehind)
    this.#lastBegan = startedAt
    this.#outage.succeeded()
  }

  /**
   * Whether a read continues where the last one ended. A lower head or a gap means that changes were missed. A
   * different change at the same position means that a backup was restored and its positions have grown past ours.
   */
  #isContinuous({ head, atPosition, changes }: FeedRead): boolean {
    if (atPosition !== undefined && this.#mark !== undefined && atPosition.mark !== this.#mark) return false
    if (changes.length === 0) return head === this.#position
    return changes.every((change, index) => change.position === this.#position + 1 + index)
  }

  #notify(changes: Parameters<FeedListener>[0]): void {
    for (const listener of this.#listeners) {
      try {
        listener(changes)
      } catch (error) {
        this.#onError(error) // the other listeners must still be called
      }
    }
  }

  // A poll in progress may have read before the caller's commit. Calls during a poll share a second one.
  #pollSoon(): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    if (this.#currentPoll === undefined) {
      this.#currentPoll = this.#poll().finally(() => (this.#currentPoll = undefined))
      return this.#currentPoll
    }
    this.#nextPoll ??= this.#currentPoll
      .catch(() => undefined)
      .then(() => {
        this.#nextPoll = undefined
        return this.#pollSoon()
      })
    return this.#nextPoll
  }

  #wake(): void {
    this.#pollSoon().catch((error: unknown) => this.#fail(error))
  }

  #tick(): void {
    const startedAt = this.#clock.monotonic()
    try {
      if (this.#source.mayHaveChanged()) this.#wake()
      else this.#lastBegan = startedAt
    } catch (error) {
      this.#fail(error)
    }
  }

  #fail(error: unknown): void {
    if (!this.#isClosed) this.#outage.failed(error)
  }
}
