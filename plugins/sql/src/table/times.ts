/** A day of the years 1 to 9999, for a regular expression. */
export const dayPattern = String.raw`(?!0000)\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])`

/** Returns a time of RFC 3339 in UTC, as it is read: with milliseconds, and with microseconds if it has any. */
export function normalizeTime(text: string, hasMicroseconds: boolean): string | undefined {
  const [, seconds, fraction = '', zone] = /^(.{19})(?:\.(\d+))?(.*)$/.exec(text) ?? []
  if (seconds === undefined || zone === undefined) return undefined
  const isLeapSecond = seconds.endsWith('60') // stored as the following second, as PostgreSQL does
  const time = new Date(`${isLeapSecond ? `${seconds.slice(0, -2)}59` : seconds}${zone}`)
  if (Number.isNaN(time.getTime())) return undefined
  if (isLeapSecond) time.setTime(time.getTime() + 1000)
  const utc = time.toISOString()
  if (utc.length !== 24 || utc < '0001') return undefined
  const digits = fraction.slice(0, 6).padEnd(6, '0')
  const isShort = !hasMicroseconds || digits.endsWith('000')
  return `${utc.slice(0, 19)}.${isShort ? digits.slice(0, 3) : digits}Z`
}

/** Whether the day of a date or time exists. JavaScript accepts February 30. */
export function isDay(value: unknown): boolean {
  const day = String(value).slice(0, 10)
  const date = new Date(day)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day) && !Number.isNaN(Date.parse(String(value)))
}
