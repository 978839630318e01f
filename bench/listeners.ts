import type { ChildProcess } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { sql } from 'kysely'
import { Client } from 'pg'
import { insertRuns } from '../src/events/message/plan-runs.ts'
import { makeSortedId } from '../src/kit/index.ts'
import { openTestProject } from '../src/project/index.ts'
import type { System } from '../src/store/index.ts'
import { openTestHost } from '../test/events/host.ts'
import { startPostgres, type TestPostgres } from '../test/support/postgres.ts'
import { openChild } from './child.ts'
import { atLeast, beside, type Figure } from './goal.ts'
import { concurrency } from './listener-process.ts'
import { loadPeer } from './peers.ts'
import { isTiny, scaled } from './scale.ts'
import { median } from './statistics.ts'
import { nextReport } from './turns.ts'

const runs = scaled(10_000, 50)
const rounds = scaled(5)
const warmUps = scaled(2, 0)
const names = ['waypost', 'graphile', 'boss'] as const
type Name = (typeof names)[number]
const kinds = ['empty', 'write'] as const
type Kind = (typeof kinds)[number]

const createRows = 'create table bench_row (id bigint generated always as identity primary key, n int)'

/** A queue with its workers, which wait for runs. */
interface Side {
  readonly workers: ChildProcess[]
  /** Makes runs due in one moment. */
  fill(kind: Kind): Promise<void>
  close(): Promise<void>
}

/**
 * Measures runs of listeners beside jobs of graphile-worker and pg-boss, in turns, with workers that have started: from the
 * moment when all are due until the last has ended.
 */
export async function measureListeners(): Promise<Figure[]> {
  const one = await measureWorkers(1)
  const three = await measureWorkers(3)
  const processors = availableParallelism()
  const more = (kind: Kind) => rate(three, 'waypost', kind) / rate(one, 'waypost', kind)
  const scaling = { value: more('empty'), unit: '' }
  const what = `three workers, times one, on ${processors} processors`
  return [
    ...figuresOf(one, 'one worker'),
    ...figuresOf(three, 'three workers'),
    processors >= 6 ? atLeast(what, scaling, 2) : beside(what, scaling),
  ]
}

type Rates = Readonly<Record<Name, Readonly<Record<Kind, number[]>>>>

function rate(rates: Rates, name: Name, kind: Kind): number {
  return median(rates[name][kind])
}

function figuresOf(rates: Rates, what: string): Figure[] {
  const times = (kind: Kind) => median(rates.waypost[kind].map((value, round) => value / rates.graphile[kind][round]!))
  const all = (kind: Kind) => `${names.map((name) => rate(rates, name, kind).toFixed(0)).join(', ')} /s`
  return [
    atLeast(`${runs} empty runs, ${what}, times graphile-worker`, { value: times('empty'), unit: '' }, 1.2),
    beside('  Waypost, graphile-worker and pg-boss', all('empty')),
    atLeast(`${runs} runs that write a row, ${what}, times graphile-worker`, { value: times('write'), unit: '' }, 1),
    beside('  Waypost, graphile-worker and pg-boss', all('write')),
  ]
}

async function measureWorkers(count: number): Promise<Rates> {
  const postgres = await startPostgres({ durable: !isTiny })
  const rates: Rates = {
    waypost: { empty: [], write: [] },
    graphile: { empty: [], write: [] },
    boss: { empty: [], write: [] },
  }
  // One after another, because workers that wait cost time too.
  for (const name of names) {
    const side = await openSide[name](postgres, count)
    for (let round = -warmUps; round < rounds; round += 1) {
      for (const kind of kinds) {
        const found = await takeTurn(side, kind)
        if (round >= 0) rates[name][kind].push(found)
      }
    }
    for (const worker of side.workers) worker.kill('SIGKILL')
    await side.close()
  }
  await postgres.stop()
  return rates
}

/** @returns runs per second */
async function takeTurn({ workers, fill }: Side, kind: Kind): Promise<number> {
  const counts = new Map<ChildProcess, number>()
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  const before = new Map(workers.map((worker) => [worker, lastCounts.get(worker) ?? 0]))
  const note = (worker: ChildProcess) => (report: { readonly ended: number }) => {
    lastCounts.set(worker, report.ended)
    counts.set(worker, report.ended - before.get(worker)!)
    if ([...counts.values()].reduce((sum, one) => sum + one, 0) >= runs) resolve()
  }
  const listeners = workers.map((worker) => [worker, note(worker)] as const)
  for (const [worker, listener] of listeners) worker.on('message', listener)
  await fill(kind)
  const began = performance.now()
  await ended
  const seconds = (performance.now() - began) / 1000
  for (const [worker, listener] of listeners) worker.off('message', listener)
  return runs / seconds
}

