import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { Migration } from '../../src/contract/index.ts'
import type { Clock } from '../../src/kit/index.ts'
import { applyMigrations } from '../../src/store/migrate/apply-migrations.ts'
import type { ProjectMigration } from '../../src/store/migrate/plan-migrations.ts'
import { revertMigrations } from '../../src/store/migrate/revert-migrations.ts'
import { describeEachDatabase } from './each-database.ts'

const clock: Clock = { now: () => Date.UTC(2026, 10, 20), monotonic: () => 0 }

function table(name: string, more: Partial<Migration> = {}): ProjectMigration {
  const migration: Migration = {
    async up(db, type) {
      await db.schema
        .createTable(name)
        .addColumn('id', type.id, (column) => column.primaryKey())
        .execute()
    },
    async down(db) {
      await db.schema.dropTable(name).execute()
    },
    ...more,
  }
  return { name, checksum: `checksum of ${name}`, migration }
}

describeEachDatabase('project migrations that are taken back', ({ kind, open }) => {
  async function openWith(migrations: readonly ProjectMigration[]) {
    const { db } = await open()
    await applyMigrations({ db, kind, migrations, withLock: (_name, work) => work(), clock })
    const state = async () => ({
      tables: (await db.introspection.getTables()).map(({ name }) => name).toSorted(),
      rows: (
        await sql<{
          name: string
          checksum: string
        }>`select name, checksum from waypost_migration order by name`.execute(db)
      ).rows.map(({ name, checksum }) => `${name}: ${checksum}`),
    })
    const revert = (reverted: readonly ProjectMigration[], apply: readonly ProjectMigration[] = []) =>
      revertMigrations({ db, kind, clock, revert: reverted, apply })
    return { state, revert }
  }
  const [one, two] = [table('one'), table('two')]

  test('are gone with their rows', async () => {
    const { state, revert } = await openWith([one, two])
    await revert([two, one])
    assert.deepEqual(await state(), { tables: ['waypost_migration'], rows: [] })
  })

  test('are applied again with their text of today', async () => {
    const { state, revert } = await openWith([one, two])
    const edited = { ...table('three'), name: 'two' }
    await revert([two], [edited])
    assert.deepEqual(await state(), {
      tables: ['one', 'three', 'waypost_migration'],
      rows: ['one: checksum of one', 'two: checksum of three'],
    })
  })

  const fails = async () => {
    throw new Error('not like this')
  }
  for (const [what, steps, expected] of [
    ['down', [[table('two', { down: fails }), one], []], /^The migration "two" could not be reverted: not like this$/],
    ['a later down', [[two, table('one', { down: fails })], []], /^The migration "one" could not be reverted/],
    ['up', [[two], [table('two', { up: fails })]], /^The migration "two" could not be reapplied: not like this$/],
  ] as const) {
    test(`stay applied when ${what} fails`, async () => {
      const { state, revert } = await openWith([one, two])
      const before = await state()
      await assert.rejects(revert(steps[0], steps[1]), { code: 'WP_MIGRATE_REVERT', message: expected })
      assert.deepEqual(await state(), before)
    })
  }

  test('stay as they were when one of them has no down', async () => {
    const { up } = one.migration
    const { state, revert } = await openWith([one, two])
    const before = await state()
    await assert.rejects(revert([two, { ...one, migration: { up } }]), { code: 'WP_MIGRATE_NO_DOWN' })
    assert.deepEqual(await state(), before)
  })
})
