import { compilePattern, isMultipleOf } from '../kit/index.ts'
import type { Keywords } from './placed.ts'

/** The pairs of keywords of which the first must not be above the second, by type. */
const counts: Readonly<Record<string, readonly [string, string]>> = {
  string: ['minLength', 'maxLength'],
  array: ['minItems', 'maxItems'],
  object: ['minProperties', 'maxProperties'],
}

/** Limits that no value is within, and the keyword that is too low. */
export interface ExclusiveLimits {
  readonly reason: string
  readonly schema: Keywords
  readonly keyword: string
}

interface Limit {
  readonly value: number
  readonly keyword: string
  readonly schema: Keywords
}

/** Returns why no value of the type is within the limits of all schemas; undefined if one is. */
export function limitsOf(type: string, schemas: readonly Keywords[]): ExclusiveLimits | undefined {
  const pair = counts[type]
  if (pair !== undefined) {
    const low = find(schemas, [pair[0]], Math.max)
    const high = find(schemas, [pair[1]], Math.min)
    return low === undefined || high === undefined || low.value <= high.value ? undefined : explain(low, high)
  }
  if (type !== 'number' && type !== 'integer') return undefined
  const low = find(schemas, ['exclusiveMinimum', 'minimum'], Math.max)
  const high = find(schemas, ['exclusiveMaximum', 'maximum'], Math.min)
  if (low === undefined || high === undefined) return undefined
  const isExclusive = low.keyword === 'exclusiveMinimum' || high.keyword === 'exclusiveMaximum'
  if (low.value > high.value || (low.value === high.value && isExclusive)) return explain(low, high)
  const isInteger = type === 'integer' && !hasInteger(low, high)
  return isInteger ? explain(low, high, 'no integer is between') : undefined
}

/** Returns the strictest of the limits. For equal values the exclusive one, which is listed first, is stricter. */
function find(
  schemas: readonly Keywords[],
  keywords: readonly string[],
  strictest: (...values: number[]) => number,
): Limit | undefined {
  const all = keywords.flatMap((keyword) =>
    schemas.flatMap((schema): Limit[] => {
      const value = schema[keyword]
      return typeof value === 'number' ? [{ value, keyword, schema }] : []
    }),
  )
  const value = strictest(...all.map((limit) => limit.value))
  return all.find((limit) => limit.value === value)
}

function hasInteger(low: Limit, high: Limit): boolean {
  const first = low.keyword === 'exclusiveMinimum' && Number.isInteger(low.value) ? low.value + 1 : Math.ceil(low.value)
  return high.keyword === 'exclusiveMaximum' ? first < high.value : first <= high.value
}

function explain(low: Limit, high: Limit, relation?: string): ExclusiveLimits {
  const show = ({ keyword, value }: Limit) => `"${keyword}" (${value})`
  const isSame = low.value === high.value
  const reason =
    relation === undefined
      ? `${show(low)} is ${isSame ? 'not below' : 'greater than'} ${show(high)}`
      : `${relation} ${show(low)} and ${show(high)}`
  return { reason, schema: high.schema, keyword: high.keyword }
}

/** Returns true if the keywords reject a value. Type, subschemas and formats are ignored. */
export function isRejected(value: unknown, schema: Keywords): boolean {
  const isOutside = (size: number, minimum: string, maximum: string) =>
    size < Number(schema[minimum] ?? -Infinity) || size > Number(schema[maximum] ?? Infinity)
  if (typeof value === 'number') {
    const { exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity, multipleOf } = schema as Record<string, number>
    if (multipleOf !== undefined && !isMultipleOf(value, multipleOf)) return true
    return isOutside(value, 'minimum', 'maximum') || value <= exclusiveMinimum || value >= exclusiveMaximum
  }
  if (typeof value === 'string') {
    const { pattern } = schema
    if (isOutside(Array.from(value).length, 'minLength', 'maxLength')) return true
    return typeof pattern === 'string' && !compilePattern(pattern).test(value)
  }
  if (Array.isArray(value)) return isOutside(value.length, 'minItems', 'maxItems')
  if (typeof value !== 'object' || value === null) return false
  const required = Array.isArray(schema['required']) ? (schema['required'] as string[]) : []
  if (required.some((name) => !Object.hasOwn(value, name))) return true
  return isOutside(Object.keys(value).length, 'minProperties', 'maxProperties')
}
