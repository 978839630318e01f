import { watchOutage, type Outage } from '../../kit/index.ts'
import { isClaimed, updateLedger, loadLedger, type Ledger } from '../../host/index.ts'
import { ConflictFinder } from './find-conflicts.ts'
import type { CronjobSet } from './open-cronjobs.ts'
import { CronRunner, type RunnerOptions } from './runner.ts'
import { withSystemDeadline } from './run-slot.ts'

export interface SchedulerOptions extends RunnerOptions {
  /** Ignore slots from before the start. */
  readonly fromNow: boolean
  /** The longest wait for a slot before System is read again; 15 s by default. */
  readonly maxWaitMs?: number
  /** Called when System becomes unavailable. The scheduler then tries again. */
  onError(error: unknown): void
  /** Called when System is available again. */
  onRecovered?(): void
}

/** Expired leases, clock changes and suspended machines cause no notification. */
const defaultMaxWaitMs = 15_000
const minWaitMs = 1000
const maxAnswerMs = 10_000

/** Runs cronjobs at their times in this process, unless another process claims them first. */
export class CronScheduler {
  readonly #options: SchedulerOptions
  readonly #runner: CronRunner
  readonly #stop = new AbortController()
  readonly #closing = new Set<Promise<void>>()
  readonly #loopEnded: Promise<void>
  readonly #maxWaitMs: number
  readonly #conflicts = new ConflictFinder()
  readonly #outage: Outage
  #fromNow: boolean
  #set: CronjobSet | undefined
  #errorsInARow = 0
  #wake: () => void = () => undefined

  constructor(options: SchedulerOptions) {
    this.#options = options
    this.#outage = watchOutage({ onFailed: options.onError, onSucceeded: options.onRecovered })
    this.#fromNow = options.fromNow
    this.#maxWaitMs = options.maxWaitMs ?? defaultMaxWaitMs
    this.#runner = new CronRunner({
      ...options,
      onRan: (report) => {
        options.onRan(report)
        this.#wake() // its next slot may be due already
      },
    })
    this.#loopEnded = this.#loop()
  }

  /** Replaces the cronjobs. Current runs finish with the code and connections that they started with. */
  follow(set: CronjobSet): void {
    if (this.#stop.signal.aborted) return this.#retire(set)
    this.#retire(this.#set)
    this.#set = set
    this.#wake()
  }

  /** Starts no more runs and waits for current ones. After 10 s they are aborted. */
  async stop(): Promise<void> {
    this.#stop.abort()
    this.#wake()
    await this.#loopEnded
    await this.#runner.stop()
    this.#retire(this.#set)
    await Promise.all(this.#closing)
  }

  async #loop(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      const { promise: woken, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      const timer = setTimeout(resolve, await this.#tick())
      await woken
      clearTimeout(timer)
    }
  }

  /** @returns milliseconds until the next check */
  async #tick(): Promise<number> {
    try {
      const waitMs = this.#set === undefined ? this.#maxWaitMs : await this.#startDueWithDeadline(this.#set)
      this.#errorsInARow = 0
      this.#outage.succeeded()
      return waitMs
    } catch (error) {
      this.#outage.failed(error)
      return Math.min(minWaitMs * 2 ** this.#errorsInARow++, this.#maxWaitMs)
    }
  }

  #startDueWithDeadline(set: CronjobSet): Promise<number> {
    return withSystemDeadline(this.#options.system, this.#startDue(set), maxAnswerMs)
  }

  async #startDue(set: CronjobSet): Promise<number> {
    const { system, logger } = this.#options
    const seen = await loadLedger(system)
    // The set is about to be activated or replaced.
    if (seen.releaseId !== set.releaseId) return Math.min(minWaitMs, this.#maxWaitMs)
    const ledger = await updateLedger(system, seen, { ...set, fromNow: this.#fromNow })
    this.#fromNow = false
    for (const conflict of this.#conflicts.find(set, seen)) {
      logger.warn(conflict, 'servers disagree about the schedule of this cronjob in the same release; it may not run')
    }
    if (!this.#stop.signal.aborted) await this.#runner.startDue(set, ledger)
    return Math.min(this.#maxWaitMs, waitForNext(set, ledger))
  }

  #retire(set: CronjobSet | undefined): void {
    if (set === undefined) return
    const closed = set.close().catch((error: unknown) => this.#options.onError(error))
    this.#closing.add(closed)
    void closed.then(() => this.#closing.delete(closed))
  }
}

/** Returns the milliseconds until the next slot of any cronjob that is not running. */
function waitForNext({ cronjobs }: CronjobSet, { rows, now }: Ledger): number {
  const waits = [...cronjobs.values()].flatMap(({ name, timetable }) => {
    const row = rows.get(name)
    const next = row === undefined || isClaimed(row, now) ? undefined : timetable.next(Math.max(now, row.slotAt))
    return next === undefined ? [] : [next - now]
  })
  return Math.min(...waits)
}
