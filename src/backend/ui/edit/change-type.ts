// Changes of one JSON Schema that keep what they are not about. Schemas are never changed in place.
import { isNullSchema, limitsOf, readTypes, referenceTo, toKeywords, unionKeywordOf, type Kind } from './schema-rows.ts'
import { isMap, valueAt, withValueAt, type Json } from './values.ts'

/** A type that can be chosen. */
export type TypeChoice =
  | { readonly kind: 'reference'; readonly name: string }
  | { readonly kind: 'string'; readonly format?: string }
  | { readonly kind: Exclude<Kind, 'reference' | 'string' | 'several' | 'other'> }

/** Keywords that depend on the type. */
const bound: ReadonlySet<string> = new Set([
  ...Object.values(limitsOf).flat(),
  'type', '$ref', 'oneOf', 'anyOf', 'items', 'prefixItems', 'contains', 'minContains', 'maxContains', 'unevaluatedItems',
  'properties', 'required', 'patternProperties', 'propertyNames', 'unevaluatedProperties', 'dependentRequired',
  'dependentSchemas',
]) // prettier-ignore

const typeKeywords = ['type', '$ref', 'const', 'oneOf', 'anyOf'] as const

/**
 * Changes the type of a schema and keeps what fits the new one: limits, annotations, whether it may be null. A value
 * that becomes a list is that of its items; a list that becomes a single value keeps its items.
 */
export function changeType(schema: unknown, choice: TypeChoice): Json {
  const [part, items] = readTypes(schema)
  const { kind, isNullable, inner } = part!
  if (choice.kind === 'array' && kind !== 'array') return makeList(schema, isNullable)
  const outer = toKeywords(schema)
  const before = toKeywords(valueAt(schema, inner))
  const around = inner.length === 0 ? {} : withValueAt(outer, [inner[0]!], undefined)
  const unwrapped = kind === 'array' && choice.kind === items?.kind ? toKeywords(before['items']) : undefined
  const source = { ...toKeywords(around), ...before, ...unwrapped }
  return changeNull(convert(source, choice), isNullable)
}

function convert(source: Json, choice: TypeChoice): Json {
  const own = keywordsOf(choice, source)
  const isKept = ([keyword, value]: readonly [string, unknown]) =>
    keyword in own ? false : bound.has(keyword) ? isLimit(keyword, value, choice) : fits(keyword, value, choice)
  const place = Object.keys(source).find((keyword) => typeKeywords.some((one) => one === keyword))
  const kept = Object.entries(source).flatMap((entry) => {
    if (entry[0] === place) return Object.entries(own)
    return isKept(entry) ? [entry] : []
  })
  return Object.fromEntries(place === undefined ? [...Object.entries(own), ...kept] : kept)
}

function keywordsOf(choice: TypeChoice, before: Json): Json {
  if (choice.kind === 'reference') return referenceTo(choice.name)
  if (choice.kind === 'string')
    return { type: 'string', ...(choice.format === undefined ? {} : { format: choice.format }) }
  if (choice.kind === 'any') return {}
  if (choice.kind === 'const') return { const: firstValue(before) }
  if (choice.kind === 'union') return { oneOf: [withoutAnnotations(before)] }
  if (choice.kind === 'file') return { type: 'file', maxSize: before['maxSize'] ?? '5mb' }
  return { type: choice.kind }
}

function firstValue({ enum: values, default: preset }: Json): unknown {
  if (Array.isArray(values) && values.length > 0) return values[0]
  return preset ?? ''
}

/** What a value that becomes a union leaves in its first alternative. */
function withoutAnnotations(before: Json): Json {
  const entries = Object.entries(before).filter(([keyword]) => bound.has(keyword))
  const type = before['type']
  const own = Array.isArray(type) ? type.find((one) => one !== 'null') : type
  const kept = entries.map(([keyword, value]) => [keyword, keyword === 'type' ? own : value] as const)
  return kept.length === 0 ? { type: 'object' } : Object.fromEntries(kept)
}

function isLimit(keyword: string, value: unknown, choice: TypeChoice): boolean {
  if (!limitsOf[choice.kind].includes(keyword)) {
    const isInside = choice.kind === 'object' && ['properties', 'required'].includes(keyword)
    return isInside || (choice.kind === 'array' && keyword === 'items')
  }
  if (keyword === 'enum') return Array.isArray(value) && value.every((one) => isOfKind(one, choice.kind))
  return keyword !== 'format'
}

