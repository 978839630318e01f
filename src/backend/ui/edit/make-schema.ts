// Schemas made from an example or from a table.
import { referenceOf, resolveSchema } from '../components/named-schemas.ts'
import { isMap, type Json } from './values.ts'

/**
 * Returns a schema that allows an example and values like it. All properties are required, and in lists of objects
 * those that each object has. A value that is null may be anything.
 */
export function schemaOfExample(example: unknown): Json {
  return schemaOfAll([example])
}

function schemaOfAll(examples: readonly unknown[]): Json {
  const byType = Map.groupBy(examples, typeOf)
  const hasNull = byType.delete('null')
  // An integer is a number too.
  const numbers = byType.get('number')
  if (numbers !== undefined) {
    byType.set('number', [...numbers, ...(byType.get('integer') ?? [])])
    byType.delete('integer')
  }
  const schemas = [...byType].map(([type, values]) => schemaOfType(type, values))
  const [first] = schemas
  if (first === undefined) return {}
  if (schemas.length === 1) return hasNull ? { ...first, type: [first['type'], 'null'] } : first
  const choices = hasNull ? [...schemas, { type: 'null' }] : schemas
  const isPlain = choices.every((one) => Object.keys(one).length === 1)
  return isPlain ? { type: choices.map(({ type }) => type) } : { anyOf: choices }
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}

function schemaOfType(type: string, values: readonly unknown[]): Json {
  if (type === 'object') return schemaOfObjects(values as readonly Json[])
  if (type === 'array') {
    const items = schemaOfAll((values as readonly (readonly unknown[])[]).flat())
    return Object.keys(items).length === 0 ? { type } : { type, items }
  }
  const format = type === 'string' ? formatOf(values as readonly string[]) : undefined
  return format === undefined ? { type } : { type, format }
}

function schemaOfObjects(objects: readonly Json[]): Json {
  const names = [...new Set(objects.flatMap((object) => Object.keys(object)))]
  if (names.length === 0) return { type: 'object' }
  const valuesOf = (name: string) => objects.flatMap((one) => (Object.hasOwn(one, name) ? [one[name]] : []))
  const required = names.filter((name) => objects.every((object) => Object.hasOwn(object, name)))
  return {
    type: 'object',
    ...(required.length === 0 ? {} : { required }),
    properties: Object.fromEntries(names.map((name) => [name, schemaOfAll(valuesOf(name))])),
  }
}

