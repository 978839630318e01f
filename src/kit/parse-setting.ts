import { isAddressRange } from './address.ts'
import { parseDuration, parseSize, suggestQuantity } from './time.ts'
import { nearest } from './nearest.ts'
import type { SettingRow } from './settings-table.ts'

export interface SettingProblem {
  readonly name: string
  /** Keys and indexes from the setting to the invalid value; empty for the setting itself. */
  readonly path: readonly (string | number)[]
  /** Whether there is no setting, or no key of a setting, with this name. */
  readonly isUnknown?: boolean
  readonly message: string
  readonly hint?: string
}

export type ParsedSetting = { readonly value: unknown } | { readonly problems: readonly SettingProblem[] }

/** A parsed value, or what was expected instead. */
type Parsed = { readonly value: unknown } | { readonly expected: string; readonly hint?: string | undefined }

interface InvalidValue {
  readonly raw: unknown
  readonly expected: string
  readonly hint?: string | undefined
}

export function parseSetting(name: string, row: SettingRow, raw: unknown): ParsedSetting {
  if (row.kind === 'list') return parseList(name, row, raw)
  if (row.kind === 'durations') return parseDurations(name, row, raw)
  const parsed = parseValue(row, raw)
  return 'value' in parsed ? parsed : { problems: [makeProblem(name, [], { raw, ...parsed })] }
}

function parseValue(row: Exclude<SettingRow, { kind: 'list' | 'durations' }>, raw: unknown): Parsed {
  if (row.kind === 'duration')
    return parseQuantity(raw, 'a duration such as 30s, 10m or 1h', { ...row, parse: parseDuration })
  if (row.kind === 'size') return parseQuantity(raw, 'a size such as 512kb or 1mb', { ...row, parse: parseSize })
  if (row.kind === 'count') return parseCount(row, raw)
  if (row.kind === 'flag') {
    if (raw === true || raw === 'true') return { value: true }
    return raw === false || raw === 'false' ? { value: false } : { expected: 'true or false' }
  }
  if (row.kind === 'text') return parseText(row, raw)
  if (row.kind === 'color') return parseColor(raw)
  return parseChoice(row.choices, raw)
}

function parseText({ maximum }: { readonly maximum: number }, raw: unknown): Parsed {
  const text = typeof raw === 'string' ? raw.trim() : undefined
  const fits = text !== undefined && text.length <= maximum && !/\p{C}/u.test(text)
  return fits ? { value: text } : { expected: `one line of at most ${maximum} characters` }
}

