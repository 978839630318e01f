import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MikroORM } from '@mikro-orm/postgresql'
import { DatabaseSchema } from '@mikro-orm/sql'
import { sql } from 'kysely'
import type { Migration } from '../../src/contract/index.ts'
import { makeDeclaredMigration } from '../../src/store/migrate/declared-migration.ts'
import { loadSnapshot } from '../../src/store/migrate/load-snapshot.ts'
import { describeEachDatabase } from './each-database.ts'
import { compute, introspect, parse } from './snapshot-texts.ts'

const declared = `
create_table:
  app_user:
    columns: { id: uuid, email: { type: text(200), unique: true }, name: { type: text, null: true } }
    key: [id]
  app_order:
    columns:
      id: id
      user_id: { type: uuid, references: app_user, on_delete: cascade }
      parent_id: { type: bigint, null: true, references: app_order.id, on_delete: set null }
      status: { type: integer, default: 1 }
      big: { type: bigint, default: -9007199254740991 }
      total: { type: number, default: 0.5 }
      title: { type: text(64), default: "it's" }
      note: text
      paid: { type: boolean, default: false }
      due: { type: date, default: 2027-01-31 }
      data: { type: json, default: { a: ["it's", null] } }
      ref: { type: uuid, null: true }
      version: { type: integer, default: 1 }
      seen: { type: timestamp, null: true }
      insert_date: { type: timestamp, default: now }
    unique: [[user_id, title]]
    index: [[user_id, status, insert_date, id], [status]]
  app_line:
    columns:
      order_id: { type: bigint, references: app_order, on_delete: restrict }
      position: { type: integer }
      code: text
    key: [order_id, position]
  app_code:
    columns: { code: integer }
    key: [code]
`

const changes = `
- add_column:
    app_order:
      flag: { type: boolean, default: true }
      extra: { type: json, null: true }
      line_code: { type: integer, null: true, references: app_code }
      at: { type: timestamp, default: "2027-01-31T12:00:00.000Z" }
- add_index: { app_order: [[due, id]], app_line: [[code]] }
- drop_index: { app_order: [[status]] }
- rename_column: { app_user: { id: user_id }, app_order: { id: order_id, status: state } }
- drop_column: { app_order: [ref, seen] }
- create_table: { gone: { columns: { id: id } } }
- drop_table: [gone]
`

const coded: Migration = {
  async up(db, type) {
    await db.schema
      .createTable('app_user')
      .addColumn('id', 'uuid', (column) => column.primaryKey())
      .addColumn('name', 'text')
      .addColumn('email', 'varchar(200)', (column) => column.notNull().unique())
      .execute()
    await db.schema
      .createTable('app_order')
      .addColumn('id', type.id, (column) => column.primaryKey())
      .addColumn('user_id', 'uuid', (column) => column.notNull().references('app_user.id').onDelete('cascade'))
      .addColumn('parent_id', 'bigint')
      .addColumn('status', 'int4', (column) => column.notNull().defaultTo(1))
      .addColumn('big', 'int8', (column) => column.notNull().defaultTo(1))
      .addColumn('total', 'float8', (column) => column.notNull().defaultTo(1))
      .addColumn('title', 'char(64)', (column) => column.notNull().defaultTo('x'))
      .addColumn('note', 'text', (column) => column.notNull())
      .addColumn('paid', type.boolean, (column) => column.notNull().defaultTo(false))
      .addColumn('due', 'date', (column) => column.notNull().defaultTo('2027-01-01'))
      .addColumn('data', type.json, (column) => column.notNull().defaultTo('{}'))
      .addColumn('ref', 'uuid')
      .addColumn('version', 'integer', (column) => column.notNull().defaultTo(1))
      .addColumn('seen', 'timestamp')
      .addColumn('insert_date', type.timestamp, (column) => column.notNull().defaultTo(sql`current_timestamp`))
      .addUniqueConstraint('own', ['user_id', 'title'])
      .addForeignKeyConstraint('parent', ['parent_id'], 'app_order', ['id'], (key) => key.onDelete('set null'))
      .execute()
    await db.schema.createIndex('one').on('app_order').columns(['user_id', 'status', 'insert_date', 'id']).execute()
    await db.schema.createIndex('two').on('app_order').column('status').execute()
    await db.schema
      .createTable('app_line')
      .addColumn('code', 'text', (column) => column.notNull())
      .addColumn('position', 'integer')
      .addColumn('order_id', 'bigint', (column) => column.references('app_order.id').onDelete('restrict'))
      .addPrimaryKeyConstraint('line_key', ['order_id', 'position'])
      .execute()
    await db.schema
      .createTable('app_code')
      .addColumn('code', 'integer', (column) => column.primaryKey())
      .execute()
  },
}

