import type { ColumnSnapshot } from '../../../contract/index.ts'
import { assertJson, parseColumn } from '../exact-json.ts'
import type { CsvField } from './parse-csv.ts'

/** What spreadsheets would run as a formula, some of them also with wide characters. */
const formula = /^'*[=+\-@\t\r\n\uFF0B\uFF0D\uFF1D\uFF20]/
const escaped = /^'+[=+\-@\t\r\n\uFF0B\uFF0D\uFF1D\uFF20]/

/** Types whose values are never formulas. */
const plainTypes: ReadonlySet<string> = new Set([
  'numeric',
  'id',
  'integer',
  'bigint',
  'number',
  'boolean',
  'timestamp',
  'date',
  'uuid',
  'json',
])

/** Writes a line of a CSV file. Null is empty, an empty text is in quotes, and formulas begin with an apostrophe. */
export function writeLine(values: readonly unknown[], columns: readonly ColumnSnapshot[]): string {
  return `${values.map((value, index) => writeField(value, columns[index])).join(',')}\r\n`
}

function writeField(value: unknown, column: ColumnSnapshot | undefined): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const isPlain = column !== undefined && plainTypes.has(column.type)
  const safe = !isPlain && formula.test(text) ? `'${text}` : text
  return safe === '' || /[",;\t\r\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Returned for a column whose value the database sets. */
export const unset = Symbol('unset')

/**
 * Reads a value for a column. Text that is not of its type is returned unchanged, and the check of the row reports it.
 * @throws SyntaxError with the reason, for JSON
 */
export function readField({ text, isQuoted }: CsvField, column: ColumnSnapshot): unknown {
  const type: string = column.type
  if (text === '' && !isQuoted) return readEmpty(column)
  switch (type) {
    case 'id':
    case 'integer':
    case 'number':
      return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text
    case 'bigint':
    case 'numeric':
      return text.trim()
    case 'boolean':
      return booleans.get(text.trim().toLowerCase()) ?? text
    case 'timestamp':
      return text.replace(localTime, '$1T$2Z')
    case 'json':
      return parseColumn(text)
    case 'array':
      assertJson(text)
      return JSON.parse(text) as unknown
    case 'date':
    case 'uuid':
      return text.trim()
    default:
      return escaped.test(text) ? text.slice(1) : text
  }
}

function readEmpty({ type, null: isNullable, default: hasDefault }: ColumnSnapshot): unknown {
  if (isNullable === true) return null
  return hasDefault === true || type === 'id' ? unset : ''
}

const booleans: ReadonlyMap<string, boolean> = new Map([
  ['true', true], ['t', true], ['yes', true], ['y', true], ['1', true],
  ['false', false], ['f', false], ['no', false], ['n', false], ['0', false],
]) // prettier-ignore

/** A time without a zone, as spreadsheets and databases write it, is in UTC. */
const localTime = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:\.\d+)?)$/
