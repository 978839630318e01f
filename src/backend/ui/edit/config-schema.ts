import { describeValue } from './fields.tsx'
import type { NameKind } from './pickers.tsx'
import { isEqual, isMap, type Json } from './values.ts'
import { fieldTexts as texts } from './field-texts.ts'

// What the JSON Schema of a config says about a value.

/** The alternatives of a schema; undefined if it has none. */
export function choicesOf(schema: Json): readonly Json[] | undefined {
  const choices = schema['anyOf'] ?? schema['oneOf']
  return Array.isArray(choices) ? choices.map(toSchema) : undefined
}

/** Whether a schema is that of a text that may contain variables. */
export function isVariable({ pattern }: Json): boolean {
  return pattern === String.raw`\$\{env\.`
}

/** The name of an alternative, different from those before it. */
export function describeChoice(choice: Json, before: readonly Json[]): string {
  const name = nameKind(choice)
  return before.some((one) => nameKind(one) === name) ? `${name} ${before.length + 1}` : name
}

const maxKeys = 3

function nameKind(choice: Json): string {
  const kinds = texts.kinds
  const names = texts.names
  const lists = texts.lists
  if ('const' in choice) return describeValue(choice['const'])
  const title = textOf(choice['title'])
  if (title !== undefined) return title
  const items = toSchema(choice['items'])
  const keys = Object.keys(choice['properties'] ?? {})
  switch (typeOf(choice)) {
    case 'array':
      return lists[items['x-waypost'] as NameKind] ?? kinds.list
    case 'object':
      return keys.length > 0 && keys.length <= maxKeys ? keys.join(', ') : kinds.object
    case 'boolean':
      return kinds.flag
    case 'integer':
    case 'number':
      return kinds.number
    default:
      return names[choice['x-waypost'] as NameKind] ?? kinds.text
  }
}

/** Whether a value has the type of a schema. It may still be invalid. */
export function isKindOf(value: unknown, schema: Json): boolean {
  if ('const' in schema) return isEqual(value, schema['const'])
  if (Array.isArray(schema['enum'])) return schema['enum'].some((one) => isEqual(one, value))
  switch (typeOf(schema)) {
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isMap(value)
    case 'string':
      return typeof value === 'string'
    case 'boolean':
      return typeof value === 'boolean'
    case 'integer':
    case 'number':
      return typeof value === 'number'
    default:
      return true
  }
}

const embeddedKinds: Readonly<Record<string, NameKind>> = { either: 'reference', column: 'embedded', sort: 'embedded' }

/** The kind of names that a text of a config is one of; undefined for other values. */
export function namesOf(schema: Json): NameKind | undefined {
  return (schema['x-waypost'] as NameKind | undefined) ?? embeddedKinds[String(schema['x-waypost-other'])]
}

export function typeOf(schema: Json): string | undefined {
  const { type } = schema
  if (typeof type === 'string') return type
  if (schema['x-waypost'] !== undefined || schema['pattern'] !== undefined) return 'string'
  if (schema['properties'] !== undefined) return 'object'
  return schema['items'] === undefined ? undefined : 'array'
}

/** The value that a new part begins with. */
export function emptyOf(schema: Json): unknown {
  if ('const' in schema) return schema['const']
  if (schema['default'] !== undefined) return schema['default']
  const choices = choicesOf(schema)
  if (choices?.[0] !== undefined) return emptyOf(choices[0])
  if (Array.isArray(schema['enum'])) return schema['enum'][0]
  switch (typeOf(schema)) {
    case 'array':
      return []
    case 'object':
      return {}
    case 'boolean':
      return false
    case 'integer':
    case 'number':
      return numberOf(schema['minimum']) ?? 0
    default:
      return ''
  }
}

export function toSchema(schema: unknown): Json {
  return isMap(schema) ? schema : {}
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}