const formats = {
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i,
  date: /^\d{4}-\d\d-\d\d$/,
  uuid: /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i,
  email: /^[\w.+-]+@[\w-]+(\.[\w-]+)+$/,
  uri: /^https?:\/\/[^\s<>"{}|\\^`]+$/,
}

/** The format that all texts have. */
function formatOf(texts: readonly string[]): string | undefined {
  return Object.entries(formats).find(([, pattern]) => texts.every((text) => pattern.test(text)))?.[0]
}

/** A column as the admin API describes it. */
export interface Column {
  readonly name: string
  readonly type: string
  readonly length: number | null
  readonly null: boolean
  readonly default: boolean
  readonly generated: boolean
}

const columnTypes: Readonly<Record<string, Json>> = {
  id: { type: 'integer' },
  integer: { type: 'integer' },
  bigint: { type: ['integer', 'string'] },
  number: { type: 'number' },
  text: { type: 'string' },
  boolean: { type: 'boolean' },
  timestamp: { type: 'string', format: 'date-time' },
  date: { type: 'string', format: 'date' },
  uuid: { type: 'string', format: 'uuid' },
}

/**
 * Returns the schema of rows: of those that are read, which have all columns; or of those that callers send, without
 * what the database fills in by itself.
 */
export function schemaOfTable(columns: readonly Column[], use: 'read' | 'write'): Json {
  const isRead = use === 'read'
  const used = columns.filter(({ type, generated }) => isRead || (type !== 'id' && !generated))
  const required = used.filter((column) => isRead || !(column.null || column.default)).map(({ name }) => name)
  return {
    type: 'object',
    ...(required.length === 0 ? {} : { required }),
    ...(isRead ? {} : { additionalProperties: false }),
    properties: Object.fromEntries(used.map((column) => [column.name, schemaOfColumn(column, isRead)])),
  }
}

function schemaOfColumn({ type, length, null: isNullable }: Column, isRead: boolean): Json {
  const schema = columnTypes[type] ?? {}
  const limited = type === 'text' && length !== null && !isRead ? { ...schema, maxLength: length } : schema
  return isNullable && 'type' in limited ? { ...limited, type: [limited['type'], 'null'].flat() } : limited
}

/**
 * Returns a value that the schema allows in most cases, to start from.
 * @param hidden properties with this keyword are left out
 */
export function exampleOf(
  schema: unknown,
  named: Readonly<Record<string, unknown>>,
  hidden?: 'readOnly' | 'writeOnly',
): unknown {
  return findExample(schema, { named, hidden, around: [], budget: { values: 500 } }) ?? null
}

interface ExampleContext {
  readonly named: Readonly<Record<string, unknown>>
  readonly hidden: 'readOnly' | 'writeOnly' | undefined
  /** The names of the schemas around it: schemas may contain themselves. */
  readonly around: readonly string[]
  /** How many more values to make. */
  readonly budget: { values: number }
}

const maxNamed = 6

function findExample(schema: unknown, context: ExampleContext): unknown {
  if (!isMap(schema)) return null
  if (context.budget.values-- <= 0) return undefined
  const name = referenceOf(schema)
  if (name !== undefined) {
    const { named, around } = context
    if (around.includes(name) || around.length >= maxNamed || !Object.hasOwn(named, name)) return undefined
    return findExample(named[name], { ...context, around: [...around, name] })
  }
  const [example] = listOf(schema['examples'])
  if (example !== undefined) return example
  if ('const' in schema) return schema['const']
  if ('default' in schema) return schema['default']
  const [choice] = [schema['enum'], schema['oneOf'], schema['anyOf']].map(listOf).find((one) => one.length > 0) ?? []
  if (choice !== undefined) return 'enum' in schema ? choice : findExample(choice, context)
  const own = exampleOfType(schema, (inner) => findExample(inner, context), context)
  const all = [...listOf(schema['allOf']).map((part) => findExample(part, context)), own]
  const maps = all.filter(isMap)
  if (maps.length > 1) return Object.assign({}, ...maps)
  return own ?? all.find((one) => one !== undefined && one !== null) ?? own
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

const texts: Readonly<Record<string, string>> = {
  'date-time': '2027-01-31T12:00:00Z',
  date: '2027-01-31',
  time: '12:00:00Z',
  duration: 'PT1H',
  email: 'ann@example.com',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  uuid: '123e4567-e89b-42d3-a456-426614174000',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
}

function exampleOfType(
  schema: Json,
  exampleOfInner: (inner: unknown) => unknown,
  { hidden, named }: ExampleContext,
): unknown {
  const [type] = [schema['type']].flat()
  if (type === 'object' || 'properties' in schema) {
    const properties = Object.entries(isMap(schema['properties']) ? schema['properties'] : {})
    const shown = properties.filter(([, one]) => hidden === undefined || resolveSchema(one, named)[hidden] !== true)
    const values = shown.map(([name, one]) => [name, exampleOfInner(one)] as const)
    return Object.fromEntries(values.filter(([, value]) => value !== undefined))
  }
  const entries = listOf(schema['prefixItems'])
  if (entries.length > 0) return entries.map(exampleOfInner)
  if (type === 'array') return [exampleOfInner(schema['items'])].filter((item) => item !== undefined && item !== null)
  if (type === 'integer' || type === 'number') return numberOf(schema)
  if (type === 'boolean') return true
  if (type !== 'string') return null
  const text = texts[String(schema['format'])]
  if (text !== undefined) return text
  const [least, most] = [Number(schema['minLength'] ?? 0), Number(schema['maxLength'] ?? Infinity)]
  return 'text'.padEnd(least, 'x').slice(0, most)
}

function numberOf({ minimum, exclusiveMinimum, maximum, multipleOf }: Json): number {
  if (typeof minimum === 'number' && (minimum >= 0 || Number(maximum ?? 1) < 1)) return minimum
  if (typeof exclusiveMinimum === 'number') return exclusiveMinimum + (typeof multipleOf === 'number' ? multipleOf : 1)
  return typeof maximum === 'number' && maximum < 1 ? maximum : typeof multipleOf === 'number' ? multipleOf : 1
}
