import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { makeDeclaredMigration } from '../../src/store/migrate/declared-migration.ts'
import { loadSnapshot } from '../../src/store/migrate/load-snapshot.ts'
import { applySteps, writeSnapshot } from '../../src/tables/index.ts'
import { describeEachDatabase } from './each-database.ts'
import { compute, introspect, parse } from './snapshot-texts.ts'

const checked = [
  `
create_table:
  app_thing:
    columns:
      id: id
      kind: { type: enum, values: [open, "it's", 'a "b\\c', "E'x"], default: "it's" }
      mood: { type: enum, values: [one], null: true }
      price: { type: numeric, precision: 10, scale: 2, default: 0.5 }
      whole: { type: numeric, precision: 18, null: true, unique: true }
      name: text(64)
`,
  `
- add_column:
    app_thing:
      stage: { type: enum, values: [a, b], default: a }
      rate: { type: numeric, precision: 3, scale: 3, null: true }
- alter_column:
    app_thing:
      kind: { add_values: [late], remove_values: [open] }
      mood: { type: text }
      name: { type: enum, values: ["it's", y] }
      price: { type: numeric, precision: 12, scale: 2, null: true }
- rename_column: { app_thing: { kind: sort, price: cost } }
- add_column: { app_thing: { kind: { type: enum, values: [x], null: true }, price: { type: numeric, precision: 2, null: true } } }
- alter_column: { app_thing: { sort: { remove_values: [late] } } }
`,
]

/** The same tables as those of `declared`, in TypeScript. */
describeEachDatabase('tables.json of further types', ({ kind, type, open }) => {
  test('enums and decimals give the same text in the database as computed', async () => {
    const { db } = await open()
    for (const text of checked)
      await db.transaction().execute((work) => makeDeclaredMigration(parse(text)).up(work, type))
    assert.equal(await introspect(db, kind), compute(checked))
  })

  test('tables of other schemas can be referred to', { skip: kind === 'sqlite' }, async () => {
    const { db } = await open()
    for (const text of ['create schema sales', 'create table sales."order" (id bigint primary key, note text)'])
      await sql.raw(text).execute(db)
    const before = await loadSnapshot(db, kind)
    assert.equal(before.tables['sales.order']!.schema, 'sales')
    const steps = parse(`
create_table:
  app_parcel:
    columns: { id: id, order_id: { type: bigint, references: { table: sales.order, column: id }, on_delete: cascade } }`)
    await makeDeclaredMigration(steps).up(db, type)
    const computed = applySteps(before, steps, { kind })
    assert.deepEqual(computed.problems, [])
    assert.equal(await introspect(db, kind), writeSnapshot({ migrations: {}, ...computed.tables }))
    assert.match(applySteps(before, steps, { kind: 'sqlite' }).problems[0]!.message, /SQLite does not have/)
  })
})