/** Whether an annotation of a value fits its type: the default, and of a file only its description. */
function fits(keyword: string, value: unknown, choice: TypeChoice): boolean {
  if (choice.kind === 'file') return keyword === 'description'
  return keyword !== 'default' || isOfKind(value, choice.kind)
}

function isOfKind(value: unknown, kind: Kind): boolean {
  if (value === null || kind === 'any' || kind === 'several') return true
  if (kind === 'integer') return Number.isInteger(value)
  if (kind === 'array') return Array.isArray(value)
  if (kind === 'object') return isMap(value)
  return typeof value === kind
}

/** What a list takes over from its items. */
const ofTheField = new Set(['title', 'description', 'deprecated', 'readOnly', 'writeOnly'])

function makeList(schema: unknown, isNullable: boolean): Json {
  const entries = Object.entries(toKeywords(changeNull(toKeywords(schema), false)))
  const outside = entries.filter(([keyword]) => ofTheField.has(keyword))
  const inside = entries.filter(([keyword]) => !ofTheField.has(keyword) && keyword !== 'default')
  const own = readTypes(schema)[0]!.kind === 'file' ? { maxItems: 10 } : {} // which lists of files need
  const list = { type: 'array', items: Object.fromEntries(inside), ...own, ...Object.fromEntries(outside) }
  return changeNull(list, isNullable)
}

/** Whether null can be allowed or refused. */
export function canBeNull(kind: Kind): boolean {
  return !['any', 'null', 'const', 'file', 'other'].includes(kind)
}

/** Allows or refuses null: in the type, or as an alternative of a reference or union. */
export function changeNull(schema: unknown, isNullable: boolean): Json {
  const { kind, inner, ...part } = readTypes(schema)[0]!
  const own = toKeywords(schema)
  if (part.isNullable === isNullable || !canBeNull(kind)) return own
  if (isNullable) return allowNull(own, kind)
  if (inner.length > 0) {
    const { [inner[0]!]: _choice, ...rest } = own
    return { ...toKeywords(valueAt(schema, inner)), ...rest }
  }
  const keyword = unionKeywordOf(own)
  if (kind === 'union' && keyword !== undefined)
    return { ...own, [keyword]: (own[keyword] as readonly unknown[]).filter((one) => !isNullSchema(one)) }
  const types = (own['type'] as readonly unknown[]).filter((one) => one !== 'null')
  const values = own['enum']
  const rest = Array.isArray(values) ? { enum: values.filter((one) => one !== null) } : {}
  return { ...own, type: types.length === 1 ? types[0] : types, ...rest }
}

function allowNull(own: Json, kind: Kind): Json {
  if (kind === 'reference') {
    const { $ref, ...rest } = own
    return { anyOf: [{ $ref }, { type: 'null' }], ...rest }
  }
  const keyword = unionKeywordOf(own)
  if (kind === 'union' && keyword !== undefined)
    return { ...own, [keyword]: [...(own[keyword] as readonly unknown[]), { type: 'null' }] }
  const type = own['type'] ?? kind
  const values = own['enum']
  const rest = Array.isArray(values) && !values.includes(null) ? { enum: [...values, null] } : {}
  return { ...own, type: [type, 'null'].flat(), ...rest }
}

/** The keywords before new limits, and the order of these. */
const leading = ['type', '$ref', 'const', 'format', 'enum', ...new Set(Object.values(limitsOf).flat())]

/** Changes one keyword of a schema; undefined removes it. */
export function changeKeyword(schema: unknown, keyword: string, value: unknown): Json {
  const own = toKeywords(schema)
  if (value === undefined || keyword in own) return toKeywords(withValueAt(own, [keyword], value))
  const before = new Set(leading.slice(0, leading.indexOf(keyword)))
  const last = Object.keys(own).findLast((one) => before.has(one))
  if (!bound.has(keyword) || last === undefined) return { ...own, [keyword]: value }
  return insertEntry(own, Object.keys(own).indexOf(last) + 1, [keyword, value])
}

export function insertEntry(map: Json, index: number, entry: readonly [string, unknown]): Json {
  return Object.fromEntries(Object.entries(map).toSpliced(index, 0, [...entry]))
}
