import type { ChildProcess } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { startPostgres } from '../test/support/postgres.ts'
import { atLeast, beside, type Figure } from './goal.ts'
import { measureListenerCosts } from './listener-costs.ts'
import { kinds, names, openSide, runs, type Kind, type Name, type Side } from './listener-sides.ts'
import { isTiny, scaled } from './scale.ts'
import { median } from './statistics.ts'

const rounds = scaled(3)
const warmUps = scaled(1, 0)

/**
 * Measures runs of listeners beside jobs of graphile-worker and pg-boss, in turns, with workers that have started: from the
 * moment when all are due until the end of the last is recorded.
 */
export async function measureListeners(): Promise<Figure[]> {
  const one = await measureWorkers(1, [...names, 'graphileDefault'])
  const three = await measureWorkers(3, names)
  const processors = availableParallelism()
  const scaling = { value: rate(three, 'waypost', 'empty') / rate(one, 'waypost', 'empty'), unit: '' }
  const what = `three workers, times one, on ${processors} processors`
  return [
    ...figuresOf(one, 'one worker'),
    ...figuresOf(three, 'three workers'),
    processors >= 6 ? atLeast(what, scaling, 2) : beside(what, scaling),
    ...(await measureListenerCosts()),
  ]
}

/** Runs per second of each round. */
type Rates = ReadonlyMap<Name, Readonly<Record<Kind, number[]>>>

function rate(rates: Rates, name: Name, kind: Kind): number {
  return median(rates.get(name)![kind])
}

/** The goal is compared with graphile-worker as its documentation tunes it for many small jobs. */
function figuresOf(rates: Rates, workers: string): Figure[] {
  const goals: Readonly<Record<Kind, number>> = { empty: 1.2, write: 1 }
  const titles: Readonly<Record<Kind, string>> = { empty: 'empty runs', write: 'runs that write a row' }
  const perSecond = (list: readonly Name[], kind: Kind) =>
    `${list.map((name) => rate(rates, name, kind).toFixed(0)).join(', ')} /s`
  return kinds.flatMap((kind) => {
    const value = rate(rates, 'waypost', kind) / rate(rates, 'graphile', kind)
    const what = `${runs} ${titles[kind]}, ${workers}, times graphile-worker (tuned)`
    return [
      atLeast(what, { value, unit: '' }, goals[kind]),
      beside('  Waypost, graphile-worker (tuned) and pg-boss', perSecond(names, kind)),
      ...(rates.has('graphileDefault')
        ? [beside('  graphile-worker without local queue and batches', perSecond(['graphileDefault'], kind))]
        : []),
    ]
  })
}

async function measureWorkers(count: number, list: readonly Name[]): Promise<Rates> {
  const postgres = await startPostgres({ durable: !isTiny })
  const rates = new Map<Name, Record<Kind, number[]>>()
  // One after another, because workers that wait cost time too.
  for (const name of list) {
    const found: Record<Kind, number[]> = { empty: [], write: [] }
    const side = await openSide(name, postgres, count)
    for (let round = -warmUps; round < rounds; round += 1) {
      for (const kind of kinds) {
        const perSecond = await takeTurn(side, kind)
        if (round >= 0) found[kind].push(perSecond)
      }
    }
    for (const worker of side.workers) worker.kill('SIGKILL')
    await side.close()
    rates.set(name, found)
  }
  await postgres.stop()
  return rates
}

/** @returns runs per second */
async function takeTurn({ workers, fill, isDone }: Side, kind: Kind): Promise<number> {
  const ended = countEnds(workers)
  await fill(kind)
  const began = performance.now()
  await ended
  while (!(await isDone())) await pause(1)
  return runs / ((performance.now() - began) / 1000)
}

const lastCounts = new WeakMap<ChildProcess, number>()

/** Resolves when the workers have reported the end of all runs. */
async function countEnds(workers: readonly ChildProcess[]): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let left = runs
  const listeners = workers.map((worker) => {
    const note = ({ ended }: { readonly ended: number }) => {
      left -= ended - (lastCounts.get(worker) ?? 0)
      lastCounts.set(worker, ended)
      if (left <= 0) resolve()
    }
    worker.on('message', note)
    return () => worker.off('message', note)
  })
  await promise
  for (const stop of listeners) stop()
}
