import type { JsonSchema } from '../contract/index.ts'

export type NamedSchemas = Readonly<Record<string, JsonSchema>>
export type Schema = Exclude<JsonSchema, boolean>

/** The schema that `#` refers to: a named schema or an inline schema of a route. */
export interface SchemaRoot {
  readonly schema: JsonSchema
  /** Its name, or the name to use if part of it becomes a component. */
  readonly name: string
}

/** The target of a `$ref`: the schema at the pointer in its root. */
export interface Target {
  readonly root: SchemaRoot
  readonly schema: JsonSchema
  /** Name of the named schema; undefined for an inline schema. */
  readonly named: string | undefined
  readonly pointer: string
}

/** Splits a `$ref` of a manifest: `schema:///NAME` with an optional pointer, or `#` and a pointer. */
export function parseReference(reference: string): { readonly name: string | undefined; readonly pointer: string } {
  const [address = '', pointer = ''] = reference.split('#', 2)
  return { name: address === '' ? undefined : decode(address.replace(/^schema:\/\/\//, '')), pointer }
}

/** Returns the target of a `$ref` of a manifest; undefined if there is no schema. */
export function followReference(reference: string, root: SchemaRoot, schemas: NamedSchemas): Target | undefined {
  const { name, pointer } = parseReference(reference)
  if (name !== undefined && !Object.hasOwn(schemas, name)) return undefined
  const found = name === undefined ? root : { schema: schemas[name]!, name }
  const schema = findByPointer(found.schema, pointer)
  return isSchema(schema) ? { root: found, schema, named: name, pointer } : undefined
}

/** Returns true if a value is an object or a boolean, the forms of a schema. */
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

/** Returns the keys of a JSON pointer (RFC 6901), which may be percent-encoded; undefined if it is malformed. */
export function parsePointer(fragment: string): readonly string[] | undefined {
  if (fragment === '') return []
  if (!fragment.startsWith('/')) return undefined
  try {
    return decodeURIComponent(fragment).slice(1).split('/').map(unescapeStep)
  } catch {
    return undefined
  }
}

/** Returns the JSON pointer of keys, percent-encoded for a URI where needed. */
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

/** Returns the value at a JSON pointer, which may be percent-encoded; undefined if there is none. */
export function findByPointer(root: unknown, pointer: string): unknown {
  let value = root
  for (const key of parsePointer(pointer) ?? [undefined]) {
    if (key === undefined || typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Readonly<Record<string, unknown>>)[key]
  }
  return value
}
