import type { Clock, Settings } from '../../kit/index.ts'
import type { System } from '../../store/index.ts'
import { Patience } from '../patience.ts'
import { makeWakeSignal } from '../wake-signal.ts'
import { claimRuns, findDueListeners, releaseLostRuns, type ClaimedRun } from './claim-runs.ts'
import { RunCounter } from './run-totals.ts'
import { recordRuns, type RunOutcome, type RunVerdict } from './record-runs.ts'

/** A listener of the active release. */
export interface ListenerTermsOfRuns {
  readonly name: string
  readonly timeoutMs: number
  /** Undefined for those of `delivery_delays`. */
  readonly retries: readonly number[] | undefined
  readonly concurrency: number
  readonly isExclusive: boolean
  readonly starts: { readonly limit: number; readonly windowMs: number } | undefined
  readonly once: boolean
}

/** How one run ended. `recorded`: the run has recorded itself, or another worker has taken it over. */
export type RunResult =
  | { readonly kind: 'done' | 'recorded' }
  | { readonly kind: 'failed' | 'dead' | 'discarded' | 'lost'; readonly reason: string }
  | { readonly kind: 'repeated'; readonly reason?: string; readonly delayMs?: number }
  | { readonly kind: 'postponed'; readonly until: number }

/** How a run ended, and what it logged. */
export type RunEnd = RunResult & { readonly log?: string | null }

/** Runs the code of listeners. */
export interface RunExecutor {
  /** Never rejects. A run that was lost before must be alone in its process. */
  execute(run: ClaimedRun, listener: ListenerTermsOfRuns): Promise<RunEnd>
  /** Ends all runs: they are repeated. */
  abort(): void
  close(): Promise<void>
}

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

/** What a worker needs to run listeners. */
export interface RunOptions {
  readonly executor: RunExecutor
  listeners(): readonly ListenerTermsOfRuns[]
  onRun?(report: RunReport): void
}

interface Parts extends RunOptions {
  readonly system: System
  readonly clock: Clock
  settings(): Settings
  /** The id of the worker; undefined while it may begin nothing. */
  worker(): string | undefined
  onFailure(error: unknown): void
}

const idleMs = 250
const lostMs = 1000
const batchMs = 5
const saveTotalsMs = 5000
const maxBatch = 500
const graceMs = 10_000
const maxPauseMs = 10_000
/** Workers and processes that may end during a run before it is dead. */
const maxLost = 5
const maxPostponed = 100
const yearMs = 366 * 86_400_000

/** Runs what is due for listeners, beside the deliveries of the worker: they share its row and nothing else. */
export class RunLoop {
  readonly #parts: Parts
  readonly #wake = makeWakeSignal()
  readonly #active = new Map<string, { readonly listener: string; readonly ended: Promise<void> }>()
  readonly #outcomes: RunOutcome[] = []
  #flushing: Promise<void> | undefined
  #isStopping = false
  #nextLostAt = -Infinity
  readonly #counter = new RunCounter()
  #saving: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  /** Whether the last claim found nothing. */
  #isDry = false
  /** Counts what may make runs due again. */
  #changes = 0

  constructor(parts: Parts) {
    this.#parts = parts
  }

  start(): void {
    this.#running = this.#loop()
    this.#saving = setInterval(() => void this.#saveTotals(), saveTotalsMs)
  }

  /** Whether nothing is due or under way, as far as the last look showed. */
  get isIdle(): boolean {
    return this.#isDry && this.#active.size === 0 && this.#outcomes.length === 0 && this.#flushing === undefined
  }

