import type { JsonSchema } from '../contract/index.ts'
import { schemaKeywords } from './keywords.ts'
import { isKeywords, type Keywords } from './placed.ts'

const data: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples'])

/** Converts a draft-07 schema to 2020-12, so that Ajv can compile all schemas that refer to one another. */
export function toDraft2020(schema: JsonSchema): JsonSchema {
  if (typeof schema === 'boolean' || !String(schema['$schema']).includes('draft-07')) return withoutDialect(schema)
  return mapSchema(withoutDialect(schema), ({ items, additionalItems, ...rest }) => {
    if (!Array.isArray(items)) return items === undefined ? rest : { ...rest, items }
    return { ...rest, prefixItems: items, ...(additionalItems === undefined ? {} : { items: additionalItems }) }
  })
}

/** Converts a schema to draft-07, which fast-json-stringify requires. */
export function toDraft07(schema: JsonSchema): JsonSchema {
  return mapSchema(withoutDialect(schema), ({ prefixItems, items, ...given }) => {
    const rest = renameExact(given)
    if (!Array.isArray(prefixItems)) return oneType(items === undefined ? rest : { ...rest, items })
    return oneType({ ...rest, items: prefixItems, ...(items === undefined ? {} : { additionalItems: items }) })
  })
}

/** Prefix of custom keywords: fast-json-stringify creates its own Ajv, whose built-in keywords cannot be replaced. */
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
 * Splits a schema with several types that include `object` or `array` into one alternative per type: fast-json-stringify
 * inlines such schemas and would never finish with a recursive one.
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

/** Keywords that references resolve against. */
const places: ReadonlySet<string> = new Set(['$id', '$defs', 'definitions'])
const structured: ReadonlySet<string> = new Set(['object', 'array'])

/** Removes `$schema`, which is no longer needed; Ajv would look up its meta-schema. */
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

/** Returns true if the keyword contains a map. `dependencies` of draft-07 maps to schemas or lists of names. */
function holdsMap(keyword: string): boolean {
  return keyword === 'dependencies' || schemaKeywords.get(keyword)?.holds === 'map'
}

function mapValues(map: Keywords, change: (value: unknown, key: string) => unknown): Keywords {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value, key)]))
}
