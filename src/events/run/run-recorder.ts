import type { Clock } from '../../kit/index.ts'
import type { System } from '../../store/index.ts'
import { Patience } from '../patience.ts'
import { makeWakeSignal } from '../wake-signal.ts'
import { recordRuns, type RunOutcome, type RunVerdict } from './record-runs.ts'
import { RunCounter } from './run-totals.ts'

const batchMs = 5
const batchSize = 250
const maxBatch = 500
const pauseMs = 250
const maxPauseMs = 10_000
const saveTotalsMs = 5000

/** For progress output. */
export interface RunReport {
  readonly run: string
  readonly listener: string
  readonly event: string
  /** Number of the run, from 1. */
  readonly attempt: number
  readonly verdict: RunVerdict
  readonly latencyMs: number
  readonly delayMs: number
  readonly reason: string | undefined
}

interface Parts {
  readonly system: System
  readonly clock: Clock
  onRun?(report: RunReport): void
  onFailure(error: unknown): void
  /** Outcomes are recorded, whether or not they changed anything. */
  onRecorded(outcomes: readonly RunOutcome[]): void
}

/** Records the outcomes of a worker's runs in batches, and their totals. */
export class RunRecorder {
  readonly #parts: Parts
  readonly #outcomes: RunOutcome[] = []
  readonly #counter = new RunCounter()
  readonly #batch = makeWakeSignal()
  #flushing: Promise<void> | undefined
  #saving: NodeJS.Timeout | undefined
  #isStopping = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  start(): void {
    this.#saving = setInterval(() => void this.#saveTotals(), saveTotalsMs)
  }

  /** Whether outcomes wait to be recorded. */
  get isBusy(): boolean {
    return this.#outcomes.length > 0 || this.#flushing !== undefined
  }

  add(outcome: RunOutcome): void {
    this.#outcomes.push(outcome)
    if (this.#outcomes.length === batchSize) this.#batch.notify()
    this.#flushing ??= this.#flushUntilDone()
  }

  /** Records what waits. What System does not take is repeated by others. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await (this.#flushing ??= this.#flushUntilDone())
    clearInterval(this.#saving)
    await this.#saveTotals()
  }

  async #flushUntilDone(): Promise<void> {
    for (const patience = new Patience(this.#parts.clock); this.#outcomes.length > 0;) {
      if (this.#outcomes.length < batchSize) await this.#batch.wait(batchMs)
      try {
        await this.#flush()
        patience.succeeded()
      } catch (error) {
        // They stay, even if the worker is not live: those of runs that others have taken over change nothing.
        const isOver = patience.isOver(error)
        if (isOver) this.#parts.onFailure(error)
        if (isOver && this.#isStopping) break
        await new Promise((resolve) =>
          setTimeout(resolve, Math.min(pauseMs * 2 ** (patience.failures - 1), maxPauseMs)),
        )
      }
    }
    this.#flushing = undefined
  }

  async #flush(): Promise<void> {
    const batch = this.#outcomes.slice(0, maxBatch)
    const recorded = await recordRuns(this.#parts.system, batch)
    this.#outcomes.splice(0, batch.length)
    for (const { run, verdict, latencyMs, delayMs = 0, reason } of batch) {
      // A run with `once` has recorded itself.
      if (!recorded.has(run.id) && verdict !== 'done') continue
      const { id, listener, event, failures } = run
      this.#counter.add(listener, verdict, latencyMs)
      const report = { run: id, listener, event: event ?? '', attempt: failures + 1 }
      this.#parts.onRun?.({ ...report, verdict, latencyMs, delayMs, reason })
    }
    this.#parts.onRecorded(batch)
  }

  /** What fails is saved the next time. */
  async #saveTotals(): Promise<void> {
    await this.#counter.save(this.#parts.system).catch(() => undefined)
  }
}