function parseColor(raw: unknown): Parsed {
  if (typeof raw === 'string' && /^(#[\da-f]{6})?$/i.test(raw)) return { value: raw.toLowerCase() }
  const hint =
    raw === null ? 'Put the color in quotes: without them, YAML reads # as the start of a comment.' : undefined
  return { expected: 'a color such as "#1f6feb"', hint }
}

function parseCount(
  { minimum, maximum }: { readonly minimum: number; readonly maximum: number },
  raw: unknown,
): Parsed {
  const count = typeof raw === 'string' && /^\d+$/.test(raw) ? Number(raw) : raw
  const fits = Number.isSafeInteger(count) && Number(count) >= minimum && Number(count) <= maximum
  return fits ? { value: count } : { expected: `an integer from ${minimum} to ${maximum}` }
}

function parseChoice(choices: readonly string[], raw: unknown): Parsed {
  if (choices.includes(raw as string)) return { value: raw }
  const near = typeof raw === 'string' ? nearest(raw, choices) : undefined
  return {
    expected: choices.map((choice) => `"${choice}"`).join(' or '),
    hint: near === undefined ? undefined : `Did you mean "${near}"?`,
  }
}

interface QuantityOptions {
  readonly parse: (text: string) => number | undefined
  readonly minimum?: string
  readonly maximum?: string
}

function parseQuantity(raw: unknown, expected: string, { parse, minimum, maximum }: QuantityOptions): Parsed {
  const value = typeof raw === 'string' ? parse(raw) : undefined
  if (value === undefined) {
    const form = typeof raw === 'string' ? suggestQuantity(raw, parse) : undefined
    return form === undefined ? { expected } : { expected, hint: `Write ${form}` }
  }
  if (minimum !== undefined && value < parse(minimum)!) return { expected: `at least ${minimum}` }
  if (maximum !== undefined && value > parse(maximum)!) return { expected: `at most ${maximum}` }
  return { value }
}

function parseList(name: string, row: SettingRow & { kind: 'list' }, raw: unknown): ParsedSetting {
  const items: unknown =
    typeof raw === 'string'
      ? raw
          .split(',')
          .map((item) => item.trim())
          .filter(Boolean)
      : raw
  if (!Array.isArray(items)) return { problems: [makeProblem(name, [], { raw, expected: 'a list' })] }
  if (row.length !== undefined && items.length !== row.length) {
    const expected = `a list of ${row.length} items`
    return { problems: [{ name, path: [], message: `"${name}" must be ${expected}, not ${items.length}` }] }
  }
  const values: unknown[] = []
  const problems: SettingProblem[] = []
  for (const [index, item] of items.entries()) {
    const parsed = itemParsers[row.of](item)
    if ('value' in parsed) values.push(parsed.value)
    else problems.push(makeProblem(name, [index], { raw: item, ...parsed }))
  }
  return problems.length > 0 ? { problems } : { value: values }
}

const itemParsers: Readonly<Record<(SettingRow & { kind: 'list' })['of'], (raw: unknown) => Parsed>> = {
  scope: parseScope,
  duration: (raw) => parseQuantity(raw, 'a duration such as 30s, 10m or 1h', { parse: parseDuration, maximum: '30d' }),
  range: (raw) =>
    typeof raw === 'string' && isAddressRange(raw)
      ? { value: raw }
      : { expected: 'an address range such as 10.0.0.0/8' },
  origin: (raw) =>
    typeof raw === 'string' && isOrigin(raw)
      ? { value: raw }
      : { expected: 'an origin such as https://app.example.com, without a path, or "*"' },
}

/** Parses a default scope. Rejects scopes of administration, which are granted to individual users. */
function parseScope(raw: unknown): Parsed {
  if (typeof raw !== 'string' || !/^[!#-+\--[\]-~]+$/.test(raw)) return { expected: 'a scope name' }
  if (!raw.startsWith('backend.')) return { value: raw }
  const hint = `Grant it to individual users: waypost user:scopes NAME --add ${raw}`
  return { expected: 'a scope that is safe for every user', hint }
}

function isOrigin(text: string): boolean {
  return text === '*' || (/^https?:\/\/[^/]+$/.test(text) && URL.parse(text)?.origin === text)
}

function parseDurations(name: string, row: SettingRow & { kind: 'durations' }, raw: unknown): ParsedSetting {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    return { problems: [makeProblem(name, [], { raw, expected: 'a map of name to duration' })] }
  }
  const values: [string, unknown][] = []
  const problems: SettingProblem[] = []
  for (const [key, item] of Object.entries({ ...row.default, ...raw })) {
    const parsed = parseQuantity(item, 'a duration such as 30d', { parse: parseDuration, maximum: '3650d' })
    if (!Object.hasOwn(row.default, key)) problems.push(unknownName(name, key, Object.keys(row.default)))
    else if ('value' in parsed) values.push([key, parsed.value])
    else problems.push(makeProblem(name, [key], { raw: item, ...parsed }))
  }
  return problems.length > 0 ? { problems } : { value: Object.freeze(Object.fromEntries(values)) }
}

function unknownName(name: string, key: string, names: readonly string[]): SettingProblem {
  const near = nearest(key, names)
  const hint = near === undefined ? `Valid keys: ${names.join(', ')}` : `Did you mean "${near}"?`
  return { name, path: [key], isUnknown: true, message: `"${key}" is not a valid key of "${name}"`, hint }
}

function makeProblem(
  name: string,
  path: SettingProblem['path'],
  { raw, expected, hint }: InvalidValue,
): SettingProblem {
  const label = [name, ...path].join('/')
  const message = `"${label}" must be ${expected}, not ${describe(raw)}`
  return hint === undefined ? { name, path, message } : { name, path, message, hint }
}

function describe(raw: unknown): string {
  if (Array.isArray(raw)) return 'a list'
  if (raw === null || raw === undefined) return 'empty'
  if (typeof raw === 'object') return 'a map'
  return typeof raw === 'string' ? `"${raw.slice(0, 60)}"` : JSON.stringify(raw)
}