  hasDue(): Promise<boolean> {
    const names = this.#parts.listeners().map(({ name }) => name)
    return findDueListeners(this.#parts.system, names).then((due) => due.size > 0)
  }

  /** Ends what is under way, because others may run it now. */
  abort(): void {
    if (this.#active.size > 0) this.#parts.executor.abort()
  }

  /** Begins nothing more, waits for what is under way, and repeats what takes longer than 10 s. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#wake.notify()
    const timer = setTimeout(() => this.abort(), graceMs)
    await this.#running
    await Promise.all([...this.#active.values()].map(({ ended }) => ended))
    clearTimeout(timer)
    await (this.#flushing ??= this.#flushSoon())
    clearInterval(this.#saving)
    await this.#saveTotals()
    await this.#parts.executor.close()
  }

  async #loop(): Promise<void> {
    for (const patience = new Patience(this.#parts.clock); !this.#isStopping;) {
      let found = 0
      try {
        found = await this.#claim()
        patience.succeeded()
      } catch (error) {
        this.#nextLostAt = -Infinity // it may have claimed some
        if (patience.isOver(error)) this.#parts.onFailure(error)
        await this.#wake.wait(Math.min(idleMs * 2 ** (patience.failures - 1), maxPauseMs))
        continue
      }
      if (found === 0) await this.#wake.wait(idleMs)
    }
  }

  async #claim(): Promise<number> {
    const { system, clock } = this.#parts
    const worker = this.#parts.worker()
    const listeners = this.#parts.listeners()
    if (worker === undefined || listeners.length === 0) {
      this.#isDry = listeners.length === 0
      return 0
    }
    if (clock.monotonic() >= this.#nextLostAt) {
      this.#nextLostAt = clock.monotonic() + lostMs
      const isKnown = (id: string) => this.#active.has(id) || this.#outcomes.some(({ run }) => run.id === id)
      await releaseLostRuns(system, { worker, isKnown })
    }
    const busy = Map.groupBy(this.#active.values(), ({ listener }) => listener)
    const wanted = listeners.flatMap((one) => {
      const room = one.concurrency - (busy.get(one.name)?.length ?? 0)
      return room > 0 ? [{ listener: one.name, room, isExclusive: one.isExclusive, starts: one.starts }] : []
    })
    if (wanted.length === 0) {
      this.#isDry = false
      return 0
    }
    const changes = this.#changes
    const runs = await claimRuns(system, worker, wanted)
    this.#isDry = runs.length === 0 && wanted.length === listeners.length && changes === this.#changes
    const byName = new Map(listeners.map((one) => [one.name, one]))
    for (const run of runs) this.#begin(run, byName.get(run.listener)!)
    return runs.length
  }

  /** A claim that began before does not show that nothing is due. */
  #changed(): void {
    this.#isDry = false
    this.#changes++
  }

  #begin(run: ClaimedRun, listener: ListenerTermsOfRuns): void {
    const began = this.#parts.clock.monotonic()
    const ended = this.#execute(run, listener).then((result) => {
      const latencyMs = this.#parts.clock.monotonic() - began
      this.#active.delete(run.id)
      this.#changed()
      this.#outcomes.push(this.#judge(run, { listener, result, latencyMs }))
      this.#flushing ??= this.#flushSoon()
      this.#wake.notify()
    })
    this.#active.set(run.id, { listener: run.listener, ended })
  }

  async #execute(run: ClaimedRun, listener: ListenerTermsOfRuns): Promise<RunEnd> {
    if (run.data === null) return { kind: 'discarded', reason: 'Its message was deleted' }
    if (run.lost >= maxLost) return { kind: 'dead', reason: `Its process ended ${maxLost} times` }
    return this.#parts.executor.execute(run, listener)
  }

  #judge(
    run: ClaimedRun,
    { listener, result, latencyMs }: { listener: ListenerTermsOfRuns; result: RunEnd; latencyMs: number },
  ): RunOutcome {
    const base = { run, latencyMs, log: result.log ?? null }
    switch (result.kind) {
      case 'done':
      case 'recorded':
        return { ...base, verdict: 'done' }
      case 'dead':
      case 'discarded':
        return { ...base, verdict: result.kind, reason: result.reason }
      case 'repeated':
        return { ...base, verdict: 'repeated', delayMs: result.delayMs ?? 0, reason: result.reason }
      case 'lost':
        if (run.lost + 1 >= maxLost) return { ...base, verdict: 'dead', reason: result.reason }
        return { ...base, verdict: 'lost', delayMs: 0, reason: result.reason }
      case 'postponed': {
        const until = Math.min(result.until, this.#parts.clock.now() + yearMs)
        if (run.postponed < maxPostponed) return { ...base, verdict: 'postponed', until }
        return this.#fail(base, listener, `It was put off more than ${maxPostponed} times`)
      }
      default:
        return this.#fail(base, listener, result.reason)
    }
  }

  #fail(
    base: Pick<RunOutcome, 'run' | 'latencyMs' | 'log'>,
    { retries }: ListenerTermsOfRuns,
    reason: string,
  ): RunOutcome {
    const delay = (retries ?? this.#parts.settings().delivery_delays)[base.run.failures]
    if (delay === undefined) return { ...base, verdict: 'dead', reason }
    return { ...base, verdict: 'retrying', delayMs: Math.ceil(delay * (0.8 + 0.4 * Math.random())), reason }
  }

  async #flushSoon(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, batchMs))
    for (const patience = new Patience(this.#parts.clock); this.#outcomes.length > 0;) {
      try {
        await this.#flush()
        patience.succeeded()
      } catch (error) {
        // They stay, even if the worker is not live: those of runs that others have taken over change nothing.
        const isOver = patience.isOver(error)
        if (isOver) this.#parts.onFailure(error)
        if (isOver && this.#isStopping) break
        await new Promise((resolve) => setTimeout(resolve, Math.min(idleMs * 2 ** (patience.failures - 1), maxPauseMs)))
      }
    }
    this.#flushing = undefined
    this.#wake.notify()
  }

  async #flush(): Promise<void> {
    const batch = this.#outcomes.slice(0, maxBatch)
    const recorded = await recordRuns(this.#parts.system, batch)
    this.#outcomes.splice(0, batch.length)
    this.#changed()
    for (const { run, verdict, latencyMs, delayMs = 0, reason } of batch) {
      // A run with `once` has recorded itself.
      if (!recorded.has(run.id) && verdict !== 'done') continue
      const { id, listener, event, failures } = run
      this.#counter.add(listener, verdict, latencyMs)
      const report = { run: id, listener, event: event ?? '', attempt: failures + 1 }
      this.#parts.onRun?.({ ...report, verdict, latencyMs, delayMs, reason })
    }
  }

  /** What fails is saved the next time. */
  async #saveTotals(): Promise<void> {
    await this.#counter.save(this.#parts.system).catch(() => undefined)
  }
}
