import type { SQLInputValue, SQLOutputValue } from 'node:sqlite'
import { bindValue, readInteger, readTimestamp } from './values.ts'

type Read = (value: SQLOutputValue) => unknown

/**
 * The form in which SQLite takes a value. Integers go in as such: a JavaScript number would become a floating point
 * value, `5.0` in a text column.
 *
 * @throws WP_STORE_VALUE
 */
export function bindSqliteValue(value: unknown, index: number): SQLInputValue {
  const bound = bindValue(value, index + 1)
  if (typeof bound === 'boolean') return bound ? 1n : 0n
  if (typeof bound === 'number' && Number.isSafeInteger(bound)) return BigInt(bound)
  return bound
}

const readsByType: Readonly<Record<string, Read>> = {
  boolean: readBoolean,
  bool: readBoolean,
  json: readJson,
  jsonb: readJson,
  json_text: readJson,
  date: (value) => (typeof value === 'string' ? value.slice(0, 10) : readPlain(value)),
  datetime: readPoint,
  timestamp: readPoint,
  timestamptz: readPoint,
  timestamp_text: readPoint,
}

/** How the values of a column are read, by the type that its table declares; null where an expression has none. */
export function readerOf(declared: string | null): Read {
  const name = declared?.replace(/\s*\(.*/s, '').toLowerCase()
  return (name !== undefined && Object.hasOwn(readsByType, name) && readsByType[name]) || readPlain
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

function readJson(value: SQLOutputValue): unknown {
  if (typeof value !== 'string') return readPlain(value)
  try {
    return JSON.parse(value)
  } catch {
    return value // SQLite lets any text into the column; a row must stay readable
  }
}

function readPoint(value: SQLOutputValue): unknown {
  if (typeof value === 'string') return readTimestamp(value)
  const milliseconds = typeof value === 'bigint' ? Number(value) : value
  if (typeof milliseconds !== 'number') return readPlain(value)
  const point = new Date(milliseconds)
  return Number.isNaN(point.getTime()) ? milliseconds : point.toISOString()
}
