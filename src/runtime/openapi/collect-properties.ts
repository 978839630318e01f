import type { JsonSchema } from '../../contract/index.ts'
import { followReference, type NamedSchemas, type Schema, type SchemaRoot } from '../../schema/index.ts'

/** A property of an object schema. */
export interface Property {
  /** All schemas that apply to the property, anywhere in the object's schema. */
  readonly parts: readonly { readonly schema: JsonSchema; readonly root: SchemaRoot }[]
  readonly isRequired: boolean
}

/** Collects the properties of an object schema, including those of referenced and combined schemas. */
export function collectProperties(root: SchemaRoot, schemas: NamedSchemas): ReadonlyMap<string, Property> {
  const parts = new Map<string, Property['parts'][number][]>()
  const required = new Set<string>()
  for (const { schema, root: schemaRoot, appliesAlways } of findLevels(root, schemas)) {
    for (const [name, part] of Object.entries((schema['properties'] ?? {}) as NamedSchemas)) {
      const known = parts.get(name) ?? []
      const isNew = known.every((one) => JSON.stringify(one.schema) !== JSON.stringify(part))
      parts.set(name, isNew ? [...known, { schema: part, root: schemaRoot }] : known)
    }
    if (appliesAlways) for (const name of (schema['required'] ?? []) as string[]) required.add(name)
  }
  return new Map([...parts].map(([name, found]) => [name, { parts: found, isRequired: required.has(name) }]))
}

interface Level {
  readonly schema: Schema
  readonly root: SchemaRoot
  /** Whether the schema applies to all values. */
  readonly appliesAlways: boolean
}

/** Returns all schemas that apply to the same value: the schema itself, referenced schemas and combined schemas. */
function findLevels(root: SchemaRoot, schemas: NamedSchemas): Level[] {
  const levels: Level[] = []
  const seen = new Set<JsonSchema>()
  const add = (schema: JsonSchema, within: SchemaRoot, appliesAlways: boolean): void => {
    if (typeof schema === 'boolean' || seen.has(schema)) return
    seen.add(schema)
    levels.push({ schema, root: within, appliesAlways })
    const target = typeof schema['$ref'] === 'string' ? followReference(schema['$ref'], within, schemas) : undefined
    if (target !== undefined) add(target.schema, target.root, appliesAlways)
    for (const { inner, always } of combinedIn(schema)) add(inner, within, appliesAlways && always)
  }
  add(root.schema, root, true)
  return levels
}

const combiningKeywords = { allOf: true, anyOf: false, oneOf: false, then: false, else: false } as const // oxlint-disable-line unicorn/no-thenable -- keywords of JSON Schema

function combinedIn(schema: Schema): { inner: JsonSchema; always: boolean }[] {
  const found = Object.entries(combiningKeywords).flatMap(([keyword, always]) => {
    const inner = schema[keyword] as JsonSchema | readonly JsonSchema[] | undefined
    return inner === undefined ? [] : [inner].flat().map((one) => ({ inner: one, always }))
  })
  const dependent = Object.values((schema['dependentSchemas'] ?? {}) as NamedSchemas)
  return [...found, ...dependent.map((inner) => ({ inner, always: false }))]
}
