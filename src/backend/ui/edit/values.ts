// Values of the definition as JSON, and JSON pointers into waypost.yml. Values are never changed in place.

export type Json = Readonly<Record<string, unknown>>

/** Returns the JSON pointer of some keys: `pointerOf('routes', '/todo')` is `/routes/~1todo`. */
export function pointerOf(...keys: readonly string[]): string {
  return keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** Returns the keys of a JSON pointer. */
export function keysOf(pointer: string): readonly string[] {
  const steps = pointer.split('/').slice(1)
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Whether a pointer is that of a value or of something inside of it. */
export function isWithin(pointer: string, outer: string): boolean {
  return pointer === outer || pointer.startsWith(`${outer}/`)
}

export function isMap(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the value at some keys; undefined if there is none. Items of lists have their index as key. */
export function valueAt(value: unknown, keys: readonly string[]): unknown {
  return keys.reduce<unknown>(
    (found, key) =>
      typeof found === 'object' && found !== null && Object.hasOwn(found, key) ? (found as Json)[key] : undefined,
    value,
  )
}

/** Returns a copy with another value at some keys. Maps on the way are added; undefined removes a key or an item. */
export function withValueAt(value: unknown, keys: readonly string[], next: unknown): unknown {
  const [key, ...rest] = keys
  if (key === undefined) return next
  if (Array.isArray(value)) {
    const index = Number(key)
    const inner = withValueAt(value[index], rest, next)
    return inner === undefined ? value.filter((_, at) => at !== index) : value.toSpliced(index, 1, inner)
  }
  const map = isMap(value) ? value : {}
  const inner = withValueAt(Object.hasOwn(map, key) ? map[key] : undefined, rest, next)
  if (inner !== undefined) return { ...map, [key]: inner }
  const { [key]: _removed, ...others } = map
  return others
}

/** Compares two values; the order of keys does not matter. */
export function isEqual(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, index) => isEqual(item, other[index]))
  if (!isMap(one) || !isMap(other)) return false
  const keys = Object.keys(one)
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && isEqual(one[key], other[key]))
  )
}

/** Compares two values, and the order of the fields of schemas, which is kept. */
export function isSame(one: unknown, other: unknown): boolean {
  return isEqual(one, other) && hasSameOrder(one, other)
}

function hasSameOrder(one: unknown, other: unknown, key = ''): boolean {
  if (typeof one !== 'object' || one === null || typeof other !== 'object' || other === null) return true
  if (key === 'properties' && Object.keys(one).join('\n') !== Object.keys(other).join('\n')) return false
  return Object.entries(one).every(([name, inner]) => hasSameOrder(inner, (other as Json)[name], name))
}

/** Returns the pointers, below `at`, of the values that differ. Lists are compared as a whole. */
export function listChanges(one: unknown, other: unknown, at = ''): readonly string[] {
  if (isEqual(one, other)) return hasSameOrder(one, other, at.slice(at.lastIndexOf('/') + 1)) ? [] : [at]
  if (!isMap(one) || !isMap(other)) return [at]
  const keys = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...keys].flatMap((key) => listChanges(one[key], other[key], at + pointerOf(key)))
}

/** A value that two people changed in different ways. */
export interface Clash {
  /** JSON pointer below the value that was merged. */
  readonly at: string
  readonly base: unknown
  readonly mine: unknown
  readonly theirs: unknown
}

export interface Merged {
  /** Everything that only one of both changed, and mine where both did. */
  readonly value: unknown
  readonly clashes: readonly Clash[]
}

/** Merges two changes of one value, key by key. Lists are one value. */
export function mergeValues(base: unknown, mine: unknown, theirs: unknown, at = ''): Merged {
  if (isEqual(mine, theirs) || isEqual(theirs, base)) return { value: mine, clashes: [] }
  if (isEqual(mine, base)) return { value: theirs, clashes: [] }
  if (!isMap(mine) || !isMap(theirs)) return { value: mine, clashes: [{ at, base, mine, theirs }] }
  const outer = isMap(base) ? base : {}
  const keys = new Set([...Object.keys(theirs), ...Object.keys(mine)])
  const merged = [...keys].map(
    (key) => [key, mergeValues(outer[key], mine[key], theirs[key], at + pointerOf(key))] as const,
  )
  return {
    value: Object.fromEntries(merged.flatMap(([key, { value }]) => (value === undefined ? [] : [[key, value]]))),
    clashes: merged.flatMap(([, { clashes }]) => clashes),
  }
}
