import type { Check, Finding } from './comparator.ts'
import { scopeList, scopeIn, type Keywords, type ScopedSchema, isScopedObject, expand } from '../scoped-schema.ts'
import { isEquivalent } from './is-equivalent.ts'
import { typesOf, valuesOf } from './types-and-values.ts'
import { isDeepStrictEqual } from 'node:util'
import { declaredNames, fieldOf } from './declared.ts'

/** Checks `anyOf` and `oneOf`: one of the alternatives must accept all remaining values. */
export function checkAlternatives(check: Check): void {
  const { comparator, path, subs, sup } = check
  for (const keyword of ['anyOf', 'oneOf'] as const) {
    const branches = scopeList(sup, sup.schema[keyword])
    if (branches.length === 0) continue
    const isUnchanged = subs.some((sub) =>
      isEquivalent(scopeIn(sub, pick(sub.schema, keyword)), scopeIn(sup, pick(sup.schema, keyword))),
    )
    if (isUnchanged) continue
    const tries: (readonly Finding[])[] = []
    const fits = branches.some((branch, index) => {
      const found = comparator.attempt(() => comparator.comparePart(subs, branch, path))
      tries.push(found)
      const others = branches.filter((_, other) => other !== index)
      return found.length === 0 && (keyword === 'anyOf' || others.every((other) => areDisjoint(subs, other)))
    })
    if (!fits) reportNearest(check, keyword, tries)
  }
}

/** Reports the differences to the nearest alternative. If no alternative accepts the type, reports the keyword. */
function reportNearest(
  { comparator, path, subs, types }: Check,
  keyword: string,
  tries: readonly (readonly Finding[])[],
): void {
  const near = tries
    .filter((found) => found.length > 0 && !found.some((one) => one.path === path && one.keyword === 'type'))
    .toSorted((a, b) => a.length - b.length)[0]
  const isUnlike = near?.some((one) => one.path === path && ['enum', 'never', 'anyOf', 'oneOf'].includes(one.keyword))
  if (near !== undefined && isUnlike !== true) return near.forEach((finding) => comparator.report(finding))
  const title = subs.map(({ schema }) => schema['$ref'] ?? schema['title']).findLast((one) => one !== undefined)
  comparator.report({ path, keyword, sub: title ?? [...types].join(' or ') })
}

/** One of the alternatives into which the values of a schema are divided. */
export interface Branch {
  /** The schema that is divided. */
  readonly of: ScopedSchema['schema']
  /** The schemas that replace it for the values of this alternative. */
  readonly instead: readonly ScopedSchema[]
}

/** Returns the ways in which the values accepted by all schemas can be divided. */
export function* splits(subs: Check['subs'], byType: boolean): Iterable<readonly Branch[]> {
  for (const sub of subs) {
    for (const keyword of ['anyOf', 'oneOf'] as const) {
      if (sub.schema[keyword] === undefined) continue
      const rest = scopeIn(sub, without(sub.schema, keyword))
      yield scopeList(sub, sub.schema[keyword]).map((branch) => ({ of: sub.schema, instead: [rest, branch] }))
    }
  }
  if (!byType) return
  const types = [...typesOf(subs.map(({ schema }) => schema))]
  const several = subs.find(({ schema }) => Array.isArray(schema['type']) && schema['type'].length > 1)
  if (several === undefined || types.length < 2) return
  const named = [several.schema['type']].flat() as string[]
  yield named.map((type) => ({ of: several.schema, instead: [scopeIn(several, typed(several.schema, type))] }))
}

// Cached, so that a derived schema keeps its identity and recursive schemas are recognised.
const derived = new WeakMap<Keywords, Map<string, Keywords>>()

function derive(schema: Keywords, key: string, make: () => Keywords): Keywords {
  const known = derived.get(schema) ?? new Map<string, Keywords>()
  derived.set(schema, known)
  const made = known.get(key) ?? make()
  known.set(key, made)
  return made
}

function without(schema: Keywords, keyword: string): Keywords {
  return derive(schema, `-${keyword}`, () => {
    const { [keyword]: _, ...rest } = schema
    return rest
  })
}

function typed(schema: Keywords, type: string): Keywords {
  return derive(schema, `=${type}`, () => ({ ...schema, type }))
}

function pick(schema: Keywords, keyword: string): Keywords {
  return keyword in schema ? { [keyword]: schema[keyword] } : {}
}

const maxLevels = 4

/** Whether it is certain that no value is accepted both by all of these schemas and by another one. */
export function areDisjoint(subs: readonly ScopedSchema[], other: ScopedSchema, level = 0): boolean {
  const [ours, theirs] = [expand(subs), expand([other])]
  if ([...ours, ...theirs].some(({ schema }) => schema === false)) return true
  const [a, b] = [ours.filter(isScopedObject), theirs.filter(isScopedObject)]
  const keywords = [...a, ...b].map(({ schema }) => schema)
  const common = typesOf(keywords)
  if (common.size === 0) return true
  const [ourValues, theirValues] = [a, b].map((list) => listValues(list))
  if (
    ourValues !== undefined &&
    theirValues !== undefined &&
    !ourValues.some((value) => theirValues.some((one) => isDeepStrictEqual(one, value)))
  )
    return true
  if (common.size > 1 || !common.has('object') || level >= maxLevels) return false
  const required = [a, b].map((list) => new Set(list.flatMap(({ schema }) => (schema['required'] ?? []) as string[])))
  return [...declaredNames([...a, ...b])].some((name) => {
    const [here, there] = [a, b].map((list) => list.flatMap((one) => fieldOf(one, name)))
    if ([...here!, ...there!].some(({ schema }) => schema === false)) return required.some((names) => names.has(name))
    if (!required.every((names) => names.has(name)) || there!.length === 0) return false
    return there!.some((one) => areDisjoint(here!, one, level + 1))
  })
}

function listValues(list: readonly (ScopedSchema & { readonly schema: Readonly<Record<string, unknown>> })[]) {
  const schemas = list.map(({ schema }) => schema)
  return valuesOf(schemas, typesOf(schemas))
}
