import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Clock, Settings } from '../../kit/index.ts'
import type { System } from '../../store/index.ts'
import { Patience } from '../patience.ts'
import { makeWakeSignal } from '../wake-signal.ts'
import { claimRuns, findDueListeners, giveBackLostRuns, type ClaimedRun } from './claim-runs.ts'
import { judgeRun, maxLost } from './judge-run.ts'
import type { ListenerTermsOfRuns, RunEnd, RunExecutor } from './run-executor.ts'
import { RunQueue, type ReadyRun } from './run-queue.ts'
import { RunRecorder, type RunReport } from './run-recorder.ts'

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
  /** Whether nothing can become due before the next commit. */
  isQuiet(): boolean
  onFailure(error: unknown): void
}

const idleMs = 250
const expectingMs = 50
const lookMs = 250
const expectMs = 10_000
const lostMs = 1000
const graceMs = 10_000
const maxPauseMs = 10_000

/** Runs what is due for listeners, beside the deliveries of the worker: they share its row and nothing else. */
export class RunLoop {
  readonly #parts: Parts
  readonly #wake = makeWakeSignal()
  readonly #recorder: RunRecorder
  readonly #queues = new Map<string, RunQueue>()
  /** The ids of runs that were claimed and are not recorded. */
  readonly #claimed = new Set<string>()
  /** Runs under way. */
  readonly #active = new Set<Promise<void>>()
  #isStopping = false
  #nextLostAt = -Infinity
  #running: Promise<void> | undefined
  /** Whether the last claim that looked for all found nothing. */
  #isDry = false
  /**
   * When to look for all. Other claims begin at the mark of their queue, because the index still has what ended before. A
   * transaction that took long, or another worker, may have made runs due that are before it.
   */
  #nextLookAt = -Infinity
  /** When a claim found something. */
  #foundAt = -Infinity
  /** Counts what may make runs due again. */
  #changes = 0

