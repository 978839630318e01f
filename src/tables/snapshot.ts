import type {
  ColumnSnapshot,
  ForeignKeySnapshot,
  SearchSnapshot,
  TableSnapshot,
  TablesSnapshot,
} from '../contract/index.ts'

/** The content of a `tables.json`. */
export interface Snapshot extends TablesSnapshot {
  /** The migrations that it covers, by name: the beginning of the checksum, and of the code of one in code after a dot. */
  readonly migrations: Readonly<Record<string, string>>
}

/** The number of characters of a checksum, and of a code, that a snapshot keeps. */
const keptLengths = [12, 16]

/** Whether a snapshot covers a migration with this text or, if it is known, with code that does the same. */
export function isCovered(
  covered: string,
  { checksum, code }: { readonly checksum: string; readonly code?: string | undefined },
): boolean {
  const [ofText = '', ofCode] = covered.split('.')
  return checksum.startsWith(ofText) || (ofCode !== undefined && code?.startsWith(ofCode) === true)
}

function shorten(checksum: string): string {
  return checksum
    .split('.')
    .map((part, index) => part.slice(0, keptLengths[index]))
    .join('.')
}

/**
 * Returns the text of a `tables.json`. Equal tables have equal texts.
 * @param order `name` for columns that migrations make: databases that ran those of two branches in different orders have
 * them in different places. `database` for those of another program
 */
export function writeSnapshot({ migrations, tables }: Snapshot, order: 'name' | 'database' = 'name'): string {
  const covered = sortEntries(Object.entries(migrations)).map(
    ([name, checksum]) => `${write(name)}: ${write(shorten(checksum))}`,
  )
  const written = Object.entries(sortTables({ tables }).tables).map(
    ([name, table]) => `${write(name)}: ${writeTable(table, order === 'name' ? sortEntries : (entries) => entries)}`,
  )
  return `{\n  "migrations": ${writeLines('{}', covered, 2)},\n  "tables": ${writeLines('{}', written, 2)}\n}\n`
}

type Sort = (columns: [string, ColumnSnapshot][]) => (readonly [string, ColumnSnapshot])[]

function writeTable(
  { schema, view, columns, key, unique, index, references, search }: TableSnapshot,
  sort: Sort,
): string {
  const lines = sort(Object.entries(columns)).map(([name, column]) => `${write(name)}: ${writeInline(column)}`)
  const members = [
    ...(schema === undefined ? [] : [`"schema": ${write(schema)}`]),
    ...(view ? ['"view": true'] : []),
    `"columns": ${writeLines('{}', lines, 6)}`,
    ...(key ? [`"key": ${writeInline(key)}`] : []),
    ...(unique ? [`"unique": ${writeLines('[]', unique.map(writeInline), 6)}`] : []),
    ...(index ? [`"index": ${writeLines('[]', index.map(writeInline), 6)}`] : []),
    ...(references ? [`"references": ${writeLines('[]', references.map(writeInline), 6)}`] : []),
    ...(search ? [`"search": ${writeInline(search)}`] : []),
  ]
  return writeLines('{}', members, 4)
}

/** Each member on its own line, so that changes of two branches merge. */
function writeLines([open, close]: string | readonly string[], lines: readonly string[], indent: number): string {
  if (lines.length === 0) return `${open}${close}`
  const space = ' '.repeat(indent)
  return `${open}\n${lines.map((line) => `${space}  ${line}`).join(',\n')}\n${space}${close}`
}

