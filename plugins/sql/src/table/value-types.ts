import { makeJsonWriter } from './json-column.ts'
import type { PlanColumn, TypedColumn, ValueType } from './plan.ts'
import { dayPattern, isDay, normalizeTime } from './times.ts'

export type Schema = Readonly<Record<string, unknown>>

/** Throws that a value cannot be stored. */
export type Reject = (expected: string) => never

export interface BindPlace {
  readonly column: PlanColumn
  readonly reject: Reject
  /** Whether times keep their microseconds. */
  readonly hasMicroseconds: boolean
}

/** What holds for the values of a type, wherever they are: bodies, parameters, filters, cursors, rows and constants. */
export interface ValueRules {
  /** The schema of a value in requests. */
  request(column: TypedColumn): Schema
  /** The schema of a value in responses, if it differs: it has no limits that other writers of the table may exceed. */
  response?(column: TypedColumn): Schema
  /** How callers can filter by values: not at all, by equality, or by their order too. */
  readonly filter: 'none' | 'equal' | 'ordered'
  /** Whether lists can be sorted by it. */
  readonly isSortable: boolean
  /** Whether a value may be so large that a page of a list is limited by its bytes. */
  readonly isLarge?: true
  /** Converts a value of a request for a statement; by default, it is bound as it is. */
  bind?(place: BindPlace): (value: unknown) => unknown
  /** Whether a value of a row has the form that the schema of responses declares. */
  fits(value: unknown, column: TypedColumn): boolean
  /** Returns what a constant of a config must be instead; undefined if it is a value. By default, all are. */
  constant?(value: unknown, column: TypedColumn): string | undefined
}

const isText = (pattern: RegExp) => (value: unknown) => typeof value === 'string' && pattern.test(value)
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
    filter: 'ordered',
    isSortable: true,
    fits: isInteger,
    constant: isSafe,
  },
  integer: {
    request: () => ({ type: 'integer', minimum: -(2 ** 31), maximum: 2 ** 31 - 1 }),
    response: () => ({ type: 'integer' }),
    filter: 'ordered',
    isSortable: true,
    fits: isInteger,
    constant: must(
      (value) => Number.isInteger(value) && Math.abs(Number(value) + 0.5) < 2 ** 31,
      'an integer of 32 bits',
    ),
  },
  bigint: {
    request: () => ({ type: ['integer', 'string'], ...safe, pattern: '^-?(0|[1-9][0-9]{0,18})$' }),
    response: () => ({ type: ['integer', 'string'] }),
    filter: 'ordered',
    isSortable: true,
    bind:
      ({ reject }) =>
      (value) =>
        toBigint(value) ?? reject('an integer of 64 bits'),
    fits: (value) => isInteger(value) || isText(/^-?\d{1,19}$/)(value),
    constant: isSafe,
  },
  number: {
    request: () => ({ type: 'number' }),
    filter: 'ordered',
    isSortable: true,
    fits: (value) => typeof value === 'number',
    constant: must(Number.isFinite, 'a number'),
  },
  text: {
    request: ({ length }) => ({ type: 'string', ...(length !== undefined && { maxLength: length }) }),
    response: () => ({ type: 'string' }),
    filter: 'equal',
    isSortable: true,
    isLarge: true,
    fits: (value) => typeof value === 'string',
    constant: (value, { length = Infinity }) => {
      if (!isText(/^[^\0]*$/)(value)) return 'must be a string; put it in quotes'
      return Array.from(String(value)).length > length ? `must have at most ${length} characters` : undefined
    },
  },
  boolean: {
    request: () => ({ type: 'boolean' }),
    filter: 'equal',
    isSortable: true,
    fits: (value) => typeof value === 'boolean',
    constant: must((value) => typeof value === 'boolean', 'true or false'),
  },
  timestamp: {
    request: () => ({ type: 'string', format: 'date-time' }),
    filter: 'ordered',
    isSortable: true,
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
    filter: 'ordered',
    isSortable: true,
    bind:
      ({ reject }) =>
      (value) =>
        String(value) >= '0001' ? value : reject('a date between the years 1 and 9999'),
    fits: isText(new RegExp(`^${dayPattern}$`)),
    constant: must((value) => isText(/^\d{4}-\d\d-\d\d$/)(value) && isDay(value), 'a date such as "2027-01-31"'),
  },
  json: {
    request: () => ({}),
    filter: 'none',
    isSortable: false,
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
    filter: 'equal',
    isSortable: true,
    bind: () => (value) => String(value).toLowerCase(), // as PostgreSQL stores it; SQLite compares text
    fits: isText(/^[\da-f]{8}-([\da-f]{4}-){3}[\da-f]{12}$/i),
    constant: must(isText(/^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/), 'a UUID in lower case'),
  },
}

function toBigint(value: unknown): bigint | undefined {
  if (!/^-?\d{1,19}$/.test(String(value))) return undefined
  const integer = BigInt(value as number | string)
  return BigInt.asIntN(64, integer) === integer ? integer : undefined
}
