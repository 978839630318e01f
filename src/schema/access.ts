import type { JsonSchema } from '../contract/index.ts'
import {
  isPlacedObject,
  mapIn,
  mapSubSchemas,
  spread,
  type Keywords,
  type Placed,
  type PlacedObject,
} from './placed.ts'
import type { NamedSchemas } from './references.ts'

/** What callers must not send (`readOnly`), or what they never get (`writeOnly`). */
export type AccessKeyword = 'readOnly' | 'writeOnly'

/** Returns true if a property has the keyword, itself or through references and `allOf`. */
export function hasAccess(property: Placed, keyword: AccessKeyword): boolean {
  return spread([property]).some((one) => isPlacedObject(one) && one.schema[keyword] === true)
}

/** Returns true if the schemas may have a property with the keyword. */
export function mentionsAccess(schemas: unknown, keyword: AccessKeyword): boolean {
  return JSON.stringify(schemas).includes(`"${keyword}":true`)
}

export interface AccessChange {
  readonly keyword: AccessKeyword
  /** The schema of each property or item that has the keyword; undefined removes it. */
  readonly instead: JsonSchema | undefined
}

/**
 * Returns a schema in which properties with the keyword are not required, and have another schema or none. So do the
 * values of maps and the items of lists.
 */
export function withoutAccess(schema: JsonSchema, named: NamedSchemas, change: AccessChange): JsonSchema {
  return makeAccessRemover(named, change)(schema)
}

/** Makes `withoutAccess` for many schemas: the named schemas are searched once. */
export function makeAccessRemover(named: NamedSchemas, change: AccessChange): (schema: JsonSchema) => JsonSchema {
  const isNamed = mentionsAccess(named, change.keyword)
  return (schema) => {
    if (!isNamed && !mentionsAccess(schema, change.keyword)) return schema
    return write({ schema, root: schema, named }, new Set(), change)
  }
}

/** Applies `withoutAccess` to named schemas. */
export function withoutAccessIn(named: NamedSchemas, change: AccessChange): NamedSchemas {
  if (!mentionsAccess(named, change.keyword)) return named
  const remove = makeAccessRemover(named, change)
  return Object.fromEntries(Object.entries(named).map(([name, schema]) => [name, remove(schema)]))
}

/** Returns the required names of a schema without those of properties that have the keyword. */
export function withoutAccessInRequired(placed: PlacedObject, keyword: AccessKeyword): Keywords {
  const { schema } = placed
  const { required, ...rest } = schema
  if (!Array.isArray(required)) return schema
  const names = namesWith(placed, keyword)
  const left = (required as string[]).filter((name) => !names.has(name))
  if (left.length === required.length) return schema
  return left.length === 0 ? rest : { ...rest, required: left }
}

/** Keywords whose subschemas say more about the same value, unlike a condition. */
const combining: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'then', 'else', 'dependentSchemas'])
const conditions: ReadonlySet<string> = new Set(['not', 'if'])
/** Keywords with schemas of the values that a map or list contains. */
const contained: ReadonlySet<string> = new Set([
  'patternProperties', 'additionalProperties', 'unevaluatedProperties', 'prefixItems', 'items', 'unevaluatedItems',
]) // prettier-ignore

function write(placed: Placed, around: ReadonlySet<string>, change: AccessChange): JsonSchema {
  if (!isPlacedObject(placed)) return placed.schema
  const names = new Set([...around, ...namesWith(placed, change.keyword)])
  const inside = (schema: JsonSchema, keyword: string): JsonSchema => {
    if (conditions.has(keyword) || keyword === 'properties') return schema
    const inner = { ...placed, schema, isSpread: false }
    if (contained.has(keyword) && hasAccess(inner, change.keyword)) return change.instead ?? false
    return write(inner, combining.has(keyword) ? names : new Set(), change)
  }
  const written = mapSubSchemas(placed.schema, inside)
  if (Array.isArray(written['required'])) {
    const left = (written['required'] as string[]).filter((name) => !names.has(name))
    if (left.length === 0) delete written['required']
    else written['required'] = left
  }
  if (!('properties' in written)) return written
  const properties = [...mapIn(placed, written['properties'])].flatMap(([name, property]) => {
    if (!hasAccess(property, change.keyword)) return [[name, write(property, new Set(), change)] as const]
    return change.instead === undefined ? [] : [[name, change.instead] as const]
  })
  return { ...written, properties: Object.fromEntries(properties) }
}

/** Returns the properties with the keyword in all schemas that always apply to the value. */
function namesWith(placed: Placed, keyword: AccessKeyword): ReadonlySet<string> {
  const names = new Set<string>()
  for (const one of spread([placed]).filter(isPlacedObject))
    for (const [name, property] of mapIn(one, one.schema['properties']))
      if (hasAccess(property, keyword)) names.add(name)
  return names
}
