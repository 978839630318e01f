import type { JsonSchema } from '../../contract/index.ts'

export type NamedSchemas = Readonly<Record<string, JsonSchema>>
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

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'boolean' || isKeywords(value)
}

/** The name in a reference to all of a named schema, `schema:///NAME`. */
export function nameOfReference(reference: unknown): string | undefined {
  const [, name] = /^schema:\/\/\/([^#/]+)#?$/.exec(String(reference)) ?? []
  return name === undefined ? undefined : decode(name)
}

/** Where the `$ref` of a schema leads. */
export function followReference({ schema: { $ref }, root, named }: PlacedObject): Placed | undefined {
  const [address = '', pointer = ''] = String($ref).split('#', 2)
  const name = address === '' ? undefined : decode(address.replace(/^schema:\/\/\//, ''))
  if (name !== undefined && !Object.hasOwn(named, name)) return undefined
  const found = name === undefined ? root : named[name]!
  let value: unknown = found
  for (const step of pointer.split('/').slice(1)) {
    const key = decode(step).replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Keywords)[key]
  }
  return isSchema(value) ? { schema: value, root: found, named } : undefined
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
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
    const target = placed.schema['$ref'] === undefined ? undefined : followReference(placed)
    if (target !== undefined) visit(target)
    for (const part of listIn(placed, placed.schema['allOf'])) visit(part)
  }
  schemas.forEach(visit)
  return [...found.values()]
}
