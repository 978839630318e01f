import type { SQLInputValue, SQLOutputValue } from 'node:sqlite'
import { writeDecimal, type Decimal } from '../../contract/index.ts'
import { bindValue, readInteger, readTimestamp } from './values.ts'

type Read = (value: SQLOutputValue) => unknown

/**
 * Converts a value for SQLite. Integers are bound as bigint: a JavaScript number would become a floating point value,
 * `5.0` in a text column.
 *
 * @throws WP_STORE_VALUE
 */
export function bindSqliteValue(value: unknown, index: number): SQLInputValue {
  const bound = isDecimal(value) ? value.toSqlite() : bindValue(value, index + 1)
  if (typeof bound === 'boolean') return bound ? 1n : 0n
  if (typeof bound === 'number' && Number.isSafeInteger(bound)) return BigInt(bound)
  return bound
}

/** A project may have its own copy of the class. */
function isDecimal(value: unknown): value is Decimal {
  return typeof value === 'object' && value !== null && 'toSqlite' in value
}

const readsByType: Readonly<Record<string, Read>> = {
  boolean: readBoolean,
  bool: readBoolean,
  json: readJson,
  jsonb: readJson,
  json_text: readJson,
  date: (value) => (typeof value === 'string' ? value.slice(0, 10) : readPlain(value)),
  datetime: readTime,
  timestamp: readTime,
  timestamptz: readTime,
  timestamp_text: readTime,
}

/** Returns the reader of a column's values by its declared type; null for an expression without one. */
export function readerOf(declared: string | null): Read {
  const name = declared?.replace(/\s*\(.*/s, '').toLowerCase()
  if (name === 'decimal_integer') return makeReadDecimal(declared!)
  if (declared?.endsWith('[]') === true) return readJson
  return (name !== undefined && Object.hasOwn(readsByType, name) && readsByType[name]) || readPlain
}

/** Exact decimals are stored as integers of the smallest unit: `decimal_integer(10,2)`. */
function makeReadDecimal(declared: string): Read {
  const scale = Number(/,\s*(\d+)\)/.exec(declared)?.[1] ?? 0)
  return (value) => (typeof value === 'bigint' ? writeDecimal(value, scale) : readPlain(value))
}

function readPlain(value: SQLOutputValue): unknown {
  if (typeof value === 'bigint') return readInteger(value)
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  return value
}

function readBoolean(value: SQLOutputValue): unknown {
  if (value === 0n || value === 1n) return value === 1n
  return readPlain(value)
}

export function readJson(value: SQLOutputValue): unknown {
  if (typeof value !== 'string') return readPlain(value)
  try {
    return JSON.parse(value)
  } catch {
    return value // SQLite accepts any text in the column; the row must stay readable
  }
}

function readTime(value: SQLOutputValue): unknown {
  if (typeof value === 'string') return readTimestamp(value)
  const milliseconds = typeof value === 'bigint' ? Number(value) : value
  if (typeof milliseconds !== 'number') return readPlain(value)
  const time = new Date(milliseconds)
  return Number.isNaN(time.getTime()) ? milliseconds : time.toISOString()
}
