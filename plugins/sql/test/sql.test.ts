import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { startPostgres, type TestPostgres } from '../../../test/support/postgres.ts'
import { actionFile, openProjectServer, type ProjectServer } from '../../../test/support/project-server.ts'
import { send } from '../../../test/support/send.ts'
import { postgresql } from '../src/postgresql.ts'
import { sqlite } from '../src/sqlite.ts'

const log = { debug() {}, info() {}, warn() {}, error() {} }
const services = { config: {}, log, now: () => new Date(), fetch: () => Promise.reject(new Error('not used')) }

const migration = `export default {
  async up(db: any, type: any) {
    await db.schema.createTable('app_value')
      .addColumn('id', type.id, (one: any) => one.primaryKey())
      .addColumn('label', 'varchar(64)', (one: any) => one.notNull())
      .addColumn('at', type.timestamp).addColumn('data', type.json).addColumn('flag', type.boolean)
      .addColumn('large', 'bigint').addColumn('ratio', 'double precision')
      .execute()
  },
}
`
const files = (connection: string) => ({
  'waypost.yml': `
routes:
  /both: { methods: { POST: { public: true, action: src/both.ts } } }
  /fail: { methods: { POST: { public: true, action: src/fail.ts } } }
connection:
  Orders: ${connection}
`,
  'migrations/System/1-value.ts': migration,
  'migrations/Orders/1-value.ts': migration,
  'src/both.ts': actionFile(`
    const insert = (db: any) => db.insertInto('app_value').values({
      label: 'ü', at: new Date('2026-11-20T10:00:00.123Z'), data: JSON.stringify({ a: [1, null, 'x'] }), flag: true,
      large: 9007199254740991, ratio: 0.1 }).returningAll().executeTakeFirstOrThrow()
    const read = async (db: any) => {
      const { count } = await db.selectFrom('app_value').select((q: any) => q.fn.countAll().as('count')).executeTakeFirstOrThrow()
      const row = await db.selectFrom('app_value').selectAll().where('flag', '=', true).where('at', '>', '2026-11-20T09:00:00Z').executeTakeFirst()
      return { count, row }
    }
    return Promise.all(['System', 'Orders'].map((name) => context.transaction(name, async (db: any) => ({ inserted: await insert(db), ...(await read(context.connection(name))) }))))`),
  'src/fail.ts': actionFile(`
    await context.transaction('Orders', async (db: any) => {
      await db.insertInto('app_value').values({ label: 'lost' }).execute()
      throw context.problem(409, String((await db.selectFrom('app_value').select('id').execute()).length))
    })`),
})

const row = {
  id: 1,
  label: 'ü',
  at: '2026-11-20T10:00:00.123Z',
  data: { a: [1, null, 'x'] },
  flag: true,
  large: 9007199254740991,
  ratio: 0.1,
}

for (const kind of ['sqlite', 'postgresql'] as const) {
  describe(`a connection of the class ${kind}`, () => {
    let postgres: TestPostgres | undefined
    let server: ProjectServer
    let url = ''
    before(async () => {
      postgres = kind === 'postgresql' ? await startPostgres() : undefined
      url = (await postgres?.createDatabase()) ?? ''
      const connection = {
        sqlite: `{ class: sqlite, config: { file: data/orders.db } }`,
        postgresql: `{ class: postgresql, config: { url: '\${env.ORDERS_URL}', max: 3 } }`,
      }[kind]
      server = await openProjectServer({ files: files(connection), variables: { ORDERS_URL: url } })
    })
    after(async () => {
      await server[Symbol.asyncDispose]()
      await postgres?.stop()
    })

    test('returns the same values as System', async () => {
      const { body } = await send(server.port, { path: '/both', body: {} })
      const expected = { inserted: row, count: 1, row }
      assert.deepEqual(body, [expected, expected])
    })

    test('rolls a transaction back', async () => {
      const { status, body } = await send(server.port, { path: '/fail', body: {} })
      assert.deepEqual([status, body.detail], [409, '2'])
      const again = await send(server.port, { path: '/fail', body: {} })
      assert.equal(again.body.detail, '2')
    })
  })
}

test('a relative path of a SQLite file starts at the folder; missing folders are created', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-sql-'))
  const opened = await sqlite.open({ file: 'deep/er/notes.db' }, { ...services, name: 'Notes', folder })
  await opened.check()
  assert.ok(existsSync(path.join(folder, 'deep/er/notes.db')))
  assert.deepEqual((await sql`select 1 as one`.execute(opened.client)).rows, [{ one: 1 }])
  await opened.close()
  await assert.rejects(opened.check())
  await rm(folder, { recursive: true })
})

test('opening a SQLite file that cannot be created fails', async () => {
  await assert.rejects(
    sqlite.open({ file: '/dev/null/notes.db' }, { ...services, name: 'Notes', folder: '/' }),
    /notes\.db|ENOTDIR/,
  )
})

test('a connection to an unavailable PostgreSQL opens, and its first check fails', async () => {
  const config = { url: 'postgresql://ann:geheim@127.0.0.1:1/orders' }
  const opened = await postgresql.open(config, { ...services, name: 'Orders', folder: '/' })
  await assert.rejects(opened.check(), (error: Error) => {
    assert.match(error.message, /Cannot reach .*"orders" at "127\.0\.0\.1:1"/)
    assert.doesNotMatch(error.message, /geheim/)
    return true
  })
  await opened.close()
  await assert.rejects(
    async () => postgresql.open({ url: 'mysql://a:geheim@b/c' }, { ...services, name: 'A', folder: '/' }),
    /not a valid PostgreSQL URL/,
  )
})

test('the password in a config is marked as secret', () => {
  const { properties } = postgresql.config as { properties: { url: { writeOnly: boolean } } }
  assert.equal(properties.url.writeOnly, true)
})
