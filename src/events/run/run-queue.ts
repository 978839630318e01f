import type { ClaimedRun } from './claim-runs.ts'
import type { ListenerTermsOfRuns } from './run-executor.ts'

const windowMs = 100
const maxAhead = 500
const maxAheadBytes = 4 * 2 ** 20
/** How long a run waits for its start, before another worker may have it. */
const maxReadyMs = 1000

/** A run that was claimed ahead. */
export interface ReadyRun {
  readonly run: ClaimedRun
  readonly terms: ListenerTermsOfRuns
}

/**
 * The runs that a worker has of one listener. While they end quickly, it claims ahead what it will start in the next
 * moment, because one statement that claims many costs little more than one that claims few.
 */
export class RunQueue {
  terms: ListenerTermsOfRuns
  /** When the first run of the last claim was due: those that were due before are under way or have ended. */
  mark = 0
  #active = 0
  #ready: ReadyRun[] = []
  #readySince = 0
  #bytes = 0
  /** Runs that succeeded in this window of time and in the one before. */
  #ends = { since: 0, now: 0, before: 0 }

  constructor(terms: ListenerTermsOfRuns) {
    this.terms = terms
  }

  /** How many to claim now. */
  room(now: number): number {
    const free = Math.max(this.terms.concurrency - this.#active, 0)
    const ahead = this.#ahead(now)
    const waiting = this.#ready.length
    // Not for a few of them, while others wait for their start.
    return waiting > 0 && waiting > ahead / 2 ? 0 : Math.max(free + ahead - waiting, 0)
  }

  /** Adds runs that were claimed. */
  add(runs: readonly ClaimedRun[], now: number): void {
    if (runs.length === 0) return
    this.mark = Math.min(...runs.map(({ dueAt }) => dueAt))
    if (this.#ready.length === 0) this.#readySince = now
    this.#bytes = runs.reduce((sum, { data }) => sum + (data?.length ?? 0), 0) / runs.length
    this.#ready.push(...runs.map((run) => ({ run, terms: this.terms })))
  }

  /** Returns the runs that start now. */
  start(now: number): readonly ReadyRun[] {
    const started = this.#ready.splice(0, Math.max(this.terms.concurrency - this.#active, 0))
    if (started.length > 0) this.#readySince = now
    this.#active += started.length
    return started
  }

  /** @param isDone whether it succeeded; others may be repeated alone, which takes long */
  ended(now: number, isDone: boolean): void {
    this.#active--
    this.#turn(now)
    if (isDone) this.#ends.now++
  }

  /** Returns the runs that have not started: those that wait too long at a time, or all. */
  giveBack(now = Infinity): readonly ReadyRun[] {
    return now - this.#readySince >= maxReadyMs ? this.#ready.splice(0) : []
  }

  #ahead(now: number): number {
    // Starts are counted when they are claimed, and the next run with a key cannot be claimed before the end of this one.
    if (this.terms.isExclusive || this.terms.starts !== undefined) return 0
    this.#turn(now)
    const soon = Math.max(this.#ends.now, this.#ends.before)
    return Math.floor(Math.min(soon, maxAhead, maxAheadBytes / Math.max(this.#bytes, 1)))
  }

  #turn(now: number): void {
    const passed = now - this.#ends.since
    if (passed < windowMs) return
    this.#ends = { since: now, now: 0, before: passed < 2 * windowMs ? this.#ends.now : 0 }
  }
}
