import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { isWaypostError } from '../../kit/index.ts'
import type { System } from '../../store/index.ts'
import { isHalfOpen } from '../lanes/breaker.ts'
import { cancelOf, endOverdue, expiredOutcome, type EndedDelivery } from '../lanes/end-deliveries.ts'
import type { Member } from '../lanes/member.ts'
import type { AttemptReport, Completion } from './attempt.ts'
import type { Memory } from './memory.ts'
import { toNote } from './note.ts'
import { disableRevision, record } from './record.ts'
import { makeWakeSignal } from '../wake-signal.ts'

/** The number of outcomes that are recorded at once, and how long fewer wait for others or for the end of a note. */
const batchSize = 250
const maxBatchSize = 500
const batchWaitMs = 20
const maxFlushPauseMs = 2000

/** What a worker did. */
export type Summary = Record<'attempted' | 'delivered' | 'retrying' | 'dead', number>

interface Parts {
  readonly system: System
  readonly member: Member
  readonly memory: Memory
  readonly watch?: boolean
  onAttempt?(attempt: AttemptReport): void
  /** An error that may end the run. */
  onFailure(error: unknown): void
  /** Others declared this worker dead. */
  onLose(): void
  /** Outcomes are recorded, or a note is: more may begin. */
  onRecorded(): void
  /** Something ended for which the worker may be waiting. */
  onChange(): void
}

/** Records the outcomes of a worker, with a renewed lease and the next note. One recording runs at a time. */
export class Recorder {
  readonly summary: Summary = { attempted: 0, delivered: 0, retrying: 0, dead: 0 }
  readonly #parts: Parts
  readonly #shard = randomInt(64) // so many that two workers rarely count in the same rows
  /** Outcomes that are not recorded, oldest first. */
  readonly #outcomes: Completion[] = []
  /** Subscriptions whose deliveries are being ended after a recording. */
  #ending = 0
  /** The current flush; undefined while none runs. */
  #flushing: Promise<void> | undefined
  /** Ends the wait for more outcomes. */
  #batch = makeWakeSignal()
  /** How many outcomes to record one by one. */
  #singles = 0

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Outcomes that wait to be recorded. */
  get size(): number {
    return this.#outcomes.length
  }

  /** Whether something must end before the worker can leave. */
  get isBusy(): boolean {
    return this.#ending > 0 || this.#flushing !== undefined || this.#outcomes.length > 0
  }

  add(completion: Completion): void {
    this.#outcomes.push(completion)
    this.flushSoon()
  }

