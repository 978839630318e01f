import type { JsonSchema } from '../../contract/index.ts'

type Named = Readonly<Record<string, JsonSchema>>
type ObjectSchema = Readonly<Record<string, unknown>>

const deepest = 8

/** Keywords that are kept to below, and those that say nothing about values. */
const understood = new Set(
  (
    '$ref $id $schema $defs $comment title description deprecated readOnly writeOnly examples const default enum type properties required items ' +
    'additionalProperties format pattern minLength maxLength minimum maximum exclusiveMinimum multipleOf minItems maxItems uniqueItems'
  ).split(' '),
)

/** A value that fits a schema, to try a request with; undefined where nothing plain would fit. */
export function inventValue(schema: JsonSchema, named: Named): unknown {
  return invent(schema, { named, name: 'text', depth: 0 })
}

interface Inventing {
  readonly named: Named
  /** What a text says that the schema leaves open. */
  readonly name: string
  readonly depth: number
}

function invent(schema: JsonSchema, inventing: Inventing): unknown {
  if (typeof schema === 'boolean' || inventing.depth > deepest) return undefined
  if (!Object.keys(schema).every((keyword) => understood.has(keyword))) return undefined
  const given = readGiven(schema)
  if (given !== undefined) return given
  const deeper = { ...inventing, depth: inventing.depth + 1 }
  if (typeof schema['$ref'] === 'string') {
    const target = inventing.named[decodeURIComponent(schema['$ref'].replace(/^schema:\/\/\//, ''))]
    return target && invent(target, deeper)
  }
  const [type] = [schema['type']].flat()
  if (type === 'string') return inventText(schema, inventing.name)
  if (type === 'integer' || type === 'number') return inventNumber(schema)
  if (type === 'boolean') return true
  if (type === 'array') return inventList(schema, deeper)
  return type === 'object' ? inventObject(schema, deeper) : undefined
}

/** What the author of the schema says himself. */
function readGiven(schema: ObjectSchema): unknown {
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
}

function inventText(schema: ObjectSchema, name: string): string | undefined {
  const { format, pattern, minLength = 0, maxLength = Infinity } = schema as Readonly<Record<string, never>>
  if (format !== undefined) return byFormat[format]
  if (pattern !== undefined || (minLength as number) > 100) return undefined
  return name.padEnd(minLength, '.').slice(0, maxLength)
}

function inventNumber(schema: ObjectSchema): number | undefined {
  const { minimum, exclusiveMinimum, maximum = Infinity, multipleOf = 1 } = schema as Readonly<Record<string, number>>
  const least = minimum ?? (exclusiveMinimum === undefined ? Math.min(1, maximum) : exclusiveMinimum + 1)
  const value = round(Math.ceil(round(least / multipleOf)) * multipleOf)
  return value > maximum ? undefined : value
}

/** Without what binary fractions add behind the decimals that a schema is written in. */
function round(value: number): number {
  return Number(value.toPrecision(15))
}

function inventList(schema: ObjectSchema, inventing: Inventing): readonly unknown[] | undefined {
  const least = (schema['minItems'] as number | undefined) ?? 0
  if (least === 0) return []
  const item = invent((schema['items'] as JsonSchema | undefined) ?? true, inventing)
  return item === undefined || least > 1 ? undefined : [item]
}

/** Only what is required. */
function inventObject(schema: ObjectSchema, inventing: Inventing): object | undefined {
  const properties = (schema['properties'] ?? {}) as Named
  const entries = ((schema['required'] ?? []) as string[]).map(
    (name) => [name, invent(properties[name] ?? true, { ...inventing, name })] as const,
  )
  return entries.some(([, value]) => value === undefined) ? undefined : Object.fromEntries(entries)
}
