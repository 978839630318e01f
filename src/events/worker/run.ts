import { releaseDelivery, type ClaimedDelivery } from '../queue/claim.ts'
import type { ClaimedRow } from '../queue/claimed.ts'
import { deliver, type Delivered } from '../attempt/deliver.ts'
import { endOverdue, heldTooLong } from '../attempt/end-overdue.ts'
import { failuresToOpen } from '../queue/breaker.ts'
import { type ExecuteOptions, reportOf, reportOfEnded, reportOfLost } from './options.ts'
import { judge } from '../attempt/outcome.ts'
import { LastChanceSchedule } from '../queue/last-chance.ts'
import { makeTimeCorrector } from '../queue/correct-times.ts'
import { makeRecorder } from '../attempt/recorder.ts'
import { rememberSecrets } from '../signing/signing-secrets.ts'
import { makeLooks } from '../queue/work.ts'
import { UnderWay } from './under-way.ts'

/** What a worker did. */
export interface Summary {
  attempted: number
  delivered: number
  retrying: number
  dead: number
}

/** Outcomes for each POST at once that may wait to be recorded, before no more is claimed. */
const mostUnrecorded = 4
const messagesMs = 50

/** One worker at work: what it has under way, and what came of it. */
export class Run {
  readonly summary: Summary = { attempted: 0, delivered: 0, retrying: 0, dead: 0 }
  /** What kept it from working. */
  readonly failures: unknown[] = []
  readonly underWay: UnderWay
  readonly looks = makeLooks()
  readonly lone: LastChanceSchedule
  readonly #options: ExecuteOptions
  readonly #ring: () => void
  readonly #recorder: ReturnType<typeof makeRecorder>
  readonly #timeCorrector: ReturnType<typeof makeTimeCorrector>
  readonly #attempts = new Set<Promise<void>>()
  readonly #beginNoMore = () => this.underWay.close()
  #nextMessages = -Infinity

  /** @param ring called when there is room for more, or nothing left */
  constructor(options: ExecuteOptions, ring: () => void) {
    this.#options = { ...options, secrets: rememberSecrets(options.secrets) }
    this.#ring = ring
    this.underWay = new UnderWay(options.clock)
    this.lone = new LastChanceSchedule(options.clock)
    this.#recorder = makeRecorder(options)
    this.#timeCorrector = makeTimeCorrector(options.system, options.clock)
    // At once, whatever a look at the database is waiting for.
    options.signal?.addEventListener('abort', this.#beginNoMore, { once: true })
  }

  /** How many deliveries it may claim. */
  free(): number {
    if (this.lone.isWanted || this.lone.isRunning) return 0
    const unrecorded = this.#attempts.size - this.underWay.count
    return Math.max(0, Math.min(this.underWay.room(), this.underWay.limits.total * mostUnrecorded - unrecorded))
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
    this.underWay.dropSlow()
    await this.#timeCorrector.touch()
  }

  start(delivery: ClaimedDelivery): void {
    const attempt = this.#attempt(delivery)
      .catch((error: unknown) => void this.failures.push(error))
      .finally(() => {
        this.#attempts.delete(attempt)
        this.lone.isRunning = false
        this.looks.backoff.end() // its outcome may have closed a breaker
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

  async #post(delivery: ClaimedDelivery): Promise<Delivered | undefined> {
    try {
      return await this.underWay.hold(delivery.endpoint, () => deliver(this.#options, delivery))
    } finally {
      this.looks.backoff.end()
      this.#ring()
    }
  }
}
