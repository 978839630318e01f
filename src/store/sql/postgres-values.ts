import { TypeOverrides, types as pgTypes, type CustomTypesConfig } from 'pg'
import { bindValue, readInteger, readTimestamp } from './values.ts'

type Parse = (text: string) => unknown

const text: Parse = (value) => value

// Object ids from PostgreSQL's catalogue pg_type.
const parsers: Readonly<Record<number, Parse>> = {
  20: readInteger, // int8, also for count(*)
  1700: text, // numeric, also for sum() of bigint and for avg(): a number would lose digits
  1082: text, // date
  1114: readTimestamp, // timestamp
  1184: readTimestamp, // timestamptz
  1186: text, // interval
}

/** Arrays whose items `pg` reads in another way, by the type of their items. */
const arraysByItem: Readonly<Record<number, number>> = {
  20: 1016,
  1700: 1231,
  1082: 1182,
  1114: 1115,
  1184: 1185,
  1186: 1187,
}

/** Returns parsers for the connections of Waypost, which return the same values as SQLite. */
export function postgresTypes(): CustomTypesConfig {
  const types = new TypeOverrides()
  for (const [oid, parse] of Object.entries(parsers)) {
    types.setTypeParser(Number(oid), parse)
    types.setTypeParser(arraysByItem[Number(oid)]!, (value: string) => readArray(value, parse))
  }
  return types
}

function readArray(value: string, parse: Parse): unknown {
  const { create } = pgTypes.arrayParser as unknown as ArrayParser // its types describe another version
  return create(value, (item) => (item === null ? null : parse(item))).parse()
}

interface ArrayParser {
  create(text: string, transform: (item: string | null) => unknown): { parse(): unknown[] }
}

/** A list as a parameter, which is written when the type of the parameter is known. */
export class ListParameter {
  readonly #values: readonly unknown[]
  readonly #position: number

  constructor(values: readonly unknown[], position: number) {
    this.#values = values
    this.#position = position
  }

  /** @throws WP_STORE_VALUE */
  write(isArray: boolean): string {
    return isArray ? writeArray(this.#values, this.#position) : JSON.stringify(this.#values)
  }
}

/** https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO */
function writeArray(values: readonly unknown[], position: number): string {
  const items = values.map((value) => {
    if (value === null) return 'NULL'
    if (Array.isArray(value)) return writeArray(value, position)
    const bound = bindValue(value, position)
    const item = bound instanceof Uint8Array ? `\\x${Buffer.from(bound).toString('hex')}` : String(bound)
    return `"${item.replaceAll(/["\\]/g, String.raw`\$&`)}"`
  })
  return `{${items.join()}}`
}

/** Passes a list as an array parameter of PostgreSQL, as in `= any($1)`, without asking for the type of the parameter. */
export function arrayParameter(values: readonly unknown[]): { toPostgres(): readonly unknown[] } {
  return { toPostgres: () => values }
}

/**
 * Converts a value for `pg`. Lists are not written yet.
 * @throws WP_STORE_VALUE
 */
export function bindPostgresValue(value: unknown, index: number): unknown {
  if (Array.isArray(value)) return new ListParameter(value, index + 1)
  if (typeof value === 'object' && value !== null && 'toPostgres' in value) return value
  return bindValue(value, index + 1)
}
