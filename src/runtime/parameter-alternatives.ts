import { isDeepStrictEqual } from 'node:util'
import type { JsonSchema } from '../contract/index.ts'
import { followReference, mapSubSchemas, type NamedSchemas, type Schema, type SchemaRoot } from '../schema/index.ts'

interface Problem {
  readonly path: string
  readonly message: string
}

type Check = (value: unknown) => readonly Problem[] | undefined

export interface AlternativeSources {
  readonly schema: JsonSchema
  readonly named: NamedSchemas
  readonly part: 'path' | 'query'
  /** Compiles the check of an object of parameters, which converts their texts. */
  compile(schema: JsonSchema, named: NamedSchemas): Check
}

/**
 * Reads parameters with `oneOf` or `anyOf` by the first alternative that accepts the text as it was sent. Ajv converts the
 * text for one alternative and then checks the others with what came out.
 */
export function withAlternatives(check: Check, { schema, named, part, compile }: AlternativeSources): Check {
  const root = { schema, name: inlineName }
  const context = { named: { ...named, [inlineName]: schema }, compile }
  const found = findParameters(root, named)
    .map(({ name, at }) => ({ name, at, readings: listReadings(at, named) }))
    .filter(({ readings }) => needsReader(readings, named))
  if (found.length === 0) return check
  const readers = found.map(({ name, readings }) => ({ name, read: makeReader(readings, context) }))
  let checkOthers: Check | undefined
  return (value) => {
    const values = value as Record<string, unknown>
    const given = readers.filter(({ name }) => Object.hasOwn(values, name))
    const read = given.map(({ name, read: readOne }) => ({ name, result: readOne(values[name]) }))
    if (read.length === 0) return check(value)
    const unread = read.filter(({ result }) => result === undefined).map(({ name }) => name)
    // Ajv may accept a text that it converts for one alternative, and then back for another one.
    if (unread.length > 0)
      return check(value) ?? unread.map((name) => ({ path: `${part}/${name}`, message: 'does not match its schema' }))
    for (const { name, result } of read) values[name] = result!.value
    checkOthers ??= compileOthers(new Set(found.map(({ at }) => at.schema)), { schema, named, part, compile })
    return checkOthers(value)
  }
}

/** Names the schema of all parameters, so that references to it can be moved. No schema of a project has this name. */
const inlineName = '#parameters'

/** Compiles the check with schemas whose values have been read replaced by their defaults. */
function compileOthers(read: ReadonlySet<JsonSchema>, { schema, named, compile }: AlternativeSources): Check {
  const replace = (one: JsonSchema): JsonSchema => {
    if (typeof one === 'boolean') return one
    if (!read.has(one)) return mapSubSchemas(one, replace)
    return Object.hasOwn(one, 'default') ? { default: one['default'] } : true
  }
  const others = Object.entries(named).map(([name, each]) => [name, replace(each)] as const)
  return compile(replace(schema), Object.fromEntries(others))
}

interface At {
  readonly schema: JsonSchema
  readonly root: SchemaRoot
}

/** Finds the parameters that are declared once and whose schema always applies. */
function findParameters(root: SchemaRoot, named: NamedSchemas): readonly { readonly name: string; readonly at: At }[] {
  const found = new Map<string, At[]>()
  const seen = new Set<JsonSchema>()
  const visit = (at: At): void => {
    if (typeof at.schema === 'boolean' || seen.has(at.schema)) return
    seen.add(at.schema)
    for (const [name, schema] of Object.entries((at.schema['properties'] ?? {}) as NamedSchemas))
      found.set(name, [...(found.get(name) ?? []), { schema, root: at.root }])
    for (const part of partsOf(at.schema, at.root, named)) visit(part)
  }
  visit({ schema: root.schema, root })
  return [...found].flatMap(([name, all]) => (all.length === 1 ? [{ name, at: all[0]! }] : []))
}

/** Returns the schemas that apply to the same value beside the keywords of a schema. */
function partsOf(schema: Schema, root: SchemaRoot, named: NamedSchemas): readonly At[] {
  const reference = schema['$ref']
  const target = typeof reference === 'string' ? followReference(reference, root, named) : undefined
  const parts = ((schema['allOf'] ?? []) as readonly JsonSchema[]).map((part) => ({ schema: part, root }))
  return target === undefined ? parts : [{ schema: target.schema, root: target.root }, ...parts]
}

/** The schemas without alternatives that must all accept a value, in the order in which they are tried. */
interface Readings {
  readonly all: readonly (readonly At[])[]
  /** Of `oneOf`: two alternatives must not accept the same value. */
  readonly isExclusive: boolean
}

