import { isDeepStrictEqual } from 'node:util'
import { annotations, schemaKeywords } from '../keywords.ts'
import { followPlaced, isKeywords, isPlacedObject, placeIn, type Placed, type PlacedObject } from '../placed.ts'

const sets: ReadonlySet<string> = new Set(['required', 'type', 'enum'])

type Pairs = Map<unknown, Set<unknown>>

/** Returns true if two schemas, including everything they refer to, are equal except for annotations. */
export function isSame(one: Placed, other: Placed, seen: Pairs = new Map()): boolean {
  if (!isPlacedObject(one) || !isPlacedObject(other)) return one.schema === other.schema
  const partners = seen.get(one.schema) ?? new Set()
  if (partners.has(other.schema)) return true // already compared or in progress: a schema may be recursive
  seen.set(one.schema, partners.add(other.schema))
  const keys = [...new Set([...Object.keys(one.schema), ...Object.keys(other.schema)])]
  return keys.filter((key) => !annotations.has(key)).every((key) => isSameKeyword(key, [one, other], seen))
}

function isSameKeyword(key: string, pair: readonly [PlacedObject, PlacedObject], seen: Pairs): boolean {
  const [one, other] = pair
  const [a, b] = [one.schema[key], other.schema[key]]
  if (key === '$ref') return isSameTarget(pair, seen)
  const isSub = (x: unknown, y: unknown) =>
    x !== undefined && y !== undefined && isSame(placeIn(one, x), placeIn(other, y), seen)
  const holds = annotations.has(key) ? undefined : schemaKeywords.get(key)?.holds
  if (holds === 'schema' && !Array.isArray(a) && !Array.isArray(b)) return isSub(a, b)
  if (holds === 'list' && Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => isSub(item, b[index]))
  if (holds === 'map' && isKeywords(a) && isKeywords(b)) {
    const names = [...new Set([...Object.keys(a), ...Object.keys(b)])]
    return names.every((name) => Object.hasOwn(a, name) && Object.hasOwn(b, name) && isSub(a[name], b[name]))
  }
  // An unknown keyword may contain references, whose targets may differ.
  if (!sets.has(key) && key !== 'const' && JSON.stringify([a, b]).includes('"$ref"')) return false
  return isDeepStrictEqual(sort(key, a), sort(key, b))
}

function isSameTarget([one, other]: readonly [PlacedObject, PlacedObject], seen: Pairs): boolean {
  const [from, to] = [followPlaced(one), followPlaced(other)]
  return from !== undefined && to !== undefined && isSame(from, to, seen)
}

function sort(key: string, value: unknown): unknown {
  if (!sets.has(key)) return value
  const list = Array.isArray(value) ? value : [value]
  return list.map((one) => JSON.stringify(one)).toSorted()
}
