import { isClaimed, keepLedger, loadLedger, type Ledger } from '../../host/index.ts'
import { ConflictFinder } from './find-conflicts.ts'
import type { CronjobSet } from './open-cronjobs.ts'
import { CronRunner, type RunnerOptions } from './runner.ts'
import { withSystemDeadline } from './run-slot.ts'

export interface FollowOptions extends RunnerOptions {
  /** Forget slots that came before this was started. */
  readonly fromNow: boolean
  /** How long to wait for a slot at most before System is looked at again; 15 s by default. */
  readonly longestWaitMs?: number
  /** Called when System cannot be used, which is then tried again. */
  onError(error: unknown): void
}

/** Nobody tells when a lease has run out, a clock was changed or a machine slept. */
const usualWaitMs = 15_000
const shortestWaitMs = 1000
const longestAnswerMs = 10_000

/** Cronjobs that run at their times in this process, unless another one is faster. */
export class Cron {
  readonly #options: FollowOptions
  readonly #runner: CronRunner
  readonly #stop = new AbortController()
  readonly #closing = new Set<Promise<void>>()
  readonly #looping: Promise<void>
  readonly #longestWaitMs: number
  readonly #conflicts = new ConflictFinder()
  #fromNow: boolean
  #set: CronjobSet | undefined
  #errorsInARow = 0
  #wake: () => void = () => undefined

  constructor(options: FollowOptions) {
    this.#options = options
    this.#fromNow = options.fromNow
    this.#longestWaitMs = options.longestWaitMs ?? usualWaitMs
    this.#runner = new CronRunner({
      ...options,
      onRan: (report) => {
        options.onRan(report)
        this.#wake() // its next slot may have come meanwhile
      },
    })
    this.#looping = this.#loop()
  }

  /** From now on the cronjobs are these; runs of those before end with what they began with. */
  follow(set: CronjobSet): void {
    if (this.#stop.signal.aborted) return this.#retire(set)
    this.#retire(this.#set)
    this.#set = set
    this.#wake()
  }

  /** Starts nothing any more, and waits for what runs: 10 s, then it is told to end. */
  async stop(): Promise<void> {
    this.#stop.abort()
    this.#wake()
    await this.#looping
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

  /** @returns how long to wait for the next one */
  async #tick(): Promise<number> {
    try {
      const waitMs = this.#set === undefined ? this.#longestWaitMs : await this.#look(this.#set)
      this.#errorsInARow = 0
      return waitMs
    } catch (error) {
      this.#options.onError(error)
      return Math.min(shortestWaitMs * 2 ** this.#errorsInARow++, this.#longestWaitMs)
    }
  }

  #look(set: CronjobSet): Promise<number> {
    return withSystemDeadline(this.#options.system, this.#startDue(set), longestAnswerMs)
  }

  async #startDue(set: CronjobSet): Promise<number> {
    const { system, logger } = this.#options
    const seen = await loadLedger(system)
    // It is about to be activated, or to be replaced.
    if (seen.releaseId !== set.releaseId) return Math.min(shortestWaitMs, this.#longestWaitMs)
    const ledger = await keepLedger(system, seen, { ...set, fromNow: this.#fromNow })
    this.#fromNow = false
    for (const conflict of this.#conflicts.find(set, seen)) {
      logger.warn(conflict, 'servers disagree about the schedule of this cronjob in the same release; it may not run')
    }
    if (!this.#stop.signal.aborted) await this.#runner.startDue(set, ledger)
    return Math.min(this.#longestWaitMs, waitForNext(set, ledger))
  }

  #retire(set: CronjobSet | undefined): void {
    if (set === undefined) return
    const closed = set.close().catch((error: unknown) => this.#options.onError(error))
    this.#closing.add(closed)
    void closed.then(() => this.#closing.delete(closed))
  }
}

/** Until the next slot of any cronjob that does not run. */
function waitForNext({ plan }: CronjobSet, { rows, now }: Ledger): number {
  const waits = [...plan.values()].flatMap(({ name, timetable }) => {
    const row = rows.get(name)
    const next = row === undefined || isClaimed(row, now) ? undefined : timetable.next(Math.max(now, row.slotAt))
    return next === undefined ? [] : [next - now]
  })
  return Math.min(...waits)
}
