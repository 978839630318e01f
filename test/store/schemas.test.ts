import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Kysely, sql } from 'kysely'
import { migrateSystem, openPostgres, openSystem, pendingSystemMigrations, type System } from '../../src/store/index.ts'
import { ensureMigrationTable, loadApplied } from '../../src/store/migrate/migration-table.ts'
import { startPostgres, type TestPostgres } from '../support/postgres.ts'

let postgres: TestPostgres
let url: URL
let admin: Kysely<unknown>
let close: () => unknown
/** A role of the whole server. */
const role = `waypost_limited_${process.pid}`
before(async () => {
  postgres = await startPostgres()
  url = new URL(await postgres.createDatabase())
  const database = openPostgres({ url: url.href })
  close = () => database.close()
  admin = new Kysely({ dialect: database.dialect() })
  const statements = ['app1', 'app2', 'orders'].flatMap((name) => [
    `create schema ${name}`,
    `grant usage, create on schema ${name} to ${role}`,
  ])
  await run([`create role ${role} login password 'limited'`, 'revoke all on schema public from public', ...statements])
})
after(async () => {
  await run([`drop owned by ${role}`, `drop role ${role}`])
  await close()
  await postgres.stop()
})

async function run(statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(admin)
}

function limited(query: string): string {
  const own = new URL(url)
  own.username = role
  own.password = 'limited'
  return `${own.href}?${query}`
}

async function withSystem<Value>(query: string, work: (system: System) => Promise<Value>): Promise<Value> {
  const system = await openSystem({ url: limited(query) })
  return work(system).finally(() => system.close())
}

test('several Systems share a database, each in its schema, with a role that may use no other', async () => {
  const addresses = ['search_path=app1', `options=${encodeURIComponent('-csearch_path=app2')}`]
  for (const address of addresses)
    await withSystem(address, async (system) => {
      assert.ok((await migrateSystem(system)).length > 20, address)
      assert.deepEqual(await pendingSystemMigrations(system), [])
    })
  const { rows } = await sql<{ schema: string }>`
    select schemaname as schema from pg_tables where tablename = 'waypost_schema' order by 1`.execute(admin)
  assert.deepEqual(
    rows.map(({ schema }) => schema),
    ['app1', 'app2'],
  )
})

test('the migrations of a connection are recorded in its schema, beside a System in another one', async () => {
  const database = openPostgres({ url: limited('schema=orders') })
  const db = new Kysely({ dialect: database.dialect() })
  await run(['create table app1.waypost_migration (name text)'])
  await ensureMigrationTable({ db, kind: 'postgresql' })
  await ensureMigrationTable({ db, kind: 'postgresql' })
  assert.deepEqual(await loadApplied({ db, kind: 'postgresql' }), [])
  await database.close()
})

test('a role that may not create tables gets the statement that lets it', async () => {
  for (const [path, schema] of [
    ['public', 'SCHEMA'],
    ['nowhere', 'SCHEMA'],
    ['app1', 'app1'],
  ] as const) {
    if (path === 'app1') await run([`drop table app1.waypost_schema`, `revoke create on schema app1 from ${role}`])
    await withSystem(`search_path=${path}`, (system) =>
      assert.rejects(migrateSystem(system), {
        code: 'WP_MIGRATE_SCHEMA',
        message: new RegExp(`role "${role}" .*search_path: ${path}`),
        hint: new RegExp(`grant usage, create on schema ${schema} to "${role}"`),
      }),
    )
  }
})
