import { errors } from './errors.ts'

/** What both databases take as it is. */
export type Bindable = null | string | number | bigint | boolean | Uint8Array

/**
 * The form in which a JavaScript value goes into a statement, on either database: a Date as ISO text in UTC, an object or
 * list as JSON text.
 *
 * @param position of the value in the statement, from 1, for the message
 * @throws WP_STORE_VALUE for undefined, NaN and what has no JSON
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

/** An integer as a number where that is exact, else as its digits. */
export function readInteger(value: bigint | string): number | string {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : String(value)
}

const canonical = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
// What a database or SQLite's own functions write: a date, a time after a blank or T, a zone or none, which means UTC.
const written = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d)(:\d\d)?(?:\.(\d+))?)? ?(Z|[+-]\d\d(?::?\d\d)?)?$/

/** A point in time as ISO text in UTC with milliseconds; a text that is none (`infinity`, a year before 1) as it is. */
export function readTimestamp(text: string): string {
  if (canonical.test(text)) return text
  const match = written.exec(text)
  if (match === null) return text
  const [, date, time = '00:00', seconds = ':00', fraction = '', zone = 'Z'] = match
  const iso = `${date}T${time}${seconds}.${fraction.slice(0, 3).padEnd(3, '0')}`
  if (zone === 'Z' || zone === '+00') return `${iso}Z`
  const point = new Date(iso + (zone.length === 3 ? `${zone}:00` : zone))
  return Number.isNaN(point.getTime()) ? text : point.toISOString()
}