const lastCounts = new WeakMap<ChildProcess, number>()

const openSide: Readonly<Record<Name, (postgres: TestPostgres, count: number) => Promise<Side>>> = {
  async waypost(postgres, count) {
    const url = await postgres.createDatabase()
    const { host, folder, variables, close } = await openTestHost('postgresql', url)
    await writeProject(folder)
    await (await openTestProject(folder)).install(host)
    await sql.raw(createRows).execute(host.system.db)
    const workers = await openWorkers('waypost', { url, folder, variables }, count)
    return { workers, fill: (kind) => fillWaypost(host.system, kind), close }
  },
  async graphile(postgres, count) {
    const url = await postgres.createDatabase()
    await (await loadPeer('graphile-worker')).runMigrations({ connectionString: url })
    await query(url, createRows)
    const fill = (kind: Kind) =>
      query(
        url,
        `select count(*) from graphile_worker.add_jobs(array(
          select json_populate_recordset(null::graphile_worker.job_spec, $1)))`,
        [JSON.stringify(Array.from({ length: runs }, (_, n) => ({ identifier: kind, payload: { n } })))],
      )
    const place = { url, folder: '', variables: {} }
    return { workers: await openWorkers('graphile', place, count), fill, close: async () => undefined }
  },
  async boss(postgres, count) {
    const url = await postgres.createDatabase()
    const { PgBoss } = await loadPeer('pg-boss')
    const boss = new PgBoss({ connectionString: url, max: 2 })
    boss.on('error', () => undefined) // its connections end with the server
    await boss.start()
    for (const kind of kinds) await boss.createQueue(kind, { notify: true })
    await query(url, createRows)
    const fill = async (kind: Kind) => {
      await boss.insert(
        kind,
        Array.from({ length: runs }, (_, n) => ({ data: { n } })),
      )
    }
    const place = { url, folder: '', variables: {} }
    return { workers: await openWorkers('boss', place, count), fill, close: () => boss.stop({ graceful: false }) }
  },
}

async function openWorkers(role: Name, place: object, count: number): Promise<ChildProcess[]> {
  const workers = Array.from({ length: count }, () => openChild('listener-process.ts', role, JSON.stringify(place)))
  await Promise.all(workers.map((worker) => nextReport(worker)))
  return workers
}

async function writeProject(folder: string): Promise<void> {
  await mkdir(path.join(folder, 'src'))
  await writeFile(
    path.join(folder, 'waypost.yml'),
    `event: { empty: { private: true }, write: { private: true } }
listener:
  empty: { event: empty, action: src/empty.js, concurrency: ${concurrency} }
  write: { event: write, action: src/write.js, concurrency: ${concurrency} }
`,
  )
  await writeFile(path.join(folder, 'src/empty.js'), 'export default class { async handle() {} }')
  await writeFile(
    path.join(folder, 'src/write.js'),
    `export default class {
      async handle(_, context) { await context.connection('System').insertInto('bench_row').values({ n: 1 }).execute() }
    }`,
  )
}

async function fillWaypost(system: System, kind: Kind): Promise<void> {
  const all = Array.from({ length: runs }, (_, n) => {
    const id = makeSortedId('msg_', Date.now())
    return { id, run: [makeSortedId('run_', Date.now()), kind, id, null] as const, data: JSON.stringify({ n }) }
  })
  await system.transaction(async (trx) => {
    const messages = JSON.stringify(all.map(({ id, data }) => ({ id, data })))
    await sql`insert into waypost_message (id, event, data, created_at, fanned_out_at)
      select id, ${kind}, data, ${system.now()}, ${system.now()}
      from json_to_recordset(cast(${messages} as json)) as row (id text, data text)`.execute(trx)
    const planned = all.map(({ run }) => run)
    await insertRuns(system, planned).execute(trx)
  })
}

async function query(url: string, text: string, values: readonly unknown[] = []): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(text, [...values])
  await client.end()
}
