import type { DatabaseKind } from '../../src/contract/index.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseMigration } from '../../src/definition/index.ts'
import { applySteps, writeSnapshot } from '../../src/tables/index.ts'

/** Applies migrations in order, and returns the problems of the last one as `line:column message`. */
function apply(texts: readonly string[], kind?: DatabaseKind) {
  let tables = { tables: {} } as Parameters<typeof applySteps>[0]
  let problems: readonly string[] = []
  for (const text of texts) {
    const { steps, diagnostics, locate } = parseMigration('a.yml', text)
    const applied = applySteps(tables, steps, { kind })
    tables = applied.tables
    const found = applied.problems.map(({ step, path, message }) => ({ ...locate(step, path), message }))
    problems = [...diagnostics, ...found].map(
      ({ range: { start }, message }) => `${start.line}:${start.column} ${message}`,
    )
  }
  return { tables, problems, text: writeSnapshot({ migrations: {}, ...tables }) }
}

const orders = `
create_table:
  app_user:
    columns: { id: id, email: text(200) }
    unique: [[email]]
  app_order:
    columns:
      id: id
      user_id: { type: bigint, references: app_user, on_delete: cascade }
      status: { type: integer, default: 1 }
      note: { type: text, null: true }
      insert_date: { type: timestamp, default: now }
    index: [[user_id, status, insert_date, id], [status]]
`

test('a snapshot has one line per column, sorted by name', () => {
  const { text, problems } = apply([orders])
  assert.deepEqual(problems, [])
  assert.equal(
    text,
    `{
  "migrations": {},
  "tables": {
    "app_order": {
      "columns": {
        "id": { "type": "id" },
        "insert_date": { "type": "timestamp", "default": true },
        "note": { "type": "text", "null": true },
        "status": { "type": "integer", "default": true },
        "user_id": { "type": "bigint" }
      },
      "key": ["id"],
      "index": [
        ["status"],
        ["user_id", "status", "insert_date", "id"]
      ],
      "references": [
        { "columns": ["user_id"], "table": "app_user", "to": ["id"], "on_delete": "cascade" }
      ]
    },
    "app_user": {
      "columns": {
        "email": { "type": "text", "length": 200 },
        "id": { "type": "id" }
      },
      "key": ["id"],
      "unique": [
        ["email"]
      ]
    }
  }
}
`,
  )
})

test('each step changes the snapshot', () => {
  const { tables, problems } = apply([
    orders,
    `
- add_column: { app_order: { total: { type: number, default: 0 }, parent_id: { type: bigint, null: true, references: app_order.id } } }
- drop_index: { app_order: [[status]] }
  add_index: { app_order: [[total]] }
- rename_column: { app_user: { id: user_id } }
- drop_column: { app_order: [note] }
- create_table: { gone: { columns: { a: uuid, b: date }, key: [a, b] } }
- drop_table: [gone]
`,
  ])
  assert.deepEqual(problems, [])
  assert.deepEqual(Object.keys(tables.tables), ['app_order', 'app_user'])
  const { app_order: order, app_user: user } = tables.tables
  assert.deepEqual(user!.key, ['user_id'])
  assert.deepEqual(Object.keys(order!.columns), ['id', 'user_id', 'status', 'insert_date', 'total', 'parent_id'])
  assert.deepEqual(order!.index, [['total'], ['user_id', 'status', 'insert_date', 'id']])
  assert.deepEqual(order!.references, [
    { columns: ['parent_id'], table: 'app_order', to: ['id'] },
    { columns: ['user_id'], table: 'app_user', to: ['user_id'], on_delete: 'cascade' },
  ])
})

