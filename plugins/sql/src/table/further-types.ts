import { decimal, scaleDecimal } from 'waypost'
import type { TypedColumn } from './plan.ts'
import { byEquality, byOrder, isText, notCompared, type ValueRules } from './value-rules.ts'

/** A text of a fixed list: with a check constraint, or a type of PostgreSQL. */
export const enumRules: ValueRules = {
  request: ({ values }) => ({ type: 'string', enum: values }),
  comparison: byEquality,
  fits: (value, { values }) => values!.includes(value as string),
  constant: (value, { values }) =>
    values!.includes(value as string) ? undefined : `must be one of ${values!.join(', ')}`,
}

function decimalPattern({ precision, scale = 0 }: TypedColumn): string {
  if (precision === undefined) return String.raw`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`
  const whole = precision - scale
  const integer = whole > 1 ? `(0|[1-9][0-9]{0,${whole - 1}})` : whole === 1 ? '[0-9]' : '0'
  return `^-?${integer}${scale === 0 ? '' : String.raw`(\.[0-9]{1,${scale}})?`}$`
}

/** The longest text of a decimal whose digits are not limited. */
const maxDecimalLength = 200

/** An exact decimal: a text with all its digits. SQLite stores an integer of the smallest unit. */
export const numericRules: ValueRules = {
  request: (column) => ({
    type: 'string',
    format: 'decimal',
    pattern: decimalPattern(column),
    ...(column.precision === undefined && { maxLength: maxDecimalLength }),
  }),
  response: () => ({ type: 'string', format: 'decimal' }),
  comparison: byOrder,
  bind:
    ({ column: { scale = 0, precision }, kind, reject }) =>
    (value) => {
      const text = String(value)
      if (precision === undefined) return text
      if (scaleDecimal(text, scale) === undefined)
        return reject(`a decimal with ${scale} digits after the decimal point`)
      const stored = decimal(text, scale)
      return kind === 'sqlite' ? stored.toSqlite() : stored.toPostgres()
    },
  fits: isText(/^-?\d+(\.\d+)?$/),
  constant: (value, column) =>
    new RegExp(decimalPattern(column)).test(String(value))
      ? undefined
      : `must be a decimal such as "${String(decimal(1, column.scale ?? 0))}"`,
}

/** Bytes as base64. */
export const bytesRules: ValueRules = {
  request: () => ({ type: 'string', format: 'byte' }),
  response: () => ({ type: 'string', format: 'byte' }),
  comparison: notCompared,
  isLarge: true,
  bind:
    ({ reject }) =>
    (value) => {
      const bytes = Buffer.from(String(value), 'base64')
      return bytes.toString('base64') === value ? bytes : reject('base64 with its padding')
    },
  // SQLite stores any value in the column.
  read: (value) => (value instanceof Uint8Array ? Buffer.from(value).toString('base64') : Number.NaN),
  fits: (value) => typeof value === 'string',
  constant: () => 'is not supported, because the column contains bytes',
}

/** Types of PostgreSQL whose values have an order that people expect. */
const ordered: ReadonlySet<string> = new Set(
  'interval time timetz money inet cidr macaddr macaddr8 oid name citext pg_lsn xid8 ltree'.split(' '),
)
/** Those that can be compared by equality, beside those with an order and all ranges. */
const comparable: ReadonlySet<string> = new Set('bit varbit hstore tsquery'.split(' '))
const isRange = /(range|multirange)$/

/** A value of another type of PostgreSQL, as the text that the database makes of it and reads. */
export const literalRules: ValueRules = {
  request: ({ as }) => ({ type: 'string', description: `A value of the type ${as} of PostgreSQL, as text` }),
  comparison: ({ as = '' }) =>
    ordered.has(as) ? 'ordered' : comparable.has(as) || isRange.test(as) ? 'equal' : 'none',
  isLarge: true,
  fits: (value) => typeof value === 'string',
  constant: (value) => (isText(/^[^\0]*$/)(value) ? undefined : 'must be a string; put it in quotes'),
}
