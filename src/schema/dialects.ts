import type { JsonSchema } from '../contract/index.ts'
import { schemaKeywords } from './keywords.ts'
import { isKeywords, type Keywords } from './scoped-schema.ts'

const data: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples'])

/** Converts a schema from draft-07 to 2020-12, because Ajv compiles schemas that refer to each other in one dialect. */
export function toDraft2020(schema: JsonSchema): JsonSchema {
  if (typeof schema === 'boolean' || !String(schema['$schema']).includes('draft-07')) return withoutDialect(schema)
  return mapSchema(withoutDialect(schema), ({ items, additionalItems, ...rest }) => {
    if (!Array.isArray(items)) return items === undefined ? rest : { ...rest, items }
    return { ...rest, prefixItems: items, ...(additionalItems === undefined ? {} : { items: additionalItems }) }
  })
}

/** Converts a schema to draft-07, the dialect of fast-json-stringify. */
export function toDraft07(schema: JsonSchema): JsonSchema {
  return mapSchema(withoutDialect(schema), ({ prefixItems, items, ...given }) => {
    const rest = renameExact(given)
    if (!Array.isArray(prefixItems)) return splitTypes(items === undefined ? rest : { ...rest, items })
    return splitTypes({ ...rest, items: prefixItems, ...(items === undefined ? {} : { additionalItems: items }) })
  })
}

/** The prefix of Waypost's keywords where Ajv's cannot be replaced: fast-json-stringify creates its own Ajv. */
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
 * Splits objects and arrays that may have several types into one alternative per type. fast-json-stringify copies a
 * schema with several types wherever it occurs, and does not terminate if it refers to itself.
 */
function splitTypes({ type, ...rest }: Keywords): Keywords {
  if (!Array.isArray(type)) return type === undefined ? rest : { ...rest, type }
  const types = (type as string[]).filter((one) => one !== 'null')
  if (!types.some((one) => structured.has(one))) return { ...rest, type }
  const isNullable = types.length < type.length
  if (types.length === 1) return { ...rest, type: types[0], ...(isNullable ? { nullable: true } : {}) }
  const pick = (isKept: boolean) =>
    Object.fromEntries(Object.entries(rest).filter(([keyword]) => referenceTargets.has(keyword) === isKept))
  const own = pick(false)
  const branches = types.map((one) => (structured.has(one) ? { ...own, type: one } : { type: one }))
  return { ...pick(true), anyOf: [...branches, ...(isNullable ? [{ type: 'null' }] : [])] }
}

/** Keywords that references lead into. */
const referenceTargets: ReadonlySet<string> = new Set(['$id', '$defs', 'definitions'])
const structured: ReadonlySet<string> = new Set(['object', 'array'])

/** Removes `$schema`, which has served to choose the dialect. Ajv would search for its meta-schema. */
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

/** `dependencies` of draft-07 is a map of schemas and of lists of names. */
function holdsMap(keyword: string): boolean {
  return keyword === 'dependencies' || schemaKeywords.get(keyword)?.holds === 'map'
}

function mapValues(map: Keywords, change: (value: unknown, key: string) => unknown): Keywords {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value, key)]))
}
