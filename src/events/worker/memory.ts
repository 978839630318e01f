import type { Clock, Settings } from '../../kit/index.ts'
import { countOutcome, isHalfOpen, isOpen, type Breaker } from '../lanes/breaker.ts'
import { maxLost } from '../lanes/end-deliveries.ts'
import type { LoadedLanes } from '../lanes/member.ts'
import type { Message, Recipient } from '../lanes/contents.ts'
import type { Delivery, LoadedSubscription } from '../lanes/read.ts'
import { Note } from './note.ts'
import { Queues, type Loaded, type Subscription } from './queues.ts'

/** The most deliveries in memory, and the most characters of their bodies. */
const maxLoaded = 2000
const maxBodies = 16 * 2 ** 20
/** Of one subscription. */
const minTake = 16
/** A POST begins only on what was read of its subscription and user within this time. */
const maxRecipientAgeMs = 1000
const minValidMs = 250
const refreshAgeMs = 400
/** How often the oldest messages of a busy subscription are read again, because fan-out may finish out of order. */
const rereadMs = 1000

/** What deliveries are posted with, as far as it was not in memory when it was read. */
export interface Contents {
  /** Undefined for those that do not exist. */
  readonly recipients: ReadonlyMap<string, Recipient | undefined>
  /** Null if the body does not fit into memory now; undefined for those that do not exist. */
  readonly messages: ReadonlyMap<string, Message | null | undefined>
}

/** A delivery that may be taken into memory. */
interface Candidate {
  readonly delivery: Delivery
  readonly recipient: Recipient
  readonly content: Message
  /** Undefined if none of its deliveries is in memory. */
  readonly known: Subscription | undefined
}

/** Whether a recipient may receive something, now or later. */
function isThere(recipient: Recipient | undefined): recipient is Recipient {
  return recipient !== undefined && (recipient.isAllowed || recipient.isHeld)
}

/** What cannot be taken into memory because something else must happen with it. */
export interface Rejected {
  /** The lanes of subscriptions that are gone, disabled or no longer allowed to receive their event. */
  readonly ended: ReadonlyMap<string, number>
  /** Deliveries with which too many workers were lost. */
  readonly lost: readonly Delivery[]
  /** Deliveries whose message does not exist. */
  readonly orphans: readonly Delivery[]
}

/** The deliveries that a worker has in memory, with their subscriptions and messages. Makes no queries. */
export class Memory implements LoadedLanes {
  readonly #clock: Clock
  /** Those that wait, in the order of posting. */
  readonly queues: Queues
  /** What the worker's row says of them. */
  readonly note: Note
  readonly #subscriptions = new Map<string, Subscription>()
  readonly #deliveries = new Map<string, Loaded>()
  readonly #messages = new Map<string, { readonly content: Message; count: number }>()
  /** What left memory while deliveries are being read; undefined while none are. */
  #left: Set<string> | undefined
  /** The database's time at a monotonic time. */
  #databaseTime = { now: 0, at: 0 }
  #bodies = 0

