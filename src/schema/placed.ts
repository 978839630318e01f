import type { JsonSchema } from '../contract/index.ts'
import { followReference, isSchema, parseReference, type NamedSchemas } from './references.ts'
import { schemaKeywords } from './keywords.ts'

export type Keywords = Readonly<Record<string, unknown>>

/** A schema with its context: the root that `#` refers to, and the named schemas. */
export interface Placed {
  readonly schema: JsonSchema
  readonly root: JsonSchema
  readonly named: NamedSchemas
  /** The targets of its `$ref` and `allOf` are already in the same list. */
  readonly isSpread?: boolean
}

/** A placed schema that is not a boolean. */
export interface PlacedObject extends Placed {
  readonly schema: Keywords
}

export function placeRoot(schema: JsonSchema, named: NamedSchemas): Placed {
  return { schema, root: schema, named }
}

/** Places a subschema. A value that is not a schema becomes `true`, which accepts everything. */
export function placeIn({ root, named }: Placed, schema: unknown): Placed {
  return { schema: isSchema(schema) ? schema : true, root, named }
}

export function listIn(placed: Placed, schemas: unknown): readonly Placed[] {
  return Array.isArray(schemas) ? schemas.map((one) => placeIn(placed, one)) : []
}

/** Places each schema of a map, for example of `properties`. */
export function mapIn(placed: Placed, schemas: unknown): ReadonlyMap<string, Placed> {
  return new Map(Object.entries(isKeywords(schemas) ? schemas : {}).map(([key, one]) => [key, placeIn(placed, one)]))
}

export function isPlacedObject(placed: Placed): placed is PlacedObject {
  return isKeywords(placed.schema)
}

export function isKeywords(value: unknown): value is Keywords {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the name in a reference to a whole named schema, `schema:///NAME`; undefined for other references. */
export function nameOfReference(reference: unknown): string | undefined {
  const { name, pointer } = parseReference(String(reference))
  return pointer === '' && /^schema:\/\/\/[^#/]+/.test(String(reference)) ? name : undefined
}

/** Returns the target of the `$ref` of a schema; undefined if there is none. */
export function followPlaced({ schema: { $ref }, root, named }: PlacedObject): Placed | undefined {
  const target = followReference(String($ref), { schema: root, name: '' }, named)
  return target === undefined ? undefined : { schema: target.schema, root: target.root.schema, named }
}

/** Returns the schemas with the targets of their `$ref` and `allOf`, each once. A valid value matches all of them. */
export function spread(schemas: readonly Placed[]): readonly Placed[] {
  const found = new Map<unknown, Placed>()
  const visit = (placed: Placed): void => {
    if (found.has(placed.schema)) return
    found.set(placed.schema, { ...placed, isSpread: true })
    if (!isPlacedObject(placed) || placed.isSpread === true) return
    const target = placed.schema['$ref'] === undefined ? undefined : followPlaced(placed)
    if (target !== undefined) visit(target)
    for (const part of listIn(placed, placed.schema['allOf'])) visit(part)
  }
  schemas.forEach(visit)
  return [...found.values()]
}

/** Returns a copy of a schema with `change` applied to each direct subschema. Other values are not changed. */
export function mapSubSchemas(schema: object, change: Change): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keyword, changeOne(keyword, value, change)]),
  )
}

/** `keyword` is the keyword that contains the subschema. */
type Change = (inner: JsonSchema, keyword: string) => JsonSchema

function changeOne(keyword: string, value: unknown, change: Change): unknown {
  const holds = schemaKeywords.get(keyword)?.holds
  if (Array.isArray(value))
    return holds === undefined || holds === 'map' ? value : value.map((inner) => change(inner as JsonSchema, keyword)) // `items` is a list in draft-07
  if (holds === 'schema') return change(value as JsonSchema, keyword)
  if (holds !== 'map' || typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value as Record<string, JsonSchema>).map(([name, inner]) => [name, change(inner, keyword)]),
  )
}
