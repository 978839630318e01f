import type { JsonSchema } from '../contract/index.ts'
import { followReference, isSchema, parseReference, type NamedSchemas } from './references.ts'
import { schemaKeywords } from './keywords.ts'

export type Keywords = Readonly<Record<string, unknown>>

/** A schema with its scope: what `#` refers to, and which named schemas it can reach. */
export interface ScopedSchema {
  readonly schema: JsonSchema
  readonly root: JsonSchema
  readonly named: NamedSchemas
  /** Whether the targets of its `$ref` and `allOf` are already listed beside it. */
  readonly isExpanded?: boolean
}

/** A scoped schema that is not a boolean. */
export interface ScopedObject extends ScopedSchema {
  readonly schema: Keywords
}

export function scopeRoot(schema: JsonSchema, named: NamedSchemas): ScopedSchema {
  return { schema, root: schema, named }
}

/** Returns a schema inside another one, with the same scope. A value that is not a schema becomes `true`. */
export function scopeIn({ root, named }: ScopedSchema, schema: unknown): ScopedSchema {
  return { schema: isSchema(schema) ? schema : true, root, named }
}

export function scopeList(scoped: ScopedSchema, schemas: unknown): readonly ScopedSchema[] {
  return Array.isArray(schemas) ? schemas.map((one) => scopeIn(scoped, one)) : []
}

/** Returns the schemas of a map, for example of `properties`, by name. */
export function scopeMap(scoped: ScopedSchema, schemas: unknown): ReadonlyMap<string, ScopedSchema> {
  return new Map(Object.entries(isKeywords(schemas) ? schemas : {}).map(([key, one]) => [key, scopeIn(scoped, one)]))
}

export function isScopedObject(scoped: ScopedSchema): scoped is ScopedObject {
  return isKeywords(scoped.schema)
}

export function isKeywords(value: unknown): value is Keywords {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the name in a reference to a whole named schema, `schema:///NAME`. */
export function nameOfReference(reference: unknown): string | undefined {
  const { name, pointer } = parseReference(String(reference))
  return pointer === '' && /^schema:\/\/\/[^#/]+/.test(String(reference)) ? name : undefined
}

/** Returns the target of a schema's `$ref`, or undefined if it does not exist. */
export function followScoped({ schema: { $ref }, root, named }: ScopedObject): ScopedSchema | undefined {
  const target = followReference(String($ref), { schema: root, name: '' }, named)
  return target === undefined ? undefined : { schema: target.schema, root: target.root.schema, named }
}

/**
 * Returns all schemas that must accept a value for these to accept it: the schemas and the targets of their `$ref` and
 * `allOf`, each once.
 */
export function expand(schemas: readonly ScopedSchema[]): readonly ScopedSchema[] {
  const found = new Map<unknown, ScopedSchema>()
  const visit = (scoped: ScopedSchema): void => {
    if (found.has(scoped.schema)) return
    found.set(scoped.schema, { ...scoped, isExpanded: true })
    if (!isScopedObject(scoped) || scoped.isExpanded === true) return
    const target = scoped.schema['$ref'] === undefined ? undefined : followScoped(scoped)
    if (target !== undefined) visit(target)
    for (const part of scopeList(scoped, scoped.schema['allOf'])) visit(part)
  }
  schemas.forEach(visit)
  return [...found.values()]
}

/** Returns a copy of a schema in which `change` is applied to each schema directly inside it. */
export function mapSubSchemas(schema: object, change: Change): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keyword, changeOne(keyword, value, change)]),
  )
}

/** `keyword` is the keyword that contains the schema. */
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
