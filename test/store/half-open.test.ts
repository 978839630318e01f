import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Kysely, sql } from 'kysely'
import { openSystem } from '../../src/store/index.ts'
import { openPostgres } from '../../src/store/sql/postgres-dialect.ts'
import { openLine } from '../support/line.ts'
import { startPostgres, type TestPostgres } from '../support/postgres.ts'

const lateMs = 200

let server: TestPostgres
let url: string
before(async () => {
  server = await startPostgres()
  url = await server.createDatabase()
})
after(() => server.stop())

/** Opens a pool over a proxy that a test controls. */
async function open() {
  const line = await openLine(url)
  const database = openPostgres({ url: line.through(url), max: 2, lateMs })
  const db = new Kysely<Record<string, never>>({ dialect: database.dialect() })
  await sql`select 1`.execute(db)
  return {
    line,
    db,
    async [Symbol.asyncDispose]() {
      await database.close()
      await line.close()
    },
  }
}

test('a statement whose response never arrives ends, while others continue', async () => {
  await using opened = await open()
  const lost = assert.rejects(sql`select pg_sleep(0.1)`.execute(opened.db), {
    code: 'WP_STORE_UNREACHABLE',
    status: 503,
  })
  opened.line.freeze()
  await opened.line.mend() // for new connections
  await lost
  assert.deepEqual((await sql`select 1 as one`.execute(opened.db)).rows, [{ one: 1 }])
})

test('a statement ends when the server cannot be reached for long', async () => {
  await using opened = await open()
  const lost = assert.rejects(sql`select pg_sleep(0.1)`.execute(opened.db), { code: 'WP_STORE_UNREACHABLE' })
  opened.line.freeze()
  await lost
})

test('a stream whose rows never arrive ends', async () => {
  await using opened = await open()
  const rows = sql<{ n: number }>`(select n from generate_series(1, 9) as n)`
  const lost = (async () => {
    for await (const { n } of opened.db.selectFrom(rows.as('row')).selectAll().stream(1)) {
      if (n === 1) opened.line.freeze()
    }
  })()
  await assert.rejects(lost, { code: 'WP_STORE_UNREACHABLE', status: 503 })
})

test('a statement that PostgreSQL is executing is not interrupted', async () => {
  await using opened = await open()
  const { rows } = await sql`select 'done' as it from pg_sleep(${(lateMs * 8) / 1000})`.execute(opened.db)
  assert.deepEqual(rows, [{ it: 'done' }])
  await opened.db.transaction().execute(async (trx) => {
    await sql`select 1`.execute(trx)
    await new Promise((resolve) => setTimeout(resolve, lateMs * 4)) // no statement is running
    await sql`select 1`.execute(trx)
  })
})

test('WAYPOST_SYSTEM_DIRECT_URL is where changes are listened for and locks are held, not the pool', async () => {
  const direct = new URL(url)
  direct.searchParams.set('options', '-c waypost.line=direct')
  const system = await openSystem({ url, directUrl: direct.href })
  try {
    const { database } = system
    assert.equal(database.kind, 'postgresql')
    const client = database.kind === 'postgresql' ? await database.openClient() : undefined
    const { rows } = await client!.query(`select current_setting('waypost.line', true) as line`)
    assert.deepEqual(rows, [{ line: 'direct' }])
    await client!.end()
    const pooled = await sql<{ line: string | null }>`select current_setting('waypost.line', true) as line`.execute(
      system.db,
    )
    assert.deepEqual(pooled.rows, [{ line: null }])
  } finally {
    await system.close()
  }
})
