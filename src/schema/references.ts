import type { JsonSchema } from '../contract/index.ts'
import { findByPointer } from './pointer.ts'

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
