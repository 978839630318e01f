import type { PostResult } from '../outbound/index.ts'
import type { System } from '../store/index.ts'
import { makeBell } from './bell.ts'
import type { EventCatalog } from './catalog.ts'
import { claimDeliveries, mostLost, releaseDelivery, type ClaimedDelivery } from './claim.ts'
import type { ClaimedRow } from './claimed.ts'
import type { Completion } from './complete.ts'
import { deliver, type DeliverOptions } from './deliver.ts'
import { fanOutChunk } from './fan-out.ts'
import { judge, type Outcome } from './judge.ts'
import { makeRecorder, type Recorder } from './recorder.ts'
import { findWork, type Capacity } from './work.ts'

export interface ExecuteOptions extends DeliverOptions {
  readonly system: System
  catalog(): EventCatalog
  /** Called before each look for work, to notice another release. */
  refresh?(): Promise<void>
  /** Stops claiming; what is under way is finished. */
  readonly signal?: AbortSignal
  /** Go on when nothing is due, until the signal. */
  readonly watch?: boolean
  /** POSTs at once at most; the setting `delivery_concurrency` by default. */
  readonly concurrency?: number
  /** Called after each recorded attempt, and for a delivery that ended because its workers were lost. */
  onAttempt?(attempt: AttemptReport): void
  /** With `watch`: called when System cannot be used, which is then tried again. Without, it ends the run. */
  onError?(error: unknown): void
}

export interface AttemptReport {
  readonly delivery: string
  readonly event: string
  readonly endpoint: string
  readonly outcome: Outcome
  /** Which attempt this was, from 1. */
  readonly attempt: number
  readonly result: PostResult
  readonly delayMs: number
}

export interface Summary {
  attempted: number
  delivered: number
  retrying: number
  dead: number
}

const idleMs = 250
const longestPauseMs = 10_000
/** Looks in a row at work that others have locked, until a run that does not watch leaves it to them. */
const mostPatience = 100

/**
 * Delivers until nothing is due, or, watching, until the signal. Any number of these may run beside each other.
 * @throws what the database says, after what was under way has come to its end
 */
export async function executeEvents(options: ExecuteOptions): Promise<Summary> {
  const run = makeRun(options)
  const bell = makeBell(options.signal)
  let errorsInARow = 0
  let patience = mostPatience
  while (!options.signal?.aborted) {
    const found = await takeOn(run, bell.ring).catch((error: unknown) => void run.failures.push(error))
    if (run.failures.length > 0) {
      if (!options.watch || options.onError === undefined) break
      for (const error of run.failures.splice(0)) options.onError(error)
      await bell.wait(Math.min(idleMs * 2 ** errorsInARow++, longestPauseMs))
      continue
    }
    errorsInARow = 0
    if (found === 'work') {
      patience = mostPatience
      continue
    }
    const isOthers = found === 'contended' && patience-- > 0
    if (!isOthers && run.running.size === 0 && !options.watch) break
    await bell.wait(isOthers ? 5 + Math.random() * 20 : idleMs)
  }
  await Promise.all(run.running)
  if (run.failures.length > 0) throw run.failures[0]
  return run.summary
}

/** One worker at work. */
interface Run {
  readonly options: ExecuteOptions
  readonly recorder: Recorder
  readonly summary: Summary
  readonly running: Set<Promise<void>>
  readonly underWay: Map<string, number>
  /** What kept it from working. */
  readonly failures: unknown[]
}

function makeRun(options: ExecuteOptions): Run {
  return {
    options,
    recorder: makeRecorder(options.system, options.clock),
    summary: { attempted: 0, delivered: 0, retrying: 0, dead: 0 },
    running: new Set(),
    underWay: new Map(),
    failures: [],
  }
}

/** Fans out one chunk and starts what can be started. */
async function takeOn(run: Run, ring: () => void): Promise<'work' | 'contended' | 'nothing'> {
  const { system, clock } = run.options
  await run.options.refresh?.()
  const capacity = capacityOf(run)
  const work = await findWork(system, capacity)
  if (!work.messages && !work.deliveries) return 'nothing'
  const fanned = work.messages && (await fanOutChunk(system, capacity.catalog))
  if (capacity.free === 0) return fanned ? 'work' : 'nothing'
  const { deliveries, lost, taken } = await claimDeliveries(system, {
    capacity,
    clock,
    settings: run.options.settings(),
  })
  for (const row of lost) reportLost(run, row)
  for (const delivery of deliveries) start(run, delivery, ring)
  return fanned || taken > 0 ? 'work' : 'contended'
}

function capacityOf({ options, running, underWay }: Run): Capacity {
  const { delivery_concurrency: limit, delivery_concurrency_per_endpoint: perEndpoint } = options.settings()
  return {
    catalog: options.catalog(),
    free: Math.max(0, (options.concurrency ?? limit) - running.size),
    perEndpoint,
    underWay: new Map(underWay),
  }
}

function start(run: Run, delivery: ClaimedDelivery, ring: () => void): void {
  const { running, underWay } = run
  const { endpoint } = delivery
  underWay.set(endpoint, (underWay.get(endpoint) ?? 0) + 1)
  const attempt = attemptOnce(run, delivery)
    .catch((error: unknown) => void run.failures.push(error))
    .finally(() => {
      running.delete(attempt)
      const left = underWay.get(endpoint)! - 1
      if (left === 0) underWay.delete(endpoint)
      else underWay.set(endpoint, left)
      ring()
    })
  running.add(attempt)
}

async function attemptOnce({ options, recorder, summary }: Run, delivery: ClaimedDelivery): Promise<void> {
  const delivered = await deliver(options, delivery)
  if (delivered === undefined) return releaseDelivery(options.system, delivery)
  const verdict = judge(options.settings(), delivery, delivered.result)
  const recorded = await recorder.record({ ...delivered, delivery, verdict })
  if (recorded === undefined) return
  const { outcome } = recorded.verdict
  summary.attempted++
  summary[outcome]++
  options.onAttempt?.(makeReport(recorded))
}

function makeReport({ delivery, result, verdict }: Completion): AttemptReport {
  const { id, event, endpoint, failures } = delivery
  return { delivery: id, event, endpoint, result, ...verdict, attempt: failures + 1 }
}

function reportLost({ summary, options }: Run, { id, event, endpoint, failures }: ClaimedRow): void {
  summary.dead++
  const result = { failure: `lost ${mostLost} times`, latencyMs: 0 }
  options.onAttempt?.({ delivery: id, event, endpoint, outcome: 'dead', attempt: failures + 1, result, delayMs: 0 })
}
