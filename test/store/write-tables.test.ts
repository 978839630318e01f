import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { Migration } from '../../src/contract/index.ts'
import { writeTables } from '../../src/store/migrate/write-tables.ts'
import { describeEachDatabase } from './each-database.ts'

const todo: Migration = {
  async up(db, type) {
    await db.schema
      .createTable('app_todo')
      .addColumn('id', type.id, (column) => column.primaryKey())
      .addColumn('status', 'integer', (column) => column.notNull())
      .addColumn('title', 'varchar(64)', (column) => column.notNull())
      .addColumn('content', 'text', (column) => column.notNull())
      .addColumn('insert_date', type.timestamp, (column) => column.notNull())
      .execute()
  },
}

const todoText = `// Written by \`waypost migrate\` from the database. Commit it; do not edit it.
import type { Generated } from 'waypost'

export interface Tables {
  app_todo: { id: Generated<number>; status: number; title: string; content: string; insert_date: string }
}
`

const many: Migration = {
  async up(db, type) {
    await db.schema
      .createTable('zebra')
      .addColumn('code', 'integer', (column) => column.primaryKey())
      .addColumn('odd-name', 'text')
      .execute()
    await db.schema
      .createTable('Account')
      .addColumn('id', 'uuid', (column) => column.primaryKey())
      .addColumn('active', type.boolean, (column) => column.notNull().defaultTo(true))
      .addColumn('settings', type.json, (column) => column.notNull())
      .addColumn('extra', type.json)
      .addColumn('balance', 'decimal(12, 2)', (column) => column.notNull())
      .addColumn('ratio', 'double precision')
      .addColumn('born', 'date')
      .addColumn('seen', 'timestamp')
      .addColumn('created', type.timestamp, (column) => column.notNull().defaultTo(sql`current_timestamp`))
      .execute()
    await db.schema
      .createTable('member')
      .addColumn('account_id', 'uuid')
      .addColumn('zebra_code', 'integer')
      .addColumn('note', 'varchar(20)', (column) => column.defaultTo('none'))
      .addPrimaryKeyConstraint('member_key', ['account_id', 'zebra_code'])
      .execute()
    await db.schema.alterTable('zebra').addColumn('later', 'bigint').execute()
    await db.schema
      .createView('seen_zebra')
      .as(db.selectFrom('zebra').select(['code', 'later']))
      .execute()
    await db.schema.createTable('waypost_private').addColumn('id', 'integer').execute()
  },
}

const manyText = `// Written by \`waypost migrate\` from the database. Commit it; do not edit it.
import type { Generated } from 'waypost'

export interface Tables {
  Account: {
    id: string
    active: Generated<boolean>
    settings: unknown
    extra: unknown
    balance: string | number
    ratio: number | null
    born: string | null
    seen: string | null
    created: Generated<string>
  }
  member: { account_id: string; zebra_code: number; note: Generated<string | null> }
  seen_zebra: { code: number | null; later: number | null }
  zebra: { code: number; 'odd-name': string | null; later: number | null }
}
`

describeEachDatabase('tables.ts', ({ kind, type, open }) => {
  test('the to-do table', async () => {
    const { db } = await open()
    await todo.up(db, type)
    assert.equal(await writeTables(db, kind), todoText)
  })

  test("every kind of column, in a stable order, without Waypost's own tables", async () => {
    const { db } = await open()
    await many.up(db, type)
    assert.equal(await writeTables(db, kind), manyText)
  })

  test('JSON columns whose types are declared beside it', async () => {
    const { db } = await open()
    await db.schema
      .createTable('app_order')
      .addColumn('id', type.id, (column) => column.primaryKey())
      .addColumn('address', type.json, (column) => column.notNull())
      .addColumn('lines', type.json, (column) => column.notNull().defaultTo('[]'))
      .addColumn("it's", type.json)
      .execute()
    assert.equal(
      await writeTables(db, kind, true),
      `// Written by \`waypost migrate\` from the database. Commit it; do not edit it.
import type { Generated, JsonColumn } from 'waypost'
import type { JsonColumns } from './types.ts'

export interface Tables {
  app_order: {
    id: Generated<number>
    address: JsonColumn<JsonColumns, 'app_order', 'address'>
    lines: JsonColumn<JsonColumns, 'app_order', 'lines', undefined>
    'it\\'s': JsonColumn<JsonColumns, 'app_order', 'it\\'s', null>
  }
}
`,
    )
  })

  test('a database without tables', async () => {
    const { db } = await open()
    assert.equal(
      await writeTables(db, kind),
      '// Written by `waypost migrate` from the database. Commit it; do not edit it.\n\nexport interface Tables {}\n',
    )
  })
})
