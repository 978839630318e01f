import { parseDuration } from './time.ts'

/** A parsed crontab schedule: which minutes of which days. */
export interface Schedule {
  /** Minutes since midnight, ascending. */
  readonly minutes: readonly number[]
  /** Whether it runs in every hour, so that it follows elapsed time and is not affected by daylight saving time. */
  readonly everyHour: boolean
  /**
   * @param month from 1
   * @param weekday 0 is Sunday
   */
  hasDay(month: number, day: number, weekday: number): boolean
}

interface Field {
  readonly name: string
  readonly minimum: number
  readonly maximum: number
  readonly names?: readonly string[]
}

const monthNames = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const dayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

const fields: readonly Field[] = [
  { name: 'minute', minimum: 0, maximum: 59 },
  { name: 'hour', minimum: 0, maximum: 23 },
  { name: 'day of the month', minimum: 1, maximum: 31 },
  { name: 'month', minimum: 1, maximum: 12, names: monthNames },
  { name: 'day of the week', minimum: 0, maximum: 7, names: dayNames },
]
const maxMonthDays = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** Parses the five fields of a crontab schedule, or describes what is wrong with them. */
export function parseSchedule(text: string): { readonly schedule: Schedule } | { readonly problem: string } {
  const parts = text.trim() === '' ? [] : text.trim().split(/\s+/)
  if (parts.length !== fields.length) {
    return { problem: `A schedule has five fields (minute, hour, day, month, weekday), not ${parts.length}` }
  }
  const sets: Set<number>[] = []
  for (const [index, field] of fields.entries()) {
    const values = new Set<number>()
    for (const item of parts[index]!.split(',')) {
      const found = parseItem(item, field)
      if (found === undefined) return { problem: `"${item}" is not a valid ${field.name} (${describeRange(field)})` }
      for (const value of found) values.add(value)
    }
    sets.push(values)
  }
  return makeSchedule(parts, sets)
}

/** Whether a time zone of this name exists. Rejects offsets such as +02:00, which have no daylight saving time. */
export function isTimezone(name: string): boolean {
  try {
    return /^[A-Za-z]/.test(Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone)
  } catch {
    return false
  }
}

function makeSchedule(
  parts: readonly string[],
  sets: readonly ReadonlySet<number>[],
): ReturnType<typeof parseSchedule> {
  const [minutes, hours, days, months, weekdays] = sets as [
    Set<number>,
    Set<number>,
    Set<number>,
    Set<number>,
    Set<number>,
  ]
  if (weekdays.has(7)) weekdays.add(0) // both are Sunday
  // Standard cron behaviour: if both day fields are restricted, one match is enough.
  const isEither = !parts[2]!.startsWith('*') && !parts[4]!.startsWith('*')
  const firstDay = Math.min(...days)
  if (!isEither && ![...months].some((month) => maxMonthDays[month - 1]! >= firstDay)) {
    return { problem: `This schedule never matches: its months have no day ${firstDay}` }
  }
  return {
    schedule: {
      minutes: [...hours].flatMap((hour) => [...minutes].map((minute) => hour * 60 + minute)).sort((a, b) => a - b),
      everyHour: hours.size === 24,
      hasDay(month, day, weekday) {
        if (!months.has(month)) return false
        return isEither ? days.has(day) || weekdays.has(weekday) : days.has(day) && weekdays.has(weekday)
      },
    },
  }
}

function describeRange({ minimum, maximum, names }: Field): string {
  return `${minimum} to ${maximum}${names === undefined ? '' : `, or ${names[0]} to ${names.at(-1)}`}, *, 1-5, */2`
}

/** Returns the values of one list item: `*`, `5`, `1-5`, `1-5/2` or `*` with a step. */
function parseItem(item: string, field: Field): number[] | undefined {
  const [range = '', step, ...more] = item.split('/')
  if (more.length > 0 || (step !== undefined && !/^[1-9]\d{0,3}$/.test(step))) return undefined
  if (range === '*') return count(field.minimum, field.maximum, step)
  const [from = '', to, ...rest] = range.split('-')
  if (rest.length > 0 || (step !== undefined && to === undefined)) return undefined
  const first = valueOf(from, field)
  const last = to === undefined ? first : valueOf(to, field)
  return first === undefined || last === undefined || first > last ? undefined : count(first, last, step)
}

function count(first: number, last: number, step = '1'): number[] {
  const values: number[] = []
  for (let value = first; value <= last; value += Number(step)) values.push(value)
  return values
}

function valueOf(text: string, { minimum, maximum, names }: Field): number | undefined {
  const named = names?.indexOf(text.toLowerCase()) ?? -1
  if (named !== -1) return minimum === 0 ? named : named + 1
  const value = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN
  return value >= minimum && value <= maximum ? value : undefined
}

/**
 * Parses how long a cronjob may run: by default one hour, at most one day. Returns milliseconds, or undefined if it is
 * invalid.
 */
export function parseCronjobTimeout(text = '1h'): number | undefined {
  const ms = parseDuration(text)
  return ms !== undefined && ms > 0 && ms <= 86_400_000 ? ms : undefined
}
