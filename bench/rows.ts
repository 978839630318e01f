import { CompiledQuery } from 'kysely'
import { openShop, type RowWorld } from '../test/backend/row-world.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { atMost, beside, type Figure } from './goal.ts'
import { scaled } from './scale.ts'
import { median } from './statistics.ts'

const sizes = [10, scaled(10_000, 20), scaled(1_000_000, 30)]
const rounds = scaled(9)

/** Measures the first page of rows in the backend, beside the statement that the database needs for it. */
export async function measureRows(): Promise<Figure[]> {
  const postgres = await startPostgres()
  try {
    return [
      ...(await measureKind('sqlite', 'sqlite:system.db')),
      ...(await measureKind('postgresql', await postgres.createSystem())),
    ]
  } finally {
    await postgres.stop()
  }
}

async function measureKind(kind: 'sqlite' | 'postgresql', url: string): Promise<Figure[]> {
  await using world = await openShop(url)
  const figures: Figure[] = []
  let last = 0
  for (const size of sizes) {
    await world.run(fill(kind, last, size), 'analyze')
    last = size
    const page = await time(() => world.call('GET /table/System/shop_customer/row'))
    const own = await time(() => readPage(world))
    figures.push(
      atMost(`first page of ${size} rows in the backend, ${kind}`, ms(page), 300),
      beside('  the statement of the database', ms(own), page / own),
    )
  }
  return figures
}

function fill(kind: 'sqlite' | 'postgresql', from: number, to: number): string {
  const numbers =
    kind === 'sqlite'
      ? `with recursive number(n) as (select ${from} union all select n + 1 from number where n < ${to - 1}) `
      : `with number as (select n from generate_series(${from}, ${to - 1}) as n) `
  const id =
    kind === 'sqlite'
      ? `'0192f0c1-0000-7000-8000-' || printf('%012d', n)`
      : `cast('0192f0c1-0000-7000-8000-' || lpad(n::text, 12, '0') as uuid)`
  return `insert into shop_customer (id, email, name) ${numbers}select ${id}, n || '@example.com', 'Customer ' || n from number`
}

async function readPage({ server }: RowWorld): Promise<unknown> {
  return server.host.system.db.executeQuery(CompiledQuery.raw('select * from shop_customer order by id limit 51'))
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let round = -1; round < rounds; round++) {
    const began = performance.now()
    await work()
    if (round >= 0) times.push(performance.now() - began)
  }
  return median(times)
}

function ms(value: number) {
  return { value, unit: 'ms' }
}
