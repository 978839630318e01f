import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { CompiledQuery, sql, type Kysely } from 'kysely'
import type { PostgresDatabase } from '../../src/store/sql/postgres-dialect.ts'
import { describeEachDatabase, type AnyTables } from './each-database.ts'

type Failure = Error & { readonly code?: string; readonly statement?: string }

describeEachDatabase('a query or a stream that fails', ({ kind, open }) => {
  let opened: Awaited<ReturnType<typeof open>>
  let db: Kysely<AnyTables>
  before(async () => {
    opened = await open()
    db = opened.db
    await sql`create table item (id integer primary key, data text)`.execute(db)
    for (const id of [1, 2, 3])
      await db
        .insertInto('item')
        .values({ id, data: id === 3 ? '{' : '{}' })
        .execute()
  })

  async function readAll(query: { stream(chunk: number): AsyncIterable<unknown> }, seen: unknown[] = []) {
    for await (const row of query.stream(1)) seen.push(row)
  }

  async function runOne(own: Kysely<AnyTables>, text: string) {
    await own.executeQuery(CompiledQuery.raw(text))
  }

  const parsed = kind === 'sqlite' ? sql`json(data)` : sql`data::json`
  for (const isInside of [false, true]) {
    const run = (work: (db: Kysely<AnyTables>) => Promise<void>) =>
      isInside ? db.transaction().execute(work) : work(db)
    const where = isInside ? ' in a transaction' : ''

    test(`names its statement and the code that reads it, at the start${where}`, async () => {
      const failed = run((own) => readAll(own.selectFrom('nothing').selectAll()))
      await assert.rejects(failed, ({ statement, stack }: Failure) => {
        assert.equal(statement, 'select * from "nothing"')
        assert.match(stack ?? '', /at (async )?readAll \(.*streams\.test\.ts/)
        return true
      })
    })

    for (const limit of ['', '/* at most 100 bytes */ '])
      test(`names its statement and the code that runs it${limit && ' with a limit'}${where}`, async () => {
        const failed = run((own) => runOne(own, `${limit}select * from nothing`))
        await assert.rejects(failed, ({ statement, stack }: Failure) => {
          assert.equal(statement, `${limit}select * from nothing`)
          assert.match(stack ?? '', /at (async )?runOne \(.*streams\.test\.ts/)
          return true
        })
      })

    test(`names its statement and the code that reads it, after the first rows${where}`, async () => {
      const seen: unknown[] = []
      const failed = run((own) => readAll(own.selectFrom('item').select(parsed.as('it')).orderBy('id'), seen))
      await assert.rejects(failed, ({ message, code, statement, stack }: Failure) => {
        if (kind === 'postgresql') assert.equal(code, '22P02')
        else assert.match(message, /json/i)
        assert.match(statement ?? '', /^select .* from "item" order by "id"$/)
        assert.match(stack ?? '', /at (async )?readAll \(.*streams\.test\.ts/)
        return true
      })
      assert.equal(seen.length, 2)
      assert.equal((await db.selectFrom('item').selectAll().execute()).length, 3, 'the connection is free')
    })
  }

  if (kind === 'postgresql') {
    test('names the lost server, and does not wait for it', async () => {
      const { openClient } = opened.database as PostgresDatabase
      const killer = await openClient()
      const pid = sql<number>`pg_backend_pid()`.as('pid')
      const failed = (async () => {
        for await (const row of db.selectFrom('item').select(pid).stream(1)) {
          await killer.query('select pg_terminate_backend($1, 5000)', [row.pid])
        }
      })()
      await assert.rejects(failed, { code: 'WP_STORE_UNREACHABLE', status: 503 })
      await killer.end()
    })
  }
})
