import { randomInt } from 'node:crypto'
import { setImmediate as yieldToEventLoop, setTimeout as sleep } from 'node:timers/promises'
import { isWaypostError, messageOf } from '../../kit/index.ts'
import type { PostResult } from '../../outbound/index.ts'
import { isHalfOpen } from '../lanes/breaker.ts'
import { correctTimes } from '../lanes/correct-times.ts'
import { loadOwners, Member } from '../lanes/member.ts'
import { findDueLanes } from '../lanes/read.ts'
import { allLanes } from '../lanes/shares.ts'
import { findMessages } from '../message/fan-out.ts'
import { makeKeyring, type SecretOpener } from '../signing/signing-secrets.ts'
import { decideVerdict, deliver, type AttemptOptions, type AttemptReport, type Completion } from './attempt.ts'
import { cancelOf, endOverdue, expiredOutcome, maxLost, type EndedDelivery } from '../lanes/end-deliveries.ts'
import { Memory, toNote, type Held } from './memory.ts'
import { Reader, type ReaderOptions } from './reader.ts'
import { disableRevision, record } from './record.ts'

const idleMs = 250
const maxPauseMs = 10_000
const compareMs = 1000
const guardMs = 250
const beatMs = 2000
/** The number of outcomes that are recorded at once, and how long fewer wait for others or for the end of a note. */
const batchSize = 250
const maxBatchSize = 500
const batchWaitMs = 20
const maxFlushPauseMs = 2000
/** How long a run without `watch` waits for what is due in lanes of other workers. */
const othersMs = 2000
/** Tries to fan out messages that others have locked, and to post what cannot be posted, before such a run ends. */
const maxTries = 100
const correctTimesMs = 60_000

export interface ExecuteOptions extends AttemptOptions, ReaderOptions {
  readonly secrets: SecretOpener
  /** Called before each reading, to notice a new release. */
  refresh?(): Promise<void>
  /** Starts nothing more. Attempts in flight finish. */
  readonly signal?: AbortSignal
  /** Continue when nothing is due, until the signal aborts. */
  readonly watch?: boolean
  /** The most concurrent POSTs; by default the setting `delivery_concurrency`. */
  readonly concurrency?: number
  /** Called after each recorded attempt, and for a delivery that ended because it lost too many workers. */
  onAttempt?(attempt: AttemptReport): void
  /** With `watch`, called when System is unavailable; the run then tries again. Without, the error ends it. */
  onError?(error: unknown): void
}

/** What a worker did. */
export type Summary = Record<'attempted' | 'delivered' | 'retrying' | 'dead', number>

/**
 * Delivers until nothing is due or, with `watch`, until the signal aborts. Any number of these may run concurrently.
 * @throws the database error, after the attempts in flight have finished
 */
export function executeEvents(options: ExecuteOptions): Promise<Summary> {
  return new Worker(options).run()
}

/**
 * One worker. Three things go on at once: `run` reads what is due, `#post` posts it, and `#flush` records outcomes with
 * a renewed lease and the next note.
 */
class Worker {
  readonly #summary: Summary = { attempted: 0, delivered: 0, retrying: 0, dead: 0 }
  readonly #options: ExecuteOptions
  readonly #keyring: ReturnType<typeof makeKeyring>
  readonly #member: Member
  readonly #memory: Memory
  readonly #wake = makeWakeSignal()
  readonly #reader: Reader
  readonly #shard = randomInt(64) // so many that two workers rarely count in the same rows
  /** POSTs in flight, and deliveries that are being ended after a recording. */
  #active = 0
  /** Outcomes that are not recorded, oldest first. */
  readonly #outcomes: Completion[] = []
  readonly #failures: unknown[] = []
  #abort = new AbortController()
  #isStopping = false
  /** The current flush; undefined while none runs. */
  #flushing: Promise<void> | undefined
  /** Ends the wait for more outcomes. */
  #batch = makeWakeSignal()
  /** How many outcomes to record one by one. */
  #singles = 0
  #nextCompareAt = -Infinity
  #nextCorrectionAt = -Infinity
  /** Since when all that is due has been in lanes of others, and the beats of these then. */
  #others: { readonly since: number; readonly beats: ReadonlyMap<string, number> } | undefined
  #triesLeft = maxTries

