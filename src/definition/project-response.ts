import type { JsonSchema } from '../contract/index.ts'
import {
  escapeStep,
  followReference,
  type NamedSchemas,
  type Schema,
  type SchemaRoot,
  type Target,
} from '../schema/index.ts'

interface Found {
  readonly properties: Map<string, JsonSchema>
  readonly required: Set<string>
}

/** The schema of an object with some of the properties of another, and the names that are no properties of it. */
export interface ProjectedSchema {
  readonly schema: JsonSchema
  /** Empty if the schema of the whole object declares none. */
  readonly unknown: readonly string[]
  readonly known: readonly string[]
}

/** Returns the schema of an object of which only the named properties are left, as `dispatch` with `data` makes it. */
export function projectSchema(schema: JsonSchema, names: readonly string[], named: NamedSchemas): ProjectedSchema {
  const found: Found = { properties: new Map(), required: new Set() }
  const root = { schema, name: '' }
  collect({ schema, root, named: undefined, pointer: '' }, named, { found, seen: new Set() })
  const known = [...found.properties.keys()]
  const { $defs, definitions } = typeof schema === 'boolean' ? ({} as Schema) : schema
  return {
    schema: {
      type: 'object',
      properties: Object.fromEntries(names.map((name) => [name, found.properties.get(name) ?? true])),
      required: names.filter((name) => found.required.has(name)),
      additionalProperties: false,
      ...($defs !== undefined && { $defs }),
      ...(definitions !== undefined && { definitions }),
    },
    unknown: known.length === 0 ? [] : names.filter((name) => !known.includes(name)),
    known,
  }
}

interface Collecting {
  readonly found: Found
  readonly seen: Set<JsonSchema>
}

/** Collects the properties of a schema, and of all schemas that apply to the same value. */
function collect(at: Target, named: NamedSchemas, { found, seen }: Collecting): void {
  const { schema, root } = at
  if (typeof schema === 'boolean' || seen.has(schema)) return
  seen.add(schema)
  for (const [name, one] of Object.entries((schema['properties'] ?? {}) as NamedSchemas))
    if (!found.properties.has(name)) found.properties.set(name, refer(at, name, one))
  for (const name of (schema['required'] ?? []) as readonly string[]) found.required.add(name)
  const target = typeof schema['$ref'] === 'string' ? followReference(schema['$ref'], root, named) : undefined
  if (target !== undefined)
    collect(target.named === undefined ? { ...target, named: at.named } : target, named, { found, seen })
  for (const [index, one] of ((schema['allOf'] ?? []) as readonly JsonSchema[]).entries())
    collect({ ...at, schema: one, pointer: `${at.pointer}/allOf/${index}` }, named, { found, seen })
}

/** Refers to a property of a named schema, whose own references are relative to it. */
function refer(
  { named, pointer }: Pick<Target & { root: SchemaRoot }, 'named' | 'pointer'>,
  name: string,
  schema: JsonSchema,
) {
  if (named === undefined) return schema
  return {
    $ref: `schema:///${encodeURIComponent(named)}#${pointer}/properties/${encodeURIComponent(escapeStep(name))}`,
  }
}
