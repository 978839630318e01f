import { setImmediate as makeWay } from 'node:timers/promises'
import type { Settings } from '../../kit/index.ts'
import { makeAttemptCounter } from '../attempt/attempt-totals.ts'
import { releaseDelivery, type ClaimedDelivery } from '../queue/claim.ts'
import type { ClaimedRow } from '../queue/claimed.ts'
import { deliver, type Delivered } from '../attempt/deliver.ts'
import { endOverdue, heldTooLong } from '../attempt/end-overdue.ts'
import { failuresToOpen } from '../queue/breaker.ts'
import type { ExecuteOptions } from './execute-options.ts'
import { judge } from '../attempt/judge.ts'
import { HostShares, type Limits } from '../queue/host-shares.ts'
import { LoneTurn } from '../queue/lone-turn.ts'
import { makeMender } from '../queue/mend-times.ts'
import { makeRecorder } from '../attempt/recorder.ts'
import { rememberSecrets } from '../attempt/remember-secrets.ts'
import { Pace } from './pace.ts'
import { Places } from './places.ts'
import { reportOf, reportOfEnded, reportOfLost } from './report.ts'
import { makeLooks } from '../queue/work.ts'

/** What a worker did. */
export interface Summary {
  attempted: number
  delivered: number
  retrying: number
  dead: number
}

/** Outcomes for each POST at once that may wait to be recorded, before no more is claimed. */
const mostUnrecorded = 4
/** Deliveries for each POST at once that may be claimed ahead. */
const mostAhead = 4

const roomMs = 5
const messagesMs = 50

export function limitsOf(settings: Settings, total: number): Limits {
  return { total, perEndpoint: settings.delivery_concurrency_per_endpoint }
}

/** One worker at work: what it has under way, and what came of it. */
export class Run {
  readonly summary: Summary = { attempted: 0, delivered: 0, retrying: 0, dead: 0 }
  /** What was claimed and has not ended, by endpoint. */
  readonly underWay = new Map<string, number>()
  /** What kept it from working. */
  readonly failures: unknown[] = []
  readonly hosts: HostShares
  readonly looks = makeLooks()
  readonly lone: LoneTurn
  readonly #options: ExecuteOptions
  readonly #ring: () => void
  readonly #recorder: ReturnType<typeof makeRecorder>
  readonly #mender: ReturnType<typeof makeMender>
  readonly #counter: ReturnType<typeof makeAttemptCounter>
  readonly #attempts = new Set<Promise<void>>()
  readonly #places = new Places()
  readonly #pace: Pace
  /** What was claimed and has not ended. */
  #claimed = 0
  readonly #beginNoMore = () => this.#places.close()
  #nextMessages = -Infinity
  #onEnd = () => {}