  /** Does not wait for more outcomes if there are enough, or if nothing can begin before the next note. */
  hasten(): void {
    if (this.#outcomes.length >= batchSize || this.#parts.memory.note.isUsedUp) this.#batch.notify()
  }

  drop(): void {
    for (const { delivery } of this.#outcomes.splice(0)) this.#parts.memory.finish(delivery)
  }

  /** Records outcomes, if no flush runs yet. Waits for a batch of them, unless it is urgent. */
  flushSoon(isUrgent = false): void {
    this.#flushing ??= this.#flushUntilDone(isUrgent).then((isWritten) => {
      this.#flushing = undefined
      this.#parts.onChange()
      if (this.#outcomes.length === 0 && isWritten) this.flushIfUseful()
      else if (this.#outcomes.length > 0 && this.#parts.member.id !== undefined) this.flushSoon()
    })
  }

  async #flushUntilDone(isUrgent: boolean): Promise<boolean> {
    if (!isUrgent && this.#outcomes.length < batchSize && !this.#parts.memory.note.isUsedUp) {
      this.#batch = makeWakeSignal()
      await this.#batch.wait(batchWaitMs)
    }
    for (let failures = 0; ;) {
      try {
        await this.#flush()
        return true
      } catch (error) {
        const isLost = !this.#parts.member.isLive()
        // A note alone is written again soon, or the lease ends.
        if (this.#outcomes.length === 0 || (isExternal(error) && isLost && failures > 0 && !this.#parts.watch)) {
          if (isLost) this.#parts.onFailure(error)
          if (this.#outcomes.length > 0) this.#parts.onLose() // others end it, and count what it posted as lost
          return false
        }
        if (isExternal(error)) await sleep(Math.min(100 * 2 ** failures++, maxFlushPauseMs))
        else this.#isolate(error)
      }
    }
  }

  /** One of the outcomes cannot be recorded: records them one by one, and drops the one that fails. */
  #isolate(error: unknown): void {
    if (this.#singles > 0) {
      this.#parts.memory.finish(this.#outcomes.shift()!.delivery) // it is posted again
      this.#parts.onFailure(error)
    } else this.#singles = Math.min(this.#outcomes.length, maxBatchSize)
  }

  /** Writes a note if little of what is in memory may begin. */
  flushIfUseful(): void {
    if (this.#parts.memory.note.isUsedUp) this.#batch.notify()
    if (this.#parts.member.isLeaving || this.#outcomes.length > 0 || this.#parts.member.id === undefined) return
    if (this.#parts.memory.note.isNeeded()) this.flushSoon(true)
  }

  /** Records outcomes, renews the lease and replaces the note. */
  async #flush(): Promise<void> {
    const { system } = this.#parts
    const worker = this.#parts.member.id
    if (worker === undefined) return this.drop()
    const memory = this.#parts.memory
    const batch = this.#outcomes.slice(0, this.#singles > 0 ? 1 : maxBatchSize)
    const disabled = await this.#disableGone(worker, batch)
    const isDead = ({ delivery, result }: Completion) => result.status === 410 && disabled.has(delivery.of.id)
    const dead = { outcome: 'dead', delayMs: 0 } as const
    const completions = batch.map((one) => (isDead(one) ? { ...one, verdict: dead } : one))
    const noted = memory.note.choose(new Set(batch.map((one) => one.delivery)))
    const breakers = memory.listChangedBreakers()
    const sentAt = this.#parts.member.now()
    const recorded = await record(system, { worker, note: toNote(noted), completions, breakers, shard: this.#shard })
    if (this.#parts.member.id !== worker) return // lost meanwhile
    if (recorded === undefined) return this.#parts.onLose()
    this.#parts.member.renewed(sentAt)
    memory.setTime(recorded.now, sentAt.monotonic)
    for (const change of breakers) memory.breakerSaved(change)
    this.#outcomes.splice(0, batch.length)
    if (this.#singles > 0) this.#singles--
    const isRecorded = new Set(recorded.completions.map(({ delivery }) => delivery))
    for (const { delivery, verdict } of batch) {
      memory.finish(delivery, isRecorded.has(delivery) && verdict.outcome !== 'retrying')
    }
    memory.note.confirm(noted)
    for (const { delivery, result, verdict } of recorded.completions) {
      this.summary.attempted++
      this.summary[verdict.outcome]++
      const { id, content, recipient, failures } = delivery
      const of = { delivery: id, event: content.event, endpoint: recipient.endpoint, attempt: failures + 1 }
      this.#report({ ...of, ...verdict, result })
    }
    this.#parts.onRecorded()
    const probes = recorded.completions.filter(
      ({ delivery, verdict }) => delivery.isProbe && verdict.outcome !== 'delivered' && isHalfOpen(delivery.of.breaker),
    )
    if (disabled.size + probes.length > 0) void this.#endAfter(disabled, probes)
  }

  /** A 410 disables the subscription that was posted to. @returns the lanes of those that are disabled now, by id */
  async #disableGone(worker: string, batch: readonly Completion[]): Promise<ReadonlyMap<string, number>> {
    const disabled = new Map<string, number>()
    for (const { delivery, result } of batch) {
      const { id } = delivery.of
      const { revision } = delivery.recipient
      if (result.status !== 410 || disabled.has(id)) continue
      if (!(await disableRevision(this.#parts.system, worker, { id, revision }))) continue
      disabled.set(id, delivery.lane)
      this.#parts.memory.forgetSubscription(delivery.of)
    }
    return disabled
  }

  /**
   * Ends deliveries of subscriptions that were disabled or have failed for days. Afterwards, and without delaying the next
   * renewal of the lease, because this may wait for locks or take long.
   */
  async #endAfter(disabled: ReadonlyMap<string, number>, failedProbes: readonly Completion[]): Promise<void> {
    const { system } = this.#parts
    this.#ending++
    try {
      for (const [id, lane] of disabled) await cancelOf(system, { id, lane })
      for (const { delivery } of failedProbes) {
        const ended = await endOverdue(system, delivery.of.id)
        this.reportEnded(ended, delivery.recipient.endpoint, expiredOutcome)
      }
    } catch (error) {
      this.#parts.onFailure(error)
    } finally {
      this.#ending--
      this.#parts.onChange()
    }
  }

  /** Reports deliveries that ended without a POST. */
  reportEnded(deliveries: readonly EndedDelivery[], endpoint: string, failure: string): void {
    const result = { failure, latencyMs: 0 }
    for (const { id, event, failures } of deliveries) {
      this.summary.dead++
      this.#report({ delivery: id, event, endpoint, attempt: failures + 1, outcome: 'dead', delayMs: 0, result })
    }
  }

  /** An error of the callback ends the run, but not what is being recorded. */
  #report(attempt: AttemptReport): void {
    try {
      this.#parts.onAttempt?.(attempt)
    } catch (error) {
      this.#parts.onFailure(error)
    }
  }
}

function isExternal(error: unknown): boolean {
  return isWaypostError(error) && error.kind === 'external'
}
