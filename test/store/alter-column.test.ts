import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { makeDeclaredMigration } from '../../src/store/migrate/declared-migration.ts'
import type { Step } from '../../src/tables/index.ts'
import { describeEachDatabase } from './each-database.ts'

const tables: readonly Step[] = [
  {
    step: 'create_table',
    table: 'app_list',
    columns: {
      id: { type: 'id' },
      title: { type: 'text', length: 5 },
      note: { type: 'text', null: true },
      count: { type: 'integer', default: 1 },
      flag: { type: 'boolean', null: true },
    },
    index: [['title']],
  },
  {
    step: 'create_table',
    table: 'app_item',
    columns: { id: { type: 'id' }, list_id: { type: 'bigint', references: 'app_list', on_delete: 'cascade' } },
  },
]

const changes: readonly Step[] = [
  { step: 'alter_column', table: 'app_list', column: 'title', change: { type: 'text', length: 80, default: `it's` } },
  { step: 'alter_column', table: 'app_list', column: 'note', change: { type: 'text', null: false, default: '–' } },
  { step: 'alter_column', table: 'app_list', column: 'count', change: { type: 'bigint', null: true, default: null } },
  { step: 'alter_column', table: 'app_list', column: 'flag', change: { type: 'boolean', null: false, default: true } },
]

describeEachDatabase('alter_column', ({ kind, type, open }) => {
  test('keeps rows, those that refer to them and indexes, and applies to new rows', async () => {
    const { db } = await open()
    const run = (steps: readonly Step[]) =>
      db.transaction().execute((work) => makeDeclaredMigration(steps).up(work, type))
    await run(tables)
    await db
      .insertInto('app_list')
      .values([{ title: 'one' }, { title: 'two', note: 'n', flag: false }])
      .execute()
    await db
      .insertInto('app_item')
      .values([{ list_id: 1 }, { list_id: 2 }])
      .execute()
    await assert.rejects(
      db.transaction().execute(async (work) => {
        await makeDeclaredMigration(changes).up(work, type)
        throw new Error('later step')
      }),
      /later step/,
    )
    await assert.rejects(db.insertInto('app_list').values({ note: 'x' }).execute(), /title|null/i)
    await run(changes)
    for (const row of [{ count: 2 ** 40 }, { title: 'longer than five', count: null }])
      await db.insertInto('app_list').values(row).execute()
    const rows = await db.selectFrom('app_list').selectAll().orderBy('id').execute()
    assert.deepEqual(
      rows.map(({ title, note, count, flag }) => [title, note, count === null ? null : Number(count), flag]),
      [
        ['one', '–', 1, true],
        ['two', 'n', 1, false],
        [`it's`, '–', 2 ** 40, true],
        ['longer than five', '–', null, true],
      ],
    )
    assert.equal((await db.selectFrom('app_item').selectAll().execute()).length, 2)
    await assert.rejects(db.insertInto('app_list').values({ note: null }).execute(), /\bnote\b/)
    await db.deleteFrom('app_list').where('id', '=', 1).execute()
    assert.equal((await db.selectFrom('app_item').selectAll().execute()).length, 1)
    if (kind === 'sqlite') {
      const { rows: found } = await sql`pragma integrity_check`.execute(db)
      assert.deepEqual(found, [{ integrity_check: 'ok' }])
      await assert.rejects(sql`update sqlite_schema set sql = 'x'`.execute(db), /may not be modified/)
    }
  })
})
