import type { JsonSchema } from '../../contract/index.ts'
import { followReference, type NamedSchemas, type Schema, type SchemaRoot } from '../../schema/index.ts'

/**
 * Makes a function that returns an example that the author of a schema provided: `examples`, `const` or `default` of the
 * schema or, for objects and arrays, of its members. It returns undefined unless all required members have one; nothing
 * is invented. Examples of named schemas are kept, because most schemas of an API only refer to one.
 */
export function makeExampleDeriver(schemas: NamedSchemas): (root: SchemaRoot) => unknown {
  const known = new Map<JsonSchema, unknown>()
  return (root) => derive(root.schema, { root, schemas, known, ancestors: [] })
}

interface DeriveContext {
  readonly root: SchemaRoot
  readonly schemas: NamedSchemas
  /** Examples of targets that no other schema encloses. */
  readonly known: Map<JsonSchema, unknown>
  /** The enclosing schemas, to stop at cycles. */
  readonly ancestors: readonly JsonSchema[]
}

function derive(schema: JsonSchema, context: DeriveContext): unknown {
  if (typeof schema === 'boolean' || context.ancestors.includes(schema)) return undefined
  if (isConditional(schema)) return undefined
  const ancestors = [...context.ancestors, schema]
  const [given] = Array.isArray(schema['examples']) ? (schema['examples'] as unknown[]) : []
  const declared = given ?? schema['const'] ?? schema['default']
  if (declared !== undefined) return declared
  if (isCombined(schema)) return undefined
  if (typeof schema['$ref'] === 'string') return deriveTarget(schema['$ref'], { ...context, ancestors })
  if (schema['type'] === 'array') return deriveList(schema, { ...context, ancestors })
  return schema['type'] === 'object' ? deriveObject(schema, { ...context, ancestors }) : undefined
}

function deriveTarget(reference: string, context: DeriveContext): unknown {
  const { root, schemas, known, ancestors } = context
  const target = followReference(reference, root, schemas)
  if (target === undefined) return undefined
  const isOutermost = ancestors.length === 1 // only what refers to it
  if (isOutermost && known.has(target.schema)) return known.get(target.schema)
  const example = derive(target.schema, { ...context, root: target.root })
  if (isOutermost && target.named !== undefined) known.set(target.schema, example)
  return example
}

/**
 * Whether a schema has conditions. Even examples of the author are left out then, because OpenAPI linters report them
 * as invalid.
 */
function isConditional(schema: object): boolean {
  return ['if', 'not', 'dependentRequired', 'dependentSchemas'].some((keyword) => keyword in schema)
}

/** Whether a schema is combined: values that match each part need not match the whole. */
function isCombined(schema: object): boolean {
  return ['allOf', 'anyOf', 'oneOf', 'contains'].some((keyword) => keyword in schema)
}

function deriveList(schema: Schema, context: DeriveContext): unknown {
  const isPlain = schema['prefixItems'] === undefined && ((schema['minItems'] as number | undefined) ?? 0) <= 1
  const item = isPlain ? derive((schema['items'] ?? true) as JsonSchema, context) : undefined
  return item === undefined ? undefined : [item]
}

function deriveObject(schema: Schema, context: DeriveContext): unknown {
  const required = (schema['required'] ?? []) as string[]
  const entries = Object.entries((schema['properties'] ?? {}) as NamedSchemas)
    .map(([name, property]) => [name, derive(property, context)] as const)
    .filter(([, value]) => value !== undefined)
  const isComplete = required.every((name) => entries.some(([known]) => known === name))
  const isEnough = entries.length > 0 && entries.length >= ((schema['minProperties'] as number | undefined) ?? 0)
  return isComplete && isEnough ? Object.fromEntries(entries) : undefined
}
