import type { JsonSchema } from '../contract/index.ts'
import { mapSubSchemas } from '../schema/index.ts'

const { MIN_SAFE_INTEGER: least, MAX_SAFE_INTEGER: most } = Number

/** Integers beyond 2^53 are rounded when they are parsed. */
export const exactIntegers = `from ${least} to ${most}; larger ones must be declared and sent as strings`

/** Limits all integers of a schema to those that a number represents exactly. */
export function limitIntegers(schema: JsonSchema): JsonSchema {
  if (typeof schema === 'boolean') return schema
  const inner = mapSubSchemas(schema, limitIntegers)
  const types = new Set([schema['type']].flat())
  if (!types.has('integer') || types.has('number')) return inner
  const { minimum = least, maximum = most } = inner as { readonly minimum?: number; readonly maximum?: number }
  return { ...inner, minimum: Math.max(minimum, least), maximum: Math.min(maximum, most) }
}

/** Whether an error of Ajv is about a limit that `limitIntegers` has set. */
export function isExactLimit(keyword: string, limit: unknown): boolean {
  return (keyword === 'minimum' && limit === least) || (keyword === 'maximum' && limit === most)
}