  constructor(parts: Parts) {
    this.#parts = parts
    this.#recorder = new RunRecorder({
      ...parts,
      onRecorded: (outcomes) => {
        for (const { run } of outcomes) this.#claimed.delete(run.id)
        this.#changed()
        this.#wake.notify()
      },
    })
  }

  start(): void {
    this.#recorder.start()
    this.#running = this.#loop()
  }

  /** Whether nothing is due or under way, as far as the last look showed. */
  get isIdle(): boolean {
    return this.#isDry && this.#claimed.size === 0 && !this.#recorder.isBusy
  }

  hasDue(): Promise<boolean> {
    const names = this.#parts.listeners().map(({ name }) => name)
    return findDueListeners(this.#parts.system, names).then((due) => due.size > 0)
  }

  /** Ends what is under way, because others may run it now. */
  abort(): void {
    this.#giveBackAll()
    if (this.#active.size > 0) this.#parts.executor.abort()
  }

  /** Begins nothing more, waits for what is under way, and repeats what takes longer than 10 s. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#wake.notify()
    const timer = setTimeout(() => this.abort(), graceMs)
    await this.#running
    this.#giveBackAll()
    await Promise.all(this.#active)
    clearTimeout(timer)
    await this.#recorder.stop()
    await this.#parts.executor.close()
  }

  async #loop(): Promise<void> {
    for (const patience = new Patience(this.#parts.clock); !this.#isStopping;) {
      let mayFindMore = false
      try {
        mayFindMore = await this.#claim()
        patience.succeeded()
      } catch (error) {
        this.#nextLostAt = -Infinity // it may have claimed some
        this.#nextLookAt = -Infinity
        if (patience.isOver(error)) this.#parts.onFailure(error)
        await this.#wake.wait(Math.min(idleMs * 2 ** (patience.failures - 1), maxPauseMs))
        continue
      }
      if (!mayFindMore) await this.#wake.wait(this.#pauseMs())
      await yieldToEventLoop() // several runs end in one turn
    }
  }

  /** Where something was due, more is expected. */
  #pauseMs(): number {
    return this.#parts.clock.monotonic() - this.#foundAt < expectMs ? expectingMs : idleMs
  }

  /** @returns whether to claim again at once */
  async #claim(): Promise<boolean> {
    const { system, clock } = this.#parts
    const worker = this.#parts.worker()
    const listeners = this.#parts.listeners()
    if (worker === undefined || listeners.length === 0) {
      this.#isDry = listeners.length === 0
      return false
    }
    if (this.isIdle && this.#parts.isQuiet()) return false
    if (clock.monotonic() >= this.#nextLostAt) {
      this.#nextLostAt = clock.monotonic() + lostMs
      await giveBackLostRuns(system, { worker, isKnown: (id) => this.#claimed.has(id) })
    }
    const now = clock.monotonic()
    const looksForAll = now >= this.#nextLookAt
    if (looksForAll) this.#nextLookAt = now + lookMs
    for (const queue of this.#queues.values()) this.#giveBack(queue.giveBack(now))
    const wanted = listeners.flatMap((one) => {
      const queue = this.#queueOf(one)
      const room = queue.room(now)
      const { name: listener, isExclusive, starts } = one
      return room > 0 ? [{ listener, room, isExclusive, starts, from: looksForAll ? 0 : queue.mark }] : []
    })
    if (wanted.length === 0) {
      this.#isDry = false
      return false
    }
    const changes = this.#changes
    const runs = await claimRuns(system, worker, wanted)
    if (runs.length > 0) this.#foundAt = now
    if (runs.length > 0 || wanted.length < listeners.length || changes !== this.#changes) this.#isDry = false
    else if (looksForAll) this.#isDry = true
    this.#startClaimed(
      runs,
      wanted.map(({ listener }) => listener),
    )
    const isUnsure = runs.length === 0 && !looksForAll && !this.#isDry && this.#claimed.size === 0
    if (isUnsure) this.#nextLookAt = -Infinity
    return runs.length > 0 || isUnsure
  }

  /** Adds runs that were claimed to the queues of their listeners, and starts what may start. */
  #startClaimed(runs: readonly ClaimedRun[], listeners: readonly string[]): void {
    for (const { id } of runs) this.#claimed.add(id)
    const found = Map.groupBy(runs, ({ listener }) => listener)
    for (const listener of listeners) {
      const queue = this.#queues.get(listener)!
      queue.add(found.get(listener) ?? [], this.#parts.clock.monotonic())
      this.#start(queue)
    }
  }

  #queueOf(terms: ListenerTermsOfRuns): RunQueue {
    const known = this.#queues.get(terms.name)
    if (known === undefined) {
      const queue = new RunQueue(terms)
      this.#queues.set(terms.name, queue)
      return queue
    }
    known.terms = terms
    return known
  }

  /** A claim that began before does not show that nothing is due. */
  #changed(): void {
    this.#isDry = false
    this.#changes++
  }

  #start(queue: RunQueue): void {
    if (this.#isStopping || this.#parts.worker() === undefined) return
    for (const ready of queue.start(this.#parts.clock.monotonic())) this.#begin(ready, queue)
  }

  #begin({ run, terms }: ReadyRun, queue: RunQueue): void {
    const { clock } = this.#parts
    const began = clock.monotonic()
    const ended = this.#execute(run, terms).then((result) => {
      const now = clock.monotonic()
      this.#active.delete(ended)
      const outcome = judgeRun(this.#parts, { run, listener: terms, result, latencyMs: now - began })
      queue.ended(now, outcome.verdict === 'done')
      this.#changed()
      this.#recorder.add(outcome)
      this.#start(queue)
      if (queue.room(now) > 0) this.#wake.notify()
    })
    this.#active.add(ended)
  }

  async #execute(run: ClaimedRun, listener: ListenerTermsOfRuns): Promise<RunEnd> {
    if (run.data === null) return { kind: 'discarded', reason: 'Its message was deleted' }
    if (run.lost >= maxLost) return { kind: 'dead', reason: `Its process ended ${maxLost} times` }
    return this.#parts.executor.execute(run, listener)
  }

  #giveBackAll(): void {
    for (const queue of this.#queues.values()) this.#giveBack(queue.giveBack())
  }

  #giveBack(runs: readonly ReadyRun[]): void {
    const result = { kind: 'repeated' } as const
    for (const { run, terms } of runs)
      this.#recorder.add(judgeRun(this.#parts, { run, listener: terms, result, latencyMs: 0 }))
  }
}
