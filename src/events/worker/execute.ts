import { isWaypostError } from '../../kit/index.ts'
import { makeWakeSignal } from './wake-signal.ts'
import { findLone, type Capacity } from '../queue/candidates.ts'
import { claimDeliveries } from '../queue/claim.ts'
import type { ExecuteOptions } from './options.ts'
import { fanOutChunk } from '../message/fan-out.ts'
import { Run, type Summary } from './run.ts'
import { findWork } from '../queue/work.ts'

const idleMs = 250
const longestPauseMs = 10_000
/** Looks in a row at work that others have locked, until a run that does not watch leaves it to them. */
const mostPatience = 100

/**
 * Delivers until nothing is due, or, watching, until the signal. Any number of these may run beside each other.
 * @throws what the database says, after what was under way has come to its end
 */
export async function executeEvents(options: ExecuteOptions): Promise<Summary> {
  const wake = makeWakeSignal(options.signal)
  const run = new Run(options, wake.notify)
  let errorsInARow = 0
  let patience = mostPatience
  let wasIdle = false
  while (!options.signal?.aborted) {
    wasIdle = isIdleSince(run, wasIdle)
    const found = await takeOn(options, run).catch((error: unknown) => {
      // A process that was suspended finds its connections closed: it has to look again to know whether System is away.
      if (options.watch || errorsInARow > 0 || !isExternal(error)) run.failures.push(error)
      else errorsInARow++
    })
    if (run.failures.length > 0) {
      if (!options.watch || options.onError === undefined) break
      for (const error of run.failures.splice(0)) options.onError(error)
      await wake.wait(Math.min(idleMs * 2 ** errorsInARow++, longestPauseMs))
      continue
    }
    if (found === undefined) continue
    errorsInARow = 0
    if (found === 'work') {
      patience = mostPatience
      await run.underWay.waitForRoom()
      continue
    }
    const isOthers = found === 'contended' && patience-- > 0
    if (!isOthers && wasIdle && !options.watch) break
    await wake.wait(isOthers ? 5 + Math.random() * 20 : idleMs)
  }
  await run.end()
  if (run.failures.length > 0) throw run.failures[0]
  return run.summary
}

function isExternal(error: unknown): boolean {
  return isWaypostError(error) && error.kind === 'external'
}

/** What ends during a look, or during a round of several, may make something due that it did not see. */
function isIdleSince(run: Run, wasIdle: boolean): boolean {
  return run.isIdle() && (wasIdle || run.looks.start === undefined)
}

type Found = 'work' | 'contended' | 'nothing'

async function takeOn(options: ExecuteOptions, run: Run): Promise<Found> {
  await options.refresh?.()
  await run.keep()
  const capacity = capacityOf(options, run)
  const found = await takeOrdinary(options, run, capacity)
  return found === 'contended' || !(await takeLone(options, run, capacity)) ? found : 'work'
}

/**
 * Starts one that has to go alone, if nothing else is under way, and nothing else beside it. A worker that always has
 * other work lets that come to its end from time to time.
 */
async function takeLone(options: ExecuteOptions, run: Run, capacity: Capacity): Promise<boolean> {
  const { lone } = run
  const isTime = lone.isWanted ? run.isIdle() : lone.isTime(run.isIdle(), options.watch !== true)
  if (lone.isRunning || !isTime) return false
  const id = await findLone(options.system, capacity)
  lone.looked(id !== undefined)
  lone.isWanted = id !== undefined && !run.isIdle()
  if (id === undefined || lone.isWanted) return false
  const { taken, started } = await startDue(options, run, { due: [id], capacity: { ...capacity, free: 1 } })
  lone.isRunning = started > 0
  return taken > 0
}

/** Looks for work, fans out and starts what can be started. */
async function takeOrdinary(options: ExecuteOptions, run: Run, capacity: Capacity): Promise<Found> {
  const { system } = options
  const { fresh, begun, due, isPartial, isHeld = false } = await findWork(system, capacity, run.looks)
  const fanned = fresh && (await fanOutChunk(system, capacity.catalog, 'fresh'))
  const { taken } = due.length > 0 ? await startDue(options, run, { due, capacity }) : { taken: 0 }
  // A message for very many goes on when nearly all that is due has begun: other events are never behind all of it.
  const goesOn = begun && !fanned && taken < capacity.free && !isHeld
  if (goesOn && (await fanOutChunk(system, capacity.catalog, 'begun'))) return 'work'
  if (fanned || taken > 0 || isPartial) return 'work'
  return fresh || goesOn || due.length > 0 ? 'contended' : 'nothing'
}

/** @returns how many were taken, less those that were given back, and how many of them started */
async function startDue(
  { system, clock }: ExecuteOptions,
  run: Run,
  { due, capacity }: { due: readonly string[]; capacity: Capacity },
): Promise<{ taken: number; started: number }> {
  const some = due.slice(0, capacity.free * 2) // more than it wants: others may have taken a part of them
  const { deliveries, lost, taken, givenBack } = await claimDeliveries(system, { due: some, capacity, clock })
  run.forget(taken, due.length >= capacity.free ? capacity.free : due.length)
  for (const row of lost) run.reportLost(row)
  for (const delivery of deliveries) run.start(delivery)
  return { taken: taken.size - givenBack, started: deliveries.length }
}

function capacityOf({ catalog, settings, concurrency }: ExecuteOptions, run: Run): Capacity {
  const { delivery_concurrency: total, delivery_concurrency_per_endpoint: perEndpoint } = settings()
  const limits = { total: concurrency ?? total, perEndpoint }
  run.underWay.setLimits(limits)
  return {
    catalog: catalog(),
    settings: settings(),
    free: run.free(),
    isDueFirst: !run.isTimeForMessages(),
    underWay: new Map(run.underWay.byEndpoint),
    countHosts: () => run.underWay.hosts.count(limits),
  }
}
