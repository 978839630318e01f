import type { Options } from 'ajv'
import type { JsonSchema } from '../contract/index.ts'
import { mapSubSchemas, type NamedSchemas } from '../schema/index.ts'

const names = Object.getOwnPropertyNames(Object.prototype)
const anyName = new RegExp(`"(?:${names.join('|')})"`)

/** Whether a schema mentions a name that every object has, such as `constructor`. */
export function mentionsObjectNames(schema: JsonSchema, named: NamedSchemas): boolean {
  return anyName.test(JSON.stringify([schema, named]))
}

/** Makes Ajv look at own properties only. Otherwise that costs time and changes nothing. */
export function ownPropertyOptions(schema: JsonSchema, named: NamedSchemas): Options {
  return mentionsObjectNames(schema, named) ? { ownProperties: true } : {}
}

/** Moves the property `__proto__` to `patternProperties`, because Ajv ignores it in `properties`. */
export function movePrototype(schema: JsonSchema): JsonSchema {
  if (typeof schema === 'boolean') return schema
  const inner = mapSubSchemas(schema, movePrototype)
  const { properties, patternProperties } = inner as Record<
    'properties' | 'patternProperties',
    NamedSchemas | undefined
  >
  if (properties === undefined || !Object.hasOwn(properties, '__proto__')) return inner
  const { ['__proto__']: moved, ...rest } = properties
  return { ...inner, properties: rest, patternProperties: { ...patternProperties, '^__proto__$': moved } }
}

/** Copies lists and objects into objects that inherit nothing. Times and numbers are written as their schemas say. */
export function withoutPrototypes(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  if (Array.isArray(value)) return value.map(withoutPrototypes)
  if ('toJSON' in value && typeof value.toJSON === 'function') return withoutPrototypes(value.toJSON())
  const copy = Object.create(null) as Record<string, unknown>
  for (const [key, one] of Object.entries(value)) copy[key] = withoutPrototypes(one)
  return copy
}
