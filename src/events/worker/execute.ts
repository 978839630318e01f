import { isWaypostError } from '../../kit/index.ts'
import { makeWakeSignal } from './wake-signal.ts'
import { findLastChance, type Capacity } from '../queue/candidates.ts'
import { claimDeliveries } from '../queue/claim.ts'
import type { ExecuteOptions } from './options.ts'
import { fanOutChunk } from '../message/fan-out.ts'
import { Run, type Summary } from './run.ts'
import { findWork } from '../queue/find-work.ts'

const idleMs = 250
const maxPauseMs = 10_000
/** Consecutive scans that found only locked work, before a run without `watch` leaves it to other workers. */
const maxContendedScans = 100

/**
 * Delivers until nothing is due or, with `watch`, until the signal aborts. Any number of these may run concurrently.
 * @throws the database error, after the attempts in flight have finished
 */
export async function executeEvents(options: ExecuteOptions): Promise<Summary> {
  const wake = makeWakeSignal(options.signal)
  const run = new Run(options, wake.notify)
  let errorsInARow = 0
  let contendedScansLeft = maxContendedScans
  let wasIdle = false
  while (!options.signal?.aborted) {
    wasIdle = isIdleSince(run, wasIdle)
    const found = await scanAndStart(options, run).catch((error: unknown) => {
      // A suspended process finds its connections closed. Only a second error shows that System is unavailable.
      if (options.watch || errorsInARow > 0 || !isExternal(error)) run.failures.push(error)
      else errorsInARow++
    })
    if (run.failures.length > 0) {
      if (!options.watch || options.onError === undefined) break
      for (const error of run.failures.splice(0)) options.onError(error)
      await wake.wait(Math.min(idleMs * 2 ** errorsInARow++, maxPauseMs))
      continue
    }
    if (found === undefined) continue
    errorsInARow = 0
    if (found === 'work') {
      contendedScansLeft = maxContendedScans
      await run.inFlight.waitForRoom()
      continue
    }
    const isOthers = found === 'contended' && contendedScansLeft-- > 0
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

/**
 * Whether the run has been idle since the start of the scan: what finishes during a scan may make other deliveries due.
 */
function isIdleSince(run: Run, wasIdle: boolean): boolean {
  return run.isIdle() && (wasIdle || run.scan.start === undefined)
}

type Found = 'work' | 'contended' | 'nothing'

async function scanAndStart(options: ExecuteOptions, run: Run): Promise<Found> {
  await options.refresh?.()
  await run.runMaintenance()
  const capacity = capacityOf(options, run)
  const found = await startOrdinary(options, run, capacity)
  return found === 'contended' || !(await startLastChance(options, run, capacity)) ? found : 'work'
}

/**
 * Starts a delivery that must be posted alone, if nothing else is in flight, and starts nothing beside it. A busy
 * worker lets its other deliveries finish from time to time for this.
 */
async function startLastChance(options: ExecuteOptions, run: Run, capacity: Capacity): Promise<boolean> {
  const { lastChance } = run
  const isTime = lastChance.isWaiting ? run.isIdle() : lastChance.isTime(run.isIdle(), options.watch !== true)
  if (lastChance.isRunning || !isTime) return false
  const id = await findLastChance(options.system, capacity)
  lastChance.recordSearch(id !== undefined)
  lastChance.isWaiting = id !== undefined && !run.isIdle()
  if (id === undefined || lastChance.isWaiting) return false
  const { taken, started } = await startDue(options, run, { due: [id], capacity: { ...capacity, free: 1 } })
  lastChance.isRunning = started > 0
  return taken > 0
}

/** Searches for work, fans out messages and starts deliveries. */
async function startOrdinary(options: ExecuteOptions, run: Run, capacity: Capacity): Promise<Found> {
  const { system } = options
  const { fresh, begun, due, isPartial, isHeld = false } = await findWork(system, capacity, run.scan)
  const fanned = fresh && (await fanOutChunk(system, capacity.catalog, 'fresh'))
  const { taken } = due.length > 0 ? await startDue(options, run, { due, capacity }) : { taken: 0 }
  // A fan-out to many subscribers continues when nearly all due deliveries have been started, so that other events
  // never wait behind all of it.
  const continuesFanOut = begun && !fanned && taken < capacity.free && !isHeld
  if (continuesFanOut && (await fanOutChunk(system, capacity.catalog, 'begun'))) return 'work'
  if (fanned || taken > 0 || isPartial) return 'work'
  return fresh || continuesFanOut || due.length > 0 ? 'contended' : 'nothing'
}

/** @returns the number of claimed deliveries that were not released, and how many of them started */
async function startDue(
  { system, clock }: ExecuteOptions,
  run: Run,
  { due, capacity }: { due: readonly string[]; capacity: Capacity },
): Promise<{ taken: number; started: number }> {
  const some = due.slice(0, capacity.free * 2) // more than needed, because other workers may have claimed some
  const { deliveries, lost, taken, released } = await claimDeliveries(system, { due: some, capacity, clock })
  run.dropClaimed(taken, due.length >= capacity.free ? capacity.free : due.length)
  for (const row of lost) run.reportLost(row)
  for (const delivery of deliveries) run.start(delivery)
  return { taken: taken.size - released, started: deliveries.length }
}

function capacityOf({ catalog, settings, concurrency }: ExecuteOptions, run: Run): Capacity {
  const { delivery_concurrency: total, delivery_concurrency_per_endpoint: perEndpoint } = settings()
  const limits = { total: concurrency ?? total, perEndpoint }
  run.inFlight.setLimits(limits)
  return {
    catalog: catalog(),
    settings: settings(),
    free: run.free(),
    isDueFirst: !run.isTimeForMessages(),
    inFlight: new Map(run.inFlight.byEndpoint),
    countHosts: () => run.inFlight.hosts.count(limits),
  }
}
