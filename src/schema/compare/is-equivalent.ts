import { isDeepStrictEqual } from 'node:util'
import { annotations, schemaKeywords } from '../keywords.ts'
import {
  followScoped,
  isKeywords,
  isScopedObject,
  scopeIn,
  type ScopedSchema,
  type ScopedObject,
} from '../scoped-schema.ts'

const sets: ReadonlySet<string> = new Set(['required', 'type', 'enum'])

type Pairs = Map<unknown, Set<unknown>>

/** Whether two schemas are equivalent except for annotations, including all schemas that they refer to. */
export function isEquivalent(one: ScopedSchema, other: ScopedSchema, seen: Pairs = new Map()): boolean {
  if (!isScopedObject(one) || !isScopedObject(other)) return one.schema === other.schema
  const partners = seen.get(one.schema) ?? new Set()
  if (partners.has(other.schema)) return true // already compared, or being compared: the schema is recursive
  seen.set(one.schema, partners.add(other.schema))
  const keys = [...new Set([...Object.keys(one.schema), ...Object.keys(other.schema)])]
  return keys.filter((key) => !annotations.has(key)).every((key) => isEquivalentKeyword(key, [one, other], seen))
}

function isEquivalentKeyword(key: string, pair: readonly [ScopedObject, ScopedObject], seen: Pairs): boolean {
  const [one, other] = pair
  const [a, b] = [one.schema[key], other.schema[key]]
  if (key === '$ref') return isEquivalentTarget(pair, seen)
  const isSub = (x: unknown, y: unknown) =>
    x !== undefined && y !== undefined && isEquivalent(scopeIn(one, x), scopeIn(other, y), seen)
  const holds = annotations.has(key) ? undefined : schemaKeywords.get(key)?.holds
  if (holds === 'schema' && !Array.isArray(a) && !Array.isArray(b)) return isSub(a, b)
  if (holds === 'list' && Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => isSub(item, b[index]))
  if (holds === 'map' && isKeywords(a) && isKeywords(b)) {
    const names = [...new Set([...Object.keys(a), ...Object.keys(b)])]
    return names.every((name) => Object.hasOwn(a, name) && Object.hasOwn(b, name) && isSub(a[name], b[name]))
  }
  // An unknown keyword may contain references whose targets have changed.
  if (!sets.has(key) && key !== 'const' && JSON.stringify([a, b]).includes('"$ref"')) return false
  return isDeepStrictEqual(sort(key, a), sort(key, b))
}

function isEquivalentTarget([one, other]: readonly [ScopedObject, ScopedObject], seen: Pairs): boolean {
  const [from, to] = [followScoped(one), followScoped(other)]
  return from !== undefined && to !== undefined && isEquivalent(from, to, seen)
}

function sort(key: string, value: unknown): unknown {
  if (!sets.has(key)) return value
  const list = Array.isArray(value) ? value : [value]
  return list.map((one) => JSON.stringify(one)).toSorted()
}
