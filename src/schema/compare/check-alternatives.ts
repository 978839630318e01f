import type { Check, Finding } from './comparer.ts'
import { listIn, placeIn, type Keywords, type Placed, isPlacedObject, spread } from '../placed.ts'
import { isSame } from './same.ts'
import { typesOf, valuesOf } from './types-and-values.ts'
import { isDeepStrictEqual } from 'node:util'
import { declaredNames, fieldOf } from './declared.ts'

/**
 * Checks `anyOf` and `oneOf`: one alternative must accept all remaining values. For `oneOf`, the others must accept none
 * of them.
 */
export function checkAlternatives(check: Check): void {
  const { comparer, path, subs, sup } = check
  for (const keyword of ['anyOf', 'oneOf'] as const) {
    const branches = listIn(sup, sup.schema[keyword])
    if (branches.length === 0) continue
    const isIdentical = subs.some((sub) =>
      isSame(placeIn(sub, pick(sub.schema, keyword)), placeIn(sup, pick(sup.schema, keyword))),
    )
    if (isIdentical) continue
    const tries: (readonly Finding[])[] = []
    const fits = branches.some((branch, index) => {
      const found = comparer.attempt(() => comparer.comparePart(subs, branch, path))
      tries.push(found)
      const others = branches.filter((_, other) => other !== index)
      return found.length === 0 && (keyword === 'anyOf' || others.every((other) => areDisjoint(subs, other)))
    })
    if (!fits) reportNearest(check, keyword, tries)
  }
}

/** Reports what the closest alternative rejects, or that no alternative matches if none has the right type. */
function reportNearest(
  { comparer, path, subs, types }: Check,
  keyword: string,
  tries: readonly (readonly Finding[])[],
): void {
  const near = tries
    .filter((found) => found.length > 0 && !found.some((one) => one.path === path && one.keyword === 'type'))
    .toSorted((a, b) => a.length - b.length)[0]
  const isUnlike = near?.some((one) => one.path === path && ['enum', 'never', 'anyOf', 'oneOf'].includes(one.keyword))
  if (near !== undefined && isUnlike !== true) return near.forEach((finding) => comparer.report(finding))
  const title = subs.map(({ schema }) => schema['$ref'] ?? schema['title']).findLast((one) => one !== undefined)
  comparer.report({ path, keyword, sub: title ?? [...types].join(' or ') })
}

/** One case when the values of a schema are split into cases. */
export interface Branch {
  /** The schema that is split. */
  readonly of: Placed['schema']
  /** The schemas that replace it in this case. */
  readonly instead: readonly Placed[]
}

/** Yields the ways to split the values that all of `subs` accept into cases: by `anyOf`, by `oneOf` or by type. */
export function* splits(subs: Check['subs'], byType: boolean): Iterable<readonly Branch[]> {
  for (const sub of subs) {
    for (const keyword of ['anyOf', 'oneOf'] as const) {
      if (sub.schema[keyword] === undefined) continue
      const rest = placeIn(sub, without(sub.schema, keyword))
      yield listIn(sub, sub.schema[keyword]).map((branch) => ({ of: sub.schema, instead: [rest, branch] }))
    }
  }
  if (!byType) return
  const types = [...typesOf(subs.map(({ schema }) => schema))]
  const several = subs.find(({ schema }) => Array.isArray(schema['type']) && schema['type'].length > 1)
  if (several === undefined || types.length < 2) return
  const named = [several.schema['type']].flat() as string[]
  yield named.map((type) => ({ of: several.schema, instead: [placeIn(several, typed(several.schema, type))] }))
}

// Derived schemas are cached so that recursive schemas are recognized by identity.
const derived = new WeakMap<Keywords, Map<string, Keywords>>()

function derive(schema: Keywords, key: string, create: () => Keywords): Keywords {
  const known = derived.get(schema) ?? new Map<string, Keywords>()
  derived.set(schema, known)
  const created = known.get(key) ?? create()
  known.set(key, created)
  return created
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

/** Returns true if it is certain that no value is valid for both all of `subs` and `other`. */
export function areDisjoint(subs: readonly Placed[], other: Placed, level = 0): boolean {
  const [ours, theirs] = [spread(subs), spread([other])]
  if ([...ours, ...theirs].some(({ schema }) => schema === false)) return true
  const [a, b] = [ours.filter(isPlacedObject), theirs.filter(isPlacedObject)]
  const keywords = [...a, ...b].map(({ schema }) => schema)
  const common = typesOf(keywords)
  if (common.size === 0) return true
  const [own, alien] = [a, b].map((list) => listValues(list))
  if (
    own !== undefined &&
    alien !== undefined &&
    !own.some((value) => alien.some((one) => isDeepStrictEqual(one, value)))
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

function listValues(list: readonly (Placed & { readonly schema: Readonly<Record<string, unknown>> })[]) {
  const schemas = list.map(({ schema }) => schema)
  return valuesOf(schemas, typesOf(schemas))
}