const refused: readonly (readonly [title: string, text: string, problems: readonly string[], kind?: DatabaseKind])[] = [
  ['an unknown step', 'create_tabel: {}', ['1:1 "create_tabel" is not a valid key of a migration']],
  [
    'an unknown type',
    'add_column: { app_order: { size: intger } }',
    ['1:34 "size" must be a column type, not "intger"'],
  ],
  ['an include', 'create_table: !include other.yml', ['1:24 !include is not allowed in a migration']],
  [
    'a variable',
    'add_column: { app_order: { size: { type: text, default: "${env.SIZE}" } } }',
    ['1:57 Variables are not allowed in a migration'],
  ],
  [
    'a table that exists',
    'create_table: { App_order: { columns: { id: id } } }',
    ['1:17 The table "app_order" already exists'],
  ],
  ['a table without a key', 'create_table: { a: { columns: { b: text } } }', ['1:17 The table "a" has no key']],
  [
    'a key that is declared as unique too',
    'create_table: { a: { columns: { b: uuid }, key: [b], unique: [[b]] } }',
    ['1:44 The key [b] is already unique'],
  ],
  [
    'an index that is declared twice',
    'create_table: { a: { columns: { id: id }, index: [[id], [id]] } }',
    ['1:43 The index [id] is repeated'],
  ],
  [
    'renaming a column to its own name',
    'rename_column: { app_user: { email: email } }',
    ['1:30 The table "app_user" already has a column "email"'],
  ],
  ['a reserved table', 'drop_table: [waypost_user]', ['1:14 The table name "waypost_user" is reserved']],
  [
    'an id beside another key',
    'create_table: { a: { columns: { b: text, id: id }, key: [b] } }',
    ['1:42 A column of type id must be the only column of the key'],
  ],
  [
    'an id that refers to another one',
    'create_table: { a: { columns: { id: id, user_id: { type: id, references: app_user } } } }',
    ['1:41 A column of type id must be the only column of the key'],
  ],
  [
    'an unknown column in an index',
    'create_table: { a: { columns: { id: id }, index: [[ib]] } }',
    ['1:43 Unknown column "ib"'],
  ],
  ['an unknown table', 'add_index: { app_ordr: [[status]] }', ['1:25 Unknown table "app_ordr"']],
  [
    'a default of another type',
    'add_column: { app_order: { size: { type: integer, default: many } } }',
    ['1:60 The default of "size" must be an integer of 32 bits, not "many"'],
  ],
  [
    'a required column without a default',
    'add_column: { app_order: { size: integer } }',
    ['1:28 The new column "size" needs a value for existing rows'],
  ],
  [
    'the time as the default of a new column',
    'add_column: { app_order: { at: { type: timestamp, default: now } } }',
    ['1:51 "now" is only allowed as a default in create_table'],
  ],
  [
    'a new unique column on SQLite',
    'add_column: { app_order: { code: { type: text, null: true, unique: true } } }',
    ['1:60 SQLite cannot add a unique column to a table'],
  ],
  [
    'a new reference with a default on SQLite',
    'add_column: { app_order: { u: { type: bigint, default: 1, references: app_user } } }',
    ['1:59 SQLite cannot add a reference with a default'],
  ],
  [
    'dropping an indexed column on SQLite',
    'drop_column: { app_order: [status] }',
    ['1:28 SQLite cannot drop the indexed column "status"'],
  ],
  ['dropping an indexed column on PostgreSQL is allowed', 'drop_column: { app_order: [status] }', [], 'postgresql'],
  ['dropping a key', 'drop_column: { app_order: [id] }', ['1:28 "id" is part of the key of "app_order"']],
  [
    'dropping a table that another refers to',
    'drop_table: [app_user]',
    ['1:14 The table "app_order" refers to "app_user"'],
  ],
  [
    'a search that exists, or one of other columns',
    `[{ add_search: { app_order: [note] } }, { add_search: { app_order: [note, status, note, nota] } }]`,
    [
      '1:57 The table "app_order" already has a search',
      '1:57 "status" of "app_order" cannot be searched: it has the type integer',
      '1:57 The table "app_order" has no column "nota"',
      '1:57 The column "note" is repeated',
    ],
  ],
  ['an unknown search', 'drop_search: { app_order: [note] }', ['1:16 The table "app_order" has no such search']],
  ['an unknown index', 'drop_index: { app_user: [[email]] }', ['1:26 The table "app_user" has no index [email]']],
  [
    'a reference of another type',
    'add_column: { app_order: { u: { type: uuid, null: true, references: app_user } } }',
    ['1:57 "u" has the type uuid, but "app_user.id" has the type id'],
  ],
  [
    'a reference to a column that is not unique',
    'add_column: { app_user: { o: { type: integer, null: true, references: app_order.status } } }',
    ['1:59 "app_order.status" is not unique'],
  ],
  [
    'renaming to a column that exists',
    'rename_column: { app_user: { email: ID } }',
    ['1:30 The table "app_user" already has a column "id"'],
  ],
]

for (const [title, text, problems, kind] of refused) {
  test(`problems: ${title}`, () => {
    assert.deepEqual(apply([orders, text], kind).problems, problems)
  })
}

test('a reference of type id is told which type it has', () => {
  const text = 'create_table: { a: { columns: { id: id, user_id: { type: id, references: app_user } } } }'
  const { problems } = applySteps({ tables: {} }, parseMigration('a.yml', text).steps, {})
  assert.equal(problems[0]?.hint, 'A column that refers to one of type id has the type integer or bigint')
})

test('an empty file has no steps and no problem', () => {
  const { steps, diagnostics } = parseMigration('a.yml', '# later\n')
  assert.deepEqual({ steps, diagnostics }, { steps: [], diagnostics: [] })
})

test('the checksum depends on the value only', () => {
  const [one, two, three] = ['drop_table: [a]', '# gone\ndrop_table:\n  - a\n', 'drop_table: [b]'].map(
    (text) => parseMigration('a.yml', text).checksum,
  )
  assert.equal(one, two)
  assert.notEqual(one, three)
})

test('whichever way a list of values is written for a column, the hint is the same, and there is no other', () => {
  const written = [
    'enum(open, closed)',
    '"enum(open, closed)"',
    '{ type: enum(open, closed) }',
    '{ type: enum(open), default: open }',
    '{ type: text, enum: [open, closed] }',
  ]
  for (const column of written) {
    const { diagnostics } = parseMigration('a.yml', `create_table: { a: { columns: { id: id, status: ${column} } } }\n`)
    assert.deepEqual(
      diagnostics.map(({ hint }) => hint),
      ['Write type: enum and values: [open, closed]'],
      column,
    )
  }
})

test('a text that a comma ended is quoted only where its whole would be valid', () => {
  const hintsOf = (column: string) =>
    parseMigration('a.yml', `create_table: { a: { columns: { id: id, ${column} } } }\n`).diagnostics.map(
      ({ hint }) => hint,
    )
  assert.deepEqual(hintsOf('b: { type: text, default: one, two }'), [
    'A comma ends an unquoted text between { and }. Quote it: "one, two"',
  ])
  assert.deepEqual(
    hintsOf('b: { type: text(1, 2) }').map((hint) => hint?.slice(0, 6)),
    ['Types:'],
  )
})