const other: Migration = {
  async up(db, type) {
    await db.schema
      .createTable('things')
      .addColumn('id', type.id, (column) => column.primaryKey())
      .addColumn('price', 'decimal(12, 2)', (column) => column.notNull())
      .addColumn('small', 'smallint')
      .addColumn('bytes', 'bytea')
      .addColumn('list', sql`integer[]`)
      .addColumn('lower', 'text', (column) => column.generatedAlwaysAs(sql`lower(code)`).stored())
      .addColumn('code', 'text', (column) => column.unique())
      .execute()
    await db.schema.createIndex('part').on('things').column('code').where(sql.ref('price'), '>', 1).execute()
    await db.schema
      .createIndex('expression')
      .on('things')
      .columns([sql`lower(code)`])
      .execute()
    await db.schema
      .createView('cheap')
      .as(db.selectFrom('things').select(['id', 'small', 'code', 'price']))
      .execute()
  },
}

const otherText = `{
  "migrations": {},
  "tables": {
    "cheap": {
      "view": true,
      "columns": {
        "code": { "type": "text", "null": true },
        "id": { "type": "bigint", "null": true },
        "price": { "type": "number", "as": "numeric(12,2)", "null": true },
        "small": { "type": "bigint", "null": true }
      }
    },
    "things": {
      "columns": {
        "bytes": { "type": "bytes", "null": true },
        "code": { "type": "text", "null": true },
        "id": { "type": "id" },
        "list": { "type": "array", "as": "int4[]", "items": { "type": "integer" }, "null": true },
        "lower": { "type": "text", "null": true, "generated": true },
        "price": { "type": "number", "as": "numeric(12,2)" },
        "small": { "type": "integer", "null": true }
      },
      "key": ["id"],
      "unique": [
        ["code"]
      ]
    }
  }
}
`

function sorted<Item>(items: readonly Item[] = []): readonly Item[] {
  return items.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
}

const user = '00000000-0000-4000-8000-000000000001'

const reversible = {
  create_table: `
create_table: { more: { columns: { id: id, order_id: { type: bigint, references: app_order } }, index: [[order_id]] } }`,
  add_column: `
add_column:
  app_order:
    flag: { type: boolean, default: true }
    line_code: { type: integer, null: true, references: app_code }`,
  add_index: 'add_index: { app_order: [[due, id], [title]] }',
  drop_index: 'drop_index: { app_order: [[status], [user_id, status, insert_date, id]] }',
  rename_column: 'rename_column: { app_order: { id: order_id, status: state }, app_user: { id: user_id } }',
  'several steps': `
- drop_index: { app_order: [[status]] }
- rename_column: { app_order: { status: state } }
- add_column: { app_order: { status: { type: text(20), default: open } } }
- add_index: { app_order: [[status]] }`,
}

