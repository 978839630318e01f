import type { DatabaseKind } from 'waypost'
import { isList } from './bind-list.ts'
import { divideColumns } from './divide-columns.ts'
import type { TablePlan } from './plan.ts'
import { quote, quoteTable, type StatementValues } from './statement-values.ts'
import { makeBind, type Bind, type BindUse } from './values.ts'

type Row = Readonly<Record<string, unknown>>

/** Writes rows as the parameters of a statement. @throws InvalidValue */
export type RowsWriter = (rows: readonly Row[], columns: readonly string[]) => readonly string[]

interface RowsUse {
  readonly kind: DatabaseKind
  readonly use?: BindUse
}

/**
 * Makes the writer of the rows that a statement reads. On SQLite they are lists in one list of JSON. On PostgreSQL each column
 * is a list, which takes two thirds of the time of a list of objects, and what only the table knows the type of is a
 * list of objects. A JSON value is a text, so that null differs from the JSON value null.
 */
export function makeRowsWriter(plan: TablePlan, { kind, use = 'store' }: RowsUse): RowsWriter {
  const binds = new Map<string, Bind>()
  const partOf = (name: string): RowPart => {
    const bind = binds.get(name) ?? makeBind(name, plan.types[name]!, { kind, use })
    binds.set(name, bind)
    return { bind: (row) => (Object.hasOwn(row, name) ? bind(row[name]) : null), key: `${JSON.stringify(name)}:` }
  }
  if (kind === 'sqlite')
    return (rows, columns) => {
      const parts = columns.map((name) => ({ ...partOf(name), key: '' }))
      return [`[${rows.map((row) => `[${writeParts(row, parts)}]`).join()}]`]
    }
  return (rows, columns) => {
    const { lists, others } = divideColumns(plan, columns, use)
    const texts = lists.map(({ name }) => {
      const { bind } = partOf(name)
      return writeList(rows, (row) => writeItem(bind(row)))
    })
    if (others.length === 0) return texts
    const parts = others.map(partOf)
    return [...texts, writeList(rows, (row) => quoteItem(`{${writeParts(row, parts)}}`))]
  }
}

interface RowPart {
  readonly bind: (row: Row) => unknown
  /** What precedes the value in JSON. */
  readonly key: string
}

function writeParts(row: Row, parts: readonly RowPart[]): string {
  let text = ''
  for (const { bind, key } of parts) text += `${text === '' ? '' : ','}${key}${writeValue(bind(row))}`
  return text
}

function writeValue(value: unknown): string {
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Uint8Array) return JSON.stringify(writeBytes(value))
  // As a parameter of its own, a text loses surrogates without a partner.
  if (typeof value === 'string') return JSON.stringify(value.toWellFormed())
  if (!isList(value)) return JSON.stringify(value)
  return `[${value.toPostgres().map(writeValue).join()}]`
}

/** https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO */
function writeList(rows: readonly Row[], write: (row: Row) => string): string {
  let text = '{'
  for (const row of rows) text += text === '{' ? write(row) : `,${write(row)}`
  return `${text}}`
}

function writeItem(value: unknown): string {
  if (value === null) return 'NULL'
  if (typeof value === 'string') return quoteItem(value)
  if (value instanceof Uint8Array) return quoteItem(writeBytes(value))
  return isList(value) ? quoteItem(writeValue(value)) : writeValue(value)
}

function quoteItem(text: string): string {
  return `"${/["\\]/.test(text) ? text.replaceAll(/["\\]/g, String.raw`\$&`) : text}"`
}

function writeBytes(value: Uint8Array): string {
  return `\\x${Buffer.from(value).toString('hex')}`
}

const element = quote('~element')
const record = quote('~row')
const [key, object, item] = [quote('~key'), quote('~object'), quote('~item')]

/** Returns the position of a row among those of the parameters. */
export function rowOrder(kind: DatabaseKind): string {
  return `${element}.${kind === 'sqlite' ? '"key"' : key}`
}

interface RowsSource extends RowsUse {
  readonly values: StatementValues
  readonly columns: readonly string[]
}

/** Adds the rows of a request as a table, whose columns `bindBody` then returns. @returns the table */
export function readRows(plan: TablePlan, { kind, use = 'store', values, columns }: RowsSource): string {
  const { types } = plan
  const add = (index: number) => values.add(({ list }) => list!.texts[index])
  if (kind === 'sqlite') {
    values.bodyColumn = (name) => {
      const value = `${element}."value" ->> ${columns.indexOf(name)}`
      return types[name]!.type === 'bytes' ? `unhex(substr(${value}, 3))` : value
    }
    return `json_each(${add(0)}) as ${element}`
  }
  const { lists, others } = divideColumns(plan, columns, use)
  values.bodyColumn = (name) => {
    if (others.includes(name)) return `${record}.${quote(name)}`
    const column = `${element}.${quote(name)}`
    const { type, items } = types[name]!
    if (type === 'json') return `cast(${column} as json)`
    return items?.type === 'json' ? writeJsonList(`cast(${column} as json)`) : column
  }
  const names = lists.map(({ name }) => quote(name))
  const texts = lists.map(({ type }, index) => `cast(${add(index)} as ${type}[])`)
  if (others.length > 0) {
    names.push(object)
    texts.push(`cast(${add(lists.length)} as json[])`)
  }
  const listed = `unnest(${texts.join(', ')}) with ordinality as ${element}(${names.join(', ')}, ${key})`
  if (others.length === 0) return listed
  return `${listed} cross join lateral json_populate_record(cast(null as ${quoteTable(plan)}), ${element}.${object}) as ${record}`
}

/** Writes a list of PostgreSQL whose elements are JSON, from a list of their texts. */
function writeJsonList(list: string): string {
  const texts = `json_array_elements_text(${list}) with ordinality as ${item}("value", "key")`
  const items = `array(select cast(${item}."value" as json) from ${texts} order by ${item}."key")`
  return `case when ${list} is not null then ${items} end`
}
