// JSON Schemas in words.
import { resolveSchema, toSchema, type NamedSchemas, type Schema } from './named-schemas.ts'
import { schemaTexts as texts } from './schema-texts.ts'

export const choiceKeywords = ['oneOf', 'anyOf', 'allOf'] as const
export type ChoiceKeyword = (typeof choiceKeywords)[number]

/** Whether the alternatives are types only, such as a string or null. */
export function isSimple(schema: Schema, keyword: ChoiceKeyword): boolean {
  const choices = (schema[keyword] as readonly unknown[]).map(toSchema)
  return keyword !== 'allOf' && choices.every((one) => Object.keys(one).join() === 'type')
}

export function propertiesOf(schema: Schema): readonly [string, unknown][] {
  return Object.entries((schema['properties'] as NamedSchemas | undefined) ?? {})
}

/** The type in a few words. */
export function describeType(schema: Schema): string {
  if (Array.isArray(schema['enum'])) return (schema['enum'] as unknown[]).map(write).join(` ${texts.of} `)
  if ('const' in schema) return write(schema['const'])
  const { type } = schema
  if (typeof type === 'string') return type
  if (Array.isArray(type)) return type.join(` ${texts.of} `)
  if (propertiesOf(schema).length > 0) return 'object'
  if (isNever(schema)) return texts.never
  const choice = choiceKeywords.find((keyword) => Array.isArray(schema[keyword]))
  if (choice === undefined) return texts.any
  if (!isSimple(schema, choice)) return texts[choice].toLowerCase()
  return (schema[choice] as readonly unknown[]).map((one) => describeType(toSchema(one))).join(` ${texts.of} `)
}

function isNever(schema: Schema): boolean {
  return 'not' in schema && Object.keys(toSchema(schema['not'])).length === 0
}

/** The types of the values in a list, such as `string or null`. */
export function describeTypes(values: readonly unknown[]): string {
  const types = values.map((value) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value))
  return [...new Set(types)].join(` ${texts.of} `)
}

/** Values as people write them: without quotes if all are text that needs none. */
export function writeValues(values: readonly unknown[]): readonly string[] {
  const isPlain = values.every((value) => typeof value === 'string' && value !== '' && value === value.trim())
  return isPlain ? (values as readonly string[]) : values.map(write)
}

function write(value: unknown): string {
  return JSON.stringify(value) ?? ''
}

/** The keywords that limit a value or explain it, each in a few words. */
export function describeLimits(schema: Schema): readonly string[] {
  const of = (keyword: string) => schema[keyword] as string | number | undefined
  const between = (low: string, high: string) => describeRange(of(low), of(high))
  const lengths = between('minLength', 'maxLength')
  const items = between('minItems', 'maxItems')
  const properties = between('minProperties', 'maxProperties')
  const above = of('exclusiveMinimum')
  const below = of('exclusiveMaximum')
  return [
    of('format'),
    lengths && texts.characters(lengths),
    items && texts.items(items),
    properties && texts.properties(properties),
    between('minimum', 'maximum'),
    above === undefined ? undefined : `> ${above}`,
    below === undefined ? undefined : `< ${below}`,
    of('multipleOf') && texts.multiple(String(of('multipleOf'))),
    of('pattern') && texts.pattern(String(of('pattern'))),
    of('contentMediaType') && texts.contains(String(of('contentMediaType'))),
    of('contentEncoding'),
    schema['uniqueItems'] === true ? texts.unique : undefined,
    schema['readOnly'] === true ? texts.readOnly : undefined,
    schema['writeOnly'] === true ? texts.writeOnly : undefined,
    'default' in schema ? texts.default(write(schema['default'])) : undefined,
  ].filter((text): text is string => typeof text === 'string')
}

function describeRange(low?: string | number, high?: string | number): string | undefined {
  if (low === undefined && high === undefined) return undefined
  if (high === undefined) return `≥ ${low}`
  return low === undefined ? `≤ ${high}` : low === high ? `${low}` : `${low}–${high}`
}

const maxMerged = 8

/** Returns a schema in which the parts of `allOf` that describe an object are one object. */
export function mergeAllOf(schema: Schema, named: NamedSchemas, depth = 0): Schema {
  const parts = schema['allOf']
  if (!Array.isArray(parts) || depth > maxMerged) return schema
  const { allOf: _, ...own } = schema
  const all = [...parts.map((part) => mergeAllOf(resolveSchema(part, named), named, depth + 1)), own]
  if (!all.every((one) => Object.keys(one).every((keyword) => mergeable.has(keyword)))) return schema
  return {
    ...Object.assign({}, ...all),
    ...joined('required', [...new Set(all.flatMap((one) => (one['required'] ?? []) as readonly string[]))]),
    properties: mergeProperties(all),
  } as Schema
}

const mergeable = new Set(
  '$defs additionalProperties deprecated description examples properties required title type'.split(' '),
)

/** Properties that several parts describe have all of their keywords. */
function mergeProperties(all: readonly Schema[]): Schema {
  const merged: Record<string, Schema> = {}
  for (const [name, property] of all.flatMap(propertiesOf))
    merged[name] = { ...(Object.hasOwn(merged, name) ? merged[name] : {}), ...toSchema(property) }
  return merged
}

function joined(keyword: string, values: readonly unknown[]): Schema {
  return values.length === 0 ? {} : { [keyword]: values }
}

/** Returns a schema without the alternative null, and whether it has it. */
export function splitNull(schema: Schema): readonly [schema: Schema, isNullable: boolean] {
  const keyword = (['oneOf', 'anyOf'] as const).find((one) => Array.isArray(schema[one]))
  if (keyword === undefined || isSimple(schema, keyword)) return [schema, false]
  const { [keyword]: choices, ...own } = schema
  const others = (choices as readonly unknown[]).map(toSchema).filter((one) => one['type'] !== 'null')
  if (others.length === (choices as readonly unknown[]).length) return [schema, false]
  return [others.length === 1 ? { ...others[0], ...own } : { ...own, [keyword]: others }, true]
}

/** Returns the name of the property whose value says which alternative applies, and its values. */
export function findTag(choices: readonly Schema[], named: NamedSchemas): readonly string[] | undefined {
  const [first, ...others] = choices.map((one) => mergeAllOf(resolveSchema(one, named), named))
  if (first === undefined || others.length === 0) return undefined
  const valueOf = (schema: Schema, name: string) => {
    const property = toSchema(propertiesOf(schema).find(([own]) => own === name)?.[1])
    const values = 'const' in property ? [property['const']] : ((property['enum'] ?? []) as readonly unknown[])
    return values.length === 1 ? write(values[0]) : undefined
  }
  for (const [name] of propertiesOf(first)) {
    const values = [first, ...others].map((one) => valueOf(one, name))
    if (values.every((value) => value !== undefined) && new Set(values).size === values.length)
      return values.map((value) => `${name}: ${value}`)
  }
  return undefined
}

const described = 'not if then else dependentSchemas dependentRequired contains minContains maxContains propertyNames unevaluatedProperties unevaluatedItems'.split(' ') // prettier-ignore

/** Returns the rules of a schema that are not described in words. */
export function findOtherRules(schema: Schema): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => described.includes(name) && !isNever(schema)))
}
