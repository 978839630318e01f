import { reportKeyword } from './check-numbers.ts'
import type { Check } from './comparer.ts'
import { placeIn, type Keywords, type Placed } from '../placed.ts'
import { isSame } from './same.ts'
import { annotations } from '../keywords.ts'

/** Keywords that have their own check. */
const comparable: ReadonlySet<string> = new Set([
  ...annotations, '$ref', 'allOf', 'anyOf', 'oneOf', 'type', 'enum', 'const', 'format', 'minLength', 'maxLength',
  'pattern', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minItems', 'maxItems',
  'uniqueItems', 'prefixItems', 'minProperties', 'maxProperties', 'required', 'properties', 'patternProperties',
  'additionalProperties', 'propertyNames', 'dependentRequired',
]) // prettier-ignore
const keywordGroups: readonly (readonly string[])[] = [
  ['if', 'then', 'else'],
  ['contains', 'minContains', 'maxContains'],
]

/**
 * Returns true for a schema with `unevaluatedProperties` or `unevaluatedItems`. They depend on adjacent keywords, so the
 * schema can only be compared as a whole.
 */
export function usesUnevaluated({ schema }: Placed & { readonly schema: Keywords }): boolean {
  return ['unevaluatedProperties', 'unevaluatedItems'].some((key) => schema[key] !== undefined && schema[key] !== true)
}

/** Checks keywords that can only be tested for equality: `not`, `if`, `contains` and unknown keywords. */
export function checkOpaque(check: Check): void {
  const { subs, sup } = check
  const checked = new Set<string>()
  for (const key of Object.keys(sup.schema)) {
    if (comparable.has(key) || (key === 'items' && !Array.isArray(sup.schema[key]))) continue
    if (key.startsWith('unevaluated')) continue
    const group = keywordGroups.find((keys) => keys.includes(key)) ?? [key]
    if (checked.has(group[0]!)) continue
    checked.add(group[0]!)
    const wanted = placeIn(sup, pick(sup.schema, group))
    if (!subs.some((sub) => isSame(placeIn(sub, pick(sub.schema, group)), wanted))) reportKeyword(check, group[0]!)
  }
}

function pick(schema: Keywords, keys: readonly string[]): Keywords {
  return Object.fromEntries(keys.flatMap((key) => (key in schema ? [[key, schema[key]] as const] : [])))
}
