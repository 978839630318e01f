import type { JsonSchema } from '../../contract/index.ts'

export type NamedSchemas = Readonly<Record<string, JsonSchema>>
export type Schema = Exclude<JsonSchema, boolean>

/** A schema in which `#` means something: a named one, or one that stands in place in a route. */
export interface SchemaRoot {
  readonly schema: JsonSchema
  /** Its name, or what to call it if something in it becomes a component. */
  readonly name: string
}

/** Where a `$ref` leads: the schema that stands there, in its root, below the pointer. */
export interface Target {
  readonly root: SchemaRoot
  readonly schema: JsonSchema
  /** Name of the named schema; undefined for one in place. */
  readonly named: string | undefined
  readonly pointer: string
}

/** Follows a `$ref` as the manifest writes them: `schema:///NAME`, with a pointer or without, or `#` and a pointer. */
export function followReference(reference: string, root: SchemaRoot, schemas: NamedSchemas): Target | undefined {
  const [address = '', pointer = ''] = reference.split('#', 2)
  const named = address === '' ? undefined : decodeURIComponent(address.replace(/^schema:\/\/\//, ''))
  if (named !== undefined && !Object.hasOwn(schemas, named)) return undefined
  const found = named === undefined ? root : { schema: schemas[named]!, name: named }
  const schema = resolvePointer(found.schema, pointer)
  return schema === undefined ? undefined : { root: found, schema, named, pointer }
}

function resolvePointer(root: JsonSchema, pointer: string): JsonSchema | undefined {
  let value: unknown = root
  for (const step of pointer.split('/').slice(1)) {
    const key = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<string, unknown>)[key]
  }
  return value as JsonSchema | undefined
}