  constructor(clock: Clock) {
    this.#clock = clock
    this.queues = new Queues(clock)
    const subscriptions = () => this.#subscriptions.values()
    this.note = new Note(this.queues, { subscriptions, deliveries: () => this.#deliveries.values() })
  }

  get size(): number {
    return this.#deliveries.size
  }

  /** How many characters of bodies can be read. */
  get bodyRoom(): number {
    return maxBodies - this.#bodies
  }

  /** The database's time, as far as known. */
  now(): number {
    return Math.round(this.#databaseTime.now + this.#clock.monotonic() - this.#databaseTime.at)
  }

  setTime(now: number, at: number): void {
    this.#databaseTime = { now, at }
  }

  usedLanes(): ReadonlySet<number> {
    return new Set([...this.#deliveries.values()].map(({ lane }) => lane))
  }

  /** Forgets what is not under way, in one lane or in all. */
  forgetQueued(lane?: number): void {
    for (const row of this.#deliveries.values()) {
      if (row.isQueued && (lane === undefined || row.lane === lane)) this.#remove(row)
    }
  }

  /** Forgets everything. What is in flight is ignored when it ends. */
  forgetAll(): void {
    for (const row of this.#deliveries.values()) this.#remove(row)
  }

  // Reading

  /** From now on, `admit` leaves out what is in memory or leaves it. */
  beginReading(): void {
    this.#left = new Set()
    this.queues.hasRoomAgain = false
  }

  endReading(): void {
    this.#left = undefined
  }

  /** How many deliveries can be read. */
  room(): number {
    return maxLoaded - this.#deliveries.size
  }

  listSubscriptions(): readonly LoadedSubscription[] {
    const now = this.#clock.monotonic()
    const all = [...this.#subscriptions.values()]
    const wantedOf = (one: Subscription) =>
      Math.max(minTake, 2 * this.queues.limits.perEndpoint, 3 * one.finished) - one.queue.length
    const sum = all.reduce((total, one) => total + Math.max(0, wantedOf(one)), 0)
    const part = Math.min(1, this.room() / Math.max(1, sum)) // no more in total than there is room for
    return all.map((one) => {
      const wanted = Math.ceil(wantedOf(one) * part)
      const isBlocked = wanted <= 0 || isHalfOpen(one.breaker) || isOpen(one.breaker, this.now())
      one.finished = 0
      if (isBlocked) return { id: one.id, after: '', take: 0 }
      // Those of an ordered subscription are always read from the oldest.
      const isReread = one.recipient.isOrdered || now - one.rereadAt >= rereadMs
      if (!isReread) return { id: one.id, after: one.after, take: wanted }
      one.rereadAt = now
      return { id: one.id, after: '', take: one.size + wanted }
    })
  }

  /** Ids of subscriptions in memory that must be read again before long, and of those that are not in memory. */
  listUnread(subscriptions: Iterable<string>): readonly string[] {
    const now = this.#clock.monotonic()
    const stale = [...this.#subscriptions.values()].filter((one) => now - one.readAt >= refreshAgeMs)
    const unknown = [...subscriptions].filter((id) => !this.#subscriptions.has(id))
    return [...new Set([...stale.map((one) => one.id), ...unknown])]
  }

  /** Ids of messages to load for deliveries, in their order. */
  listUnknownMessages(deliveries: readonly Delivery[]): readonly string[] {
    const others = deliveries.filter((one) => !this.#deliveries.has(one.id) && this.#left?.has(one.id) !== true)
    return [...new Set(others.map((one) => one.message))].filter((id) => !this.#messages.has(id))
  }

  /**
   * Applies what was read of subscriptions in memory. Forgets the deliveries of those that may not receive any.
   * @param found by id; undefined for those that do not exist
   * @param at when the query was sent
   */
  applyRecipients(found: Contents['recipients'], at: number): void {
    for (const [id, recipient] of found) {
      const known = this.#subscriptions.get(id)
      if (known === undefined) continue
      if (recipient === undefined) this.forgetSubscription(known)
      else this.#update(known, recipient, at)
    }
  }

  #update(known: Subscription, recipient: Recipient, at: number): void {
    const isMoved = recipient.endpoint !== known.recipient.endpoint
    known.recipient = recipient
    known.validUntil = this.#validUntil(at)
    known.readAt = at
    const isUnchanged = known.breaker === known.storedBreaker
    if (isUnchanged && known.breakerSavedAt < at) known.breaker = known.storedBreaker = recipient
    if (isMoved) this.queues.move(known, recipient.endpoint)
    if (!recipient.isAllowed || isOpen(known.breaker, this.now())) this.forgetSubscription(known)
    else this.queues.wake(known)
  }

  /**
   * Takes deliveries into memory, as far as their recipients may receive something now. Call `applyRecipients` with the
   * same recipients first.
   */
  admit(deliveries: readonly Delivery[], contents: Contents): Rejected {
    const ended = new Map<string, number>()
    const lost: Delivery[] = []
    const orphans: Delivery[] = []
    const mayAdmit = this.queues.makeAdmission()
    for (const { delivery, recipient, content, known } of this.#candidates(deliveries, contents, { ended, orphans })) {
      const breaker = known?.breaker ?? recipient
      if (isOpen(breaker, this.now())) continue
      if (delivery.lost >= maxLost) {
        lost.push(delivery)
        continue
      }
      if (isHalfOpen(breaker) && known !== undefined && known.size > 0) continue // one at a time
      if (this.#deliveries.size >= maxLoaded) break
      if (!mayAdmit(known?.host ?? this.queues.hostOf(recipient.endpoint))) continue
      this.#add(delivery, content, known ?? this.#addSubscription(recipient))
    }
    return { ended, lost, orphans }
  }

  #contentOf(message: string): Message | undefined {
    return this.#messages.get(message)?.content
  }

  /** Returns deliveries that are not in memory, with their contents, whose recipients are allowed to receive them. */
  *#candidates(
    deliveries: readonly Delivery[],
    { recipients, messages }: Contents,
    { ended, orphans }: { readonly ended: Map<string, number>; readonly orphans: Delivery[] },
  ): Generator<Candidate> {
    /** Subscriptions of which a delivery is left out: the next ones of an ordered subscription wait for it. */
    const passed = new Set<string>()
    for (const delivery of deliveries) {
      const { id, subscription, message } = delivery
      const isLeft = this.#left?.has(id) === true
      if (isLeft) passed.add(subscription)
      if (isLeft || this.#deliveries.has(id)) continue
      const known = this.#subscriptions.get(subscription)
      const recipient = known?.recipient ?? recipients.get(subscription)
      // What left memory meanwhile was not read, and is read the next time.
      if (recipient === undefined && !recipients.has(subscription)) continue
      if (!isThere(recipient)) {
        ended.set(subscription, delivery.lane)
        continue
      }
      const content = this.#contentOf(message) ?? messages.get(message)
      if (content === undefined && messages.has(message)) orphans.push(delivery)
      if (!content) passed.add(subscription) // it does not fit, or was dropped meanwhile
      const mustWait = recipient.isOrdered && delivery.dueAt === 0 && passed.has(subscription)
      if (content && recipient.isAllowed && !mustWait) yield { delivery, recipient, content, known }
    }
  }

  #addSubscription(recipient: Recipient): Subscription {
    const at = this.#databaseTime.at // of the query that read it
    const one: Subscription = {
      id: recipient.subscriptionId,
      recipient,
      readAt: at,
      validUntil: this.#validUntil(at),
      breaker: recipient,
      storedBreaker: recipient,
      breakerSavedAt: -Infinity,
      host: this.queues.hostOf(recipient.endpoint),
      queue: [],
      size: 0,
      busy: 0,
      after: '',
      rereadAt: this.#clock.monotonic(),
      finished: 0,
    }
    one.host.users++
    this.#subscriptions.set(one.id, one)
    return one
  }

  #add(delivery: Delivery, content: Message, of: Subscription): void {
    const { recipient, host } = of
    const state = { isLoaded: true, isQueued: true, isNoted: false, isProbe: false }
    const row: Loaded = { ...state, ...delivery, content, of, recipient, host }
    this.#deliveries.set(row.id, row)
    of.size++
    this.#keepMessage(row.message, content)
    if (row.dueAt === 0 && row.message > of.after) of.after = row.message
    this.queues.add(row)
  }

  #keepMessage(id: string, content: Message): void {
    const known = this.#messages.get(id)
    if (known !== undefined) {
      known.count++
      return
    }
    this.#messages.set(id, { content, count: 1 })
    this.#bodies += content.data.length
  }

  #dropMessage(id: string): void {
    const known = this.#messages.get(id)!
    if (--known.count > 0) return
    this.#messages.delete(id)
    this.#bodies -= known.content.data.length
  }

  #remove(row: Loaded): void {
    if (!row.isLoaded) return
    row.isLoaded = false
    this.#deliveries.delete(row.id)
    this.#left?.add(row.id)
    this.#dropMessage(row.message)
    if (row.isQueued) this.queues.remove(row)
    else row.of.busy--
    row.of.size--
    this.#dropIfUnused(row.of)
  }

  #dropIfUnused(one: Subscription): void {
    if (one.size > 0 || one.breaker !== one.storedBreaker) return
    this.#subscriptions.delete(one.id)
    this.queues.drop(one)
  }

  forgetSubscription(one: Subscription): void {
    for (const row of this.queues.queueOf(one)) this.#remove(row)
  }

  /** Forgets queued deliveries of hosts that became slow, beyond their share, and of subscriptions with too many. */
  trim(): void {
    const isFull = this.#deliveries.size > maxLoaded * 0.75
    for (const one of this.#subscriptions.values()) {
      const isOver = () =>
        this.queues.isOverShare(one.host) || (isFull && one.queue.length > Math.max(minTake, 2 * one.finished))
      while (one.queue.length > 0 && isOver()) this.#remove(one.queue.at(-1)!)
    }
  }

  /** A second after the query was sent. If the result took nearly as long or longer, a moment after it. */
  #validUntil(sentAt: number): number {
    return Math.max(sentAt + maxRecipientAgeMs, this.#clock.monotonic() + minValidMs)
  }

  /** Counts an outcome for the breaker of its subscription. */
  countOutcome(
    { of, isProbe, dueAt }: Loaded,
    { outcome, delayMs }: { readonly outcome: string; readonly delayMs: number },
    settings: Settings,
  ): void {
    const now = this.now()
    const counted = countOutcome(of.breaker, { isSuccess: outcome === 'delivered', wasProbe: isProbe, now }, settings)
    const waits = of.recipient.isOrdered && dueAt === 0 && delayMs > 0
    const breaker = waits ? { ...counted, openUntil: Math.max(counted.openUntil ?? 0, now + delayMs) } : counted
    if (breaker === of.breaker) return
    of.breaker = breaker
    if (isOpen(breaker, now)) this.forgetSubscription(of)
  }

  /** Breakers that must be stored. */
  listChangedBreakers() {
    const changed = [...this.#subscriptions.values()].filter((one) => one.breaker !== one.storedBreaker)
    return changed.map((of) => {
      const { id, recipient, storedBreaker, breaker } = of
      return { of, subscription: id, revision: recipient.revision, failuresBefore: storedBreaker.failures, breaker }
    })
  }

  breakerSaved({ of, breaker }: { readonly of: Subscription; readonly breaker: Breaker }): void {
    of.storedBreaker = breaker
    of.breakerSavedAt = this.#clock.monotonic()
    this.#dropIfUnused(of)
  }

  /**
   * The outcome is recorded, or can never be.
   * @param isFinished whether it is not posted again. Otherwise nothing of an ordered subscription may overtake it.
   */
  finish(row: Loaded, isFinished = false): void {
    this.#remove(row)
    if (row.of.recipient.isOrdered && row.dueAt === 0 && !isFinished) this.forgetSubscription(row.of)
    this.queues.wake(row.of)
  }
}
