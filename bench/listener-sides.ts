import type { ChildProcess } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { sql } from 'kysely'
import { Client } from 'pg'
import { insertRuns } from '../src/events/message/plan-runs.ts'
import { makeSortedId } from '../src/kit/index.ts'
import { openTestProject } from '../src/project/index.ts'
import type { System } from '../src/store/index.ts'
import { openTestHost } from '../test/events/host.ts'
import type { TestPostgres } from '../test/support/postgres.ts'
import { openChild } from './child.ts'
import { concurrency } from './listener-process.ts'
import { loadPeer } from './peers.ts'
import { scaled } from './scale.ts'
import { nextReport } from './turns.ts'

export const runs: number = scaled(10_000, 50)
export const names = ['waypost', 'graphile', 'boss'] as const
export type Name = (typeof names)[number] | 'graphileDefault'
export const kinds = ['empty', 'write'] as const
export type Kind = (typeof kinds)[number]

const createRows = 'create table bench_row (id bigint generated always as identity primary key, n int)'

/** A queue with its workers, which wait for runs. */
export interface Side {
  readonly workers: readonly ChildProcess[]
  /** Makes runs due in one moment. */
  fill(kind: Kind): Promise<void>
  /** Whether the queue has nothing left to do. Runs whose code has ended may not be recorded yet. */
  isDone(): Promise<boolean>
  close(): Promise<void>
}

export function openSide(name: Name, postgres: TestPostgres, count: number): Promise<Side> {
  return openers[name](postgres, count)
}

const openers: Readonly<Record<Name, (postgres: TestPostgres, count: number) => Promise<Side>>> = {
  async waypost(postgres, count) {
    const url = await postgres.createDatabase()
    const { host, folder, variables, close } = await openTestHost('postgresql', url)
    await writeProject(folder)
    await (await openTestProject(folder)).install(host)
    await sql.raw(createRows).execute(host.system.db)
    const workers = await openWorkers('waypost', { url, folder, variables }, count)
    // Runs are counted when they are recorded.
    return { workers, fill: (kind) => fillWaypost(host.system, kind), isDone: async () => true, close }
  },
  graphile: (postgres, count) => openGraphile('graphile', postgres, count),
  graphileDefault: (postgres, count) => openGraphile('graphileDefault', postgres, count),
  async boss(postgres, count) {
    const url = await postgres.createDatabase()
    const { PgBoss } = await loadPeer('pg-boss')
    const boss = new PgBoss({ connectionString: url, max: 2 })
    boss.on('error', () => undefined) // its connections end with the server
    await boss.start()
    for (const kind of kinds) await boss.createQueue(kind, { notify: true })
    const client = await connect(url)
    await client.query(createRows)
    const fill = async (kind: Kind) => {
      await boss.insert(
        kind,
        Array.from({ length: runs }, (_, n) => ({ data: { n } })),
      )
    }
    const left = `select 1 from pgboss.job where name in ('empty', 'write') and state < 'completed' limit 1`
    const place = { url, folder: '', variables: {} }
    return {
      workers: await openWorkers('boss', place, count),
      fill,
      isDone: async () => (await client.query(left)).rowCount === 0,
      async close() {
        await boss.stop({ graceful: false })
        await client.end()
      },
    }
  },
}

async function openGraphile(
  name: 'graphile' | 'graphileDefault',
  postgres: TestPostgres,
  count: number,
): Promise<Side> {
  const url = await postgres.createDatabase()
  await (await loadPeer('graphile-worker')).runMigrations({ connectionString: url })
  const client = await connect(url)
  await client.query(createRows)
  const add = `select count(*) from graphile_worker.add_jobs(array(
    select json_populate_recordset(null::graphile_worker.job_spec, $1)))`
  const jobs = (kind: Kind) => Array.from({ length: runs }, (_, n) => ({ identifier: kind, payload: { n } }))
  return {
    workers: await openWorkers(name, { url, folder: '', variables: {} }, count),
    fill: async (kind) => void (await client.query(add, [JSON.stringify(jobs(kind))])),
    isDone: async () => (await client.query('select 1 from graphile_worker._private_jobs limit 1')).rowCount === 0,
    close: () => client.end(),
  }
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  await client.connect()
  return client
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
    // The text that the others send.
    `import { sql } from 'waypost'
    export default class {
      async handle(_, context) { await sql\`insert into bench_row (n) values (1)\`.execute(context.connection('System')) }
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
