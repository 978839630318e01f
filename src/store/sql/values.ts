import { errors } from './errors.ts'

/** Values that both databases accept unchanged. */
export type Bindable = null | string | number | bigint | boolean | Uint8Array

/**
 * Converts a JavaScript value for a statement on either database: a Date to ISO text in UTC, an object or array to JSON
 * text.
 *
 * @param position position of the value in the statement, from 1, for the message
 * @throws WP_STORE_VALUE for undefined, NaN and values without JSON
 */
export function bindValue(value: unknown, position: number): Bindable {
  switch (typeof value) {
    case 'string':
    case 'bigint':
    case 'boolean':
      return value
    case 'number':
      if (Number.isNaN(value)) throw errors.WP_STORE_VALUE({ position, what: 'NaN' })
      return value
    case 'object':
      return bindObject(value, position)
    default:
      throw errors.WP_STORE_VALUE({ position, what: typeof value })
  }
}

function bindObject(value: object | null, position: number): Bindable {
  if (value === null || value instanceof Uint8Array) return value
  if (!(value instanceof Date)) return JSON.stringify(value)
  if (Number.isNaN(value.getTime())) throw errors.WP_STORE_VALUE({ position, what: 'an invalid Date' })
  return value.toISOString()
}

/** Returns an integer as a number if that is exact, otherwise as a string. */
export function readInteger(value: bigint | string): number | string {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : String(value)
}

const canonical = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
// The formats of databases and of SQLite's functions: a date, an optional time after a blank or T, an optional zone;
// UTC by default.
const timestampPattern = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d)(:\d\d)?(?:\.(\d+))?)? ?(Z|[+-]\d\d(?::?\d\d)?)?$/

/** What PostgreSQL writes, without zeros at the end of the fraction. */
const utcPattern = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?\+00$/
const fractionStart = '2026-11-20 08:00:00.'.length

/**
 * Returns a time as ISO text in UTC with milliseconds, or with microseconds if it has any: a time that was read must
 * select the same row again. Returns text that is not a time unchanged (`infinity`, a year before 1).
 */
export function readTimestamp(text: string): string {
  if (canonical.test(text)) return text
  if (utcPattern.test(text)) return toUtc(text)
  const match = timestampPattern.exec(text)
  if (match === null) return text
  const [, date, time = '00:00', seconds = ':00', fraction = '', zone = 'Z'] = match
  const iso = `${date}T${time}${seconds}`
  const digits = fraction.slice(0, 6).padEnd(6, '0')
  const end = digits.endsWith('000') ? `.${digits.slice(0, 3)}Z` : `.${digits}Z`
  if (zone === 'Z' || zone === '+00') return iso + end
  const point = new Date(iso + (zone.length === 3 ? `${zone}:00` : zone))
  return Number.isNaN(point.getTime()) ? text : point.toISOString().replace(/\.000Z$/, end)
}

/** A third of the time of the general case, for lists of many rows. */
function toUtc(text: string): string {
  const end = text.length - '+00'.length
  const digits = Math.max(end - fractionStart, 0)
  const zeros = '0'.repeat((digits <= 3 ? 3 : 6) - digits)
  return `${text.slice(0, 10)}T${text.slice(11, end)}${digits === 0 ? '.' : ''}${zeros}Z`
}