  constructor(options: ExecuteOptions) {
    this.#options = options
    this.#keyring = makeKeyring(options.secrets)
    this.#memory = new Memory(options.clock)
    this.#member = new Member(options.system, options.clock, this.#memory)
    const onLost = (lost: readonly EndedDelivery[]) => this.#reportEnded(lost, '', `lost ${maxLost} times`)
    this.#reader = new Reader({ ...options, member: this.#member, memory: this.#memory, onLost })
  }

  /** Works until the end, waits for what is in flight, records it, and leaves. */
  async run(): Promise<Summary> {
    const { watch, signal, onError } = this.#options
    let onFailure = watch ? onError : undefined
    if (!watch && (await this.#isNothingDue())) return this.#summary // without joining, which would move lanes
    const guard = setInterval(() => this.#guard(), guardMs)
    const stop = () => this.#stop()
    signal?.addEventListener('abort', stop, { once: true })
    if (signal?.aborted) stop()
    try {
      for (let errors = 0; !this.#isStopping || this.#isBusy();) {
        const next = await (this.#isStopping ? this.#drain() : this.#step()).catch((error: unknown) => {
          // A suspended process finds its connections closed. Only a second error shows that System is unavailable.
          if (watch || errors > 0 || !isExternal(error)) this.#failures.push(error)
          else errors++
          return 'again' as const
        })
        if (this.#failures.length > 0 && onFailure !== undefined) {
          try {
            for (const error of this.#failures.splice(0)) onFailure(error)
          } catch (error) {
            onFailure = undefined
            this.#failures.push(error)
          }
          await this.#wake.wait(Math.min(idleMs * 2 ** errors++, maxPauseMs))
          continue
        }
        if (this.#failures.length > 0) stop()
        if (next === 'end') stop()
        else if (next !== 'again') errors = 0
        if (next === 'idle') await this.#wake.wait(idleMs)
        else if (next === 'contended') await sleep(5 + Math.random() * 20)
        else await yieldToEventLoop() // with SQLite, nothing else lets signals and timers run
      }
      // If this fails, others take the lanes when the lease is over.
      await this.#member.leave().catch((error: unknown) => void this.#failures.push(error))
    } finally {
      signal?.removeEventListener('abort', stop)
      clearInterval(guard)
    }
    if (this.#failures.length > 0 && onFailure === undefined) throw this.#failures[0]
    return this.#summary
  }

  /** Starts nothing more. */
  #stop(): void {
    if (this.#isStopping) return
    this.#isStopping = true
    this.#member.isLeaving = true
    this.#memory.forgetQueued()
    this.#nextCompareAt = -Infinity
    this.#wake.notify()
  }

  /** Whether something must end before the worker can leave. */
  #isBusy(): boolean {
    return this.#active > 0 || this.#flushing !== undefined || this.#outcomes.length > 0
  }

  /** Gives up lanes while the worker ends. Does not join again. */
  async #drain(): Promise<'idle'> {
    if (this.#outcomes.length > 0) this.#flushSoon()
    const isDue = this.#options.clock.monotonic() >= this.#nextCompareAt
    if (isDue && this.#member.id !== undefined) await this.#compare().catch(() => undefined)
    return 'idle'
  }

  async #step(): Promise<'work' | 'idle' | 'contended' | 'again' | 'end'> {
    const options = this.#options
    const memory = this.#memory
    await options.refresh?.()
    const { delivery_concurrency: total, delivery_concurrency_per_endpoint: perEndpoint } = options.settings()
    memory.limits = { total: options.concurrency ?? total, perEndpoint }
    if (options.clock.monotonic() >= this.#nextCompareAt) await this.#compare()
    await this.#correctTimes(this.#member.lanes)
    memory.scheduleAlone()
    memory.trim()
    const fanned = await this.#reader.fanOut()
    const found = await this.#reader.read()
    this.#startPosts()
    this.#flushIfUseful()
    if (fanned === 'done' || found) {
      this.#triesLeft = maxTries
      this.#others = undefined
      return this.#reader.isLow ? 'work' : 'idle' // the end of a POST wakes the worker
    }
    const isIdle = memory.size === 0 && this.#active === 0 && this.#outcomes.length === 0
    if (fanned === 'locked' && this.#triesLeft-- > 0) return 'contended'
    if (options.watch || !isIdle) return 'idle'
    return (await this.#isFinished()) ? 'end' : 'idle'
  }

  async #correctTimes(lanes: readonly number[]): Promise<void> {
    const { system, clock } = this.#options
    if (clock.monotonic() < this.#nextCorrectionAt) return
    this.#nextCorrectionAt = clock.monotonic() + correctTimesMs
    await correctTimes(system, lanes)
  }

  async #compare(): Promise<void> {
    this.#nextCompareAt = this.#options.clock.monotonic() + compareMs
    if (!(await this.#member.compare(this.#memory.areHostsSilent))) this.#lose()
  }

  async #isNothingDue(): Promise<boolean> {
    const { system, catalog, refresh } = this.#options
    await refresh?.()
    await this.#correctTimes(allLanes)
    const { fresh, begun } = await findMessages(system, catalog())
    return !fresh && !begun && (await findDueLanes(system, this.#reader.terms())).size === 0
  }

  /** Whether nothing is due, or for a while only in lanes of others, each of which has been seen to live. */
  async #isFinished(): Promise<boolean> {
    const { system, catalog, clock } = this.#options
    const due = [...(await findDueLanes(system, this.#reader.terms()))]
    if (due.length === 0) {
      const { fresh, begun } = await findMessages(system, catalog())
      return !(fresh || begun) || this.#triesLeft-- <= 0
    }
    const owners = await loadOwners(system)
    const isOwn = (lane: number) => owners.has(lane) && owners.get(lane)!.id === this.#member.id
    if (due.some((lane) => !owners.has(lane) || isOwn(lane))) {
      this.#others = undefined
      return due.every(isOwn) && this.#triesLeft-- <= 0
    }
    const now = clock.monotonic()
    this.#others ??= { since: now, beats: new Map([...owners.values()].map(({ id, beat }) => [id, beat])) }
    const { since, beats } = this.#others
    return now - since >= othersMs && due.every((lane) => beats.get(owners.get(lane)!.id) !== owners.get(lane)!.beat)
  }

  // Posting

  #startPosts(): void {
    if (this.#isStopping || !this.#member.isLive()) return
    for (let row = this.#memory.startNext(); row !== undefined; row = this.#memory.startNext()) {
      this.#active++
      void this.#post(row)
    }
  }

  async #post(row: Held): Promise<void> {
    const memory = this.#memory
    const { signal } = this.#abort
    const startedAt = memory.now()
    let result: PostResult
    try {
      result = await deliver(this.#options, row, { keyring: this.#keyring, startedAt, signal })
    } catch (error) {
      result = await Promise.resolve({ failure: messageOf(error), latencyMs: 0 }) // later: this starts the next POST
    }
    const isHeld = memory.end(row, result.status !== undefined)
    if (isHeld && signal.aborted) memory.release(row)
    else if (isHeld) {
      const verdict = decideVerdict(this.#options.settings(), row, result)
      memory.countOutcome(row, verdict, this.#options.settings())
      this.#outcomes.push({ delivery: row, result, startedAt, verdict })
      this.#flushSoon()
    }
    this.#startPosts()
    if (this.#outcomes.length >= batchSize || memory.isNoteUsed) this.#batch.notify()
    if (--this.#active === 0 || this.#reader.wantsMore) this.#wake.notify()
  }

  // Recording

  /** Records outcomes, if no flush runs yet. Waits for a batch of them, unless it is urgent. */
  #flushSoon(isUrgent = false): void {
    this.#flushing ??= this.#flushUntilDone(isUrgent).then((isWritten) => {
      this.#flushing = undefined
      this.#wake.notify()
      if (this.#outcomes.length === 0 && isWritten) this.#flushIfUseful()
      else if (this.#outcomes.length > 0 && this.#member.id !== undefined) this.#flushSoon()
    })
  }

  async #flushUntilDone(isUrgent: boolean): Promise<boolean> {
    if (!isUrgent && this.#outcomes.length < batchSize && !this.#memory.isNoteUsed) {
      this.#batch = makeWakeSignal()
      await this.#batch.wait(batchWaitMs)
    }
    for (let failures = 0; ;) {
      try {
        await this.#flush()
        return true
      } catch (error) {
        const isLost = !this.#member.isLive()
        // A note alone is written again soon, or the lease ends.
        if (this.#outcomes.length === 0 || (isExternal(error) && isLost && failures > 0 && !this.#options.watch)) {
          if (isLost) this.#failures.push(error)
          if (this.#outcomes.length > 0) this.#lose() // others end it, and count what it posted as lost
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
      this.#memory.release(this.#outcomes.shift()!.delivery) // it is posted again
      this.#failures.push(error)
    } else this.#singles = Math.min(this.#outcomes.length, maxBatchSize)
  }

  /** Writes a note if little of what is in memory may begin. */
  #flushIfUseful(): void {
    if (this.#memory.isNoteUsed) this.#batch.notify()
    if (this.#isStopping || this.#outcomes.length > 0 || this.#member.id === undefined) return
    if (this.#memory.needsNote()) this.#flushSoon(true)
  }

  /** Records outcomes, renews the lease and replaces the note. */
  async #flush(): Promise<void> {
    const { system } = this.#options
    const worker = this.#member.id
    if (worker === undefined) return this.#dropOutcomes()
    const memory = this.#memory
    const batch = this.#outcomes.slice(0, this.#singles > 0 ? 1 : maxBatchSize)
    const disabled = await this.#disableGone(worker, batch)
    const isDead = ({ delivery, result }: Completion) => result.status === 410 && disabled.has(delivery.of.id)
    const dead = { outcome: 'dead', delayMs: 0 } as const
    const completions = batch.map((one) => (isDead(one) ? { ...one, verdict: dead } : one))
    const noted = memory.chooseNoted(new Set(batch.map((one) => one.delivery)))
    const breakers = memory.listChangedBreakers()
    const sentAt = this.#member.now()
    const recorded = await record(system, { worker, note: toNote(noted), completions, breakers, shard: this.#shard })
    if (this.#member.id !== worker) return // lost meanwhile
    if (recorded === undefined) return this.#lose()
    this.#member.renewed(sentAt)
    memory.setTime(recorded.now, sentAt.monotonic)
    for (const change of breakers) memory.breakerSaved(change)
    this.#outcomes.splice(0, batch.length)
    if (this.#singles > 0) this.#singles--
    const isRecorded = new Set(recorded.completions.map(({ delivery }) => delivery))
    for (const { delivery, verdict } of batch) {
      memory.release(delivery, isRecorded.has(delivery) && verdict.outcome !== 'retrying')
    }
    memory.confirmNote(noted)
    for (const { delivery, result, verdict } of recorded.completions) {
      this.#summary.attempted++
      this.#summary[verdict.outcome]++
      const { id, content, recipient, failures } = delivery
      const of = { delivery: id, event: content.event, endpoint: recipient.endpoint, attempt: failures + 1 }
      this.#report({ ...of, ...verdict, result })
    }
    this.#startPosts()
    const tests = recorded.completions.filter(
      ({ delivery, verdict }) => delivery.isTest && verdict.outcome !== 'delivered' && isHalfOpen(delivery.of.breaker),
    )
    if (disabled.size + tests.length > 0) void this.#endAfter(disabled, tests)
  }

  /** A 410 disables the subscription that was posted to. @returns the lanes of those that are disabled now, by id */
  async #disableGone(worker: string, batch: readonly Completion[]): Promise<ReadonlyMap<string, number>> {
    const disabled = new Map<string, number>()
    for (const { delivery, result } of batch) {
      const { id } = delivery.of
      const { revision } = delivery.recipient
      if (result.status !== 410 || disabled.has(id)) continue
      if (!(await disableRevision(this.#options.system, worker, { id, revision }))) continue
      disabled.set(id, delivery.lane)
      this.#memory.forgetSubscription(delivery.of)
    }
    return disabled
  }

  /**
   * Ends deliveries of subscriptions that were disabled or have failed for days. Afterwards, and without delaying the next
   * renewal of the lease, because this may wait for locks or take long.
   */
  async #endAfter(disabled: ReadonlyMap<string, number>, failedTests: readonly Completion[]): Promise<void> {
    const { system } = this.#options
    this.#active++
    try {
      for (const [id, lane] of disabled) await cancelOf(system, { id, lane })
      for (const { delivery } of failedTests) {
        const ended = await endOverdue(system, delivery.of.id)
        this.#reportEnded(ended, delivery.recipient.endpoint, expiredOutcome)
      }
    } catch (error) {
      this.#failures.push(error)
    } finally {
      if (--this.#active === 0) this.#wake.notify()
    }
  }

  /** Reports deliveries that ended without a POST. */
  #reportEnded(deliveries: readonly EndedDelivery[], endpoint: string, failure: string): void {
    const result = { failure, latencyMs: 0 }
    for (const { id, event, failures } of deliveries) {
      this.#summary.dead++
      this.#report({ delivery: id, event, endpoint, attempt: failures + 1, outcome: 'dead', delayMs: 0, result })
    }
  }

  /** An error of the listener ends the run, but not what is being recorded. */
  #report(attempt: AttemptReport): void {
    try {
      this.#options.onAttempt?.(attempt)
    } catch (error) {
      this.#failures.push(error)
    }
  }

  // The lease

  /** Renews the lease in time, and aborts everything when it is nearly over. */
  #guard(): void {
    const { id, renewedMs } = this.#member
    if (id === undefined) return
    if (!this.#member.isLive()) {
      this.#memory.forgetQueued()
      this.#abortPosts()
    }
    if (renewedMs >= beatMs) this.#flushSoon(true)
  }

  #abortPosts(): void {
    this.#abort.abort()
    this.#abort = new AbortController()
  }

  /** Others declared this worker dead, and may already post what it held. */
  #lose(): void {
    this.#member.lose()
    this.#abortPosts()
    this.#dropOutcomes()
    this.#memory.forgetAll()
    this.#reader.reset()
    this.#nextCompareAt = -Infinity
    this.#wake.notify()
  }

  #dropOutcomes(): void {
    for (const { delivery } of this.#outcomes.splice(0)) this.#memory.release(delivery)
  }
}

/** Wakes a waiting loop. */
function makeWakeSignal() {
  let isNotified = false
  let wake = () => {}
  return {
    notify() {
      isNotified = true
      wake()
    },
    /** Resolves when `notify` was called, also since the last wait, or after `ms`. */
    async wait(ms: number): Promise<void> {
      if (!isNotified) {
        const { promise, resolve } = Promise.withResolvers<void>()
        wake = resolve
        const timer = setTimeout(resolve, ms)
        await promise
        clearTimeout(timer)
      }
      isNotified = false
    },
  }
}

function isExternal(error: unknown): boolean {
  return isWaypostError(error) && error.kind === 'external'
}
