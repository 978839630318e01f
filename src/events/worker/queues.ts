import type { Clock } from '../../kit/index.ts'
import { isHalfOpen, type Breaker } from '../lanes/breaker.ts'
import type { Message, Recipient } from '../lanes/contents.ts'
import type { Delivery } from '../lanes/read.ts'
import { defaultShare, Hosts, type Host, type Limits, type Waiting } from './hosts.ts'

/** Posted alone from this number of lost workers on, so that only a delivery that crashes workers becomes dead. */
const aloneFrom = 3
/** How long these are posted while others wait, and how long the others then are. */
const aloneSliceMs = 1000
const aloneIntervalMs = 10_000
/** Of a host that has not responded yet. Fewer than those below which more are read, because it may hang. */
const maxUntried = 250

/** A delivery in memory. */
export interface Loaded extends Delivery {
  readonly content: Message
  readonly of: Subscription
  /** Whether it is still in memory. */
  isLoaded: boolean
  /** Otherwise in flight, or with an outcome that is not recorded. */
  isQueued: boolean
  /** What it is posted with, from the moment it begins. */
  recipient: Recipient
  host: Host<Subscription>
  /** Whether a committed note contains it. */
  isNoted: boolean
  /** Whether its outcome decides about a breaker that is half open. */
  isProbe: boolean
}

/** A subscription of which deliveries are in memory. */
export interface Subscription extends Waiting<Subscription> {
  readonly id: string
  recipient: Recipient
  /** When the recipient was read, and until when something may be posted on it. */
  readAt: number
  validUntil: number
  breaker: Breaker
  /** What System stores, and when that was written. */
  storedBreaker: Breaker
  breakerSavedAt: number
  host: Host<Subscription>
  /** In the order of posting, without those that must be alone. Those that are noted come first. */
  readonly queue: Loaded[]
  /** All deliveries in memory, and those of them that are not queued. */
  size: number
  busy: number
  /** The last fresh message that was read. */
  after: string
  rereadAt: number
  /** Outcomes since the last reading. */
  finished: number
}

/** The queues of the deliveries in memory, which begins next, and what is in flight. Makes no queries. */
export class Queues {
  readonly #clock: Clock
  readonly #hosts: Hosts<Subscription>
  /** Those that must be posted alone; in no queue of a subscription. */
  readonly #alone: Loaded[] = []
  #posting = 0
  #queued = 0
  #noted = 0
  /** While set, only deliveries that must be alone are posted, one at a time. */
  #isAlone = false
  #aloneUntil = Infinity
  #nextAloneAt: number
  limits: Limits = { total: 1, perEndpoint: 1 }
  /** POSTs that ended since the last note. */
  ended = 0
  /** Whether a host has responded of which deliveries were left out before. */
  hasRoomAgain = false

  constructor(clock: Clock) {
    this.#clock = clock
    this.#hosts = new Hosts(clock)
    this.#nextAloneAt = clock.monotonic() + aloneIntervalMs
  }

  /** POSTs in flight. */
  get posting(): number {
    return this.#posting
  }

  /** Deliveries that wait to be posted. */
  get queued(): number {
    return this.#queued
  }

  /** Those of them that a committed note contains, so that they may begin. */
  get noted(): number {
    return this.#noted
  }

  get areHostsSilent(): boolean {
    return this.#hosts.areSilent()
  }

  hostOf(endpoint: string): Host<Subscription> {
    return this.#hosts.of(endpoint)
  }

  // Queues

  add(row: Loaded): void {
    const { of } = row
    this.#queued++
    if (row.lost >= aloneFrom) {
      this.#alone.push(row)
      return
    }
    // A replay or test is outside the order.
    if (of.recipient.isOrdered && row.dueAt > 0) of.queue.unshift(row)
    else of.queue.push(row)
    of.host.queued++
  }

  remove(row: Loaded): void {
    const isAlone = row.lost >= aloneFrom
    const queue = isAlone ? this.#alone : row.of.queue
    queue.splice(queue.indexOf(row), 1)
    if (!isAlone) row.of.host.queued--
    this.setNoted(row, false)
    this.#queued--
  }

