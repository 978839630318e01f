import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CompiledQuery, Kysely, sql } from 'kysely'
import migration from '../../templates/todo/migrations/System/20261120-create-app-todo.ts'
import TodoCollection from '../../templates/todo/src/todo/collection.ts'
import { until } from '../support/until.ts'
import { describeEachDatabase, type AnyTables } from './each-database.ts'

const rows = 13_000

describeEachDatabase('the list of the template todo', ({ kind, type, open }) => {
  test('reads and counts by the index, without sorting', async () => {
    const { db, database } = await open()
    await migration.up(db, type)
    await db.transaction().execute(async (insert) => {
      // Otherwise vacuum does not mark the rows as visible to all, which an index-only scan needs.
      if (kind === 'postgresql') await sql`set local synchronous_commit = on`.execute(insert)
      await insertRows(insert)
    })
    if (kind === 'postgresql') await until('all rows are marked as visible', () => vacuum(db))

    const queries: CompiledQuery[] = []
    const watched = new Kysely<AnyTables>({
      dialect: database.dialect(),
      log: ({ query }) => void queries.push(query),
    })
    const context = { connection: () => watched } as never
    const list = await new TodoCollection().handle({ query: { startIndex: 16 } } as never, context)
    assert.deepEqual([list.totalResults, list.entry.length, list.entry[0]!.title], [rows / 2, 16, `to-do ${rows - 32}`])

    const plans = await Promise.all(queries.map((query) => explain(db, query, kind)))
    assert.equal(plans.length, 2)
    for (const plan of plans) {
      assert.match(plan, /app_todo_list/)
      assert.doesNotMatch(plan, /sort|temp b-tree|seq scan|scan app_todo\b(?! using)/i)
    }
    assert.match(plans[0]!, /covering index|index only scan/i)
  })
})

/** Every second one is open. */
async function insertRows(db: Kysely<AnyTables>): Promise<void> {
  const begin = Date.parse('2026-11-20T00:00:00.000Z')
  for (let from = 1; from <= rows; from += 1000) {
    const values = Array.from({ length: 1000 }, (_, index) => ({
      status: (from + index) % 2 === 0 ? 1 : 0,
      title: `to-do ${from + index}`,
      content: 'Two bottles of milk, and bread. '.repeat(5),
      insert_date: new Date(begin + (from + index) * 1000).toISOString(),
    }))
    await db.insertInto('app_todo').values(values).execute()
  }
}

/** Rows that another transaction may not see yet are marked by a later vacuum. */
async function vacuum(db: Kysely<AnyTables>): Promise<boolean> {
  await sql`vacuum analyze app_todo`.execute(db)
  const { rows: counts } = await sql<{ pages: number; visible: number }>`
    select relpages as pages, relallvisible as visible from pg_class where relname = 'app_todo'`.execute(db)
  return counts[0]!.pages > 0 && counts[0]!.visible === counts[0]!.pages
}

async function explain(db: Kysely<AnyTables>, query: CompiledQuery, kind: string): Promise<string> {
  const verb = kind === 'sqlite' ? 'explain query plan' : 'explain'
  const { rows: lines } = await db.executeQuery(CompiledQuery.raw(`${verb} ${query.sql}`, [...query.parameters]))
  return lines.map((line) => Object.values(line as object).join(' ')).join('\n')
}
