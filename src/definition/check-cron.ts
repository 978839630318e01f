import { nearest } from '../kit/index.ts'

interface Field {
  readonly name: string
  readonly minimum: number
  readonly maximum: number
  readonly names?: readonly string[]
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

const fields: readonly Field[] = [
  { name: 'minute', minimum: 0, maximum: 59 },
  { name: 'hour', minimum: 0, maximum: 23 },
  { name: 'day of the month', minimum: 1, maximum: 31 },
  { name: 'month', minimum: 1, maximum: 12, names: months },
  { name: 'day of the week', minimum: 0, maximum: 7, names: days },
]

/** What is wrong with a crontab schedule; undefined if nothing is. */
export function checkSchedule(schedule: string): string | undefined {
  const parts = schedule.trim().split(/\s+/)
  if (parts.length !== fields.length) {
    return `A schedule has five fields (minute, hour, day, month, weekday), not ${schedule.trim() === '' ? 0 : parts.length}`
  }
  for (const [index, field] of fields.entries()) {
    const wrong = parts[index]!.split(',').find((item) => !isItem(item, field))
    if (wrong !== undefined) return `"${wrong}" is no ${field.name} (${describeRange(field)})`
  }
  return undefined
}

function describeRange({ minimum, maximum, names }: Field): string {
  return `${minimum} to ${maximum}${names === undefined ? '' : `, or ${names[0]} to ${names.at(-1)}`}, *, 1-5, */2`
}

function isItem(item: string, field: Field): boolean {
  const [range = '', step, ...more] = item.split('/')
  if (more.length > 0 || (step !== undefined && !/^[1-9]\d{0,3}$/.test(step))) return false
  if (range === '*') return true
  const [from = '', to, ...rest] = range.split('-')
  if (rest.length > 0 || (step !== undefined && to === undefined)) return false
  const first = valueOf(from, field)
  const last = to === undefined ? first : valueOf(to, field)
  return first !== undefined && last !== undefined && first <= last
}

function valueOf(text: string, { minimum, maximum, names }: Field): number | undefined {
  const named = names?.indexOf(text.toLowerCase()) ?? -1
  if (named !== -1) return minimum === 0 ? named : named + 1
  const value = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN
  return value >= minimum && value <= maximum ? value : undefined
}

/** What is wrong with the name of a time zone; undefined if nothing is. */
export function checkTimezone(
  name: string,
): { readonly problem: string; readonly hint?: string | undefined } | undefined {
  try {
    // An offset such as +02:00 is accepted too, but knows no summer time and is no name.
    if (/^[A-Za-z]/.test(Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone)) return undefined
  } catch {
    // Not known: said below.
  }
  const near = nearest(name, Intl.supportedValuesOf('timeZone'))
  const hint = near === undefined ? 'Write a name such as UTC or Europe/Berlin' : `Did you mean "${near}"?`
  return { problem: `There is no time zone "${name}"`, hint }
}
