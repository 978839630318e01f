import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { Migration } from '../../src/contract/index.ts'
import { parseMigration, writeMigration } from '../../src/definition/index.ts'
import type { Clock } from '../../src/kit/index.ts'
import { applyMigrations } from '../../src/store/migrate/apply-migrations.ts'
import { makeDeclaredMigration } from '../../src/store/migrate/declared-migration.ts'
import { loadApplied } from '../../src/store/migrate/migration-table.ts'
import { revertMigrations } from '../../src/store/migrate/revert-migrations.ts'
import { describeEachDatabase, type AnyTables } from './each-database.ts'

const clock: Clock = { now: () => Date.UTC(2026, 10, 20), monotonic: () => 0 }

function named(name: string, migration: Migration) {
  return { name, checksum: `checksum of ${name}`, migration }
}

const table: Migration = {
  async up(db) {
    await sql`create table item (id integer primary key, state text)`.execute(db)
  },
}

describeEachDatabase('a migration outside a transaction', ({ kind, open }) => {
  async function openMigrating() {
    const { db } = await open()
    const apply = (...migrations: ReturnType<typeof named>[]) =>
      applyMigrations({ db, kind, migrations, withLock: (_name, work) => work(), clock })
    const applied = async () => (await loadApplied({ db, kind })).map(({ name }) => name)
    const revert = (one: ReturnType<typeof named>, ...more: ReturnType<typeof named>[]) =>
      revertMigrations({ db, kind, clock, revert: [one, ...more], apply: [] })
    return { db, apply, applied, revert }
  }

  const statement = kind === 'sqlite' ? 'vacuum' : 'create index concurrently item_state on item (state)'
  const first = named('1-table', table)

  test('runs what a transaction does not allow, and is recorded', async () => {
    const { apply, applied } = await openMigrating()
    const up: Migration['up'] = async (db: AnyTables) => void (await sql.raw(statement).execute(db))
    await assert.rejects(apply(first, named('2-index', { up })), {
      code: kind === 'sqlite' ? 'WP_MIGRATE_FAILED' : 'WP_MIGRATE_OUTSIDE',
    })
    assert.deepEqual(await applied(), ['1-table'])
    await apply(first, named('2-index', { up, transaction: false }))
    assert.deepEqual(await applied(), ['1-table', '2-index'])
  })

  test('that fails keeps what it did, stays pending, and can be repeated', async () => {
    const { db, apply, applied, revert } = await openMigrating()
    let isBroken = true
    const second = named('2-rows', {
      transaction: false,
      async up(on) {
        await sql`insert into item values (1, 'a') on conflict do nothing`.execute(on)
        if (isBroken) throw new Error('the rest is missing')
      },
      down: async (on) => void (await sql`delete from item`.execute(on)),
    })
    await assert.rejects(apply(first, second), {
      code: 'WP_MIGRATE_UNFINISHED',
      message: /remain: the rest is missing/,
    })
    assert.deepEqual([await applied(), (await sql`select id from item`.execute(db)).rows], [['1-table'], [{ id: 1 }]])
    isBroken = false
    await apply(first, second)
    assert.deepEqual(await applied(), ['1-table', '2-rows'])
    await assert.rejects(revert(second, named('1-table', { ...table, down: async () => undefined })), {
      code: 'WP_MIGRATE_ALONE',
    })
    await revert(second)
    assert.deepEqual([await applied(), (await sql`select id from item`.execute(db)).rows], [['1-table'], []])
  })

  for (const end of ['commit', 'rollback'])
    test(`is an error that names the setting, if it sends ${end} in one`, async () => {
      const { apply, applied, revert } = await openMigrating()
      const ending = async (db: AnyTables) => {
        await sql`update item set state = 'a'`.execute(db)
        await sql.raw(end).execute(db)
      }
      await apply(first)
      const error = { code: 'WP_MIGRATE_TRANSACTION', hint: /"transaction: false"/ }
      const failing = async (db: AnyTables) => ending(db).then(() => Promise.reject(new Error('afterwards')))
      for (const up of [ending, failing]) await assert.rejects(apply(first, named('2-end', { up })), error)
      assert.deepEqual(await applied(), ['1-table'])
      await assert.rejects(revert(named('1-table', { ...table, down: ending })), error)
      assert.deepEqual(await applied(), ['1-table'])
    })

  test('and one in a transaction stop when they are told to, and PostgreSQL stops too', async () => {
    for (const transaction of [true, false]) {
      const { db } = await open()
      const stop = new AbortController()
      const up: Migration['up'] = async (on) => {
        await sql`create table half_done (id integer)`.execute(on)
        if (kind === 'sqlite') stop.abort()
        else {
          setImmediate(() => stop.abort())
          await sql`select pg_sleep(600)`.execute(on).catch(() => undefined) // the next one is canceled too
          await sql`select pg_sleep(600)`.execute(on)
        }
      }
      const migrations = [first, named('2-slow', { up, transaction }), named('3-never', { up })]
      const { signal } = stop
      const run = applyMigrations({ db, kind, migrations, withLock: (_name, work) => work(), clock, signal })
      const isKept = !transaction && kind === 'postgresql'
      await assert.rejects(run, {
        code: 'WP_MIGRATE_STOPPED',
        message: transaction
          ? /"2-slow": it was rolled back/
          : /"(2-slow|3-never)": (the changes that it has|it has not begun)/,
        hint: /These stay applied: "1-table"/,
      })
      const { rows } = await sql<{ name: string }>`select name from waypost_migration order by name`.execute(db)
      assert.deepEqual(rows[0], { name: '1-table' })
      const tables = (await db.introspection.getTables()).map(({ name }) => name)
      assert.equal(tables.includes('half_done'), isKept || !transaction)
      await sql`select 1`.execute(db)
    }
  })

  test('is declared for indexes, which are built again after a failed try', async () => {
    const { db, apply, applied, revert } = await openMigrating()
    const text = 'concurrently: true\nadd_index: { item: [[state], [state, id]] }\n'
    const { steps, diagnostics } = parseMigration('1.yml', text)
    assert.deepEqual(diagnostics, [])
    assert.deepEqual(parseMigration('1.yml', writeMigration(steps)).steps, steps)
    const declared = named('2-indexes', makeDeclaredMigration(steps))
    assert.equal(declared.migration.transaction, false)
    await apply(first)
    if (kind === 'postgresql') {
      // What a canceled try leaves: the first index, and the second one unfinished.
      await sql`create index item_state_idx on item (state)`.execute(db)
      await sql`create index item_state_id_idx on item (state, id)`.execute(db)
      await sql`update pg_index set indisvalid = false where indexrelid = 'item_state_id_idx'::regclass`.execute(db)
    }
    await apply(first, declared)
    const indexes = async () => {
      const { rows } = await (
        kind === 'sqlite'
          ? sql<{
              name: string
            }>`select name from sqlite_schema where type = 'index' and tbl_name = 'item' order by name`
          : sql<{ name: string }>`select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid
            where i.indisvalid and not i.indisprimary and i.indrelid = 'item'::regclass order by 1`
      ).execute(db)
      return rows.map(({ name }) => name)
    }
    assert.deepEqual(await indexes(), ['item_state_id_idx', 'item_state_idx'])
    assert.deepEqual(await applied(), ['1-table', '2-indexes'])
    await revert(declared)
    assert.deepEqual(await indexes(), [])
  })
})

test('other steps cannot be in a migration with concurrently', () => {
  for (const text of [
    'concurrently: true\nadd_index: { item: [[state]] }\ndrop_table: [item]\n',
    '- concurrently: true\n  add_index: { item: [[state]] }\n- add_index: { item: [[id]] }\n',
  ]) {
    const [problem] = parseMigration('1.yml', text).diagnostics
    assert.match(problem?.message ?? '', /cannot be in a migration with "concurrently"/, text)
  }
  assert.match(parseMigration('1.yml', 'concurrently: false\n').diagnostics[0]?.message ?? '', /concurrently/)
})
