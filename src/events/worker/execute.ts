import { setImmediate as yieldToEventLoop, setTimeout as sleep } from 'node:timers/promises'
import { messageOf, watchOutage } from '../../kit/index.ts'
import type { PostResult } from '../../outbound/index.ts'
import { correctTimes } from '../lanes/correct-times.ts'
import { loadOwners, Member } from '../lanes/member.ts'
import { findDueLanes } from '../lanes/read.ts'
import { allLanes } from '../lanes/shares.ts'
import { findMessages } from '../message/fan-out.ts'
import { makeKeyring, type SecretOpener } from '../signing/signing-secrets.ts'
import { decideVerdict, deliver, type AttemptOptions, type AttemptReport } from './attempt.ts'
import { maxLost, type EndedDelivery } from '../lanes/end-deliveries.ts'
import { Memory } from './memory.ts'
import { Reader, type ReaderOptions } from './reader.ts'
import { RunLoop, type RunOptions } from '../run/run-loop.ts'
import { Patience } from '../patience.ts'
import { makeWakeSignal } from '../wake-signal.ts'
import { Quiet } from './quiet.ts'
import { Recorder, type Summary } from './recorder.ts'
import type { Loaded } from './queues.ts'

const idleMs = 250
const maxPauseMs = 10_000
const rebalanceMs = 1000
const guardMs = 250
const beatMs = 2000
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
  /** Runs listeners too. */
  readonly runs?: RunOptions | undefined
  /** The most concurrent POSTs; by default the setting `delivery_concurrency`. */
  readonly concurrency?: number
  /** Called after each recorded attempt, and for a delivery that ended because it lost too many workers. */
  onAttempt?(attempt: AttemptReport): void
  /**
   * With `watch`, called when System becomes unavailable, but not for each attempt; the run then tries again. Without, the
   * error ends it.
   */
  onError?(error: unknown): void
  /** Called when System is available again. */
  onRecovered?(): void
}

/**
 * Delivers until nothing is due or, with `watch`, until the signal aborts. Any number of these may run concurrently.
 * @throws the database error, after the attempts in flight have finished
 */
export function executeEvents(options: ExecuteOptions): Promise<Summary> {
  return new Worker(options).run()
}

/**
 * How a step of the worker ended: more can be read, it waits for something, others have locked the messages that it would
 * fan out, it failed and is tried again, or nothing is due any more.
 */
type Step = 'work' | 'idle' | 'contended' | 'again' | 'end'

/**
 * One worker. Three things happen at once: `run` reads what is due, `#post` posts it, and the recorder records outcomes
 * with a renewed lease and the next note.
 */
class Worker {
  readonly #options: ExecuteOptions
  readonly #keyring: ReturnType<typeof makeKeyring>
  readonly #member: Member
  readonly #memory: Memory
  readonly #wake = makeWakeSignal()
  readonly #reader: Reader
  readonly #recorder: Recorder
  readonly #runs: RunLoop | undefined
  readonly #quiet: Quiet
  /** POSTs in flight. */
  #active = 0
  readonly #failures: unknown[] = []
  #abort = new AbortController()
  #isStopping = false
  #nextRebalanceAt = -Infinity
  #nextCorrectionAt = -Infinity
  /** Since when all that is due has been in lanes of others, and the beats of these then. */
  #others: { readonly since: number; readonly beats: ReadonlyMap<string, number> } | undefined
  #triesLeft = maxTries

