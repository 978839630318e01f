import type { JsonSchema } from '../../contract/index.ts'

const single = new Set(
  'not if then else additionalProperties unevaluatedProperties propertyNames items unevaluatedItems contains contentSchema'.split(
    ' ',
  ),
)
const lists = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])
const maps = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])

/** A copy of a schema in which each schema directly inside it is what `change` makes of it; data stays as it is. */
export function mapSubSchemas(schema: object, change: (inner: JsonSchema) => JsonSchema): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keyword, changeOne(keyword, value, change)]),
  )
}

function changeOne(keyword: string, value: unknown, change: (inner: JsonSchema) => JsonSchema): unknown {
  if (single.has(keyword)) return change(value as JsonSchema)
  if (lists.has(keyword)) return (value as JsonSchema[]).map(change)
  if (!maps.has(keyword)) return value
  return Object.fromEntries(
    Object.entries(value as Record<string, JsonSchema>).map(([name, inner]) => [name, change(inner)]),
  )
}
