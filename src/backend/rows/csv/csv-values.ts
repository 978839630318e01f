import type { ColumnSnapshot } from '../../../contract/index.ts'
import { readCsvText, writeCsvCell } from '../../../store/index.ts'
import { assertJson, parseColumn } from '../exact-json.ts'
import type { CsvField } from './parse-csv.ts'

/** Writes a line of a CSV file. */
export function writeLine(values: readonly unknown[]): string {
  return `${values.map(writeValue).join(',')}\r\n`
}

function writeValue(value: unknown): string {
  if (value === null || value === undefined) return ''
  return writeCsvCell(typeof value === 'string' ? value : JSON.stringify(value))
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
      return readCsvText(text)
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