  constructor(options: ExecuteOptions) {
    this.#options = options
    this.#keyring = makeKeyring(options.secrets)
    this.#memory = new Memory(options.clock)
    this.#quiet = new Quiet(options.system)
    this.#member = new Member(options.system, options.clock, this.#memory)
    this.#recorder = new Recorder({
      ...options,
      member: this.#member,
      memory: this.#memory,
      onFailure: (error) => void this.#failures.push(error),
      onLose: () => this.#lose(),
      onRecorded: () => this.#startPosts(),
      onChange: () => this.#wake.notify(),
    })
    this.#runs =
      options.runs &&
      new RunLoop({
        ...options,
        ...options.runs,
        worker: () => (this.#member.isLive() && !this.#isStopping ? this.#member.id : undefined),
        isQuiet: () => this.#quiet.isSure,
        onFailure: (error) => void this.#failures.push(error),
      })
    const onLost = (lost: readonly EndedDelivery[]) => this.#recorder.reportEnded(lost, '', `lost ${maxLost} times`)
    this.#reader = new Reader({ ...options, member: this.#member, memory: this.#memory, onLost })
  }

  /** Works until the end, waits for what is in flight, records it, and leaves. */
  async run(): Promise<Summary> {
    const { watch, signal, onError: onFailed, onRecovered: onSucceeded } = this.#options
    const outage = watchOutage({ onFailed, onSucceeded })
    let onFailure = watch && onFailed !== undefined ? outage.failed : undefined
    if (!watch && (await this.#isNothingDue())) return this.#recorder.summary // without joining, which would move lanes
    const guard = setInterval(() => this.#guard(), guardMs)
    const stop = () => this.#stop()
    this.#startRuns()
    signal?.addEventListener('abort', stop, { once: true })
    if (signal?.aborted) stop()
    try {
      for (const patience = new Patience(this.#options.clock); !this.#isStopping || this.#isBusy();) {
        const next = await (this.#isStopping ? this.#drain() : this.#step()).catch((error: unknown) => {
          // A suspended process finds its connections closed. Only a second error shows that System is unavailable.
          if (patience.isOver(error) || watch) this.#failures.push(error)
          return 'again' as const
        })
        if (this.#failures.length > 0 && onFailure !== undefined) {
          if (!this.#report(onFailure)) onFailure = undefined
          await this.#wake.wait(Math.min(idleMs * 2 ** patience.failures, maxPauseMs))
          continue
        }
        if (this.#failures.length > 0) stop()
        if (next === 'end') stop()
        else if (next !== 'again') {
          patience.succeeded()
          outage.succeeded()
        }
        await this.#pauseAfter(next)
      }
      await this.#leave()
    } finally {
      signal?.removeEventListener('abort', stop)
      clearInterval(guard)
      this.#quiet.close()
    }
    if (this.#failures.length > 0 && onFailure === undefined) throw this.#failures[0]
    return this.#recorder.summary
  }

  #startRuns(): void {
    this.#runs?.start()
  }

  async #leave(): Promise<void> {
    await this.#runs?.stop()
    // If this fails, others take the lanes when the lease is over.
    await this.#member.leave().catch((error: unknown) => void this.#failures.push(error))
  }

  /** @returns false if the callback throws, which ends the worker */
  #report(onFailure: (error: unknown) => void): boolean {
    try {
      for (const error of this.#failures.splice(0)) onFailure(error)
      return true
    } catch (error) {
      this.#failures.push(error)
      return false
    }
  }

  async #pauseAfter(step: Step): Promise<void> {
    if (step === 'idle') await this.#wake.wait(idleMs)
    else if (step === 'contended') await sleep(5 + Math.random() * 20)
    else await yieldToEventLoop() // with SQLite, nothing else lets signals and timers run
  }

  /** Starts nothing more. */
  #stop(): void {
    if (this.#isStopping) return
    this.#isStopping = true
    this.#member.isLeaving = true
    this.#memory.forgetQueued()
    this.#nextRebalanceAt = -Infinity
    this.#wake.notify()
  }

  /** Whether something must end before the worker can leave. */
  #isBusy(): boolean {
    return this.#active > 0 || this.#recorder.isBusy
  }

  /** Frees lanes while the worker ends. Does not join again. */
  async #drain(): Promise<'idle'> {
    if (this.#recorder.size > 0) this.#recorder.flushSoon()
    const isDue = this.#options.clock.monotonic() >= this.#nextRebalanceAt
    if (isDue && this.#member.id !== undefined) await this.#rebalance().catch(() => undefined)
    return 'idle'
  }

  async #step(): Promise<Step> {
    const options = this.#options
    const memory = this.#memory
    await options.refresh?.()
    const { delivery_concurrency: total, delivery_concurrency_per_endpoint: perEndpoint } = options.settings()
    memory.queues.limits = { total: options.concurrency ?? total, perEndpoint }
    if (options.clock.monotonic() >= this.#nextRebalanceAt) await this.#rebalance()
    await this.#correctTimes(this.#member.lanes)
    memory.queues.scheduleAlone()
    memory.trim()
    if (options.watch && !this.#hasWork() && this.#quiet.isSure) return 'idle'
    const fanned = await this.#reader.fanOut()
    const found = await this.#reader.read()
    this.#startPosts()
    this.#recorder.flushIfUseful()
    if (fanned === 'done' || found) {
      this.#triesLeft = maxTries
      this.#others = undefined
      return this.#reader.isLow ? 'work' : 'idle' // the end of a POST wakes the worker
    }
    if (fanned === 'locked' && this.#triesLeft-- > 0) return 'contended'
    const hasWork = this.#hasWork()
    if (options.watch && !hasWork) await this.#quiet.look()
    if (options.watch || hasWork) return 'idle'
    return (await this.#isFinished()) ? 'end' : 'idle'
  }

  /** Whether something is in memory or under way. */
  #hasWork(): boolean {
    return this.#runs?.isIdle === false || this.#memory.size > 0 || this.#isBusy()
  }

  async #correctTimes(lanes: readonly number[]): Promise<void> {
    const { system, clock } = this.#options
    if (clock.monotonic() < this.#nextCorrectionAt) return
    this.#nextCorrectionAt = clock.monotonic() + correctTimesMs
    await correctTimes(system, lanes)
  }

  async #rebalance(): Promise<void> {
    this.#nextRebalanceAt = this.#options.clock.monotonic() + rebalanceMs
    if (!(await this.#member.rebalance(this.#memory.queues.areHostsSilent))) this.#lose()
  }

  async #isNothingDue(): Promise<boolean> {
    const { system, catalog, refresh } = this.#options
    await refresh?.()
    await this.#correctTimes(allLanes)
    const { fresh, begun, delayed } = await findMessages(system, catalog())
    if ((await this.#runs?.hasDue()) === true) return false
    return !fresh && !begun && !delayed && (await findDueLanes(system, this.#reader.terms())).size === 0
  }

  /** Whether nothing is due, or for a while only in lanes of others, each of which has been seen to live. */
  async #isFinished(): Promise<boolean> {
    const { system, catalog, clock } = this.#options
    const due = [...(await findDueLanes(system, this.#reader.terms()))]
    if (due.length === 0) {
      const { fresh, begun, delayed } = await findMessages(system, catalog())
      return !(fresh || begun || delayed) || this.#triesLeft-- <= 0
    }
    const owners = await loadOwners(system)
    const isOwn = (lane: number) => owners.has(lane) && owners.get(lane)!.id === this.#member.id
    if (due.some((lane) => !owners.has(lane) || isOwn(lane))) {
      this.#others = undefined
      this.#reader.forgetMarks()
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
    const { queues } = this.#memory
    for (let row = queues.startNext(); row !== undefined; row = queues.startNext()) {
      this.#active++
      void this.#post(row)
    }
  }

  async #post(row: Loaded): Promise<void> {
    const memory = this.#memory
    const { signal } = this.#abort
    const startedAt = memory.now()
    let result: PostResult
    try {
      result = await deliver(this.#options, row, { keyring: this.#keyring, startedAt, signal })
    } catch (error) {
      result = await Promise.resolve({ failure: messageOf(error), latencyMs: 0 }) // later: this starts the next POST
    }
    const isLoaded = memory.queues.end(row, result.status !== undefined)
    if (isLoaded && signal.aborted) memory.finish(row)
    else if (isLoaded) {
      const verdict = decideVerdict(this.#options.settings(), row, result)
      memory.countOutcome(row, verdict, this.#options.settings())
      this.#recorder.add({ delivery: row, result, startedAt, verdict })
    }
    this.#startPosts()
    this.#recorder.hasten()
    if (--this.#active === 0 || this.#reader.wantsMore) this.#wake.notify()
  }

  // The lease

  /** Renews the lease in time, and aborts everything when it is nearly over. */
  #guard(): void {
    const { id, renewedMs } = this.#member
    if (id === undefined) return
    if (!this.#member.isLive()) {
      this.#memory.forgetQueued()
      this.#abortPosts()
      this.#runs?.abort()
    }
    if (renewedMs >= beatMs) this.#recorder.flushSoon(true)
  }

  #abortPosts(): void {
    this.#abort.abort()
    this.#abort = new AbortController()
  }

  /** Others declared this worker dead, and may already post what it had. */
  #lose(): void {
    this.#member.lose()
    this.#abortPosts()
    this.#runs?.abort()
    this.#recorder.drop()
    this.#memory.forgetAll()
    this.#reader.reset()
    this.#nextRebalanceAt = -Infinity
    this.#wake.notify()
  }
}
