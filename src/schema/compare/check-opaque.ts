import { reportKeyword } from './check-numbers.ts'
import type { Check } from './comparator.ts'
import { scopeIn, type Keywords, type ScopedSchema } from '../scoped-schema.ts'
import { isEquivalent } from './is-equivalent.ts'
import { annotations } from '../keywords.ts'

/** Keywords that are compared individually. */
const comparedKeywords: ReadonlySet<string> = new Set([
  ...annotations, '$ref', 'allOf', 'anyOf', 'oneOf', 'type', 'enum', 'const', 'format', 'minLength', 'maxLength',
  'pattern', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minItems', 'maxItems',
  'uniqueItems', 'prefixItems', 'minProperties', 'maxProperties', 'required', 'properties', 'patternProperties',
  'additionalProperties', 'propertyNames', 'dependentRequired',
]) // prettier-ignore
const keywordGroups: readonly (readonly string[])[] = [
  ['if', 'then', 'else'],
  ['contains', 'minContains', 'maxContains'],
]

/** Whether a schema has keywords that depend on everything beside them, so that it can only be compared as a whole. */
export function mustMatchWhole({ schema }: ScopedSchema & { readonly schema: Keywords }): boolean {
  return ['unevaluatedProperties', 'unevaluatedItems'].some((key) => schema[key] !== undefined && schema[key] !== true)
}

/** Checks keywords that cannot be compared, only be equivalent: `not`, `if`, `contains` and unknown keywords. */
export function checkOpaque(check: Check): void {
  const { subs, sup } = check
  const reported = new Set<string>()
  for (const key of Object.keys(sup.schema)) {
    if (comparedKeywords.has(key) || (key === 'items' && !Array.isArray(sup.schema[key]))) continue
    if (key.startsWith('unevaluated')) continue
    const group = keywordGroups.find((keys) => keys.includes(key)) ?? [key]
    if (reported.has(group[0]!)) continue
    reported.add(group[0]!)
    const wanted = scopeIn(sup, pick(sup.schema, group))
    if (!subs.some((sub) => isEquivalent(scopeIn(sub, pick(sub.schema, group)), wanted)))
      reportKeyword(check, group[0]!)
  }
}

function pick(schema: Keywords, keys: readonly string[]): Keywords {
  return Object.fromEntries(keys.flatMap((key) => (key in schema ? [[key, schema[key]] as const] : [])))
}
