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
    const parts = columns.map((name, index) => ({
      name,
      bind: bindOf(name),
      prefix: (index === 0 ? '' : ',') + (kind === 'sqlite' ? '' : `${JSON.stringify(name)}:`),
    }))
    let text = '['
    for (const row of rows) {
      text += text === '[' ? start : `,${start}`
      for (const { name, bind, prefix } of parts)
        text += prefix + writeValue(Object.hasOwn(row, name) ? bind(row[name]) : null)
      text += end
    }
    return `${text}]`
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

/** Of the rows of the request: all their values on SQLite, the position and a row as JSON on PostgreSQL. */
const element = quote('~element')
const record = quote('~row')
const [position, json] = [quote('~key'), quote('~json')]
const item = quote('~item')

/** Returns the position of a row among those of the parameter. */
export function rowOrder(kind: DatabaseKind): string {
  return kind === 'sqlite' ? `${element}."key"` : `${record}.${position}`
}

/** Adds the rows of a request as a table, whose columns `bindBody` then returns. @returns the table */
export function readRows(
  plan: TablePlan,
  { kind, values, columns }: { kind: DatabaseKind; values: StatementValues; columns: readonly string[] },
): string {
  const { types } = plan
  const rows = values.add(({ list }) => list!.text)
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
    if (type === 'json') return `cast(${record}.${json} ->> ${property} as json)`
    // The record would take lists in a list for a list with several dimensions.
    return items?.type === 'json' ? writeJsonList(`${record}.${json} -> ${property}`) : `${record}.${quote(name)}`
  }
  const list = `cast(${rows} as json)`
  const hasJson = columns.some((name) => types[name]!.type === 'json' || types[name]!.items?.type === 'json')
  // A column for the positions would be the last one, with a name that the table may have.
  const parts = [
    `generate_series(1, ${values.add(({ list: sent }) => sent!.length)})`,
    ...(hasJson ? [`json_array_elements(${list})`] : []),
    `json_populate_recordset(cast(null as ${quoteTable(plan)}), ${list})`,
  ]
  return `rows from (${parts.join(', ')}) as ${record}(${[position, ...(hasJson ? [json] : [])].join(', ')})`
}

/** Writes a list of PostgreSQL whose elements are JSON, from a list of their texts. */
function writeJsonList(list: string): string {
  const texts = `json_array_elements_text(${list}) with ordinality as ${item}("value", "key")`
  const items = `array(select cast(${item}."value" as json) from ${texts} order by ${item}."key")`
  return `case when json_typeof(${list}) = 'array' then ${items} end`
}
