import type { JsonSchema } from '../contract/index.ts'
import { schemaKeywords } from './keywords.ts'
import { isKeywords, type Keywords } from './placed.ts'

const data: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples'])

/** A schema of draft-07 in the words of 2020-12, in which Ajv compiles all that refer to one another. */
export function toDraft2020(schema: JsonSchema): JsonSchema {
  if (typeof schema === 'boolean' || !String(schema['$schema']).includes('draft-07')) return withoutDialect(schema)
  return mapSchema(withoutDialect(schema), ({ items, additionalItems, ...rest }) => {
    if (!Array.isArray(items)) return items === undefined ? rest : { ...rest, items }
    return { ...rest, prefixItems: items, ...(additionalItems === undefined ? {} : { items: additionalItems }) }
  })
}

/** A schema in the words of draft-07, which are those of fast-json-stringify. */
export function toDraft07(schema: JsonSchema): JsonSchema {
  return mapSchema(withoutDialect(schema), ({ prefixItems, items, ...given }) => {
    const rest = renameExact(given)
    if (!Array.isArray(prefixItems)) return oneType(items === undefined ? rest : { ...rest, items })
    return oneType({ ...rest, items: prefixItems, ...(items === undefined ? {} : { additionalItems: items }) })
  })
}

/** Before the names of our own keywords where Ajv's cannot be replaced: fast-json-stringify makes its Ajv by itself. */
export const exactPrefix = 'exact:'

function renameExact(keywords: Keywords): Keywords {
  const { multipleOf, uniqueItems, ...rest } = keywords
  if (multipleOf === undefined && uniqueItems === undefined) return keywords
  return {
    ...rest,
    ...(multipleOf === undefined ? {} : { [`${exactPrefix}multipleOf`]: multipleOf }),
    ...(uniqueItems === undefined ? {} : { [`${exactPrefix}uniqueItems`]: uniqueItems }),
  }
}

/**
 * Objects and lists that may be something else too, each type for itself: fast-json-stringify copies a schema with several
 * types wherever it meets it, and never comes to an end when the schema refers to itself.
 */
function oneType({ type, ...rest }: Keywords): Keywords {
  if (!Array.isArray(type)) return type === undefined ? rest : { ...rest, type }
  const types = (type as string[]).filter((one) => one !== 'null')
  if (!types.some((one) => structured.has(one))) return { ...rest, type }
  const isNullable = types.length < type.length
  if (types.length === 1) return { ...rest, type: types[0], ...(isNullable ? { nullable: true } : {}) }
  const pick = (isKept: boolean) =>
    Object.fromEntries(Object.entries(rest).filter(([keyword]) => places.has(keyword) === isKept))
  const own = pick(false)
  const branches = types.map((one) => (structured.has(one) ? { ...own, type: one } : { type: one }))
  return { ...pick(true), anyOf: [...branches, ...(isNullable ? [{ type: 'null' }] : [])] }
}

/** Where references lead. */
const places: ReadonlySet<string> = new Set(['$id', '$defs', 'definitions'])
const structured: ReadonlySet<string> = new Set(['object', 'array'])

/** `$schema` has chosen the dialect; Ajv would look for its meta-schema. */
function withoutDialect(schema: JsonSchema): JsonSchema {
  if (typeof schema === 'boolean') return schema
  const { $schema: _, ...rest } = schema
  return rest
}

function mapSchema(schema: JsonSchema, change: (keywords: Keywords) => Keywords): JsonSchema {
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit)
    return isKeywords(value) ? change(mapValues(value, visitKeyword)) : value
  }
  const visitKeyword = (value: unknown, keyword: string): unknown => {
    if (data.has(keyword)) return value
    return holdsMap(keyword) && isKeywords(value) ? mapValues(value, visit) : visit(value)
  }
  return visit(schema) as JsonSchema
}

/** Draft-07's `dependencies` is a map of schemas and of lists of names. */
function holdsMap(keyword: string): boolean {
  return keyword === 'dependencies' || schemaKeywords.get(keyword)?.holds === 'map'
}

function mapValues(map: Keywords, change: (value: unknown, key: string) => unknown): Keywords {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value, key)]))
}
