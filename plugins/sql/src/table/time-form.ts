import type { TimeForm } from 'waypost'

/** How a value that a form cannot represent is treated: not at all, or as the last one before or the first one after it. */
export type Rounding = 'exact' | 'floor' | 'ceil'

/** The forms that statements can use. A column of which rows disagree is only read. */
export type UsableForm = Exclude<TimeForm, 'mixed'>

interface TextForm {
  readonly separator: string
  /** The digits of a second; undefined if the rows have different numbers of them. */
  readonly digits: number | undefined
  readonly zone: string
}

const textPattern = /^YYYY-MM-DD([ T])HH:MM:SS(?:\[\.S\]|\.(S+))?(Z|\+00:00)?$/

function parseForm(form: UsableForm): TextForm | undefined {
  const [match, separator = '', digits = '', zone = ''] = textPattern.exec(form) ?? []
  return match === undefined ? undefined : { separator, digits: form.includes('[') ? undefined : digits.length, zone }
}

/** Milliseconds from the beginning of the Julian days to 1970. */
const julianOffset = 210_866_760_000_000n
const dayMs = 86_400_000

/** Microseconds that a form can distinguish. */
function resolutionOf(form: UsableForm): bigint {
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
export function compareTime(form: UsableForm, time: string, rounding: Rounding): string | bigint | null {
  const micros = round(toMicros(time), resolutionOf(form), rounding)
  if (micros === undefined) return null
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

/** Writes the expression of a column by which times are compared and sorted. Without one, an index can be used. */
export function writeCompared(form: UsableForm, column: string): string {
  if (form === 'julian') return `cast(round(${column} * ${dayMs}.0) as integer)`
  const hasDigits = parseForm(form)?.digits !== undefined || parseForm(form) === undefined
  if (hasDigits) return column
  return `case when instr(${column}, '.') > 0 then rtrim(rtrim(substr(${column}, 1, 26), '0'), '.') else ${column} end`
}

/** Writes a column for a response. The driver reads integers as milliseconds, and texts of every form. */
export function writeRead(form: UsableForm, column: string): string | undefined {
  if (form === 'seconds') return `strftime('%Y-%m-%dT%H:%M:%S.000Z', ${column}, 'unixepoch')`
  return form === 'julian' ? `strftime('%Y-%m-%dT%H:%M:%fZ', ${column})` : undefined
}
