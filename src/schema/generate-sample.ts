import type { JsonSchema } from '../contract/index.ts'

type Named = Readonly<Record<string, JsonSchema>>
type ObjectSchema = Readonly<Record<string, unknown>>

const maxDepth = 8

/** Keywords that are implemented below, and keywords that do not restrict values. */
const supportedKeywords = new Set(
  (
    '$ref $id $schema $defs $comment title description deprecated readOnly writeOnly explode examples const default enum type properties required items ' +
    'additionalProperties format pattern minLength maxLength minimum maximum exclusiveMinimum multipleOf minItems maxItems uniqueItems'
  ).split(' '),
)

/**
 * Generates a value that matches a schema, to try a request with. Returns undefined for schemas that are not supported.
 */
export function generateSample(schema: JsonSchema, named: Named): unknown {
  return generate(schema, { named, name: 'text', depth: 0 })
}

interface GenerateContext {
  readonly named: Named
  /** The text for a string that the schema does not restrict. */
  readonly name: string
  readonly depth: number
}

function generate(schema: JsonSchema, context: GenerateContext): unknown {
  if (typeof schema === 'boolean' || context.depth > maxDepth) return undefined
  if (!Object.keys(schema).every((keyword) => supportedKeywords.has(keyword))) return undefined
  const given = findProvided(schema)
  if (given !== undefined) return given
  const deeper = { ...context, depth: context.depth + 1 }
  if (typeof schema['$ref'] === 'string') {
    const target = context.named[decodeURIComponent(schema['$ref'].replace(/^schema:\/\/\//, ''))]
    return target && generate(target, deeper)
  }
  const [type] = [schema['type']].flat()
  if (type === 'string') return generateText(schema, context.name)
  if (type === 'integer' || type === 'number') return generateNumber(schema)
  if (type === 'boolean') return true
  if (type === 'array') return generateList(schema, deeper)
  return type === 'object' ? generateObject(schema, deeper) : undefined
}

/** Returns the value that the author of the schema provided. */
function findProvided(schema: ObjectSchema): unknown {
  const lists = [schema['examples'], schema['enum']] as (readonly unknown[] | undefined)[]
  return lists[0]?.[0] ?? schema['const'] ?? schema['default'] ?? lists[1]?.[0]
}

const byFormat: Readonly<Record<string, string>> = {
  date: '2026-01-31',
  'date-time': '2026-01-31T12:00:00Z',
  time: '12:00:00Z',
  duration: 'PT1H',
  email: 'ann@example.com',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  uuid: '0190a5f0-0000-7000-8000-000000000000',
  ipv4: '192.0.2.1',
  hostname: 'example.com',
  decimal: '0',
}

function generateText(schema: ObjectSchema, name: string): string | undefined {
  const { format, pattern, minLength = 0, maxLength = Infinity } = schema as Readonly<Record<string, never>>
  if (format !== undefined) return byFormat[format]
  if (pattern !== undefined || (minLength as number) > 100) return undefined
  return name.padEnd(minLength, '.').slice(0, maxLength)
}

function generateNumber(schema: ObjectSchema): number | undefined {
  const { minimum, exclusiveMinimum, maximum = Infinity, multipleOf = 1 } = schema as Readonly<Record<string, number>>
  const lowest = minimum ?? (exclusiveMinimum === undefined ? -Infinity : exclusiveMinimum + 1)
  // The lowest number of a wide range, such as that of bigint, tells readers nothing.
  const values = [lowest < 0 ? Math.min(1, maximum) : lowest, lowest]
    .filter(Number.isFinite)
    .map((least) => round(Math.ceil(round(least / multipleOf)) * multipleOf))
  return values.find((value) => value <= maximum)
}

/** Removes the digits that binary fractions add to decimals. */
function round(value: number): number {
  return Number(value.toPrecision(15))
}

function generateList(schema: ObjectSchema, context: GenerateContext): readonly unknown[] | undefined {
  const minItems = (schema['minItems'] as number | undefined) ?? 0
  if (minItems === 0) return []
  const item = generate((schema['items'] as JsonSchema | undefined) ?? true, context)
  return item === undefined || minItems > 1 ? undefined : [item]
}

/** Generates the required properties only. */
function generateObject(schema: ObjectSchema, context: GenerateContext): object | undefined {
  const properties = (schema['properties'] ?? {}) as Named
  const entries = ((schema['required'] ?? []) as string[]).map(
    (name) => [name, generate(properties[name] ?? true, { ...context, name })] as const,
  )
  return entries.some(([, value]) => value === undefined) ? undefined : Object.fromEntries(entries)
}
