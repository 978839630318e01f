import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { makeDeclaredMigration } from '../../src/store/migrate/declared-migration.ts'
import { dropTables, listDroppedTables } from '../../src/store/migrate/drop-tables.ts'
import { loadSnapshot } from '../../src/store/migrate/load-snapshot.ts'
import { writeTables } from '../../src/store/migrate/write-tables.ts'
import { revertSteps, type Step } from '../../src/tables/index.ts'
import { describeEachDatabase, type AnyTables } from './each-database.ts'
import type { Kysely } from 'kysely'

const table = 'app_ticket'
const create: readonly Step[] = [
  {
    step: 'create_table',
    table,
    columns: {
      id: { type: 'id' },
      title: { type: 'text', length: 40 },
      'a "b"': { type: 'text', null: true },
      status: { type: 'enum', values: ['open', 'closed'], default: 'open' },
    },
  },
]
const search = { table, columns: ['title', 'a "b"', 'status'], configuration: 'english' } as const
const add: readonly Step[] = [{ step: 'add_search', ...search }]

describeEachDatabase('a search', ({ kind, type, open }) => {
  const start = async () => {
    const { db } = await open()
    const run = (steps: readonly Step[]) =>
      db.transaction().execute((work) => makeDeclaredMigration(steps).up(work, type))
    await run(create)
    await db
      .insertInto(table)
      .values([
        { title: 'Running dogs', 'a "b"': null },
        { title: 'A cat', 'a "b"': 'with dogs' },
      ])
      .execute()
    return { db, run, find: (word: string) => find(db, word) }
  }
  const find = async (db: Kysely<AnyTables>, word: string) => {
    const found =
      kind === 'sqlite'
        ? sql`_rowid_ in (select rowid from waypost_search_app_ticket where waypost_search_app_ticket match ${word})`
        : sql`waypost_search @@ to_tsquery('english', ${word})`
    const rows = await db
      .selectFrom(table)
      .select('id')
      .where(sql<boolean>`${found}`)
      .orderBy('id')
      .execute()
    return rows.map(({ id }) => Number(id))
  }
  const snapshot = async (db: Kysely<AnyTables>) => (await loadSnapshot(db, kind)).tables

  test('finds rows from before and after it, as they are now', async () => {
    const { db, run, find: ids } = await start()
    await run(add)
    await db.insertInto(table).values({ title: 'dog', status: 'closed' }).execute()
    assert.deepEqual(await ids('dog'), [1, 2, 3])
    assert.deepEqual(await ids('run'), [1])
    assert.deepEqual(await ids('closed'), [3])
    await db.updateTable(table).set({ title: 'bird' }).where('id', '=', 3).execute()
    await db.updateTable(table).set({ id: 30 }).where('id', '=', 3).execute()
    await db.deleteFrom(table).where('id', '=', 1).execute()
    assert.deepEqual([await ids('dog'), await ids('bird')], [[2], [30]])
  })

  test('is in the snapshot, which has none of its columns and tables', async () => {
    const { db, run } = await start()
    const before = await snapshot(db)
    await run(add)
    const { columns, configuration } = search
    assert.doesNotMatch(await writeTables(db, kind), /waypost_/)
    assert.deepEqual(await snapshot(db), { [table]: { ...before[table], search: { columns, configuration } } })
    const reverted = revertSteps(add)
    assert.ok('steps' in reverted)
    await run(reverted.steps)
    assert.deepEqual(await snapshot(db), before)
  })

  test('follows renamed, dropped and altered columns', async () => {
    const { db, run, find: ids } = await start()
    await run(add)
    await run([
      { step: 'rename_column', table, column: 'title', to: 'order' },
      { step: 'alter_column', table, column: 'order', change: { type: 'text' } },
      { step: 'drop_column', table, column: 'a "b"' },
    ])
    assert.deepEqual((await snapshot(db))[table]!.search, { columns: ['order', 'status'], configuration: 'english' })
    await db.insertInto(table).values({ order: 'dogs' }).execute()
    assert.deepEqual(await ids('dog'), [1, 3])
    await run([
      { step: 'drop_column', table, column: 'order' },
      { step: 'drop_column', table, column: 'status' },
    ])
    assert.deepEqual(Object.keys((await snapshot(db))[table]!), ['columns', 'key', 'unique', 'index', 'references'])
  })

  test('is dropped with its table', async () => {
    const { db, run } = await start()
    const left = async () => {
      const { rows } = await (
        kind === 'sqlite'
          ? sql`select name from sqlite_schema where name like '%search%'`
          : sql`select relname from pg_class where relname like '%waypost_search%'`
      ).execute(db)
      return rows.length
    }
    await run(add)
    await run([{ step: 'drop_table', table }])
    assert.equal(await left(), 0)
    await run([...create, ...add])
    assert.deepEqual(await listDroppedTables({ db, kind }), [table])
    await dropTables({ db, kind })
    assert.equal(await left(), 0)
  })

  test('never refuses a long text', async () => {
    const { db, run, find: ids } = await start()
    await db
      .updateTable(table)
      .set({ 'a "b"': words(60_000) })
      .where('id', '=', 1)
      .execute()
    await run(add)
    await db
      .updateTable(table)
      .set({ 'a "b"': `dog ${'x'.repeat(300_000)}` })
      .where('id', '=', 2)
      .execute()
    await db
      .insertInto(table)
      .values({ title: 'x', 'a "b"': words(100_000) })
      .execute()
    assert.deepEqual(await ids('dog'), [1, 2])
  })
})

/** Different words in a script whose characters take four bytes. */
function words(count: number): string {
  return Array.from({ length: count }, (_, index) =>
    String.fromCodePoint(0x20_000 + (index % 40_000), 0x20_000 + Math.floor(index / 40_000)),
  ).join(' ')
}
