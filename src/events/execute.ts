import { makeBell } from './bell.ts'
import type { Capacity } from './capacity.ts'
import { claimDeliveries } from './claim.ts'
import type { ExecuteOptions } from './execute-options.ts'
import { fanOutChunk } from './fan-out.ts'
import { Run, type Summary } from './run.ts'
import { findWork } from './work.ts'

const idleMs = 250
const longestPauseMs = 10_000
/** Looks in a row at work that others have locked, until a run that does not watch leaves it to them. */
const mostPatience = 100

/**
 * Delivers until nothing is due, or, watching, until the signal. Any number of these may run beside each other.
 * @throws what the database says, after what was under way has come to its end
 */
export async function executeEvents(options: ExecuteOptions): Promise<Summary> {
  const bell = makeBell(options.signal)
  const run = new Run(options, bell.ring)
  let errorsInARow = 0
  let patience = mostPatience
  while (!options.signal?.aborted) {
    const found = await takeOn(options, run).catch((error: unknown) => void run.failures.push(error))
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
    if (!isOthers && run.isIdle() && !options.watch) break
    await bell.wait(isOthers ? 5 + Math.random() * 20 : idleMs)
  }
  await run.end()
  if (run.failures.length > 0) throw run.failures[0]
  return run.summary
}

/** Looks for work, fans out and starts what can be started. */
async function takeOn(options: ExecuteOptions, run: Run): Promise<'work' | 'contended' | 'nothing'> {
  const { system } = options
  await options.refresh?.()
  await run.keep()
  const capacity = capacityOf(options, run)
  const { fresh, begun, due, isPartial } = await findWork(system, capacity, run.round)
  const fanned = fresh && (await fanOutChunk(system, capacity.catalog, 'fresh'))
  const taken = due.length > 0 ? await startDue(options, run, { due, capacity }) : 0
  // A message for very many goes on when nearly all that is due has begun: other events are never behind all of it.
  const goesOn = begun && !fanned && taken < capacity.free
  if (goesOn && (await fanOutChunk(system, capacity.catalog, 'begun'))) return 'work'
  if (fanned || taken > 0 || isPartial) return 'work'
  return fresh || goesOn || due.length > 0 ? 'contended' : 'nothing'
}

/** @returns how many were taken, whatever became of them */
async function startDue(
  { system, clock }: ExecuteOptions,
  run: Run,
  { due, capacity }: { due: readonly string[]; capacity: Capacity },
): Promise<number> {
  const { deliveries, lost, taken } = await claimDeliveries(system, { due, capacity, clock })
  for (const row of lost) run.reportLost(row)
  for (const delivery of deliveries) run.start(delivery)
  return taken
}

function capacityOf(options: ExecuteOptions, run: Run): Capacity {
  const settings = options.settings()
  return {
    catalog: options.catalog(),
    settings,
    free: run.free(options.concurrency ?? settings.delivery_concurrency),
    underWay: new Map(run.underWay),
  }
}
