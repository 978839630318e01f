import type { TimeForm } from 'waypost'

/** How a value that a form cannot represent is treated: not at all, or as the last one before or the first one after it. */
export type Rounding = 'exact' | 'floor' | 'ceil'

/** A form in which a time can be written. */
export type UsableForm = Exclude<TimeForm, 'mixed'>

interface TextForm {
  readonly separator: string
  /** The digits of a second; undefined if the rows have different numbers of them. */
  readonly digits: number | undefined
  readonly zone: string
}

const textPattern = /^YYYY-MM-DD([ T])HH:MM:SS(?:\[\.S\]|\.(S+))?(Z|\+00:00)?$/

function parseForm(form: TimeForm): TextForm | undefined {
  const [match, separator = '', digits = '', zone = ''] = textPattern.exec(form) ?? []
  return match === undefined ? undefined : { separator, digits: form.includes('[') ? undefined : digits.length, zone }
}

/** Milliseconds from the beginning of the Julian days to 1970. */
const julianOffset = 210_866_760_000_000n
const dayMs = 86_400_000

/** Microseconds that a form can distinguish. */
function resolutionOf(form: TimeForm): bigint {
  if (form === 'seconds') return 1_000_000n
  const digits = parseForm(form)?.digits
  if (digits !== undefined) return 10n ** BigInt(6 - digits)
  return form === 'milliseconds' || form === 'julian' ? 1000n : 1n
}

/**
 * Returns a time in the form of a column, for the expression that `writeCompared` returns.
 * @param time of `normalizeTime`
 * @returns null if the form cannot represent it, and `rounding` is exact
 */
export function compareTime(form: TimeForm, time: string, rounding: Rounding): string | bigint | null {
  const micros = round(toMicros(time), resolutionOf(form), rounding)
  if (micros === undefined || form === 'mixed') return micros ?? null
  if (form === 'seconds') return micros / 1_000_000n
  if (form === 'milliseconds') return micros / 1000n
  if (form === 'julian') return micros / 1000n + julianOffset
  return writeText(parseForm(form)!, micros, 'compare')
}

/** Returns a time as the program that the table belongs to stores it. */
export function storeTime(form: UsableForm, time: string): string | bigint | number {
  const micros = round(toMicros(time), resolutionOf(form), 'floor')!
  if (form === 'julian') return Number(micros / 1000n + julianOffset) / dayMs
  const text = parseForm(form)
  return text === undefined ? (compareTime(form, time, 'floor') as bigint) : writeText(text, micros, 'store')
}

function toMicros(time: string): bigint {
  const fraction = time.slice(20, -1).padEnd(6, '0')
  return BigInt(Date.parse(`${time.slice(0, 19)}Z`)) * 1000n + BigInt(fraction)
}

function round(micros: bigint, resolution: bigint, rounding: Rounding): bigint | undefined {
  const rest = ((micros % resolution) + resolution) % resolution
  if (rest === 0n) return micros
  if (rounding === 'exact') return undefined
  return rounding === 'floor' ? micros - rest : micros - rest + resolution
}

function writeText({ separator, digits, zone }: TextForm, micros: bigint, use: 'compare' | 'store'): string {
  const part = ((micros % 1_000_000n) + 1_000_000n) % 1_000_000n
  const [date, time] = new Date(Number((micros - part) / 1000n)).toISOString().slice(0, 19).split('T')
  const all = String(part).padStart(6, '0')
  const shortest = use === 'compare' ? all.replace(/0+$/, '') : all
  const fraction = digits === undefined ? (part === 0n ? '' : shortest) : all.slice(0, digits)
  return `${date}${separator}${time}${fraction === '' ? '' : `.${fraction}`}${zone}`
}

