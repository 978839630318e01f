import type { PossibleFilter } from './list-conditions.ts'
import { maxContainsLength } from './schemas.ts'
import type { ValueType } from './plan.ts'
import { valueTypes } from './value-types.ts'

/** How many alternatives `any` has at most. */
export const maxAlternatives = 8

/** One alternative of `any`. */
interface Alternative {
  readonly filter: PossibleFilter
  readonly value: unknown
}

/**
 * Parses the query parameter `any`, for example `(status:open,priority.gte:5)`. A backslash before a comma, a bracket or a
 * backslash makes it a part of the value.
 * @returns the problem if it is not valid
 */
export function parseAny(text: string, filters: ReadonlyMap<string, PossibleFilter>): readonly Alternative[] | string {
  const parts = splitAlternatives(text)
  if (parts === undefined) return '"any" must be alternatives in parentheses: (NAME:VALUE,NAME:VALUE)'
  if (parts.length > maxAlternatives) return `"any" must have at most ${maxAlternatives} alternatives`
  const found: Alternative[] = []
  for (const part of parts) {
    const colon = part.indexOf(':')
    const filter = colon === -1 ? undefined : filters.get(part.slice(0, colon))
    if (filter === undefined)
      return `"any" has an alternative without a known filter. Possible: ${[...filters.keys()].join(', ')}`
    const value = readValue(filter, part.slice(colon + 1))
    if (value === undefined) return `"any" has a value that does not fit "${filter.name}"`
    found.push({ filter, value })
  }
  return found
}

/** Returns the texts between the commas, without backslashes. */
function splitAlternatives(text: string): readonly string[] | undefined {
  if (!/^\((?:\\[\\(),]|[^\\(),]|,)+\)$/s.test(text)) return undefined
  const parts = ['']
  for (const [token, escaped] of text.slice(1, -1).matchAll(/\\(.)|[^]/gs)) {
    if (token === ',') parts.push('')
    else parts[parts.length - 1] += escaped ?? token
  }
  return parts
}

/** Reads a value as the query parameter of the filter would be. @returns undefined if it does not fit */
function readValue({ operator, type: column }: PossibleFilter, text: string): unknown {
  if (operator === 'null') return readBoolean(text)
  if (operator === 'contains') return text !== '' && text.length <= maxContainsLength ? text : undefined
  const { type } = column
  const value = readers[type]?.(text) ?? (readers[type] === undefined ? text : undefined)
  if (value === undefined) return undefined
  const pattern = patterns[type]
  if (pattern !== undefined) return pattern.test(text) ? value : undefined
  return valueTypes[type].constant?.(value, column) === undefined ? value : undefined
}

function readBoolean(text: string): boolean | undefined {
  return text === 'true' || text === 'false' ? text === 'true' : undefined
}

/** Numbers are written as in JSON, and integers without a point or an exponent, as in other parameters. */
function readInteger(text: string): number | undefined {
  return /^-?(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : undefined
}

function readNumber(text: string): number | undefined {
  return /^-?(0|[1-9]\d{0,399})(\.\d{1,400})?(e[+-]?\d{1,3})?$/i.test(text) ? Number(text) : undefined
}

/** The types whose values are no texts. */
const readers: Readonly<Partial<Record<ValueType, (text: string) => unknown>>> = {
  id: readInteger,
  integer: readInteger,
  number: readNumber,
  boolean: readBoolean,
}

/** The types whose parameters have more forms than constants, which are checked when they are bound. */
const patterns: Readonly<Partial<Record<ValueType, RegExp>>> = {
  bigint: /^-?(0|[1-9]\d{0,18})$/,
  timestamp: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i,
  uuid: /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i,
}
