import { releaseDelivery, type ClaimedDelivery } from '../queue/claim.ts'
import type { ClaimedRow } from '../queue/sort-claims.ts'
import { deliver, type DeliverResult } from '../attempt/deliver.ts'
import { expireOverdue, expiredOutcome } from '../attempt/expire-overdue.ts'
import { failuresToOpen } from '../queue/breaker.ts'
import { type ExecuteOptions, reportOf, reportOfEnded, reportOfLost } from './options.ts'
import { decideVerdict } from '../attempt/outcome.ts'
import { LastChanceSchedule } from '../queue/last-chance-schedule.ts'
import { makeTimeCorrector } from '../queue/correct-times.ts'
import { makeRecorder } from '../attempt/recorder.ts'
import { cacheSecrets } from '../signing/signing-secrets.ts'
import { makeScanState } from '../queue/find-work.ts'
import { InFlight } from './in-flight.ts'

/** What a worker did. */
export interface Summary {
  attempted: number
  delivered: number
  retrying: number
  dead: number
}

/** Unrecorded outcomes per concurrent POST, beyond which nothing more is claimed. */
const maxUnrecorded = 4
const messageIntervalMs = 50

/** The state of one worker: its deliveries in flight and their results. */
export class Run {
  readonly summary: Summary = { attempted: 0, delivered: 0, retrying: 0, dead: 0 }
  /** Errors that prevented it from working. */
  readonly failures: unknown[] = []
  readonly inFlight: InFlight
  readonly scan = makeScanState()
  readonly lastChance: LastChanceSchedule
  readonly #options: ExecuteOptions
  readonly #wake: () => void
  readonly #recorder: ReturnType<typeof makeRecorder>
  readonly #timeCorrector: ReturnType<typeof makeTimeCorrector>
  readonly #attempts = new Set<Promise<void>>()
  readonly #closeSlots = () => this.inFlight.close()
  #nextMessagesAt = -Infinity

  /** @param wake called when there is room for more deliveries or none are left */
  constructor(options: ExecuteOptions, wake: () => void) {
    this.#options = { ...options, secrets: cacheSecrets(options.secrets) }
    this.#wake = wake
    this.inFlight = new InFlight(options.clock)
    this.lastChance = new LastChanceSchedule(options.clock)
    this.#recorder = makeRecorder(options)
    this.#timeCorrector = makeTimeCorrector(options.system, options.clock)
    // Immediately, even while a database query is running.
    options.signal?.addEventListener('abort', this.#closeSlots, { once: true })
  }

  /** How many deliveries it may claim. */
  free(): number {
    if (this.lastChance.isWaiting || this.lastChance.isRunning) return 0
    const unrecorded = this.#attempts.size - this.inFlight.count
    return Math.max(0, Math.min(this.inFlight.room(), this.inFlight.limits.total * maxUnrecorded - unrecorded))
  }

  /** Whether to look for new messages. Limited, so that not every scan does so while many deliveries are due. */
  isTimeForMessages(): boolean {
    const now = this.#options.clock.monotonic()
    if (now < this.#nextMessagesAt) return false
    this.#nextMessagesAt = now + messageIntervalMs
    return true
  }

  /**
   * Removes claimed deliveries from those known to be due. Clears all if other workers claimed some, because they
   * process the same ones.
   */
  dropClaimed(taken: ReadonlySet<string>, wanted: number): void {
    const { scan } = this
    scan.remaining = taken.size < wanted ? [] : scan.remaining.filter(({ id }) => !taken.has(id))
  }

  isIdle(): boolean {
    return this.#attempts.size === 0
  }

  /** Performs periodic tasks. */
  async runMaintenance(): Promise<void> {
    this.inFlight.dropSlow()
    await this.#timeCorrector.correctIfDue()
  }

  start(delivery: ClaimedDelivery): void {
    const attempt = this.#attempt(delivery)
      .catch((error: unknown) => void this.failures.push(error))
      .finally(() => {
        this.#attempts.delete(attempt)
        this.lastChance.isRunning = false
        this.scan.backoff.reset() // its outcome may have closed a breaker
        this.#wake()
      })
    this.#attempts.add(attempt)
  }

  reportLost(row: ClaimedRow): void {
    this.summary.dead++
    this.#options.onAttempt?.(reportOfLost(row))
  }

  /** Releases the deliveries that were not started, and waits for those in flight. */
  async end(): Promise<void> {
    this.#options.signal?.removeEventListener('abort', this.#closeSlots)
    this.#closeSlots()
    await Promise.all(this.#attempts)
  }

  async #attempt(delivery: ClaimedDelivery): Promise<void> {
    const { system, settings, onAttempt } = this.#options
    const delivered = await this.#post(delivery)
    if (delivered === undefined) return releaseDelivery(system, delivery)
    const verdict = decideVerdict(settings(), delivery, delivered.result)
    const recorded = await this.#recorder.record({ ...delivered, delivery, verdict })
    if (recorded === undefined) return
    const { outcome } = recorded.verdict
    this.summary.attempted++
    this.summary[outcome]++
    onAttempt?.(reportOf(recorded))
    const wasHalfOpen = delivery.subscriptionFailures >= failuresToOpen
    if (wasHalfOpen && outcome !== 'delivered') await this.#expireOverdue(delivery)
  }

  async #expireOverdue({ subscriptionId, endpoint }: ClaimedDelivery): Promise<void> {
    for (const row of await expireOverdue(this.#options.system, subscriptionId)) {
      this.summary.dead++
      this.#options.onAttempt?.(reportOfEnded({ ...row, endpoint }, expiredOutcome))
    }
  }

  async #post(delivery: ClaimedDelivery): Promise<DeliverResult | undefined> {
    try {
      return await this.inFlight.runInSlot(delivery.endpoint, () => deliver(this.#options, delivery))
    } finally {
      this.scan.backoff.reset()
      this.#wake()
    }
  }
}
