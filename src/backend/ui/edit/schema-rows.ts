// A JSON Schema as rows of a table: one for the schema itself, each field, each alternative of a union.

import { isMap, valueAt, type Json } from './values.ts'

/** `file` is only in a multipart body; `several` is a value of several types; `other` is a schema that has no row of its own, such as `allOf`. */
export type Kind =
  | 'string'
  | 'integer'
  | 'number'
  | 'boolean'
  | 'object'
  | 'array'
  | 'null'
  | 'any'
  | 'const'
  | 'reference'
  | 'union'
  | 'file'
  | 'several'
  | 'other'

export type Keys = readonly string[]

/** A type, and where its keywords are. A list has its type, followed by that of its items. */
export interface TypePart {
  readonly kind: Kind
  /** The name of a referenced schema. */
  readonly name?: string
  readonly isNullable: boolean
  /** From the schema to what is null or of this type. */
  readonly outer: Keys
  /** From the schema to the keywords of the type. It differs from `outer` by a choice with null. */
  readonly inner: Keys
}

export interface Row {
  /** The indexes of the rows around it, for example `0.2`. Does not change with names. */
  readonly id: string
  /** The keys from the root to its schema. */
  readonly at: Keys
  /** `other` is the schema of additional properties. */
  readonly role: 'root' | 'field' | 'variant' | 'other'
  /** The name of a field. */
  readonly name: string
  readonly isRequired: boolean
  readonly schema: unknown
  /** At least one; only the last one is not a list. */
  readonly types: readonly TypePart[]
  readonly children: readonly Row[]
}

/** The schemas of a project by name. */
export type NamedSchemas = Readonly<Record<string, unknown>>

export function toKeywords(schema: unknown): Json {
  return isMap(schema) ? schema : {}
}

const typeNames: ReadonlySet<unknown> = new Set([
  'string',
  'integer',
  'number',
  'boolean',
  'object',
  'array',
  'null',
  'file',
])
const prefix = 'schema:///'

/** The keyword of a union. */
export function unionKeywordOf(schema: unknown): 'oneOf' | 'anyOf' | undefined {
  const keywords = (['oneOf', 'anyOf'] as const).filter((keyword) => Array.isArray(toKeywords(schema)[keyword]))
  return keywords.length === 1 ? keywords[0] : undefined
}

export function isNullSchema(schema: unknown): boolean {
  return isMap(schema) && schema['type'] === 'null'
}

export function referenceTo(name: string): Json {
  return { $ref: prefix + encodeURIComponent(name) }
}

/** Returns the name of the schema that a schema refers to; undefined if it is none of the project's. */
export function nameOfReference(schema: unknown): string | undefined {
  if (typeof schema === 'string') return schema
  const reference = toKeywords(schema)['$ref']
  if (typeof reference !== 'string' || !reference.startsWith(prefix)) return undefined
  const name = reference.slice(prefix.length)
  return name.includes('#') ? undefined : decodeURIComponent(name)
}

/** Finds the alternative beside null of a choice such as `anyOf: [{ $ref: … }, { type: 'null' }]`. */
function skipNull(schema: unknown): Keys {
  const keyword = unionKeywordOf(schema)
  if (keyword === undefined) return []
  const choices = toKeywords(schema)[keyword] as readonly unknown[]
  const others = choices.filter((one) => !isNullSchema(one))
  return choices.length === 2 && others.length === 1 ? [keyword, String(choices.indexOf(others[0]))] : []
}

/** Returns the type of a schema, followed by that of its items if it is a list, and so on. */
export function readTypes(schema: unknown, at: Keys = []): readonly TypePart[] {
  const skipped = skipNull(schema)
  const core = valueAt(schema, skipped)
  const inner = [...at, ...skipped]
  const kind = kindOf(core)
  const name = kind === 'reference' ? nameOfReference(core) : undefined
  const isNullable = skipped.length > 0 || allowsNull(core)
  const part = { kind, ...(name === undefined ? {} : { name }), isNullable, outer: at, inner }
  if (kind !== 'array') return [part]
  return [part, ...readTypes(toKeywords(core)['items'] ?? {}, [...inner, 'items'])]
}