/** More are left to Ajv. */
const maxReadings = 32

function listReadings(at: At, named: NamedSchemas, depth = 0): Readings {
  const { schema, root } = at
  if (typeof schema === 'boolean' || depth > 8) return { all: [[at]], isExclusive: false }
  const { $ref: _ref, allOf: _allOf, anyOf, oneOf, ...own } = schema
  let all: readonly (readonly At[])[] =
    Object.keys(own).length === 0 ? [[]] : splitValues(own).map((one) => [{ schema: one, root }])
  let isExclusive = oneOf !== undefined
  const combine = (others: readonly (readonly At[])[]) => {
    all = all.flatMap((one) => others.map((other) => [...one, ...other])).slice(0, maxReadings + 1)
  }
  for (const part of partsOf(schema, root, named)) {
    const inner = listReadings(part, named, depth + 1)
    isExclusive ||= inner.isExclusive
    combine(inner.all)
  }
  for (const alternatives of [anyOf, oneOf] as (readonly JsonSchema[] | undefined)[]) {
    if (alternatives !== undefined)
      combine(alternatives.flatMap((one) => listReadings({ schema: one, root }, named, depth + 1).all))
  }
  return { all, isExclusive }
}

/** Divides an `enum` of texts and numbers, because Ajv converts no text where a text is allowed. */
function splitValues(schema: Schema): readonly Schema[] {
  const { enum: values } = schema
  if (!Array.isArray(values)) return [schema]
  const types = new Set(values.map((value) => typeof value))
  if (!types.has('string') || !(types.has('number') || types.has('boolean'))) return [schema]
  const texts = { ...schema, enum: values.filter((value) => !['number', 'boolean'].includes(typeof value)) }
  const others = (['number', 'boolean'] as const).filter((type) => types.has(type))
  return [...others.map((type) => ({ ...schema, type, enum: values.filter((value) => typeof value === type) })), texts]
}

function needsReader({ all }: Readings, named: NamedSchemas): boolean {
  if (all.length > maxReadings) return false
  return all.length > 1 || findItems(all[0]!, named) !== undefined
}

/** Returns the readings of the items of a list if they have alternatives. */
function findItems(parts: readonly At[], named: NamedSchemas): Readings | undefined {
  for (const { schema, root } of parts) {
    if (typeof schema === 'boolean' || typeof schema['items'] !== 'object' || schema['prefixItems'] !== undefined)
      continue
    const readings = listReadings({ schema: schema['items'] as JsonSchema, root }, named)
    if (readings.all.length > 1 && readings.all.length <= maxReadings) return readings
  }
  return undefined
}

type Read = (given: unknown) => { readonly value: unknown } | undefined

interface ReaderContext {
  readonly named: NamedSchemas
  compile(schema: JsonSchema, named: NamedSchemas): Check
}

const property = 'value'

function makeReader({ all, isExclusive }: Readings, context: ReaderContext): Read {
  const readers = all.map((parts) => makeReading(parts, context))
  return (given) => {
    let found: ReturnType<Read>
    for (const read of readers) {
      const result = read(given)
      if (result === undefined) continue
      if (!isExclusive) return result
      if (found !== undefined && isDeepStrictEqual(found.value, result.value)) return undefined
      found ??= result
    }
    return found
  }
}

function makeReading(parts: readonly At[], context: ReaderContext): Read {
  const items = findItems(parts, context.named)
  const readItem = items === undefined ? undefined : makeReader(items, context)
  const all = parts.map(({ schema, root }) => {
    const moved = moveReferences(schema, root.name)
    return items === undefined || typeof moved === 'boolean' || moved['items'] === undefined
      ? moved
      : { ...moved, items: true }
  })
  let check: Check | undefined
  return (given) => {
    let read: unknown = Array.isArray(given) ? [...(given as unknown[])] : given
    if (readItem !== undefined) {
      const list = [given].flat().map(readItem)
      if (list.includes(undefined)) return undefined
      read = list.map((one) => one!.value)
    }
    check ??= context.compile({ type: 'object', properties: { [property]: { allOf: all } } }, context.named)
    const values = { [property]: read }
    return check(values) === undefined ? { value: values[property] } : undefined
  }
}

/** Writes the name of the root into references, so that a schema can be used elsewhere. */
function moveReferences(schema: JsonSchema, name: string): JsonSchema {
  if (typeof schema === 'boolean') return schema
  const inner = mapSubSchemas(schema, (one) => moveReferences(one, name))
  const reference = inner['$ref']
  return typeof reference === 'string' && reference.startsWith('#')
    ? { ...inner, $ref: `schema:///${encodeURIComponent(name)}${reference}` }
    : inner
}
