import type { JsonSchema } from '../contract/index.ts'
import { compilePattern } from '../kit/index.ts'
import { followReference, type NamedSchemas, type Schema, type SchemaRoot } from '../schema/index.ts'

/**
 * Copies a value of JSON without the fields that no part of its schema declares: parts that it refers to, combines or
 * chooses between count all.
 */
export function keepDeclared(value: unknown, schema: JsonSchema, named: NamedSchemas): unknown {
  return keep(value, [{ schema, root: { schema, name: '' } }], named)
}

interface Part {
  readonly schema: JsonSchema
  /** In which `#` means something. */
  readonly root: SchemaRoot
}

function keep(value: unknown, given: readonly Part[], named: NamedSchemas): unknown {
  if (typeof value !== 'object' || value === null) return value
  const parts = expand(given, named)
  if (Array.isArray(value)) {
    return parts.some(({ schema }) => saysOf(schema, 'array', listKeywords))
      ? value.map((item, index) => keep(item, findItems(parts, index), named))
      : value
  }
  if (!parts.some(({ schema }) => saysOf(schema, 'object', objectKeywords))) return value
  const entries = Object.entries(value).flatMap(([key, one]) => {
    const found = findProperties(parts, key)
    return found.length === 0 ? [] : [[key, keep(one, found, named)] as const]
  })
  return Object.fromEntries(entries)
}

const objectKeywords = ['properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties']
const listKeywords = ['items', 'prefixItems', 'unevaluatedItems']

function saysOf(schema: JsonSchema, type: string, keywords: readonly string[]): schema is Schema {
  if (typeof schema === 'boolean') return false
  return [schema['type']].flat().includes(type) || keywords.some((keyword) => schema[keyword] !== undefined)
}

function findProperties(parts: readonly Part[], key: string): Part[] {
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

function findItems(parts: readonly Part[], index: number): Part[] {
  return parts.flatMap(({ schema, root }) => {
    if (typeof schema === 'boolean') return []
    const before = (schema['prefixItems'] ?? []) as readonly JsonSchema[]
    const found = before[index] ?? ((schema['items'] ?? schema['unevaluatedItems']) as JsonSchema | undefined)
    return found === undefined ? [] : [{ schema: found, root }]
  })
}

const combining = ['allOf', 'anyOf', 'oneOf', 'then', 'else'] // a condition declares nothing

/** All that is said of the same value. */
function expand(given: readonly Part[], named: NamedSchemas): readonly Part[] {
  const found = new Map<JsonSchema, Part>()
  const waiting = [...given]
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    const { schema, root } = part
    if (typeof schema === 'boolean' || found.has(schema)) continue
    found.set(schema, part)
    const target = typeof schema['$ref'] === 'string' ? followReference(schema['$ref'], root, named) : undefined
    if (target !== undefined) waiting.push({ schema: target.schema, root: target.root })
    const inner = combining.flatMap((keyword) => (schema[keyword] ?? []) as JsonSchema | readonly JsonSchema[])
    const dependent = Object.values((schema['dependentSchemas'] ?? {}) as NamedSchemas)
    waiting.push(...[...inner, ...dependent].map((one) => ({ schema: one, root })))
  }
  return [...found.values()]
}