function allowsNull(schema: unknown): boolean {
  const { type } = toKeywords(schema)
  if (Array.isArray(type)) return type.includes('null') && type.length > 1
  const keyword = unionKeywordOf(schema)
  return type === undefined && keyword !== undefined && (toKeywords(schema)[keyword] as unknown[]).some(isNullSchema)
}

function kindOf(schema: unknown): Kind {
  if (typeof schema === 'string') return 'reference'
  if (!isMap(schema)) return schema === true ? 'any' : 'other'
  if ('$ref' in schema) return nameOfReference(schema) === undefined ? 'other' : 'reference'
  if ('const' in schema) return 'const'
  const { type } = schema
  if (type === undefined) return kindWithoutType(schema)
  const types = Array.isArray(type) ? type.filter((one, _, { length }) => length === 1 || one !== 'null') : [type]
  if (types.length !== 1) return 'several'
  return typeNames.has(types[0]) && !('prefixItems' in schema) ? (types[0] as Kind) : 'other'
}

function kindWithoutType(schema: Json): Kind {
  if (unionKeywordOf(schema) !== undefined && !('properties' in schema)) return 'union'
  if ('properties' in schema || 'required' in schema) return 'object'
  if ('items' in schema) return 'array'
  return ['allOf', 'not', 'if', 'oneOf', 'anyOf', 'prefixItems'].some((keyword) => keyword in schema) ? 'other' : 'any'
}

/** The rows of an earlier reading, by their schemas. */
export type KnownRows = WeakMap<object, Row>

/**
 * Returns the row of a schema with the rows inside of it.
 * @param known makes rows that have not changed the same objects as before, so that only others are rendered again
 */
export function readRows(schema: unknown, known: KnownRows = new WeakMap()): Row {
  return readRow(schema, { id: '0', at: [], role: 'root', name: '', isRequired: false }, known)
}

type Place = Omit<Row, 'schema' | 'types' | 'children'>

function readRow(schema: unknown, place: Place, known: KnownRows): Row {
  const before = isMap(schema) ? known.get(schema) : undefined
  if (before !== undefined && isSamePlace(before, place)) return before
  const row = makeRow(schema, place, known)
  if (isMap(schema)) known.set(schema, row)
  return row
}

function isSamePlace(one: Place, other: Place): boolean {
  const isAtSame = one.at.length === other.at.length && one.at.every((key, index) => key === other.at[index])
  return isAtSame && one.id === other.id && one.role === other.role && one.isRequired === other.isRequired
}

function makeRow(schema: unknown, place: Place, known: KnownRows): Row {
  const types = readTypes(schema)
  const { kind, inner } = types.at(-1)!
  const at = [...place.at, ...inner]
  const core = toKeywords(valueAt(schema, inner))
  const children =
    kind === 'object'
      ? fieldsOf(core, { at, id: place.id }, known)
      : kind === 'union'
        ? variantsOf(core, { at, id: place.id }, known)
        : []
  return { ...place, schema, types, children }
}

interface Around {
  readonly at: Keys
  readonly id: string
}

function fieldsOf(schema: Json, { at, id }: Around, known: KnownRows): readonly Row[] {
  const required: readonly unknown[] = Array.isArray(schema['required']) ? schema['required'] : []
  const listed = Object.entries(toKeywords(schema['properties']))
  // A required name that is not listed may have any value.
  const others = required.filter((name) => typeof name === 'string' && listed.every(([one]) => one !== name))
  const all = [...listed, ...others.map((name) => [name as string, true] as const)]
  const fields = all.map(([name, field], index) =>
    readRow(
      field,
      {
        id: `${id}.${index}`,
        at: [...at, 'properties', name],
        role: 'field',
        name,
        isRequired: required.includes(name),
      },
      known,
    ),
  )
  const other = schema['additionalProperties']
  if (!isMap(other)) return fields
  const place = { at: [...at, 'additionalProperties'], role: 'other', name: '', isRequired: false } as const
  return [...fields, readRow(other, { ...place, id: `${id}.other` }, known)]
}

function variantsOf(schema: Json, { at, id }: Around, known: KnownRows): readonly Row[] {
  const keyword = unionKeywordOf(schema)!
  return (schema[keyword] as readonly unknown[]).flatMap((variant, index) =>
    isNullSchema(variant)
      ? []
      : [
          readRow(
            variant,
            {
              id: `${id}.${index}`,
              at: [...at, keyword, String(index)],
              role: 'variant',
              name: '',
              isRequired: false,
            },
            known,
          ),
        ],
  )
}

