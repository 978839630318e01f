import { Type, type TSchema } from 'typebox'
import { maxPrecision } from '../tables/index.ts'

// The structure of a declared migration. Its keywords are those of language.ts.

const nameKeys = {
  pattern: '^(?!__proto__$)[A-Za-z_][A-Za-z0-9_]{0,62}$',
  keyHint: 'Use up to 63 letters, digits and _ and begin with a letter or _',
}

function byName<Value extends TSchema>(value: Value, names: string, title: string) {
  return Type.Record(Type.String({ pattern: nameKeys.pattern }), value, {
    title,
    names,
    keyHint: nameKeys.keyHint,
    additionalProperties: false,
    minProperties: 1,
  })
}

const name = (title: string) => Type.String({ title, pattern: nameKeys.pattern, valueHint: nameKeys.keyHint })
const columnName = name('a column name')
const columnList = Type.Array(columnName, { title: 'a list of columns such as [status, id]', minItems: 1 })
const columnLists = Type.Array(columnList, { title: 'a list of lists of columns such as [[status, id]]', minItems: 1 })

const enumHint = 'Write type: enum and values: [open, closed]'
const numericHint = 'Write type: numeric, precision: 10 and scale: 2'

const columnType = Type.String({
  title: 'a column type',
  pattern: '^(id|integer|bigint|number|text|text\\([1-9][0-9]{0,6}\\)|boolean|timestamp|date|json|uuid|enum|numeric)$',
  valueHint:
    'Types: id, integer, bigint, number, text, text(LENGTH), boolean, timestamp, date, json, uuid, enum, numeric',
  valueHints: { '^enum\\(': enumHint, '^numeric\\(': numericHint },
})

const values = Type.Array(
  Type.String({
    title: 'a text of 1 to 200 characters',
    pattern: '^[^\\u0000]{1,200}$',
    valueHint: 'Put numbers, true and false in quotes',
  }),
  { title: 'a list of texts such as [open, closed]', minItems: 1, maxItems: 200 },
)

const digits = {
  precision: Type.Optional(
    Type.Integer({ title: 'a number of digits from 1 to 18', minimum: 1, maximum: maxPrecision }),
  ),
  scale: Type.Optional(Type.Integer({ title: 'a number of digits from 0 to 18', minimum: 0, maximum: maxPrecision })),
}

const column = Type.Union(
  [
    columnType,
    Type.Object(
      {
        type: columnType,
        values: Type.Optional(values),
        ...digits,
        null: Type.Optional(Type.Boolean()),
        default: Type.Optional(Type.Unknown()),
        unique: Type.Optional(Type.Boolean()),
        references: Type.Optional(
          Type.Union(
            [
              Type.String({
                title: 'a table, or TABLE.COLUMN',
                pattern: '^[A-Za-z_][A-Za-z0-9_]{0,62}(\\.[A-Za-z_][A-Za-z0-9_]{0,62})?$',
              }),
              Type.Object(
                {
                  table: Type.String({
                    title: 'a table, or SCHEMA.TABLE',
                    pattern: '^[A-Za-z_][A-Za-z0-9_]{0,62}(\\.[A-Za-z_][A-Za-z0-9_]{0,62})?$',
                  }),
                  column: columnName,
                },
                { title: 'a table and its column', additionalProperties: false },
              ),
            ],
            { title: 'a table, TABLE.COLUMN, or a map such as { table: sales.order, column: id }' },
          ),
        ),
        on_delete: Type.Optional(Type.Enum(['cascade', 'set null', 'set default', 'restrict'])),
      },
      { title: 'a column', additionalProperties: false, keyHints: { enum: enumHint } },
    ),
  ],
  { title: 'a column type, or a map such as { type: text, null: true }' },
)

const change = Type.Object(
  {
    type: Type.Optional(columnType),
    values: Type.Optional(values),
    add_values: Type.Optional(values),
    remove_values: Type.Optional(values),
    ...digits,
    null: Type.Optional(Type.Boolean()),
    default: Type.Optional(Type.Unknown()),
  },
  { title: 'the changes of a column', additionalProperties: false, minProperties: 1 },
)

const columns = byName(column, 'a column', 'a map of name to column')

const table = Type.Object(
  {
    columns,
    key: Type.Optional(columnList),
    unique: Type.Optional(columnLists),
    index: Type.Optional(columnLists),
  },
  { title: 'a table', additionalProperties: false },
)

const search = Type.Union(
  [
    columnList,
    Type.Object(
      {
        columns: columnList,
        configuration: Type.Optional(
          Type.String({
            title: 'a text search configuration',
            pattern: '^[a-z_][a-z0-9_]{0,62}(\\.[a-z_][a-z0-9_]{0,62})?$',
            valueHint: 'Name a text search configuration of PostgreSQL, for example english',
          }),
        ),
      },
      { title: 'a search', additionalProperties: false },
    ),
  ],
  { title: 'a list of columns, or a map such as { columns: [title, text], configuration: english }' },
)

const steps = Type.Object(
  {
    create_table: Type.Optional(byName(table, 'a table', 'a map of name to table')),
    add_column: Type.Optional(byName(columns, 'a table', 'a map of table to columns')),
    alter_column: Type.Optional(
      byName(byName(change, 'a column', 'a map of column to its changes'), 'a table', 'a map of table to columns'),
    ),
    add_index: Type.Optional(byName(columnLists, 'a table', 'a map of table to lists of columns')),
    drop_index: Type.Optional(byName(columnLists, 'a table', 'a map of table to lists of columns')),
    add_search: Type.Optional(byName(search, 'a table', 'a map of table to columns')),
    drop_search: Type.Optional(byName(search, 'a table', 'a map of table to columns')),
    concurrently: Type.Optional(Type.Literal(true)),
    rename_column: Type.Optional(
      byName(byName(columnName, 'a column', 'a map of old to new name'), 'a table', 'a map of table to columns'),
    ),
    drop_column: Type.Optional(byName(columnList, 'a table', 'a map of table to columns')),
    drop_table: Type.Optional(Type.Array(name('a table name'), { title: 'a list of tables', minItems: 1 })),
  },
  { title: 'a migration', additionalProperties: false, minProperties: 1 },
)

/** A map of steps, or a list of such maps. An empty file is a migration that is not written yet. */
export const migrationLanguage = Type.Union([steps, Type.Array(steps), Type.Null()], {
  title: 'a map of steps, or a list of steps',
})
