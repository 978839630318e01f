import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { Migration } from '../../src/contract/index.ts'
import type { Clock } from '../../src/kit/index.ts'
import { applyMigrations } from '../../src/store/migrate/apply-migrations.ts'
import { planMigrations, type ProjectMigration } from '../../src/store/migrate/plan-migrations.ts'
import { makeLock } from '../../src/store/sql/lock.ts'
import { describeEachDatabase, type AnyTables } from './each-database.ts'

const clock: Clock = { now: () => Date.UTC(2026, 10, 20), monotonic: () => 0 }

function createTable(name: string): ProjectMigration {
  const migration: Migration = {
    async up(db, type) {
      await db.schema
        .createTable(name.slice(2))
        .addColumn('id', type.id, (column) => column.primaryKey())
        .execute()
    },
  }
  return { name, checksum: `checksum of ${name}`, migration }
}

function failing(name: string): ProjectMigration {
  const migration: Migration = {
    async up(db) {
      await sql`create table half_done (a integer)`.execute(db)
      await sql`insert into nowhere values (1)`.execute(db)
    },
  }
  return { name, checksum: name, migration }
}

describeEachDatabase('project migrations', ({ kind, open }) => {
  async function openMigrating() {
    const { db, database } = await open()
    const withLock = makeLock(database)
    const apply = (migrations: readonly ProjectMigration[], to?: string) =>
      applyMigrations({ db, kind, migrations, withLock, clock, ...(to === undefined ? {} : { to }) })
    const tables = async () => (await db.introspection.getTables()).map(({ name }) => name).toSorted()
    return { db, apply, tables }
  }

  test('run in order of name, once, and are remembered', async () => {
    const { db, apply, tables } = await openMigrating()
    const migrations = [createTable('3-three'), createTable('1-one'), createTable('2-two')]
    const first = await apply(migrations)
    assert.deepEqual(first, {
      applied: ['1-one', '2-two', '3-three'].map((name) => ({ name, ms: 0 })),
      outOfOrder: [],
    })
    assert.deepEqual(await tables(), ['one', 'three', 'two', 'waypost_migration'])
    assert.deepEqual((await apply(migrations)).applied, [])
    const { applied, pending } = await planMigrations({ db, kind }, migrations)
    assert.deepEqual(applied[0], {
      name: '1-one',
      checksum: 'checksum of 1-one',
      applied_at: '2026-11-20T00:00:00.000Z',
    })
    assert.equal(applied.length, 3)
    assert.deepEqual(pending, [])
  })

  test('run up to the one that is named', async () => {
    const { apply } = await openMigrating()
    const migrations = [createTable('1-one'), createTable('2-two'), createTable('3-three')]
    const { applied } = await apply(migrations, '2-two')
    assert.deepEqual(
      applied.map(({ name }) => name),
      ['1-one', '2-two'],
    )
    await assert.rejects(apply(migrations, '3-tree'), { code: 'WP_MIGRATE_TARGET', hint: /Did you mean "3-three"/ })
  })

  test('a plan changes nothing', async () => {
    const { db, tables } = await openMigrating()
    const plan = await planMigrations({ db, kind }, [createTable('1-one')])
    assert.deepEqual(
      plan.pending.map(({ name }) => name),
      ['1-one'],
    )
    assert.deepEqual(await tables(), [])
  })

  test('a failing one changes nothing, keeps those before it, and is reported with its reason', async () => {
    const { apply, tables } = await openMigrating()
    const broken = apply([createTable('1-one'), failing('2-two'), createTable('3-three')])
    await assert.rejects(broken, (error: Error & { code: string; kind: string; hint: string }) => {
      assert.equal(error.code, 'WP_MIGRATE_FAILED')
      assert.equal(error.kind, 'user')
      assert.match(error.message, /^The migration "2-two" failed and was rolled back: .*nowhere/)
      assert.match(error.hint, /These stay applied: "1-one"/)
      assert.match((error.cause as Error).message, /nowhere/)
      return true
    })
    assert.deepEqual(await tables(), ['one', 'waypost_migration'])
    const { applied } = await apply([createTable('1-one'), createTable('2-two'), createTable('3-three')])
    assert.deepEqual(
      applied.map(({ name }) => name),
      ['2-two', '3-three'],
    )
  })

  test('those with code are compared by what they do, if that is known, and by their text otherwise', async () => {
    const { db, apply } = await openMigrating()
    const one = createTable('1-one')
    const code = (tag: string, what: string) => tag + what.padEnd(40, '0')
    const editedWith = async (changes: Partial<ProjectMigration>) =>
      (await planMigrations({ db, kind }, [{ ...one, ...changes }])).edited
    const stored = async () =>
      (await sql<{ checksum: string }>`select checksum from waypost_migration`.execute(db)).rows[0]!.checksum
    await apply([one])
    assert.equal(await stored(), one.checksum, 'as an earlier version does it')
    assert.deepEqual(await editedWith({ code: code('aaaa', '1') }), [])
    assert.deepEqual(await editedWith({ checksum: 'formatted', code: code('aaaa', '1') }), ['1-one'])
    await apply([{ ...one, code: code('aaaa', '1') }])
    assert.equal(await stored(), `${one.checksum}.${code('aaaa', '1')}`)
    assert.deepEqual(await editedWith({ checksum: 'formatted', code: code('aaaa', '1') }), [])
    assert.deepEqual(await editedWith({ code: code('aaaa', '2') }), ['1-one'], 'a helper has changed')
    assert.deepEqual(await editedWith({ code: code('bbbb', '3') }), [], 'another version of the compiler')
    assert.deepEqual(await editedWith({ checksum: 'formatted', code: code('bbbb', '3') }), ['1-one'])
    assert.deepEqual(await editedWith({}), [])
    await apply([{ ...one, checksum: 'formatted', code: code('aaaa', '1') }])
    assert.deepEqual(await editedWith({ checksum: 'formatted', code: code('bbbb', '3') }), [], 'formatted before')
  })

  test('edited ones that were already applied are named, and none runs', async () => {
    const { apply, tables } = await openMigrating()
    await apply([createTable('1-one'), createTable('2-two')])
    const edited = [{ ...createTable('1-one'), checksum: 'x' }, createTable('2-two'), createTable('3-three')]
    await assert.rejects(apply(edited), {
      code: 'WP_MIGRATE_EDITED',
      message: 'Migrations changed after they were applied: "1-one"',
    })
    assert.ok(!(await tables()).includes('three'))
  })

  test('applied ones that the project lacks are named', async () => {
    const { apply } = await openMigrating()
    await apply([createTable('1-one'), createTable('2-two')])
    await assert.rejects(apply([createTable('2-two')]), {
      code: 'WP_MIGRATE_UNKNOWN',
      message: 'Migrations applied to the database, but missing from the project: "1-one"',
    })
  })

  test('one that sorts before an applied one runs and is reported', async () => {
    const { db, apply } = await openMigrating()
    await apply([createTable('2-two')])
    const migrations = [createTable('1-one'), createTable('2-two'), createTable('3-three')]
    assert.deepEqual((await planMigrations({ db, kind }, migrations)).outOfOrder, ['1-one'])
    const { applied, outOfOrder } = await apply(migrations)
    assert.deepEqual(
      applied.map(({ name }) => name),
      ['1-one', '3-three'],
    )
    assert.deepEqual(outOfOrder, ['1-one'])
  })

  test('a database that is busy is not the fault of the migration', async () => {
    const { db, apply } = await openMigrating()
    const migration: Migration = {
      async up() {
        await db.introspection.getTables()
        throw Object.assign(new Error('away'), { name: 'WaypostError', code: 'WP_STORE_BUSY', kind: 'external' })
      },
    }
    await assert.rejects(apply([{ name: '1', checksum: '1', migration }]), { code: 'WP_STORE_BUSY' })
  })

  test('a migration changes data with the same values on every database', async () => {
    const { db, apply } = await openMigrating()
    const migration: Migration = {
      async up(db: AnyTables, type) {
        await db.schema
          .createTable('note')
          .addColumn('id', type.id, (column: AnyTables) => column.primaryKey())
          .addColumn('tags', type.json, (column: AnyTables) => column.notNull())
          .addColumn('done', type.boolean, (column: AnyTables) => column.notNull().defaultTo(false))
          .execute()
        const at = new Date(0)
        await db
          .insertInto('note')
          .values({ tags: ['a', { at }] })
          .execute()
      },
    }
    await apply([{ name: '1', checksum: '1', migration }])
    assert.deepEqual(await db.selectFrom('note').selectAll().execute(), [
      { id: 1, tags: ['a', { at: '1970-01-01T00:00:00.000Z' }], done: false },
    ])
  })
})
