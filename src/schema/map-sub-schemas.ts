import type { JsonSchema } from '../contract/index.ts'
import { schemaKeywords } from './keywords.ts'

/** Returns a copy of a schema in which each schema directly inside it is what `change` makes of it; data stays as it is. */
export function mapSubSchemas(schema: object, change: Change): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keyword, changeOne(keyword, value, change)]),
  )
}

/** `keyword` is the one that holds the schema. */
type Change = (inner: JsonSchema, keyword: string) => JsonSchema

function changeOne(keyword: string, value: unknown, change: Change): unknown {
  const holds = schemaKeywords.get(keyword)?.holds
  if (Array.isArray(value))
    return holds === undefined || holds === 'map' ? value : value.map((inner) => change(inner as JsonSchema, keyword)) // a list of `items` is draft-07's
  if (holds === 'schema') return change(value as JsonSchema, keyword)
  if (holds !== 'map' || typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value as Record<string, JsonSchema>).map(([name, inner]) => [name, change(inner, keyword)]),
  )
}