/** Writes the expression of a column by which times or dates are compared and sorted. Without one, an index can be used. */
export function writeCompared({ form, type }: FormedColumn, column: string): string {
  if (form === undefined || form === 'YYYY-MM-DD') return column
  if (form === 'mixed') return type === 'date' ? writeDay(column) : writeMicros(column)
  if (form === 'julian') return `cast(round(${column} * ${dayMs}.0) as integer)`
  const hasDigits = parseForm(form)?.digits !== undefined || parseForm(form) === undefined
  if (hasDigits) return column
  return `case when instr(${column}, '.') > 0 then rtrim(rtrim(substr(${column}, 1, 26), '0'), '.') else ${column} end`
}

/** Writes a column for a response. The driver reads integers as milliseconds, and texts of every form. */
export function writeRead({ form, type }: FormedColumn, column: string): string | undefined {
  switch (form) {
    case 'seconds':
      return `strftime('%Y-%m-%dT%H:%M:%S.000Z', ${column}, 'unixepoch')`
    case 'julian':
      return `strftime('%Y-%m-%dT%H:%M:%fZ', ${column})`
    case 'YYYY-MM-DD':
      return `+${column}` // without its declared type, the driver does not make it a time
    case 'mixed':
      return type === 'date' ? undefined : writeFromMicros(column)
    default:
      return undefined
  }
}

/** What a column is compared and read by. */
export interface FormedColumn {
  readonly type: string
  readonly form?: TimeForm
}

const digit = '[0-9]'
const isDated = (column: string) => `${column} glob '${digit.repeat(4)}-${digit.repeat(2)}-${digit.repeat(2)}*'`

function writeDay(column: string): string {
  return `case when typeof(${column}) = 'text' then substr(${column}, 1, 10) end`
}

/** As milliseconds in 1973, as seconds in the year 5138. */
const leastMilliseconds = 100_000_000_000
/** The end of the year 9999. */
const mostMilliseconds = 253_402_300_799_999

/** Completes the zones of PostgreSQL and Rails, `+02` and `+0200`, for `strftime`. */
function writeZone(column: string): string {
  const time = `substr(${column}, 11)`
  const hours = `'*[-+]${digit.repeat(2)}'`
  const minutes = `'*[-+]${digit.repeat(4)}'`
  return `case when ${time} glob ${hours} then ${column} || ':00' when ${time} glob ${minutes}
    then substr(${column}, 1, length(${column}) - 2) || ':' || substr(${column}, -2) else ${column} end`
}

/**
 * Writes the microseconds since 1970 of a time in any form; null if it is none. A cursor has them as text beyond 2^53, which
 * SQLite compares with them as an integer because of the cast.
 */
function writeMicros(column: string): string {
  const isSeconds = `${column} between ${1 - leastMilliseconds} and ${leastMilliseconds - 1}`
  const isMilliseconds = `${column} between ${-mostMilliseconds} and ${mostMilliseconds}`
  const second = `cast(strftime('%s', ${writeZone(column)}) as integer)`
  const fraction = `case when substr(${column}, 20, 1) = '.'
    then cast(round(cast('0' || substr(${column}, 20, 7) as real) * 1000000) as integer) else 0 end`
  return `cast(case typeof(${column})
    when 'integer' then case when ${isSeconds} then ${column} * 1000000 when ${isMilliseconds} then ${column} * 1000 end
    when 'real' then case when ${column} between 1721060 and 5373484
      then cast(round(${column} * ${dayMs}.0) as integer) * 1000 - ${julianOffset * 1000n} end
    when 'text' then case when ${isDated(column)} then ${second} * 1000000 + ${fraction} end
  end as integer)`
}

/** Writes a time in any form as it is sent; unchanged if it is none. */
function writeFromMicros(column: string): string {
  const micros = writeMicros(column)
  const rest = "case when p % 1000 = 0 then printf('.%03dZ', p / 1000) else printf('.%06dZ', p) end"
  return `coalesce((select strftime('%Y-%m-%dT%H:%M:%S', (m - p) / 1000000, 'unixepoch') || ${rest}
    from (select m, (m % 1000000 + 1000000) % 1000000 as p from (select ${micros} as m))), ${column})`
}