/** Returns the row and its descendants, in the order in which they are shown. */
export function flattenRows(row: Row): readonly Row[] {
  return [row, ...row.children.flatMap(flattenRows)]
}

/** Returns the row around a row. */
export function parentOf(root: Row, { id }: Pick<Row, 'id'>): Row | undefined {
  // An id is that of the row around it, a dot, and more.
  let row: Row | undefined = root
  while (row !== undefined && !row.children.some((child) => child.id === id))
    row = row.children.find((child) => id.startsWith(`${child.id}.`))
  return row
}

/** The property by whose value the alternatives of a union are told apart: fixed, and different in each. */
export function findDiscriminator(union: Row, named: NamedSchemas): string | undefined {
  const variants = union.children.map(({ schema }) => resolve(schema, named))
  const [first] = variants
  if (first === undefined || variants.length < 2) return undefined
  return Object.keys(toKeywords(first['properties'])).find((name) => {
    const values = variants.map((variant) => fixedValueOf(variant, name))
    return !values.includes(undefined) && new Set(values).size === values.length
  })
}

function resolve(schema: unknown, named: NamedSchemas, depth = 0): Json {
  const name = nameOfReference(schema)
  if (name === undefined || depth > 8) return toKeywords(schema)
  return resolve(Object.hasOwn(named, name) ? named[name] : undefined, named, depth + 1)
}

/** Returns the fixed value of a property as JSON. */
export function fixedValueOf(schema: unknown, name: string): string | undefined {
  const property = valueAt(schema, ['properties', name])
  if (!isMap(property)) return undefined
  if ('const' in property) return JSON.stringify(property['const'])
  const { enum: values } = property
  return Array.isArray(values) && values.length === 1 ? JSON.stringify(values[0]) : undefined
}

/** The keywords of each type that the table shows. */
export const limitsOf: Readonly<Record<Kind, readonly string[]>> = {
  string: ['format', 'minLength', 'maxLength', 'pattern', 'enum'],
  integer: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'enum'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'enum'],
  boolean: [],
  object: ['additionalProperties', 'minProperties', 'maxProperties'],
  array: ['minItems', 'maxItems', 'uniqueItems'],
  null: [],
  any: ['enum'],
  const: ['const'],
  reference: [],
  union: [],
  file: ['types', 'maxSize'],
  several: ['enum'],
  other: [],
}

const structure: Readonly<Partial<Record<Kind, readonly string[]>>> = {
  object: ['properties', 'required'],
  array: ['items'],
  reference: ['$ref'],
  union: ['oneOf', 'anyOf'],
}

/** Keywords about a value of any type. */
export const annotations = ['description', 'default', 'deprecated', 'readOnly', 'writeOnly'] as const

/** Whether a value of the type can be entered in one line. */
export function hasPlainValue(kind: Kind): boolean {
  return ['string', 'integer', 'number', 'boolean', 'any', 'const', 'several'].includes(kind)
}

/** Returns the keywords of a row that the table does not show, by their keys from the schema of the row. */
export function listMoreKeywords({ schema, types }: Row): readonly { readonly keys: Keys; readonly value: unknown }[] {
  const places = new Map<string, { readonly keys: Keys; readonly known: Set<string> }>()
  const place = (keys: Keys) => {
    const key = JSON.stringify(keys)
    const found = places.get(key) ?? { keys, known: new Set() }
    places.set(key, found)
    return found.known
  }
  for (const keyword of [...annotations, 'examples']) place([]).add(keyword)
  if (!hasPlainValue(types[0]!.kind)) place([]).delete('default')
  for (const { kind, outer, inner } of types) {
    if (inner.length > outer.length) place(outer).add(inner[outer.length]!)
    for (const keyword of ['type', ...limitsOf[kind], ...(structure[kind] ?? [])]) place(inner).add(keyword)
  }
  return [...places.values()].flatMap(({ keys, known }) =>
    Object.entries(toKeywords(valueAt(schema, keys)))
      .filter(([keyword]) => !known.has(keyword))
      .map(([keyword, value]) => ({ keys: [...keys, keyword], value })),
  )
}
