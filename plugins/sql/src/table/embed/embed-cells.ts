import { writeDecimal, type DatabaseKind } from 'waypost'
import { readInteger, readTimestamp } from 'waypost/sql'
import type { PlanColumn, TypedColumn } from '../plan.ts'
import { writeRowForm } from '../row-form.ts'
import { writeRead } from '../time-form.ts'

/** How the values of embedded rows are read. */
export interface CellOptions {
  readonly kind: DatabaseKind
  /** JSON columns are read as text. */
  readonly jsonAsText: boolean
}

/**
 * Writes the expression of a value in an embedded row, which is an array in JSON. On PostgreSQL, each value is the text that
 * a row would have. On SQLite, whose columns have values of any type, it is a text or a number: JSON cannot contain bytes,
 * and numbers would lose digits.
 */
export function writeCell(column: PlanColumn, name: string, { kind, jsonAsText }: CellOptions): string {
  const { type } = column
  // A cast to text removes the blanks at the end of a `char(5)`, and adds a netmask to an `inet`.
  if (kind === 'postgresql' && type === 'array')
    return `array_to_json(${column.items?.as === 'inet' ? name : `${name}::text[]`})::text`
  if (kind === 'postgresql')
    return type === 'text' || type === 'literal'
      ? `case when ${name} is not null then concat(${name}) end`
      : `${name}::text`
  const read = writeRead(column, name)
  if (read !== undefined) return read
  const noBytes = "when 'blob' then 'bytes'" // fits no type
  // Exact; beyond 1e50, SQLite before 3.51 may change the last of 17 digits.
  const digits = `when 'real' then printf('%!.17g', ${name})`
  switch (type) {
    case 'text':
    case 'uuid':
      return `case typeof(${name}) when 'blob' then 0 else ${name} end`
    case 'number':
      return `case typeof(${name}) ${digits} ${noBytes} else ${name} end`
    case 'bytes':
      return `case typeof(${name}) when 'blob' then hex(${name}) when 'null' then null else 0 end`
    case 'json':
      // A text: what `json_quote` returns would be a part of the array.
      return jsonAsText
        ? `${writeRowForm(column, name, { kind, jsonAsText })} || ''`
        : `case typeof(${name}) ${digits} ${noBytes} else ${name} end`
    default: {
      const isSafe = `${name} between ${Number.MIN_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}`
      const integer = `when 'integer' then case when ${isSafe} then ${name} else cast(${name} as text) end`
      return `case typeof(${name}) ${integer} ${noBytes} else ${name} end`
    }
  }
}

/** The value of a column in an embedded row. */
export type Cell = string | number | null

/** Returns what makes the value of an embedded row the one that the driver reads from a row. */
export function makeCellReader(column: PlanColumn, options: CellOptions): (cell: Cell) => unknown {
  const read = options.kind === 'postgresql' ? postgresReader(column, options) : sqliteReader(column, options)
  return (cell) => (cell === null ? null : read(cell))
}

type Read = (cell: string | number) => unknown

const unchanged: Read = (cell) => cell

function postgresReader({ type, items }: TypedColumn, options: CellOptions): Read {
  const { jsonAsText } = options
  switch (type) {
    case 'bytes':
      return (cell) => Buffer.from(String(cell).slice(String.raw`\x`.length), 'hex')
    case 'array': {
      const read = postgresReader(items!, { ...options, jsonAsText: false })
      return (cell) => (JSON.parse(String(cell)) as Cell[]).map((one) => (one === null ? null : read(one)))
    }
    case 'id':
    case 'integer':
    case 'bigint':
      return (cell) => readInteger(String(cell))
    case 'number':
      return Number
    case 'boolean':
      return (cell) => cell === 'true'
    case 'timestamp':
      return (cell) => readTimestamp(String(cell))
    case 'json':
      return jsonAsText ? unchanged : readJson
    default:
      return unchanged
  }
}

function sqliteReader(column: PlanColumn, { jsonAsText }: CellOptions): Read {
  const { type } = column
  if (writeRead(column, '') !== undefined) return unchanged
  switch (type) {
    case 'numeric':
      return (cell) => (/^-?\d+$/.test(String(cell)) ? writeDecimal(BigInt(cell), column.scale ?? 0) : cell)
    case 'bytes':
      return (cell) => (typeof cell === 'string' ? Buffer.from(cell, 'hex') : cell)
    case 'array':
      return readJson
    case 'number':
      return Number
    case 'boolean':
      return (cell) => (cell === 0 || cell === 1 ? cell === 1 : cell)
    case 'date':
      return (cell) => (typeof cell === 'string' ? cell.slice(0, 10) : cell)
    case 'timestamp':
      return readTime
    case 'json':
      return jsonAsText ? unchanged : readJson
    default:
      return unchanged
  }
}

/** SQLite accepts any text in the column. */
function readJson(cell: string | number): unknown {
  try {
    return JSON.parse(String(cell)) as unknown
  } catch {
    return cell
  }
}

/** Reads a time as text or in milliseconds, as programs store it. */
function readTime(cell: string | number): unknown {
  if (typeof cell === 'string') return readTimestamp(cell)
  const time = new Date(cell)
  return Number.isNaN(time.getTime()) ? cell : time.toISOString()
}
