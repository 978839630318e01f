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
        return prefix + writeValue(value)
      })
      return `${start}${values.join()}${end}`
    }
    return `[${rows.map(writeRow).join()}]`
  }
}

function writeValue(value: unknown): string {
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Uint8Array) return JSON.stringify(`\\x${Buffer.from(value).toString('hex')}`)
  // As a parameter of its own, a text loses surrogates without a partner.
  if (typeof value === 'string') return JSON.stringify(value.toWellFormed())
  if (!isList(value)) return JSON.stringify(value)
  return `[${value.toPostgres().map(writeValue).join()}]`
}

const element = quote('~element')
const record = quote('~row')
const item = quote('~item')

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
  values.bodyColumn = (name) => {
    const { type, items } = types[name]!
    const property = `'${name.replaceAll("'", "''")}'`
    if (type === 'json') return `cast(${element}."value" ->> ${property} as json)`
    // The record would take lists in a list for a list with several dimensions.
    return items?.type === 'json' ? writeJsonList(`${element}."value" -> ${property}`) : `${record}.${quote(name)}`
  }
  const elements = `json_array_elements(cast(${rows} as json)) with ordinality as ${element}("value", "key")`
  return `${elements} cross join lateral json_populate_record(cast(null as ${quoteTable(plan)}), ${element}."value") as ${record}`
}

/** Writes a list of PostgreSQL whose elements are JSON, from a list of their texts. */
function writeJsonList(list: string): string {
  const texts = `json_array_elements_text(${list}) with ordinality as ${item}("value", "key")`
  const items = `array(select cast(${item}."value" as json) from ${texts} order by ${item}."key")`
  return `case when json_typeof(${list}) = 'array' then ${items} end`
}
