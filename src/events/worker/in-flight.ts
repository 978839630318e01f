import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Clock } from '../../kit/index.ts'
import { HostShares, type Limits } from '../queue/host-shares.ts'
import { PostingSlots } from './posting-slots.ts'

/** Deliveries per concurrent POST that may be claimed ahead. */
const maxAhead = 8
const roomWaitMs = 5
/** If no slot was taken or freed for this long, the POSTs in flight hang. */
const stuckMs = 1000

/** The claimed deliveries of a worker that are not finished: in flight, or waiting for a slot. */
export class InFlight {
  /** The number of deliveries, by endpoint. */
  readonly byEndpoint = new Map<string, number>()
  readonly hosts: HostShares
  readonly #slots = new PostingSlots()
  readonly #startRate: StartRate
  readonly #clock: Clock
  #limits: Limits = { total: 1, perEndpoint: 1 }
  #count = 0
  /** When a slot was last taken or freed. */
  #lastProgressAt = 0
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
   * How many more deliveries may be claimed: one for each slot, plus those likely to finish within 20 ms. POSTs then do
   * not wait for claims, and claims are not made for a few deliveries.
   */
  room(): number {
    return this.#maxClaimed() - this.#count
  }

  #maxClaimed(): number {
    const { total } = this.#limits
    return total + Math.min(this.#startRate.next(), total * maxAhead)
  }

  /**
   * Waits, briefly, until about half of the room is free. A database query for each freed slot would cost more than the
   * POST.
   */
  async waitForRoom(): Promise<void> {
    const enough = this.#maxClaimed() / 2
    // With SQLite, nothing else lets signals and timers run.
    if (this.#count <= enough) return yieldToEventLoop()
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, roomWaitMs)
    this.#onEnd = () => {
      if (this.#count <= enough) resolve()
    }
    await promise
    clearTimeout(timer)
    this.#onEnd = () => {}
  }

  /**
   * Runs `post` once a slot is free, and frees the slot afterwards.
   * @returns undefined if it did not run because the slots are closed or will not be free soon
   */
  async runInSlot<Result>(endpoint: string, post: () => Promise<Result>): Promise<Result | undefined> {
    const host = this.hosts.claim(endpoint)
    this.#count++
    this.byEndpoint.set(endpoint, (this.byEndpoint.get(endpoint) ?? 0) + 1)
    try {
      const posting = await this.#slots.acquire(host)
      if (posting === undefined) return undefined
      this.#lastProgressAt = this.#clock.monotonic()
      try {
        return await post()
      } finally {
        this.#lastProgressAt = this.#clock.monotonic()
        this.#slots.release(posting)
        this.#startRate.count()
      }
    } finally {
      this.#count--
      this.hosts.release(host)
      const left = this.byEndpoint.get(endpoint)! - 1
      if (left === 0) this.byEndpoint.delete(endpoint)
      else this.byEndpoint.set(endpoint, left)
      this.#onEnd()
    }
  }

  /**
   * Releases the deliveries that wait for slow hosts, or all of them if every POST hangs. Another worker may have free
   * slots, and a user who pauses, moves or deletes a subscription expects no more posts.
   */
  dropSlow(): void {
    if (this.#clock.monotonic() - this.#lastProgressAt >= stuckMs) this.#slots.dropAll()
    else this.#slots.dropSlow()
  }

  /** Starts no more POSTs, and releases all waiting deliveries. */
  close(): void {
    this.#slots.close()
  }
}

const windowMs = 20

/** The rate of an event, counted in windows of 20 ms. */
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

  /** The expected count of the next window. */
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