function writeInline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeInline).join(', ')}]`
  if (typeof value !== 'object' || value === null) return write(value)
  return `{ ${Object.entries(value)
    .map(([key, member]) => `${write(key)}: ${writeInline(member)}`)
    .join(', ')} }`
}

function write(value: unknown): string {
  return JSON.stringify(value)
}

/** Returns the tables in the order of a snapshot: names sorted, columns as they are, keys in a fixed order, nothing empty. */
export function sortTables({ tables }: TablesSnapshot): TablesSnapshot {
  return {
    tables: Object.fromEntries(sortEntries(Object.entries(tables)).map(([name, table]) => [name, sortTable(table)])),
  }
}

function sortTable({ schema, view, columns, key, unique, index, references, search }: TableSnapshot): TableSnapshot {
  return {
    ...(schema !== undefined && { schema }),
    ...(view && { view }),
    columns: Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, sortColumn(column)])),
    ...(key !== undefined && key.length > 0 && { key }),
    ...listed('unique', unique),
    ...listed('index', index),
    ...listed('references', references?.map(sortForeignKey)),
    ...(search && { search: sortSearch(search) }),
  }
}

function sortColumn(column: ColumnSnapshot): ColumnSnapshot {
  const { type, length, as, values, precision, scale, items } = column
  return {
    type,
    ...(length !== undefined && { length }),
    ...(as !== undefined && as !== '' && { as }),
    ...(values !== undefined && { values }),
    ...(precision !== undefined && { precision }),
    ...(scale !== undefined && scale !== 0 && { scale }),
    ...(items !== undefined && { items }),
    ...(column.null && { null: true }),
    ...(column.default && { default: true }),
    ...(column.generated && { generated: true }),
    ...(column.form !== undefined && { form: column.form }),
    ...(column.written !== undefined && { written: column.written }),
    ...(column.now && { now: true }),
  }
}

function sortSearch({ columns, configuration }: SearchSnapshot): SearchSnapshot {
  return { columns, ...(configuration !== undefined && { configuration }) }
}

function sortForeignKey({ columns, table, to, on_delete: onDelete }: ForeignKeySnapshot): ForeignKeySnapshot {
  return { columns, table, to, ...(onDelete && { on_delete: onDelete }) }
}

function listed<Item>(name: string, items: readonly Item[] = []): Readonly<Record<string, readonly Item[]>> {
  const byText = new Map(items.map((item) => [JSON.stringify(item), item]))
  return byText.size === 0 ? {} : { [name]: sortEntries([...byText]).map(([, item]) => item) }
}

/** The order does not depend on the locale. */
function sortEntries<Value>(entries: readonly (readonly [string, Value])[]): (readonly [string, Value])[] {
  return entries.toSorted(([a], [b]) => (a < b ? -1 : Number(a > b)))
}

/** Parses a `tables.json`; otherwise returns what is wrong with it. */
export function parseSnapshot(text: string): Snapshot | { readonly problem: string; readonly line: number } {
  const conflict = text.split('\n').findIndex((line) => /^(<{7}|\|{7}|={7}|>{7})( |\r?$)/.test(line))
  if (conflict !== -1) return { problem: 'it contains conflict markers', line: conflict + 1 }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    const offset = Number(/at position (\d+)/.exec((error as Error).message)?.[1] ?? text.length)
    return { problem: 'it is not valid JSON', line: text.slice(0, offset).split('\n').length }
  }
  if (!isSnapshot(value)) return { problem: 'it does not have the expected structure', line: 1 }
  return { migrations: value.migrations, ...sortTables(value) }
}

const types: ReadonlySet<unknown> = new Set([
  'id', 'integer', 'bigint', 'number', 'text', 'boolean', 'timestamp', 'date', 'json', 'uuid', 'enum', 'numeric', 'array',
  'bytes', 'literal', 'other',
]) // prettier-ignore

const formPattern =
  /^(milliseconds|seconds|julian|YYYY-MM-DD[ T]HH:MM:SS(\.SSS|\.SSSSSS)?(Z|\+00:00)?|YYYY-MM-DD[ T]HH:MM:SS\[\.S\])$/

/** Whether new times can be written in a form. */
export function isWrittenForm(form: unknown): form is NonNullable<ColumnSnapshot['written']> {
  return typeof form === 'string' && formPattern.test(form)
}

function isColumn(value: unknown): boolean {
  return (
    isRecord(value) &&
    types.has(value['type']) &&
    (value['written'] === undefined || isWrittenForm(value['written'])) &&
    (value['type'] !== 'enum' || isTexts(value['values'])) &&
    (value['type'] !== 'numeric' || Number.isInteger(value['precision'])) &&
    (value['type'] !== 'array' || isColumn(value['items']))
  )
}

function isSnapshot(value: unknown): value is Snapshot {
  return (
    isMapOf(value, isRecord) &&
    isMapOf(value['migrations'], (checksum) => typeof checksum === 'string') &&
    isMapOf(value['tables'], isTable)
  )
}

function isTable(value: unknown): value is TableSnapshot {
  if (!isRecord(value)) return false
  const { columns, key, unique, index, references, search } = value
  return (
    isMapOf(columns, isColumn) &&
    (key === undefined || isTexts(key)) &&
    [unique, index].every((lists) => lists === undefined || (Array.isArray(lists) && lists.every(isTexts))) &&
    (references === undefined || (Array.isArray(references) && references.every(isForeignKey))) &&
    (search === undefined || isSearch(search))
  )
}

function isForeignKey(value: unknown): boolean {
  return isRecord(value) && isTexts(value['columns']) && isTexts(value['to']) && typeof value['table'] === 'string'
}

function isSearch(value: unknown): boolean {
  return isRecord(value) && isTexts(value['columns']) && ['string', 'undefined'].includes(typeof value['configuration'])
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isMapOf(value: unknown, isValue: (member: unknown) => boolean): value is Readonly<Record<string, unknown>> {
  return isRecord(value) && Object.values(value).every(isValue)
}
