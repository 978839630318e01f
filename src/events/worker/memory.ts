import type { Clock, Settings } from '../../kit/index.ts'
import { countOutcome, isHalfOpen, isOpen, type Breaker } from '../lanes/breaker.ts'
import { maxLost } from '../lanes/end-deliveries.ts'
import type { Holdings, Noted } from '../lanes/member.ts'
import type { Delivery, HeldSubscription, Message, Recipient } from '../lanes/read.ts'
import { defaultShare, Hosts, maxPostings, type Host, type Limits, type Waiting } from './hosts.ts'

/** The most deliveries in memory, and the most characters of their bodies. */
const maxHeld = 2000
const maxBodies = 16 * 2 ** 20
/** Of one subscription. */
const minTake = 16
/** Of a host that has not responded yet. Fewer than those below which more are read, because it may hang. */
const maxUntried = 250
/** Posted alone from this number of lost workers on, so that only a delivery that crashes workers becomes dead. */
const aloneFrom = 3
/** How long these are posted while others wait, and how long the others then are. */
const aloneSliceMs = 1000
const aloneIntervalMs = 10_000
/** The most deliveries that a note contains beyond those under way, to hosts that are not slow. */
const maxNotedAhead = 500
/** A POST begins only on what was read of its subscription and user within this time. */
const maxRecipientAgeMs = 1000
const minValidMs = 250
const refreshAgeMs = 400
/** How often the oldest messages of a busy subscription are read again, because fan-out may finish out of order. */
const rereadMs = 1000

/** A delivery in memory. */
export interface Held extends Delivery {
  readonly content: Message
  readonly of: Subscription
  /** Whether it is still in memory. */
  isHeld: boolean
  /** Otherwise in flight, or with an outcome that is not recorded. */
  isQueued: boolean
  /** What it is posted with, from the moment it begins. */
  recipient: Recipient
  host: Host<Subscription>
  /** Whether a committed note contains it. */
  isNoted: boolean
  /** Whether it tests a breaker that is half open. */
  isTest: boolean
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
  readonly queue: Held[]
  /** All deliveries in memory, and those of them that are not queued. */
  size: number
  busy: number
  /** The last fresh message that was read. */
  after: string
  rereadAt: number
  /** Outcomes since the last reading. */
  finished: number
}

/** What deliveries are posted with, as far as it was not in memory when it was read. */
export interface Loaded {
  /** Undefined for those that do not exist. */
  readonly recipients: ReadonlyMap<string, Recipient | undefined>
  /** Null if the body does not fit into memory now; undefined for those that do not exist. */
  readonly messages: ReadonlyMap<string, Message | null | undefined>
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

/** The deliveries that a worker holds, and the order in which it posts them. Makes no queries. */
export class Memory implements Holdings {
  readonly #clock: Clock
  readonly #hosts: Hosts<Subscription>
  readonly #subscriptions = new Map<string, Subscription>()
  readonly #held = new Map<string, Held>()
  readonly #messages = new Map<string, { readonly content: Message; count: number }>()
  readonly #alone: Held[] = []
  /** What left memory while deliveries are being read; undefined while none are. */
  #left: Set<string> | undefined
  /** The database's time at a monotonic time. */
  #databaseTime = { now: 0, at: 0 }
  #posting = 0
  #queued = 0
  /** Queued deliveries that a committed note contains. */
  #noted = 0
  /** Since the last note. */
  #ended = 0
  #bodies = 0
  /** Whether a host has responded of which deliveries were left out before. */
  hasRoomAgain = false
  limits: Limits = { total: 1, perEndpoint: 1 }
  /** While set, only deliveries that must be alone are posted, one at a time. */
  #isAlone = false
  #aloneUntil = Infinity
  #nextAloneAt: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#hosts = new Hosts(clock)
    this.#nextAloneAt = clock.monotonic() + aloneIntervalMs
  }

  get size(): number {
    return this.#held.size
  }

  /** Deliveries that wait to be posted. */
  get queued(): number {
    return this.#queued
  }

