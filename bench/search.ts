import { performance } from 'node:perf_hooks'
import type { DatabaseKind } from '../src/contract/index.ts'
import { writeStep } from '../src/tables/index.ts'
import { startPostgres, type TestPostgres } from '../test/support/postgres.ts'
import { openTableApi, users, type TableApi } from '../test/support/table-api.ts'
import { atMost, beside, type Figure } from './goal.ts'
import { scaled } from './scale.ts'

const count = scaled(1_000_000, 2000)
const table = 'app_ticket'

/** What is searched, and which rows have it. */
const searches = [
  { q: 'rare7', rows: '1 of 10,000', isGoal: true },
  { q: 'usual7', rows: '1 of 500', isGoal: true },
  { q: '"usual7 common7"', rows: '1 of 500, a phrase', isGoal: true },
  { q: 'common7', rows: '1 of 50', isGoal: false },
  { q: 'every1', rows: '1 of 2', isGoal: false },
  { q: 'usual7*', rows: '111 of 500, a prefix', isGoal: false },
  { q: 'every1 -common7', rows: '1 of 2, without another word', isGoal: false },
] as const

/** Measures how long the statements of a search take in a list of 16 rows, without Waypost. */
export async function measureSearch(): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const kind of ['postgresql', 'sqlite'] as const) {
    const postgres = kind === 'postgresql' ? await startPostgres() : undefined
    try {
      figures.push(...(await measure(kind, postgres)))
    } finally {
      await postgres?.stop()
    }
  }
  return figures
}

async function measure(kind: DatabaseKind, postgres: TestPostgres | undefined): Promise<Figure[]> {
  await using api = await openTableApi({
    url: await postgres?.createDatabase(),
    tables: {
      [table]: {
        columns: { id: { type: 'id' }, user_id: { type: 'uuid' }, title: { type: 'text' } },
        key: ['id'],
        search: { columns: ['title'] },
      },
    },
    config: { table, columns: ['id', 'title'], search: ['title'], sort: ['-id'] },
    routes: ['GET /ticket'],
    schema: writeStep(
      {
        step: 'create_table',
        table,
        columns: { id: { type: 'id' }, user_id: { type: 'uuid' }, title: { type: 'text' } },
      },
      kind,
    ),
  })
  await fill(api, kind)
  const started = performance.now()
  for (const statement of writeStep({ step: 'add_search', table, columns: ['title'] }, kind))
    await api.execute(statement)
  const seconds = (performance.now() - started) / 1000
  await api.execute(kind === 'sqlite' ? 'analyze' : 'vacuum analyze')
  const where = `among ${count.toLocaleString('en')} rows, ${kind === 'sqlite' ? 'SQLite' : 'PostgreSQL'}`
  const figures = [beside(`sql-table: add_search ${where}`, { value: seconds, unit: 's' })]
  for (const { q, rows, isGoal } of searches) {
    const what = `search ${where}: ${rows}`
    const amount = { value: await time(api, q), unit: 'ms' }
    figures.push(isGoal ? atMost(what, amount, 20) : beside(what, amount))
  }
  return figures
}

async function fill(api: TableApi, kind: DatabaseKind): Promise<void> {
  const words = [`'rare' || (i % 10000)`, `'usual' || (i % 500)`, `'common' || (i % 50)`, `'every' || (i % 2)`]
  const others = [3, 5, 7, 11].map((factor) => `'other' || (i * ${factor} % 20011)`)
  const title = [...words, ...others].join(` || ' ' || `)
  const values = `select '${users.ann}', ${title}`
  const numbers =
    kind === 'sqlite'
      ? `with recursive n (i) as (select 1 union all select i + 1 from n where i < ${count}) insert into ${table} (user_id, title) ${values} from n`
      : `insert into ${table} (user_id, title) ${values} from generate_series(1, ${count}) i`
  await api.execute(numbers)
}

/** Returns the median of the times that the database takes, in milliseconds. */
async function time(api: TableApi, q: string): Promise<number> {
  const { db } = api
  const run = db.executeQuery.bind(db)
  const times: number[] = []
  db.executeQuery = async (query) => {
    const started = performance.now()
    const result = await run(query)
    times.push(performance.now() - started)
    return result
  }
  for (let turn = 0; turn < scaled(21, 1); turn++) await api.call('GET /ticket', { query: { q } })
  db.executeQuery = run
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]!
}
