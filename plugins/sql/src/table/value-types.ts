import { bindList } from './bind-list.ts'
import { bytesRules, enumRules, literalRules, numericRules } from './further-types.ts'
import { makeJsonWriter } from './json-column.ts'
import type { TypedColumn, ValueType } from './plan.ts'
import { dayPattern, isDay, normalizeTime } from './times.ts'
import { byEquality, byOrder, isText, notCompared, type Schema, type ValueRules } from './value-rules.ts'

const isInteger = (value: unknown) => typeof value === 'number' && Number.isSafeInteger(value)
const safe = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }
const must = (isValid: (value: unknown) => boolean, words: string) => (value: unknown) =>
  isValid(value) ? undefined : `must be ${words}`
const isSafe = must(Number.isSafeInteger, 'an integer')

/** Integers beyond 2^53 are texts. */
export const valueTypes: Readonly<Record<ValueType, ValueRules>> = {
  id: {
    request: () => ({ type: 'integer', ...safe }),
    response: () => ({ type: 'integer' }),
    comparison: byOrder,
    fits: isInteger,
    constant: isSafe,
  },
  integer: {
    request: () => ({ type: 'integer', minimum: -(2 ** 31), maximum: 2 ** 31 - 1 }),
    response: () => ({ type: 'integer' }),
    comparison: byOrder,
    fits: isInteger,
    constant: must(
      (value) => Number.isInteger(value) && Math.abs(Number(value) + 0.5) < 2 ** 31,
      'an integer of 32 bits',
    ),
  },
  bigint: {
    request: () => ({ type: ['integer', 'string'], ...safe, pattern: '^-?(0|[1-9][0-9]{0,18})$' }),
    response: () => ({ type: ['integer', 'string'] }),
    comparison: byOrder,
    bind:
      ({ reject }) =>
      (value) =>
        toBigint(value) ?? reject('an integer of 64 bits'),
    fits: (value) => isInteger(value) || isText(/^-?\d{1,19}$/)(value),
    constant: isSafe,
  },
  number: {
    request: () => ({ type: 'number' }),
    comparison: byOrder,
    // Decimals of PostgreSQL are texts; `validate` warns about those that a number may not represent.
    read: (value) => (typeof value === 'string' ? Number(value) : value),
    fits: (value) => typeof value === 'number',
    constant: must(Number.isFinite, 'a number'),
  },
  text: {
    request: ({ length }) => ({ type: 'string', ...(length !== undefined && { maxLength: length }) }),
    response: () => ({ type: 'string' }),
    comparison: byEquality,
    isLarge: true,
    fits: (value) => typeof value === 'string',
    constant: (value, { length = Infinity }) => {
      if (!isText(/^[^\0]*$/)(value)) return 'must be a string; put it in quotes'
      return Array.from(String(value)).length > length ? `must have at most ${length} characters` : undefined
    },
  },
  boolean: {
    request: () => ({ type: 'boolean' }),
    comparison: byEquality,
    fits: (value) => typeof value === 'boolean',
    constant: must((value) => typeof value === 'boolean', 'true or false'),
  },
  timestamp: {
    request: () => ({ type: 'string', format: 'date-time' }),
    comparison: byOrder,
    bind:
      ({ reject, hasMicroseconds }) =>
      (value) =>
        normalizeTime(String(value), hasMicroseconds) ?? reject('an existing time between the years 1 and 9999'),
    fits: isText(new RegExp(`^${dayPattern}T\\d\\d:\\d\\d:\\d\\d\\.\\d{3}(\\d{3})?Z$`)),
    constant: must(
      (value) => isText(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)(value) && isDay(value),
      'a time in UTC such as "2027-01-31T12:00:00Z"',
    ),
  },
  date: {
    request: () => ({ type: 'string', format: 'date' }),
    comparison: byOrder,
    bind:
      ({ reject }) =>
      (value) =>
        String(value) >= '0001' ? value : reject('a date between the years 1 and 9999'),
    fits: isText(new RegExp(`^${dayPattern}$`)),
    constant: must((value) => isText(/^\d{4}-\d\d-\d\d$/)(value) && isDay(value), 'a date such as "2027-01-31"'),
  },
  json: {
    request: () => ({}),
    comparison: notCompared,
    isLarge: true,
    bind: ({ column, reject }) => {
      const write = makeJsonWriter(column.limits)
      return (value) => {
        const written = write(value)
        return 'text' in written ? written.text : reject(written.expected)
      }
    },
    fits: () => true,
  },
  uuid: {
    request: () => ({ type: 'string', format: 'uuid', maxLength: 36 }),
    response: () => ({ type: 'string', format: 'uuid' }),
    comparison: byEquality,
    bind: () => (value) => String(value).toLowerCase(), // as PostgreSQL stores it; SQLite compares text
    fits: isText(/^[\da-f]{8}-([\da-f]{4}-){3}[\da-f]{12}$/i),
    constant: must(isText(/^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/), 'a UUID in lower case'),
  },
  enum: enumRules,
  numeric: numericRules,
  bytes: bytesRules,
  literal: literalRules,
  array: {
    request: (column) => ({ type: 'array', items: itemOf(column).request() }),
    response: (column) => ({ type: 'array', items: itemOf(column).response() }),
    comparison: notCompared,
    isLarge: true,
    bind: ({ column, reject, ...place }) => {
      const { item, rules } = itemOf(column)
      const isJson = item.type === 'json' && place.kind === 'sqlite' // the whole array is written as JSON
      const rejectItem = (expected: string) => reject(`an array in which each element is ${expected}`)
      const one = isJson ? undefined : rules.bind?.({ column: item, reject: rejectItem, ...place })
      return (values) =>
        bindList(one === undefined ? (values as unknown[]) : (values as unknown[]).map(one), place.kind)
    },
    read: (value, column) => {
      const { item, rules } = itemOf(column)
      const { read } = rules
      return read === undefined || !Array.isArray(value) ? value : value.map((one) => read(one, item))
    },
    fits: (value, column) => {
      const { item, rules } = itemOf(column)
      return Array.isArray(value) && value.every((one) => rules.fits(one, item))
    },
  },
}

function itemOf({ items: item = { type: 'text' } }: TypedColumn) {
  const rules = valueTypes[item.type]
  return { item, rules, request: () => rules.request(item), response: () => describeResponse(item) }
}

/** Returns the schema of a value in responses. */
export function describeResponse(column: TypedColumn): Schema {
  const { request, response = request } = valueTypes[column.type]
  return response(column)
}

function toBigint(value: unknown): bigint | undefined {
  if (!/^-?\d{1,19}$/.test(String(value))) return undefined
  const integer = BigInt(value as number | string)
  return BigInt.asIntN(64, integer) === integer ? integer : undefined
}
