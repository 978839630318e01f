import type { Entry, ResponseOf } from '../api/call.ts'

/** How the rows of a table are shown. */
export type Description = ResponseOf<'GET /table/:connection/:table'>
export type RowColumn = Description['columns'][number]
export type Row = Entry<'GET /table/:connection/:table/row'>

export interface TablePlace {
  readonly connection: string
  readonly table: string
}

/** What a form has for each column: a text, null, or undefined for what the database sets. */
export type RowDraft = Readonly<Record<string, string | null | undefined>>

/** The columns in the order of the grid: the key, then others; not the place where the database stores the row. */
export function orderColumns({ columns, key, internal }: Description): readonly RowColumn[] {
  const own = columns.filter(({ name }) => name !== internal)
  const first = key.flatMap((name) => own.find((one) => one.name === name) ?? [])
  return [...first, ...own.filter((one) => !first.includes(one))]
}

/** The key of a row in the API. */
export function keyOf({ key, columns }: Pick<Description, 'key' | 'columns'>, { values }: Row): string {
  const names = key.length === 0 ? columns.map(({ name }) => name) : key
  return JSON.stringify(names.map((name) => values[name] ?? null))
}

/** The key of a row for people. */
export function nameRow({ key }: Pick<Description, 'key'>, { values }: Row): string {
  return key.map((name) => toText(values[name]) ?? '').join(', ')
}

/** Returns the text of a value in a field; null stays null. */
export function toText(value: unknown): string | null {
  if (value === null || value === undefined) return null
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Returns the value of a text in a field. What is not a value of the type is sent as it is: the server says why. */
export function toValue({ type }: RowColumn, text: string | null): unknown {
  if (text === null) return null
  if (isNumber(type) && text.trim() !== '' && Number.isFinite(Number(text))) return Number(text)
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  if (type === 'array') return parseOr(text)
  return text
}

export function isNumber(type: string): boolean {
  return type === 'id' || type === 'integer' || type === 'number'
}

function parseOr(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The type of a column in a few letters. */
export function describeType({ type, length, as }: RowColumn): string {
  return as ?? `${type}${length === null ? '' : `(${length})`}`
}

/** The query of a list: its filters with its order. */
export function joinQuery(filter: string | undefined, sort: string | undefined): string | undefined {
  const query = new URLSearchParams(filter)
  if (sort !== undefined) query.set('sort', sort)
  return query.size === 0 ? undefined : query.toString()
}

/** The filters that find the rows to which, or from which, columns refer. */
export function filterBy(columns: readonly string[], values: readonly unknown[]): string {
  return new URLSearchParams(columns.map((name, index) => [name, toText(values[index]) ?? ''])).toString()
}