  /** What waits of a subscription. */
  queueOf(one: Subscription): readonly Loaded[] {
    return [...one.queue, ...this.#alone.filter((row) => row.of === one)]
  }

  /** Gives a subscription another host. */
  move(one: Subscription, endpoint: string): void {
    this.drop(one)
    one.host.queued -= one.queue.length
    one.host = this.#hosts.of(endpoint)
    one.host.users++
    one.host.queued += one.queue.length
  }

  /** Takes a subscription from its host. */
  drop(one: Subscription): void {
    one.host.ready.delete(one)
    one.host.users--
  }

  /** Something of it may begin now. */
  wake(one: Subscription): void {
    if (one.queue.length > 0) this.#hosts.wake(one)
  }

  /** Returns a function that says whether one more delivery to a host may be taken into memory. */
  makeAdmission(): (host: Host<Subscription>) => boolean {
    const share = defaultShare(this.limits)
    let hung = this.#hosts.countHung()
    return (host) => {
      const { pace } = host
      const inMemory = host.queued + host.posting
      if (pace === 'unknown' && inMemory >= maxUntried) host.isCut = true
      if (inMemory >= { quick: Infinity, unknown: maxUntried, slow: share, hung: share }[pace]) return false
      return pace !== 'hung' || hung++ < share
    }
  }

  /** Whether a host that became slow has more than its share in memory. */
  isOverShare({ isSlow, queued, posting }: Host<Subscription>): boolean {
    return isSlow && queued + posting > defaultShare(this.limits)
  }

  // Notes

  setNoted(row: Loaded, isNoted: boolean): void {
    if (row.isNoted !== isNoted) this.#noted += isNoted ? 1 : -1
    row.isNoted = isNoted
  }

  /** Those that must be alone and may begin next, while only these may. */
  nextAlone(): readonly Loaded[] | undefined {
    if (!this.#isAlone) return undefined
    return this.#posting === 0 ? this.#alone.slice(0, 1) : []
  }

  // Posting

  /** Posts deliveries that must be alone when nothing else is to do, and otherwise from time to time. */
  scheduleAlone(): void {
    const now = this.#clock.monotonic()
    const hasAlone = this.#alone.length > 0
    const hasOthers = this.#queued > this.#alone.length
    if (this.#isAlone) {
      if ((hasAlone && (now < this.#aloneUntil || !hasOthers)) || this.#posting > 0) return
      this.#isAlone = false
      this.#nextAloneAt = now + aloneIntervalMs
    } else if (hasAlone && (now >= this.#nextAloneAt || (this.#posting === 0 && !hasOthers))) {
      this.#isAlone = true
      this.#aloneUntil = now + aloneSliceMs
    }
  }

  /** Chooses the next delivery and counts it as in flight. Returns undefined if none can be started now. */
  startNext(): Loaded | undefined {
    const row = this.#chooseNext()
    if (row === undefined) return undefined
    const { of } = row
    this.remove(row)
    row.isQueued = false
    row.isProbe = isHalfOpen(of.breaker)
    row.recipient = of.recipient
    row.host = of.host
    of.busy++
    of.host.begin(row, of.recipient.endpoint)
    this.#posting++
    return row
  }

  #chooseNext(): Loaded | undefined {
    if (this.#isAlone) {
      const [row] = this.#alone
      return this.#posting === 0 && row?.isNoted === true && this.#isReadyToPost(row.of) ? row : undefined
    }
    if (this.#posting >= this.limits.total) return undefined
    return this.#hosts.next(this.limits, this.#mayStart)?.queue[0]
  }

  readonly #mayStart = (one: Subscription): boolean => {
    const [row] = one.queue
    if (row?.isNoted !== true || !this.#isReadyToPost(one)) return false
    return !(one.recipient.isOrdered && this.#alone.some((alone) => alone.of === one && alone.message < row.message))
  }

  #isReadyToPost(one: Subscription): boolean {
    if (this.#clock.monotonic() > one.validUntil) return false
    return one.busy === 0 || !(one.recipient.isOrdered || isHalfOpen(one.breaker))
  }

  /** Counts a POST as ended. @returns false if the delivery was forgotten meanwhile */
  end(row: Loaded, hasResponse: boolean): boolean {
    this.#hosts.end(row.host, row, { endpoint: row.recipient.endpoint, hasResponse })
    this.#posting--
    this.ended++
    if (row.host.isCut) this.hasRoomAgain = true
    row.host.isCut = false
    if (!row.isLoaded) return false
    row.of.finished++
    this.wake(row.of)
    return true
  }
}
