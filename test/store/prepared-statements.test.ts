import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { Kysely, sql } from 'kysely'
import { openPostgres, type OpenPostgresOptions } from '../../src/store/sql/postgres-dialect.ts'
import { openInOtherLanguage } from '../support/other-language.ts'
import { startPostgres, type TestPostgres } from '../support/postgres.ts'
import { isLong, longDescribe } from '../support/forms.ts'

let server: TestPostgres
let direct: string
let translated: Awaited<ReturnType<typeof openInOtherLanguage>>
let url: string
const opened: { close(): Promise<void> }[] = []
before(async () => {
  server = await startPostgres()
  direct = await server.createDatabase()
  translated = await openInOtherLanguage(direct)
})
after(async () => {
  await translated.close()
  await server.stop()
})
afterEach(async () => {
  await Promise.all(opened.splice(0).map((database) => database.close()))
})

/** A database with one connection and a new table `item` of three rows. */
async function open(options: Partial<OpenPostgresOptions> = {}) {
  const database = openPostgres({ url, max: 1, ...options })
  opened.push(database)
  // oxlint-disable-next-line typescript/no-explicit-any -- the tests alter the table
  const db = new Kysely<any>({ dialect: database.dialect() })
  await sql`drop table if exists item`.execute(db)
  await sql`create table item (id integer, name text)`.execute(db)
  await sql`insert into item select n, 'n' || n from generate_series(1, 3) n`.execute(db)
  const select = (id: number, on = db) => sql<object>`select * from item where id = ${id}`.execute(on)
  const countPrepared = async () =>
    (await sql<{ n: number }>`select count(*)::int as n from pg_prepared_statements`.execute(db)).rows[0]!.n
  return { db, select, countPrepared }
}

for (const language of ['English', 'another language']) {
  // In CI, the other language: it shows what is told from the text of a message.
  const declare = language === 'English' ? longDescribe : describe
  declare(`with messages in ${language}`, () => {
    before(async () => {
      url = language === 'English' ? direct : translated.url
    })
    test('a statement with parameters is prepared when it is used again', async () => {
      const { db, select, countPrepared } = await open()
      await select(1)
      assert.equal(await countPrepared(), 0)
      for (const id of [1, 2, 3]) assert.deepEqual((await select(id)).rows, [{ id, name: `n${id}` }])
      assert.equal(await countPrepared(), 1)
      await sql`select 1`.execute(db)
      await sql`select 1`.execute(db)
      assert.equal(await countPrepared(), 1, 'a text without parameters may contain several statements')
    })

    test('nothing is prepared for a pooler', async () => {
      const { select, countPrepared } = await open({ prepare: false })
      for (const id of [1, 2, 3]) await select(id)
      assert.equal(await countPrepared(), 0)
    })

    test('the number of prepared statements is limited', async () => {
      const { db, countPrepared } = await open()
      for (let shape = 0; shape < (isLong ? 10_000 : 700); shape += 1) {
        const text = sql`select ${sql.raw(String(shape))} + ${1}::int as sum`
        for (let use = 0; use < 2; use += 1) assert.deepEqual((await text.execute(db)).rows, [{ sum: shape + 1 }])
      }
      assert.equal(await countPrepared(), 256)
    })

    test('a table may be altered between two uses', async () => {
      const { db, select } = await open()
      for (const id of [1, 2]) await select(id)
      await sql`alter table item add column size integer default 5`.execute(db)
      assert.deepEqual((await select(1)).rows, [{ id: 1, name: 'n1', size: 5 }])
      await sql`alter table item alter column id type bigint`.execute(db)
      assert.deepEqual((await select(2 ** 40)).rows, [], 'the type of the parameter changed too')
      await sql`alter table item alter column id type text using id::text`.execute(db)
      const byText = sql<object>`select name from item where id = ${'1'}`
      for (let use = 0; use < 3; use += 1) assert.deepEqual((await byText.execute(db)).rows, [{ name: 'n1' }])
    })

    test('in a transaction the caller is asked to try again, and the next one succeeds', async () => {
      const { db, select } = await open()
      for (const id of [1, 2]) await select(id)
      await sql`alter table item add column size integer`.execute(db)
      const inTransaction = () => db.transaction().execute(async (transaction) => select(1, transaction))
      await assert.rejects(inTransaction(), { code: 'WP_STORE_STATEMENT_STALE', status: 503, kind: 'external' })
      assert.deepEqual((await inTransaction()).rows, [{ id: 1, name: 'n1', size: null }])
    })

    test('errors of a statement are those of the statement', async () => {
      const { db } = await open()
      const divide = (by: number) => sql`select 1 / ${by}::int as one`.execute(db)
      for (const by of [1, 1, 1]) await divide(by)
      await assert.rejects(divide(0), { code: '22012' })
      assert.deepEqual((await divide(1)).rows, [{ one: 1 }])
      const insert = () => sql`insert into item values (${1}::int / ${0}::int, ${'x'})`.execute(db)
      for (let use = 0; use < 3; use += 1) await assert.rejects(insert(), { code: '22012' })
      assert.deepEqual((await sql`select count(*)::int as n from item`.execute(db)).rows, [{ n: 3 }])
    })

    test('a server that forgets prepared statements, such as a pooler, ends their use', async () => {
      const { db, select, countPrepared } = await open()
      for (const id of [1, 2]) await select(id)
      await sql`deallocate all`.execute(db)
      for (const id of [1, 2, 3]) assert.deepEqual((await select(id)).rows, [{ id, name: `n${id}` }])
      assert.equal(await countPrepared(), 0)
    })

    test('a statement that takes too long is canceled', async () => {
      const { db } = await open({ statementTimeoutMs: 50 })
      await assert.rejects(sql`select pg_sleep(60)`.execute(db), { code: 'WP_STORE_STATEMENT_TIMEOUT', status: 503 })
      assert.deepEqual((await sql`select 1 as one`.execute(db)).rows, [{ one: 1 }])
    })
  })
}