describeEachDatabase('tables.json', ({ kind, type, open }) => {
  test('declared tables give the same text in the database as computed', async () => {
    const { db } = await open()
    await makeDeclaredMigration(parse(declared)).up(db, type)
    assert.equal(await introspect(db, kind), compute([declared]))
  })

  test('each step gives the same text in the database as computed, with rows', async () => {
    const { db } = await open()
    await makeDeclaredMigration(parse(declared)).up(db, type)
    await db.insertInto('app_user').values({ id: user, email: 'a@b' }).execute()
    const order = await db
      .insertInto('app_order')
      .values({ user_id: user, note: '' })
      .returningAll()
      .executeTakeFirstOrThrow()
    const { insert_date: inserted, ...rest } = order
    assert.match(inserted, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.deepEqual(rest, {
      id: 1,
      user_id: user,
      parent_id: null,
      status: 1,
      big: -9_007_199_254_740_991,
      total: 0.5,
      title: "it's",
      note: '',
      paid: false,
      due: '2027-01-31',
      data: { a: ["it's", null] },
      ref: null,
      version: 1,
      seen: null,
    })
    await makeDeclaredMigration(parse(changes)).up(db, type)
    assert.equal(await introspect(db, kind), compute([declared, changes]))
    const changed = await db.selectFrom('app_order').selectAll().executeTakeFirstOrThrow()
    assert.deepEqual(
      [changed.order_id, changed.state, changed.flag, changed.extra, changed.at],
      [1, 1, true, null, '2027-01-31T12:00:00.000Z'],
    )
  })

  test('TypeScript migrations give the same text as declared ones', async () => {
    const { db } = await open()
    await coded.up(db, type)
    assert.equal(await introspect(db, kind), compute([declared]))
  })

  test('MikroORM finds the same tables on PostgreSQL', { skip: kind === 'sqlite' }, async () => {
    const { db, database } = await open()
    assert.ok(database.kind === 'postgresql')
    for (const text of [declared, changes]) await makeDeclaredMigration(parse(text)).up(db, type)
    const { tables } = await loadSnapshot(db, kind)
    const orm = new MikroORM({
      entities: [],
      discovery: { warnWhenNoEntities: false },
      driverOptions: db,
      dbName: database.target.database,
      ensureDatabase: false,
    })
    const found = await DatabaseSchema.create(orm.em.getConnection(), orm.em.getPlatform(), orm.config, 'public')
    const known = found.getTables().map((table) => {
      const lists = (isWanted: (index: { unique: boolean; primary: boolean }) => boolean) =>
        sorted(
          table
            .getIndexes()
            .filter(isWanted)
            .map(({ columnNames }) => columnNames),
        )
      return [
        table.name,
        {
          columns: Object.fromEntries(
            table.getColumns().map((column) => [column.name, [column.nullable, column.default != null]]),
          ),
          key: table.getPrimaryKey()?.columnNames,
          unique: lists(({ unique, primary }) => unique && !primary),
          index: lists(({ unique, primary }) => !unique && !primary),
          references: sorted(
            Object.values(table.getForeignKeys()).map((key) => [
              key.columnNames,
              key.referencedTableName.replace('public.', ''),
              key.referencedColumnNames,
              key.deleteRule === 'no action' ? undefined : key.deleteRule,
            ]),
          ),
        },
      ] as const
    })
    const own = Object.entries(tables).map(([name, { columns, key, unique, index, references = [] }]) => [
      name,
      {
        columns: Object.fromEntries(
          Object.entries(columns).map(([column, value]) => [column, [value.null === true, value.default === true]]),
        ),
        key,
        unique: sorted(unique),
        index: sorted(index),
        references: sorted(references.map((one) => [one.columns, one.table, one.to, one.on_delete])),
      },
    ])
    assert.deepEqual(Object.fromEntries(own), Object.fromEntries(known))
    await orm.close()
  })

  test('other types, computed columns, views and special indexes', async () => {
    const { db } = await open()
    await other.up(db, type)
    assert.equal(await introspect(db, kind), otherText)
  })

  for (const [name, steps] of Object.entries(reversible)) {
    test(`down of ${name} restores tables and rows`, async () => {
      const { db } = await open()
      await makeDeclaredMigration(parse(declared)).up(db, type)
      await db.insertInto('app_user').values({ id: user, email: 'a@b' }).execute()
      await db.insertInto('app_order').values({ user_id: user, note: 'n' }).execute()
      const rows = await db.selectFrom('app_order').selectAll().execute()
      const migration = makeDeclaredMigration(parse(steps))
      for (let round = 1; round <= 2; round++) {
        await migration.up(db, type)
        assert.equal(await introspect(db, kind), compute([declared, steps]))
        await migration.down!(db, type)
        assert.equal(await introspect(db, kind), compute([declared]))
        assert.deepEqual(await db.selectFrom('app_order').selectAll().execute(), rows)
      }
    })
  }

  test('names of indexes never clash', async () => {
    const { db } = await open()
    const texts = [
      'create_table: { a: { columns: { id: id, b: text, b_c: text }, index: [[b]] }, a_b: { columns: { id: id, c: text } } }',
      'rename_column: { a: { b: old } }\nadd_column: { a: { b: { type: text, null: true } } }',
      'add_index: { a: [[b], [b_c]], a_b: [[c]] }',
      'drop_index: { a: [[old], [b_c]] }',
    ]
    for (const text of texts) {
      await db.transaction().execute((transaction) => makeDeclaredMigration(parse(text)).up(transaction, type))
    }
    assert.equal(await introspect(db, kind), compute(texts))
  })

  test('migrations of two branches give the same text in either order', async () => {
    const branches = [
      'add_column: { app_order: { left: { type: text, null: true } } }',
      'add_column: { app_order: { right: { type: text, null: true } } }\nadd_index: { app_order: [[right]] }',
    ]
    const texts = await Promise.all(
      [branches, branches.toReversed()].map(async (order) => {
        const { db } = await open()
        for (const text of [declared, ...order]) await makeDeclaredMigration(parse(text)).up(db, type)
        return introspect(db, kind)
      }),
    )
    assert.equal(texts[0], texts[1])
    assert.equal(texts[0], compute([declared, ...branches]))
  })
})

test('a migration that drops something has no down', () => {
  assert.deepEqual(
    ['drop_column: { a: [b] }', 'drop_table: [a]', 'add_index: { a: [[b]] }'].map((text) => {
      const { down, irreversible, breaking } = makeDeclaredMigration(parse(text))
      return [down !== undefined, irreversible, breaking]
    }),
    [
      [false, 'it drops the column "b" of "a"', true],
      [false, 'it drops the table "a"', true],
      [true, undefined, undefined],
    ],
  )
})
