import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { makeDeclaredMigration } from '../../src/store/migrate/declared-migration.ts'
import { decimal } from '../../src/contract/index.ts'
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

describeEachDatabase('values of an enum', ({ type, open }) => {
  const ticket: Step = {
    step: 'create_table',
    table: 'app_ticket',
    columns: {
      id: { type: 'id' },
      status: { type: 'enum', values: ['open', 'closed', `won't`], default: 'open' },
      level: { type: 'text', null: true },
      price: { type: 'numeric', precision: 4, scale: 2, default: '1.5' },
    },
  }
  const alter = (column: string, change: Extract<Step, { step: 'alter_column' }>['change']): Step => ({
    step: 'alter_column',
    table: 'app_ticket',
    column,
    change,
  })
  const prepare = async () => {
    const { db } = await open()
    const run = (...steps: readonly Step[]) =>
      db.transaction().execute((work) => makeDeclaredMigration(steps).up(work, type))
    await run(ticket)
    return { db, run, add: (row: object) => db.insertInto('app_ticket').values(row).execute() }
  }

  test('are added and removed, and rows only get those that it has', async () => {
    const { db, run, add } = await prepare()
    await add({ status: `won't` })
    await assert.rejects(add({ status: 'waiting' }), /constraint|app_ticket_\w+_enum/i)
    await run(alter('status', { add_values: ['waiting'], remove_values: ['closed'] }))
    await add({ status: 'waiting' })
    await add({ level: null })
    await assert.rejects(add({ status: 'closed' }), /constraint|app_ticket_\w+_enum/i)
    await run(alter('status', { type: 'text' }))
    await add({ status: 'anything' })
    const rows = await db.selectFrom('app_ticket').select('status').orderBy('id').execute()
    assert.deepEqual(
      rows.map(({ status }) => status),
      [`won't`, 'waiting', 'open', 'anything'],
    )
  })

  test('are not removed while rows have them, whose number the message says', async () => {
    const { run, add } = await prepare()
    for (const row of [{ status: 'closed' }, { status: 'closed' }, { status: `won't`, level: 'low' }]) await add(row)
    await assert.rejects(run(alter('status', { remove_values: ['closed', `won't`] })), {
      code: 'WP_MIGRATE_VALUES',
      message: /"closed" in 2 rows, "won't" in 1 row/,
    })
    await assert.rejects(run(alter('level', { type: 'enum', values: ['high'] })), { message: /"low" in 1 row/ })
    await run(alter('level', { type: 'enum', values: ['high', 'low'] }))
    await assert.rejects(add({ level: 'other' }), /constraint|app_ticket_\w+_enum/i)
    await assert.rejects(run(alter('status', { remove_values: ['open'] })), { code: 'WP_MIGRATE_VALUE_DEFAULT' })
    await run(alter('status', { type: 'enum', default: 'closed', remove_values: ['open'] }))
  })

  test('exact decimals have their digits, and only these', async () => {
    const { db, run, add } = await prepare()
    await add({ status: 'open' })
    await add({ price: decimal('-99.99', 2) })
    await assert.rejects(add({ price: decimal('100', 2) }))
    await assert.rejects(add({ price: '1.5x' }))
    await run(alter('price', { type: 'numeric', precision: 18, scale: 2 }))
    await add({ price: decimal('9999999999999999.99', 2) })
    await add({ price: decimal(10, 2) })
    await add({ price: decimal('9', 2) })
    const rows = await db.selectFrom('app_ticket').select('price').orderBy('price').execute()
    assert.deepEqual(
      rows.map(({ price }) => price),
      ['-99.99', '1.50', '9.00', '10.00', '9999999999999999.99'],
    )
    const found = await db.selectFrom('app_ticket').select('id').where('price', '>', decimal('9.99', 2)).execute()
    assert.equal(found.length, 2)
    assert.throws(() => decimal('1.005', 2), RangeError)
  })
})
