import type { DatabaseKind } from 'waypost'
import { isList } from './bind-list.ts'
import type { TablePlan } from './plan.ts'
import { quote, quoteTable, type StatementValues } from './statement-values.ts'
import { makeBind, type Bind, type BindUse } from './values.ts'

type Row = Readonly<Record<string, unknown>>

/** Writes rows as the JSON of one parameter. @throws InvalidValue */
export type RowsWriter = (rows: readonly Row[], columns: readonly string[]) => string

/**
 * Makes the writer of the rows that a statement reads. They are objects on PostgreSQL, which converts their values to the
 * types of the columns, and arrays on SQLite. A JSON value is a text, so that null differs from the JSON value null.
 */
export function makeRowsWriter({ types }: TablePlan, kind: DatabaseKind, use: BindUse = 'store'): RowsWriter {
  const binds = new Map<string, Bind>()
  const bindOf = (name: string): Bind => {
    const bind = binds.get(name) ?? makeBind(name, types[name]!, { kind, use })
    binds.set(name, bind)
    return bind
  }
  const [start, end] = kind === 'sqlite' ? '[]' : '{}'
  return (rows, columns) => {
    const parts = columns.map((name) => ({
      name,
      bind: bindOf(name),
      prefix: kind === 'sqlite' ? '' : `${JSON.stringify(name)}:`,
    }))
    const writeRow = (row: Row) => {
      const values = parts.map(({ name, bind, prefix }) => {
        const value = Object.hasOwn(row, name) ? bind(row[name]) : null
        return prefix + writeValue(value, types[name]!.items?.type === 'json')
      })
      return `${start}${values.join()}${end}`
    }
    return `[${rows.map(writeRow).join()}]`
  }
}

/** @param hasTexts whether the elements of a list are JSON texts */
function writeValue(value: unknown, hasTexts = false): string {
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Uint8Array) return JSON.stringify(`\\x${Buffer.from(value).toString('hex')}`)
  // As a parameter of its own, a text loses surrogates without a partner.
  if (typeof value === 'string') return JSON.stringify(value.toWellFormed())
  if (!isList(value)) return JSON.stringify(value)
  const items = value.toPostgres().map((one) => (hasTexts && typeof one === 'string' ? one : writeValue(one)))
  return `[${items.join()}]`
}

const element = quote('~element')
const record = quote('~row')

/** The position of a row among those of the parameter. */
export const rowOrder = `${element}."key"`

/** Adds the rows of a request as a table, whose columns `bindBody` then returns. @returns the table */
export function readRows(
  plan: TablePlan,
  { kind, values, columns }: { kind: DatabaseKind; values: StatementValues; columns: readonly string[] },
): string {
  const { types } = plan
  const rows = values.add(({ list }) => list)
  if (kind === 'sqlite') {
    values.bodyColumn = (name) => {
      const value = `${element}."value" ->> ${columns.indexOf(name)}`
      return types[name]!.type === 'bytes' ? `unhex(substr(${value}, 3))` : value
    }
    return `json_each(${rows}) as ${element}`
  }
  values.bodyColumn = (name) =>
    types[name]!.type === 'json'
      ? `cast(${element}."value" ->> '${name.replaceAll("'", "''")}' as json)`
      : `${record}.${quote(name)}`
  const elements = `json_array_elements(cast(${rows} as json)) with ordinality as ${element}("value", "key")`
  return `${elements} cross join lateral json_populate_record(cast(null as ${quoteTable(plan)}), ${element}."value") as ${record}`
}
