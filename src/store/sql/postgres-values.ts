import { TypeOverrides, type CustomTypesConfig } from 'pg'
import { bindValue, readInteger, readTimestamp } from './values.ts'

const text = (value: string) => value

// Object ids from PostgreSQL's catalogue pg_type.
const parsers: Readonly<Record<number, (text: string) => unknown>> = {
  20: readInteger, // int8, also for count(*)
  1700: readNumeric,
  1082: text, // date
  1114: readTimestamp, // timestamp
  1184: readTimestamp, // timestamptz
  1186: text, // interval
}

/** Returns parsers for the connections of Waypost, which return the same values as SQLite. */
export function postgresTypes(): CustomTypesConfig {
  const types = new TypeOverrides()
  for (const [oid, parse] of Object.entries(parsers)) types.setTypeParser(Number(oid), parse)
  return types
}

/** Reads sum() and avg() of integers as a number, unless an integer would lose digits. */
function readNumeric(value: string): number | string {
  return /^-?\d+$/.test(value) ? readInteger(value) : Number(value)
}

/** Passes a list as an array parameter of PostgreSQL, as in `= any($1)`. Other lists are sent as JSON. */
export function arrayParameter(values: readonly unknown[]): { toPostgres(): readonly unknown[] } {
  return { toPostgres: () => values }
}

/**
 * Converts a value for `pg`.
 * @throws WP_STORE_VALUE
 */
export function bindPostgresValue(value: unknown, index: number): unknown {
  if (typeof value === 'object' && value !== null && 'toPostgres' in value) return value
  return bindValue(value, index + 1)
}
