import type { JsonSchema } from '../contract/index.ts'
import { compilePattern } from '../kit/index.ts'
import { followReference, type NamedSchemas, type Schema, type SchemaRoot } from '../schema/index.ts'

/**
 * Copies a JSON value without the fields that its schema does not declare or marks as `writeOnly`. Follows references,
 * combined schemas and alternatives.
 */
export function removeUndeclared(value: unknown, schema: JsonSchema, named: NamedSchemas): unknown {
  return copyDeclared(value, [{ schema, root: { schema, name: '' } }], named)
}

interface SchemaPart {
  readonly schema: JsonSchema
  /** The root for `#` references. */
  readonly root: SchemaRoot
}

function copyDeclared(value: unknown, given: readonly SchemaPart[], named: NamedSchemas): unknown {
  if (typeof value !== 'object' || value === null) return value
  const parts = expandParts(given, named)
  if (Array.isArray(value)) {
    if (!parts.some(({ schema }) => describesType(schema, 'array', listKeywords))) return value
    return value.flatMap((item: unknown, index) => {
      const found = findItems(parts, index)
      return found.some(isWriteOnly) ? [] : [copyDeclared(item, found, named)]
    })
  }
  if (!parts.some(({ schema }) => describesType(schema, 'object', objectKeywords))) return value
  const entries = Object.entries(value).flatMap(([key, one]) => {
    const found = findProperties(parts, key)
    return found.length === 0 || found.some(isWriteOnly) ? [] : [[key, copyDeclared(one, found, named)] as const]
  })
  return Object.fromEntries(entries)
}

function isWriteOnly({ schema }: SchemaPart): boolean {
  return typeof schema === 'object' && schema['writeOnly'] === true
}

const objectKeywords = ['properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties']
const listKeywords = ['items', 'prefixItems', 'unevaluatedItems']

function describesType(schema: JsonSchema, type: string, keywords: readonly string[]): schema is Schema {
  if (typeof schema === 'boolean') return false
  return [schema['type']].flat().includes(type) || keywords.some((keyword) => schema[keyword] !== undefined)
}

function findProperties(parts: readonly SchemaPart[], key: string): SchemaPart[] {
  return parts.flatMap(({ schema, root }) => {
    if (typeof schema === 'boolean') return []
    const properties = (schema['properties'] ?? {}) as NamedSchemas
    const own = Object.hasOwn(properties, key) ? [properties[key]!] : []
    const byPattern = Object.entries((schema['patternProperties'] ?? {}) as NamedSchemas).flatMap(([pattern, one]) =>
      compilePattern(pattern).test(key) ? [one] : [],
    )
    const found = [...own, ...byPattern]
    const others = [schema['additionalProperties'], schema['unevaluatedProperties']] as (JsonSchema | undefined)[]
    const rest = others.filter((one) => one !== undefined && one !== false) as JsonSchema[]
    return (found.length > 0 ? found : rest).map((one) => ({ schema: one, root }))
  })
}

function findItems(parts: readonly SchemaPart[], index: number): SchemaPart[] {
  return parts.flatMap(({ schema, root }) => {
    if (typeof schema === 'boolean') return []
    const before = (schema['prefixItems'] ?? []) as readonly JsonSchema[]
    const found = before[index] ?? ((schema['items'] ?? schema['unevaluatedItems']) as JsonSchema | undefined)
    return found === undefined ? [] : [{ schema: found, root }]
  })
}

const combiningKeywords = ['allOf', 'anyOf', 'oneOf', 'then', 'else'] // a condition declares nothing

/** Returns all schemas that apply to the same value. */
function expandParts(given: readonly SchemaPart[], named: NamedSchemas): readonly SchemaPart[] {
  const found = new Map<JsonSchema, SchemaPart>()
  const pending = [...given]
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    const { schema, root } = part
    if (typeof schema === 'boolean' || found.has(schema)) continue
    found.set(schema, part)
    const target = typeof schema['$ref'] === 'string' ? followReference(schema['$ref'], root, named) : undefined
    if (target !== undefined) pending.push({ schema: target.schema, root: target.root })
    const inner = combiningKeywords.flatMap((keyword) => (schema[keyword] ?? []) as JsonSchema | readonly JsonSchema[])
    const dependent = Object.values((schema['dependentSchemas'] ?? {}) as NamedSchemas)
    pending.push(...[...inner, ...dependent].map((one) => ({ schema: one, root })))
  }
  return [...found.values()]
}
