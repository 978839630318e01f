import type { JsonSchema } from '../../contract/index.ts'
import { followReference, type NamedSchemas, type Schema, type SchemaRoot } from '../../schema/index.ts'

/** A property of an object schema. */
export interface Property {
  /** Every schema that the property is given, wherever in the object's schema. */
  readonly parts: readonly { readonly schema: JsonSchema; readonly root: SchemaRoot }[]
  readonly isRequired: boolean
}

/** The properties of an object schema: its own, those behind references and those of the schemas that it combines. */
export function collectProperties(root: SchemaRoot, schemas: NamedSchemas): ReadonlyMap<string, Property> {
  const parts = new Map<string, Property['parts'][number][]>()
  const required = new Set<string>()
  for (const { schema, root: within, isCertain } of findLevels(root, schemas)) {
    for (const [name, part] of Object.entries((schema['properties'] ?? {}) as NamedSchemas)) {
      const known = parts.get(name) ?? []
      const isNew = known.every((one) => JSON.stringify(one.schema) !== JSON.stringify(part))
      parts.set(name, isNew ? [...known, { schema: part, root: within }] : known)
    }
    if (isCertain) for (const name of (schema['required'] ?? []) as string[]) required.add(name)
  }
  return new Map([...parts].map(([name, found]) => [name, { parts: found, isRequired: required.has(name) }]))
}

interface Level {
  readonly schema: Schema
  readonly root: SchemaRoot
  /** It holds for every value, not only for some. */
  readonly isCertain: boolean
}

/** All schemas that apply to the same value: one, what it refers to and what it combines. */
function findLevels(root: SchemaRoot, schemas: NamedSchemas): Level[] {
  const levels: Level[] = []
  const seen = new Set<JsonSchema>()
  const add = (schema: JsonSchema, within: SchemaRoot, isCertain: boolean): void => {
    if (typeof schema === 'boolean' || seen.has(schema)) return
    seen.add(schema)
    levels.push({ schema, root: within, isCertain })
    const target = typeof schema['$ref'] === 'string' ? followReference(schema['$ref'], within, schemas) : undefined
    if (target !== undefined) add(target.schema, target.root, isCertain)
    for (const { inner, always } of combinedIn(schema)) add(inner, within, isCertain && always)
  }
  add(root.schema, root, true)
  return levels
}

const combining = { allOf: true, anyOf: false, oneOf: false, then: false, else: false } as const // oxlint-disable-line unicorn/no-thenable -- keywords of JSON Schema

function combinedIn(schema: Schema): { inner: JsonSchema; always: boolean }[] {
  const found = Object.entries(combining).flatMap(([keyword, always]) => {
    const inner = schema[keyword] as JsonSchema | readonly JsonSchema[] | undefined
    return inner === undefined ? [] : [inner].flat().map((one) => ({ inner: one, always }))
  })
  const dependent = Object.values((schema['dependentSchemas'] ?? {}) as NamedSchemas)
  return [...found, ...dependent.map((inner) => ({ inner, always: false }))]
}
