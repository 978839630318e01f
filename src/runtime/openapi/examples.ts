import type { JsonSchema } from '../../contract/index.ts'
import { followReference, type NamedSchemas, type Schema, type SchemaRoot } from '../../schema/index.ts'

/**
 * An example that the author of a schema gave: `examples`, `const` or `default`, its own or, for an object or a list,
 * those of what is in it. Nothing is invented: without one for all that is required there is none.
 */
export function deriveExample(root: SchemaRoot, schemas: NamedSchemas): unknown {
  return derive(root.schema, { root, schemas, within: [] })
}

interface Deriving {
  readonly root: SchemaRoot
  readonly schemas: NamedSchemas
  /** Schemas around it, so that a circle ends. */
  readonly within: readonly JsonSchema[]
}

function derive(schema: JsonSchema, deriving: Deriving): unknown {
  if (typeof schema === 'boolean' || deriving.within.includes(schema)) return undefined
  if (isConditional(schema)) return undefined
  const within = [...deriving.within, schema]
  const [given] = Array.isArray(schema['examples']) ? (schema['examples'] as unknown[]) : []
  const said = given ?? schema['const'] ?? schema['default']
  if (said !== undefined) return said
  if (isCombined(schema)) return undefined
  if (typeof schema['$ref'] === 'string') {
    const target = followReference(schema['$ref'], deriving.root, deriving.schemas)
    return target && derive(target.schema, { ...deriving, root: target.root, within })
  }
  if (schema['type'] === 'array') return deriveList(schema, { ...deriving, within })
  return schema['type'] === 'object' ? deriveObject(schema, { ...deriving, within }) : undefined
}

/** Not even what its author gave is repeated: checkers of OpenAPI documents take it for wrong. */
function isConditional(schema: object): boolean {
  return ['if', 'not', 'dependentRequired', 'dependentSchemas'].some((keyword) => keyword in schema)
}

/** Values that fit each part of such a schema need not fit the whole. */
function isCombined(schema: object): boolean {
  return ['allOf', 'anyOf', 'oneOf', 'contains'].some((keyword) => keyword in schema)
}

function deriveList(schema: Schema, deriving: Deriving): unknown {
  const isPlain = schema['prefixItems'] === undefined && ((schema['minItems'] as number | undefined) ?? 0) <= 1
  const item = isPlain ? derive((schema['items'] ?? true) as JsonSchema, deriving) : undefined
  return item === undefined ? undefined : [item]
}

function deriveObject(schema: Schema, deriving: Deriving): unknown {
  const required = (schema['required'] ?? []) as string[]
  const entries = Object.entries((schema['properties'] ?? {}) as NamedSchemas)
    .map(([name, property]) => [name, derive(property, deriving)] as const)
    .filter(([, value]) => value !== undefined)
  const isComplete = required.every((name) => entries.some(([known]) => known === name))
  const isEnough = entries.length > 0 && entries.length >= ((schema['minProperties'] as number | undefined) ?? 0)
  return isComplete && isEnough ? Object.fromEntries(entries) : undefined
}
