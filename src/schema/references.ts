import type { JsonSchema } from '../contract/index.ts'

export type NamedSchemas = Readonly<Record<string, JsonSchema>>
export type Schema = Exclude<JsonSchema, boolean>

/** A schema in which `#` has a meaning: a named one, or one written in place in a route. */
export interface SchemaRoot {
  readonly schema: JsonSchema
  /** Its name, or what to call it if something in it becomes a component. */
  readonly name: string
}

/** Where a `$ref` leads: the schema at the pointer in its root. */
export interface Target {
  readonly root: SchemaRoot
  readonly schema: JsonSchema
  /** Name of the named schema; undefined for one in place. */
  readonly named: string | undefined
  readonly pointer: string
}

/** Splits a `$ref` as a manifest has them: `schema:///NAME`, with a pointer or without, or `#` and a pointer. */
export function parseReference(reference: string): { readonly name: string | undefined; readonly pointer: string } {
  const [address = '', pointer = ''] = reference.split('#', 2)
  return { name: address === '' ? undefined : decode(address.replace(/^schema:\/\/\//, '')), pointer }
}

/** Follows a `$ref` of a manifest; undefined where there is no schema. */
export function followReference(reference: string, root: SchemaRoot, schemas: NamedSchemas): Target | undefined {
  const { name, pointer } = parseReference(reference)
  if (name !== undefined && !Object.hasOwn(schemas, name)) return undefined
  const found = name === undefined ? root : { schema: schemas[name]!, name }
  const schema = findByPointer(found.schema, pointer)
  return isSchema(schema) ? { root: found, schema, named: name, pointer } : undefined
}

/** Whether a value can be read as a schema. */
export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'boolean' || (typeof value === 'object' && value !== null && !Array.isArray(value))
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Returns the keys of a JSON pointer (RFC 6901), which may be percent-encoded as in a URI; undefined if it is malformed. */
export function parsePointer(fragment: string): readonly string[] | undefined {
  if (fragment === '') return []
  if (!fragment.startsWith('/')) return undefined
  try {
    return decodeURIComponent(fragment).slice(1).split('/').map(unescapeStep)
  } catch {
    return undefined
  }
}

/** Returns the JSON pointer of keys, percent-encoded as in a URI where that is needed. */
export function makePointer(keys: readonly (string | number)[]): string {
  return keys.map((key) => `/${encodeURIComponent(escapeStep(String(key))).replaceAll('%24', '$')}`).join('')
}

/** Returns a key as a step of a JSON pointer: `a/b` is `a~1b`. */
export function escapeStep(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** Returns the key that a step of a JSON pointer names. */
export function unescapeStep(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}

/** Returns the value at a JSON pointer, which may be percent-encoded; undefined where there is none. */
export function findByPointer(root: unknown, pointer: string): unknown {
  let value = root
  for (const key of parsePointer(pointer) ?? [undefined]) {
    if (key === undefined || typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Readonly<Record<string, unknown>>)[key]
  }
  return value
}
