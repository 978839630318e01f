import type { ChildProcess } from 'node:child_process'
import { Client } from 'pg'
import { startPostgres, type TestPostgres } from '../test/support/postgres.ts'
import type { WorkOrder, WorkReport } from './delivery-process.ts'
import { openDeliverySite, openReceiver, openWorker, todo } from './delivery-site.ts'
import { atLeast, beside, type Figure } from './goal.ts'
import { loadPeer } from './peers.ts'
import { openPostgresCost } from './postgres-cost.ts'
import type { ReceiverReport } from './receiver-process.ts'
import { isTiny, scaled } from './scale.ts'
import { median } from './statistics.ts'
import { ask } from './turns.ts'

const subscribers = scaled(100, 10)
/** Turns of each until its code is compiled. */
const warmUps = scaled(3, 0)

/** One side of the comparison: fills its queue and delivers it. */
interface Side {
  readonly worker: ChildProcess
  /** Of its database. */
  readonly url: string
  fill(): Promise<void>
}

interface Turn {
  /** Deliveries per second. */
  readonly rate: number
  /** Microseconds of processor time per delivery, of the worker and of PostgreSQL. */
  readonly workerCost: number
  readonly postgresCost: number
}

/**
 * Measures signed deliveries, compared with graphile-worker, which posts the same for each job, in turns. A turn includes
 * start and stop.
 * @param due how many are due in each turn
 */
export async function measureDeliveries(due = scaled(30_000, 100), { rounds = scaled(5) } = {}): Promise<Figure[]> {
  const postgres = await startPostgres({ durable: !isTiny })
  const { receiver, port } = await openReceiver()
  const endpoints = Array.from({ length: subscribers }, (_, index) => `http://127.0.0.1:${port}/${index}`)
  const waypost = await openWaypost(postgres, endpoints, due)
  const graphile = await openGraphile(postgres, endpoints, due)
  const turns = { waypost: [] as Turn[], graphile: [] as Turn[] }
  for (let round = -warmUps; round < rounds; round += 1) {
    for (const name of round % 2 === 0 ? (['waypost', 'graphile'] as const) : (['graphile', 'waypost'] as const)) {
      const turn = await takeTurn({ postgres, receiver, due }, { waypost, graphile }[name], name === 'waypost')
      if (round >= 0) turns[name].push(turn)
    }
  }
  for (const child of [waypost.worker, graphile.worker, receiver]) child.kill()
  await waypost.close()
  await postgres.stop()
  return compare(due, turns.waypost, turns.graphile)
}

async function openWaypost(postgres: TestPostgres, endpoints: readonly string[], due: number) {
  const site = await openDeliverySite(postgres)
  await site.subscribe('todo_created', endpoints)
  const fill = async () => {
    for (let index = 0; index < due / subscribers; index += 1) await site.dispatch('todo_created', todo)
    await site.fanOut()
  }
  return { fill, worker: await openWorker('waypost', site.place), url: site.place.url, close: () => site.close() }
}

async function openGraphile(postgres: TestPostgres, endpoints: readonly string[], due: number): Promise<Side> {
  const url = await postgres.createDatabase()
  await (await loadPeer('graphile-worker')).runMigrations({ connectionString: url })
  const fill = async () => {
    const jobs = Array.from({ length: due }, (_, index) => ({
      identifier: 'deliver',
      payload: { endpoint: endpoints[index % subscribers], data: todo },
    }))
    const insert =
      'select count(*) from graphile_worker.add_jobs(array(select json_populate_recordset(null::graphile_worker.job_spec, $1)))'
    await query(url, insert, [JSON.stringify(jobs)])
  }
  return { fill, worker: await openWorker('graphile', { url, folder: '', variables: {} }), url }
}

async function takeTurn(
  { postgres, receiver, due }: { postgres: TestPostgres; receiver: ChildProcess; due: number },
  side: Side,
  isSigned: boolean,
): Promise<Turn> {
  await query(side.url, 'vacuum analyze') // the rows of earlier turns slow down none
  await side.fill()
  await ask(receiver, 'count')
  const cost = await openPostgresCost(postgres)
  const order: WorkOrder = { deliveries: due }
  const { delivered, ms, cpuMicros } = (await ask(side.worker, order)) as WorkReport
  const postgresMicros = await cost.micros()
  const { received, signed } = (await ask(receiver, 'count')) as ReceiverReport
  if (delivered !== due || received !== due || signed !== (isSigned ? due : 0)) {
    throw new Error(`of ${due} deliveries ${delivered} were made and ${received} arrived, ${signed} of them signed`)
  }
  return { rate: due / (ms / 1000), workerCost: cpuMicros / due, postgresCost: postgresMicros / due }
}

function compare(due: number, waypost: readonly Turn[], graphile: readonly Turn[]): Figure[] {
  const ratio = (of: (turn: Turn) => number) => median(waypost.map((turn, index) => of(turn) / of(graphile[index]!)))
  const both = (of: (turn: Turn) => number) =>
    [waypost, graphile].map((turns) => median(turns.map(of)).toFixed(0)).join(' and ')
  const cost = (turn: Turn) => turn.workerCost + turn.postgresCost
  return [
    atLeast(
      `signed deliveries with ${due} due, times graphile-worker`,
      { value: ratio((turn) => turn.rate), unit: '' },
      1.2,
    ),
    beside('  Waypost and graphile-worker', `${both((turn) => turn.rate)} /s`),
    beside('  processor time of both, as a part of its', { value: ratio(cost), unit: '' }),
    beside('  of the worker', `${both((turn) => turn.workerCost)} µs`),
    beside('  of PostgreSQL', `${both((turn) => turn.postgresCost)} µs`),
  ]
}

async function query(url: string, text: string, values: readonly unknown[] = []): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(text, [...values])
  await client.end()
}