  /** @param ring called when there is room for more, or nothing left */
  constructor(options: ExecuteOptions, ring: () => void) {
    this.#options = { ...options, secrets: rememberSecrets(options.secrets) }
    this.#ring = ring
    this.hosts = new HostShares(options.clock)
    this.lone = new LoneTurn(options.clock)
    this.#pace = new Pace(options.clock)
    this.#recorder = makeRecorder(options)
    this.#mender = makeMender(options.system, options.clock)
    this.#counter = makeAttemptCounter(options.system)
    // At once, whatever a look at the database is waiting for.
    options.signal?.addEventListener('abort', this.#beginNoMore, { once: true })
  }

  /**
   * How many deliveries it may claim: as many as it posts at once, and what is likely to end within 20 ms, so that
   * neither the POSTs wait for claims, nor a claim is made for a few of them.
   */
  free(limit: number): number {
    this.#places.setLimits(limitsOf(this.#options.settings(), limit))
    if (this.lone.isWanted || this.lone.isRunning) return 0
    const unrecorded = this.#attempts.size - this.#claimed
    return Math.max(0, Math.min(this.#most(limit) - this.#claimed, limit * mostUnrecorded - unrecorded))
  }

  #most(limit: number): number {
    return limit + Math.min(this.#pace.next(), limit * mostAhead)
  }

  /**
   * Waits, for a moment at most, until a good part of what may be claimed at once can be: a look at the database for each
   * place that comes free would cost more than the POST.
   */
  async waitForRoom(limit: number): Promise<void> {
    const isRoom = () => this.#claimed === 0 || this.free(limit) >= this.#most(limit) / 2
    // With SQLite nothing else makes way for signals and timers.
    if (isRoom()) return makeWay()
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, roomMs)
    this.#onEnd = () => {
      if (isRoom()) resolve()
    }
    await promise
    clearTimeout(timer)
    this.#onEnd = () => {}
  }

  /** Whether it is a while since it was asked: new messages need not be looked for each time while much is due. */
  isTimeForMessages(): boolean {
    const now = this.#options.clock.monotonic()
    if (now < this.#nextMessages) return false
    this.#nextMessages = now + messagesMs
    return true
  }

  /** Leaves out of what it knows to be due what was taken; all of it when others took some, who go on with the same. */
  forget(taken: ReadonlySet<string>, wanted: number): void {
    const { looks } = this
    looks.ahead = taken.size < wanted ? [] : looks.ahead.filter(({ id }) => !taken.has(id))
  }

  isIdle(): boolean {
    return this.#attempts.size === 0
  }

  /** Does what is to be done from time to time. */
  async keep(): Promise<void> {
    this.#places.dropSlow()
    await this.#mender.touch()
    await this.#counter.touch()
  }

  start(delivery: ClaimedDelivery): void {
    const attempt = this.#attempt(delivery)
      .catch((error: unknown) => void this.failures.push(error))
      .finally(() => {
        this.#attempts.delete(attempt)
        this.lone.isRunning = false
        this.looks.quiet.end() // its outcome may have closed a breaker
        this.#ring()
      })
    this.#attempts.add(attempt)
  }

  reportLost(row: ClaimedRow): void {
    this.summary.dead++
    this.#options.onAttempt?.(reportOfLost(row))
  }

  /** Gives back what was not begun, and waits for what is under way. */
  async end(): Promise<void> {
    this.#options.signal?.removeEventListener('abort', this.#beginNoMore)
    this.#beginNoMore()
    await Promise.all(this.#attempts)
    await this.#counter.close()
  }

  async #attempt(delivery: ClaimedDelivery): Promise<void> {
    const { system, settings, onAttempt } = this.#options
    const delivered = await this.#post(delivery)
    if (delivered === undefined) return releaseDelivery(system, delivery)
    const verdict = judge(settings(), delivery, delivered.result)
    const recorded = await this.#recorder.record({ ...delivered, delivery, verdict })
    if (recorded === undefined) return
    const { outcome } = recorded.verdict
    this.summary.attempted++
    this.summary[outcome]++
    this.#counter.count(outcome, recorded.result.latencyMs)
    onAttempt?.(reportOf(recorded))
    const wentAlone = delivery.subscriptionFailures >= failuresToOpen
    if (wentAlone && outcome !== 'delivered') await this.#endOverdue(delivery)
  }

  async #endOverdue({ subscriptionId, endpoint }: ClaimedDelivery): Promise<void> {
    for (const row of await endOverdue(this.#options.system, subscriptionId)) {
      this.summary.dead++
      this.#options.onAttempt?.(reportOfEnded({ ...row, endpoint }, heldTooLong))
    }
  }

  /** Its place is free for another one when it has ended, and not only when that is recorded. */
  async #post(delivery: ClaimedDelivery): Promise<Delivered | undefined> {
    const { endpoint } = delivery
    this.#claimed++
    this.underWay.set(endpoint, (this.underWay.get(endpoint) ?? 0) + 1)
    const host = this.hosts.claim(endpoint)
    try {
      const posting = await this.#places.take(host)
      if (posting === undefined) return undefined
      try {
        return await deliver(this.#options, delivery)
      } finally {
        this.#places.giveBack(posting)
        this.#pace.count()
      }
    } finally {
      this.#claimed--
      this.hosts.leave(host)
      this.looks.quiet.end()
      const left = this.underWay.get(endpoint)! - 1
      if (left === 0) this.underWay.delete(endpoint)
      else this.underWay.set(endpoint, left)
      this.#onEnd()
      this.#ring()
    }
  }
}
