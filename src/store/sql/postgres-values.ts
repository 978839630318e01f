import { TypeOverrides, type CustomTypesConfig } from 'pg'
import { bindValue, readInteger, readTimestamp } from './values.ts'

const text = (value: string) => value

// The object ids of PostgreSQL's catalogue pg_type.
const parsers: Readonly<Record<number, (text: string) => unknown>> = {
  20: readInteger, // int8: count(*) too
  1700: readNumeric,
  1082: text, // date
  1114: readTimestamp, // timestamp
  1184: readTimestamp, // timestamptz
  1186: text, // interval
}

/** How values are read on Waypost's connections, so that they are those that SQLite gives too. */
export function postgresTypes(): CustomTypesConfig {
  const types = new TypeOverrides()
  for (const [oid, parse] of Object.entries(parsers)) types.setTypeParser(Number(oid), parse)
  return types
}

/** sum() and avg() of integers are of this type: a number, but for an integer that would lose digits. */
function readNumeric(value: string): number | string {
  return /^-?\d+$/.test(value) ? readInteger(value) : Number(value)
}

/** A list for an array parameter of PostgreSQL, as in `= any($1)`; any other list goes out as JSON. */
export function arrayParameter(values: readonly unknown[]): { toPostgres(): readonly unknown[] } {
  return { toPostgres: () => values }
}

/** The form in which `pg` takes a value. @throws WP_STORE_VALUE */
export function bindPostgresValue(value: unknown, index: number): unknown {
  if (typeof value === 'object' && value !== null && 'toPostgres' in value) return value
  return bindValue(value, index + 1)
}