  /** Whether nothing may begin before the next note, and either something waits for it or nothing is in flight. */
  get isNoteUsed(): boolean {
    return this.#noted === 0 && (this.#queued > 0 || this.#posting === 0)
  }

  /** How many characters of bodies can be read. */
  get bodyRoom(): number {
    return maxBodies - this.#bodies
  }

  get areHostsSilent(): boolean {
    return this.#hosts.areSilent()
  }

  /** The database's time, as far as known. */
  now(): number {
    return Math.round(this.#databaseTime.now + this.#clock.monotonic() - this.#databaseTime.at)
  }

  setTime(now: number, at: number): void {
    this.#databaseTime = { now, at }
  }

  heldLanes(): ReadonlySet<number> {
    return new Set([...this.#held.values()].map(({ lane }) => lane))
  }

  /** Forgets what is not under way, in one lane or in all. */
  forgetQueued(lane?: number): void {
    for (const row of this.#held.values()) {
      if (row.isQueued && (lane === undefined || row.lane === lane)) this.#remove(row)
    }
  }

  /** Forgets everything. What is in flight is ignored when it ends. */
  forgetAll(): void {
    for (const row of this.#held.values()) this.#remove(row)
  }

  // Reading

  /** From now on, `admit` leaves out what is held or leaves memory. */
  beginReading(): void {
    this.#left = new Set()
    this.hasRoomAgain = false
  }

  endReading(): void {
    this.#left = undefined
  }

  /** How many deliveries can be read. */
  room(): number {
    return maxHeld - this.#held.size
  }

  listHeldSubscriptions(): readonly HeldSubscription[] {
    const now = this.#clock.monotonic()
    const all = [...this.#subscriptions.values()]
    const wantedOf = (one: Subscription) =>
      Math.max(minTake, 2 * this.limits.perEndpoint, 3 * one.finished) - one.queue.length
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
    const others = deliveries.filter((one) => !this.#held.has(one.id) && this.#left?.has(one.id) !== true)
    return [...new Set(others.map((one) => one.message))].filter((id) => !this.#messages.has(id))
  }

  /**
   * Applies what was read of subscriptions in memory. Forgets the deliveries of those that may not receive any.
   * @param found by id; undefined for those that do not exist
   * @param at when the query was sent
   */
  applyRecipients(found: Loaded['recipients'], at: number): void {
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
    if (isMoved) {
      const host = this.#hosts.of(recipient.endpoint)
      known.host.ready.delete(known)
      known.host.users--
      known.host.queued -= known.queue.length
      host.users++
      host.queued += known.queue.length
      known.host = host
    }
    if (!recipient.isAllowed || isOpen(known.breaker, this.now())) this.forgetSubscription(known)
    else this.#wake(known)
  }

  /**
   * Takes deliveries into memory, as far as their recipients may receive something now. Call `applyRecipients` with the
   * same recipients first.
   */
  admit(deliveries: readonly Delivery[], { recipients, messages }: Loaded): Rejected {
    const ended = new Map<string, number>()
    const lost: Delivery[] = []
    const orphans: Delivery[] = []
    /** Subscriptions of which a delivery is left out: the next ones of an ordered subscription wait for it. */
    const passed = new Set<string>()
    const maxHung = defaultShare(this.limits)
    let hung = this.#hosts.countHung()
    for (const delivery of deliveries) {
      if (this.#left?.has(delivery.id) === true) passed.add(delivery.subscription)
      if (this.#held.has(delivery.id) || this.#left?.has(delivery.id) === true) continue
      const known = this.#subscriptions.get(delivery.subscription)
      const recipient = known?.recipient ?? recipients.get(delivery.subscription)
      // What left memory meanwhile was not read, and is read the next time.
      if (recipient === undefined && !recipients.has(delivery.subscription)) continue
      if (recipient === undefined || (!recipient.isAllowed && !recipient.isHeld)) {
        ended.set(delivery.subscription, delivery.lane)
        continue
      }
      const content = this.#messages.get(delivery.message)?.content ?? messages.get(delivery.message)
      const breaker = known?.breaker ?? recipient
      if (content === undefined && messages.has(delivery.message)) orphans.push(delivery)
      if (!content) passed.add(delivery.subscription) // it does not fit, or was dropped meanwhile
      if (recipient.isOrdered && delivery.dueAt === 0 && passed.has(delivery.subscription)) continue
      if (!content || !recipient.isAllowed || isOpen(breaker, this.now())) continue
      if (delivery.lost >= maxLost) {
        lost.push(delivery)
        continue
      }
      if (isHalfOpen(breaker) && known !== undefined && known.size > 0) continue // one at a time
      if (this.#held.size >= maxHeld) break
      const host = known?.host ?? this.#hosts.of(recipient.endpoint)
      const { pace } = host
      const inMemory = host.queued + host.posting
      if (pace === 'unknown' && inMemory >= maxUntried) host.isCut = true
      if (inMemory >= { quick: Infinity, unknown: maxUntried, slow: maxHung, hung: maxHung }[pace]) continue
      if (pace === 'hung' && hung++ >= maxHung) continue
      this.#add(delivery, content, known ?? this.#addSubscription(recipient))
    }
    return { ended, lost, orphans }
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
      host: this.#hosts.of(recipient.endpoint),
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
    const state = { isHeld: true, isQueued: true, isNoted: false, isTest: false }
    const row: Held = { ...state, ...delivery, content, of, recipient, host }
    this.#held.set(row.id, row)
    of.size++
    this.#queued++
    this.#keepMessage(row.message, content)
    if (row.dueAt === 0 && row.message > of.after) of.after = row.message
    if (row.lost >= aloneFrom) {
      this.#alone.push(row)
      return
    }
    // A replay or test is outside the order.
    if (of.recipient.isOrdered && row.dueAt > 0) of.queue.unshift(row)
    else of.queue.push(row)
    host.queued++
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

  #remove(row: Held): void {
    if (!row.isHeld) return
    row.isHeld = false
    this.#held.delete(row.id)
    this.#left?.add(row.id)
    this.#dropMessage(row.message)
    if (row.isQueued) this.#dequeue(row)
    else row.of.busy--
    row.of.size--
    this.#dropIfUnused(row.of)
  }

  #dropIfUnused(one: Subscription): void {
    if (one.size > 0 || one.breaker !== one.storedBreaker) return
    this.#subscriptions.delete(one.id)
    one.host.ready.delete(one)
    one.host.users--
  }

  forgetSubscription(one: Subscription): void {
    for (const row of [...one.queue, ...this.#alone.filter((alone) => alone.of === one)]) this.#remove(row)
  }

  /** Forgets queued deliveries of hosts that became slow, beyond their share, and of subscriptions with too many. */
  trim(): void {
    const share = defaultShare(this.limits)
    const isFull = this.#held.size > maxHeld * 0.75
    for (const one of this.#subscriptions.values()) {
      const { host } = one
      const isOver = () =>
        (host.isSlow && host.queued + host.posting > share) ||
        (isFull && one.queue.length > Math.max(minTake, 2 * one.finished))
      while (one.queue.length > 0 && isOver()) this.#remove(one.queue.at(-1)!)
    }
  }

  #dequeue(row: Held): void {
    const isAlone = row.lost >= aloneFrom
    const queue = isAlone ? this.#alone : row.of.queue
    queue.splice(queue.indexOf(row), 1)
    if (!isAlone) row.of.host.queued--
    this.#setNoted(row, false)
    this.#queued--
  }

  // Posting

  /** A second after the query was sent. If the answer took nearly as long or longer, a moment after it. */
  #validUntil(sentAt: number): number {
    return Math.max(sentAt + maxRecipientAgeMs, this.#clock.monotonic() + minValidMs)
  }

  #wake(one: Subscription): void {
    if (one.queue.length > 0) this.#hosts.wake(one)
  }

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
  startNext(): Held | undefined {
    const row = this.#chooseNext()
    if (row === undefined) return undefined
    const { of } = row
    this.#dequeue(row)
    row.isQueued = false
    row.isTest = isHalfOpen(of.breaker)
    row.recipient = of.recipient
    row.host = of.host
    of.busy++
    of.host.begin(row, of.recipient.endpoint)
    this.#posting++
    return row
  }

  #chooseNext(): Held | undefined {
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
  end(row: Held, hasResponse: boolean): boolean {
    this.#hosts.end(row.host, row, { endpoint: row.recipient.endpoint, hasResponse })
    this.#posting--
    this.#ended++
    if (row.host.isCut) this.hasRoomAgain = true
    row.host.isCut = false
    if (!row.isHeld) return false
    row.of.finished++
    this.#wake(row.of)
    return true
  }

  /** Counts an outcome for the breaker of its subscription. */
  countOutcome(
    { of, isTest, dueAt }: Held,
    { outcome, delayMs }: { readonly outcome: string; readonly delayMs: number },
    settings: Settings,
  ): void {
    const now = this.now()
    const counted = countOutcome(of.breaker, { isSuccess: outcome === 'delivered', wasTest: isTest, now }, settings)
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
  release(row: Held, isFinished = false): void {
    this.#remove(row)
    if (row.of.recipient.isOrdered && row.dueAt === 0 && !isFinished) this.forgetSubscription(row.of)
    this.#wake(row.of)
  }

  // Notes

  /**
   * Chooses what the next note contains: what is under way, and what may begin next. Only deliveries that the committed
   * and the next note contain may begin until `confirmNote`.
   */
  chooseNoted(recording: ReadonlySet<Held>): readonly Held[] {
    const rows = [...this.#held.values()].filter((row) => !row.isQueued && !recording.has(row))
    const ahead = new Set(this.#isAlone ? this.#alone.slice(0, this.#posting === 0 ? 1 : 0) : this.#chooseAhead())
    this.#ended = 0
    for (const row of this.#held.values()) if (row.isQueued && !ahead.has(row)) this.#setNoted(row, false)
    return [...rows, ...ahead]
  }

  /** One of each subscription, then a second of each, and so on. */
  #chooseAhead(): readonly Held[] {
    const chosen: Held[] = []
    const perHost = new Map<Host<Subscription>, number>()
    // More than begin until the next note.
    let quick = Math.min(maxNotedAhead, Math.max(3 * this.limits.total, 3 * this.#ended))
    let others = 2 * this.limits.total
    let waiting = [...this.#subscriptions.values()].filter((one) => one.queue.length > 0)
    for (let place = 0; waiting.length > 0; place++) {
      waiting = waiting.filter((one) => {
        const row = one.queue[place]
        if (row === undefined || (place > 0 && isHalfOpen(one.breaker))) return false
        const { host } = one
        if (!host.isSlow) {
          if (quick <= 0) return false
          quick--
        } else {
          const count = perHost.get(host) ?? host.posting
          if (others <= 0 || count >= maxPostings(host.pace, this.limits) || place >= this.limits.perEndpoint)
            return false
          perHost.set(host, count + 1)
          others--
        }
        chosen.push(row)
        return true
      })
    }
    return chosen
  }

  /** The note is committed. */
  confirmNote(rows: readonly Held[]): void {
    for (const row of rows) {
      if (!row.isQueued || !row.isHeld) continue
      this.#setNoted(row, true)
      this.#wake(row.of)
    }
  }

  #setNoted(row: Held, isNoted: boolean): void {
    if (row.isNoted !== isNoted) this.#noted += isNoted ? 1 : -1
    row.isNoted = isNoted
  }

  /** Whether few of those that may begin next are noted, and a note would allow more to begin. */
  needsNote(): boolean {
    if (this.#isAlone) return this.#posting === 0 && this.#alone[0]?.isNoted === false
    if (this.#noted >= 3 * this.limits.total) return false // at most two thirds are for slow hosts
    const ahead = this.#chooseAhead()
    const noted = ahead.filter((row) => row.isNoted).length
    return noted < this.limits.total && noted < ahead.length
  }
}

export function toNote(rows: readonly Held[]): string {
  return JSON.stringify(rows.map((row): Noted => [row.id, row.turn]))
}
