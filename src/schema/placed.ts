import type { JsonSchema } from '../contract/index.ts'
import { followReference, isSchema, parseReference, type NamedSchemas } from './references.ts'
import { schemaKeywords } from './keywords.ts'

export type Keywords = Readonly<Record<string, unknown>>

/** A schema where it stands: what `#` means in it, and which named schemas it can reach. */
export interface Placed {
  readonly schema: JsonSchema
  readonly root: JsonSchema
  readonly named: NamedSchemas
  /** What its `$ref` and `allOf` lead to stands beside it already. */
  readonly isSpread?: boolean
}

/** A placed schema that is not just true or false. */
export interface PlacedObject extends Placed {
  readonly schema: Keywords
}

export function placeRoot(schema: JsonSchema, named: NamedSchemas): Placed {
  return { schema, root: schema, named }
}

/** A schema that stands in another one. What is none is taken for one that takes everything. */
export function placeIn({ root, named }: Placed, schema: unknown): Placed {
  return { schema: isSchema(schema) ? schema : true, root, named }
}

export function listIn(placed: Placed, schemas: unknown): readonly Placed[] {
  return Array.isArray(schemas) ? schemas.map((one) => placeIn(placed, one)) : []
}

/** The schemas of a map of name to schema, for example those of `properties`. */
export function mapIn(placed: Placed, schemas: unknown): ReadonlyMap<string, Placed> {
  return new Map(Object.entries(isKeywords(schemas) ? schemas : {}).map(([key, one]) => [key, placeIn(placed, one)]))
}

export function isPlacedObject(placed: Placed): placed is PlacedObject {
  return isKeywords(placed.schema)
}

export function isKeywords(value: unknown): value is Keywords {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the name in a reference to all of a named schema, `schema:///NAME`. */
export function nameOfReference(reference: unknown): string | undefined {
  const { name, pointer } = parseReference(String(reference))
  return pointer === '' && /^schema:\/\/\/[^#/]+/.test(String(reference)) ? name : undefined
}

/** Returns where the `$ref` of a schema leads; undefined where there is no schema. */
export function followPlaced({ schema: { $ref }, root, named }: PlacedObject): Placed | undefined {
  const target = followReference(String($ref), { schema: root, name: '' }, named)
  return target === undefined ? undefined : { schema: target.schema, root: target.root.schema, named }
}

/**
 * The schemas that all have to take a value for these to take it: what `$ref` and `allOf` lead to beside themselves, each
 * once.
 */
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

/** Returns a copy of a schema in which each schema directly inside it is what `change` makes of it; data stays as it is. */
export function mapSubSchemas(schema: object, change: Change): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keyword, changeOne(keyword, value, change)]),
  )
}

/** `keyword` is the one that holds the schema. */
type Change = (inner: JsonSchema, keyword: string) => JsonSchema

function changeOne(keyword: string, value: unknown, change: Change): unknown {
  const holds = schemaKeywords.get(keyword)?.holds
  if (Array.isArray(value))
    return holds === undefined || holds === 'map' ? value : value.map((inner) => change(inner as JsonSchema, keyword)) // a list of `items` is draft-07's
  if (holds === 'schema') return change(value as JsonSchema, keyword)
  if (holds !== 'map' || typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value as Record<string, JsonSchema>).map(([name, inner]) => [name, change(inner, keyword)]),
  )
}
