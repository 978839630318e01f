// References to schemas by name.

/** A JSON Schema that is an object. */
export type Schema = Readonly<Record<string, unknown>>
export type NamedSchemas = Readonly<Record<string, unknown>>

/** `schema:///Todo` is a reference of the definition, `#/components/schemas/Todo` one of an OpenAPI document. */
const prefixes = ['schema:///', '#/components/schemas/']

/** Returns the name that the `$ref` of a schema refers to. */
export function referenceOf(schema: Schema): string | undefined {
  const reference = schema['$ref']
  if (typeof reference !== 'string') return undefined
  const prefix = prefixes.find((one) => reference.startsWith(one))
  if (prefix === undefined) return undefined
  const name = reference.slice(prefix.length).split('#')[0]!
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** Returns a schema as an object: `true` allows everything, `false` nothing. */
export function toSchema(schema: unknown): Schema {
  if (typeof schema === 'object' && schema !== null) return schema as Schema
  return schema === false ? { not: {} } : {}
}

const maxReferences = 20

/** Follows the references of a schema. Keywords next to a reference replace those of its target. */
export function resolveSchema(schema: unknown, named: NamedSchemas): Schema {
  let resolved = toSchema(schema)
  for (let count = 0; count < maxReferences; count++) {
    const name = referenceOf(resolved)
    if (name === undefined || !Object.hasOwn(named, name)) break
    const { $ref: _, ...own } = resolved
    resolved = { ...toSchema(named[name]), ...own }
  }
  return resolved
}
