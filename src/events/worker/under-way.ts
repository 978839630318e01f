import { setImmediate as makeWay } from 'node:timers/promises'
import type { Clock } from '../../kit/index.ts'
import { HostShares, type Limits } from '../queue/host-shares.ts'
import { PostingSlots } from './posting-slots.ts'

/** Deliveries for each POST at once that may be claimed ahead. */
const mostAhead = 4
const roomMs = 5
/** Who waits for a place while for so long none was taken or came free, waits for what hangs. */
const stuckMs = 1000

/** What a worker has claimed and has not ended: what it posts, and what waits for a place. */
export class UnderWay {
  /** How many, by endpoint. */
  readonly byEndpoint = new Map<string, number>()
  readonly hosts: HostShares
  readonly #slots = new PostingSlots()
  readonly #startRate: StartRate
  readonly #clock: Clock
  #limits: Limits = { total: 1, perEndpoint: 1 }
  #count = 0
  /** When a place was taken or came free. */
  #stirred = 0
  #onEnd = () => {}

  constructor(clock: Clock) {
    this.hosts = new HostShares(clock)
    this.#startRate = new StartRate(clock)
    this.#clock = clock
  }

  get count(): number {
    return this.#count
  }

  get limits(): Limits {
    return this.#limits
  }

  setLimits(limits: Limits): void {
    this.#limits = limits
    this.#slots.setLimits(limits)
  }

  /**
   * How many more may be claimed: as many as are posted at once, and what is likely to end within 20 ms, so that neither
   * the POSTs wait for claims, nor a claim is made for a few of them.
   */
  room(): number {
    return this.#most() - this.#count
  }

  #most(): number {
    const { total } = this.#limits
    return total + Math.min(this.#startRate.next(), total * mostAhead)
  }

  /**
   * Waits, for a moment at most, until a good part of what may be claimed at once can be: a look at the database for each
   * place that comes free would cost more than the POST.
   */
  async waitForRoom(): Promise<void> {
    const enough = this.#most() / 2
    // With SQLite nothing else makes way for signals and timers.
    if (this.#count <= enough) return makeWay()
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, roomMs)
    this.#onEnd = () => {
      if (this.#count <= enough) resolve()
    }
    await promise
    clearTimeout(timer)
    this.#onEnd = () => {}
  }

  /**
   * Does something once there is a place for it; that is free for another one as soon as it is over.
   * @returns undefined where it was not done: nobody gets a place any more, or not soon
   */
  async hold<Result>(endpoint: string, post: () => Promise<Result>): Promise<Result | undefined> {
    const host = this.hosts.claim(endpoint)
    this.#count++
    this.byEndpoint.set(endpoint, (this.byEndpoint.get(endpoint) ?? 0) + 1)
    try {
      const posting = await this.#slots.acquire(host)
      if (posting === undefined) return undefined
      this.#stirred = this.#clock.monotonic()
      try {
        return await post()
      } finally {
        this.#stirred = this.#clock.monotonic()
        this.#slots.release(posting)
        this.#startRate.count()
      }
    } finally {
      this.#count--
      this.hosts.leave(host)
      const left = this.byEndpoint.get(endpoint)! - 1
      if (left === 0) this.byEndpoint.delete(endpoint)
      else this.byEndpoint.set(endpoint, left)
      this.#onEnd()
    }
  }

  /**
   * Has nobody wait for a host that has become slow, and nobody at all where everything hangs: another worker may have
   * places, and whoever pauses, moves or deletes a subscription expects nothing any more.
   */
  dropSlow(): void {
    if (this.#clock.monotonic() - this.#stirred >= stuckMs) this.#slots.drop()
    else this.#slots.dropSlow()
  }

  /** Nobody gets a place any more, those who wait included. */
  close(): void {
    this.#slots.close()
  }
}

const windowMs = 20

/** How fast something goes: counted over windows of 20 ms. */
export class StartRate {
  readonly #clock: Clock
  #began = -Infinity
  #count = 0
  #last = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  count(): void {
    this.#turn()
    this.#count++
  }

  /** How many there are likely to be within the next window. */
  next(): number {
    this.#turn()
    return Math.max(this.#last, this.#count)
  }

  #turn(): void {
    const now = this.#clock.monotonic()
    const passed = now - this.#began
    if (passed < windowMs) return
    this.#last = passed < 2 * windowMs ? this.#count : 0
    this.#count = 0
    this.#began = now
  }
}
