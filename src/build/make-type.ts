import type { JsonSchema } from '../contract/index.ts'
import { resolveReference, type TypeScope } from './type-scope.ts'
import { hasAccess, isSchema } from '../schema/index.ts'
import {
  atom,
  makeArray,
  makeIntersection,
  makeKey,
  makeLiteral,
  makeObject,
  makeUnion,
  neverType,
  unknownType,
  type Member,
  type TypeText,
} from './type-text.ts'

type Keywords = Exclude<JsonSchema, boolean>

/**
 * Returns the TypeScript type of the values that a JSON Schema accepts. Formats are strings. Keywords without a
 * TypeScript equivalent (`not`, `if`, limits) are ignored. Unsupported schemas are `unknown`.
 */
export function makeType(schema: JsonSchema, scope: TypeScope): TypeText {
  if (typeof schema === 'boolean') return schema ? unknownType : neverType
  const others = [
    ...(typeof schema['$ref'] === 'string' ? [makeReference(schema['$ref'], scope)] : []),
    ...schemasOf(schema['allOf']).map((part) => makeType(part, scope)),
    ...['anyOf', 'oneOf'].flatMap((keyword) => {
      const parts = schemasOf(schema[keyword])
      // Defaults below these keywords are not applied.
      const withoutInput = { ...scope, ...withoutDefaults(scope) }
      return parts.length === 0 ? [] : [makeUnion(parts.map((part) => makeType(part, withoutInput)))]
    }),
  ]
  const whole = makeIntersection([...makeOwnTypes(schema, scope, others.length > 0), ...others])
  return schema['nullable'] === true ? makeUnion([whole, atom('null')]) : whole
}

/** Input whose defaults are not applied: what is read-only is still left out, also of named schemas. */
function withoutDefaults({ input, omitted, aliases }: TypeScope): Pick<TypeScope, 'input' | 'omitted' | 'aliases'> {
  if (input === undefined) return { input, omitted, aliases }
  const kept = [...aliases].filter(([name]) => !input.divided.has(name))
  return { input: undefined, omitted: 'readOnly', aliases: new Map(kept) }
}

/** Returns the object type of the properties of a schema, without combined schemas. */
function makeObjectType(schema: Keywords, scope: TypeScope): TypeText {
  const all = propertiesOf(schema)
  const omitted = new Set(Object.keys(all).filter((name) => isOmitted(all[name]!, scope)))
  const properties = Object.fromEntries(Object.entries(all).filter(([name]) => !omitted.has(name)))
  const names = Array.isArray(schema['required']) ? (schema['required'] as string[]) : []
  const required = new Set(names.filter((name) => !omitted.has(name)))
  const members = Object.entries(properties).map(([name, property]): Member => {
    const hasDefault = typeof property === 'object' && 'default' in property
    const isThere = scope.input !== undefined && hasDefault ? scope.input.form === 'received' : required.has(name)
    const description = typeof property === 'object' ? property['description'] : undefined
    return { key: makeKey(name) + (isThere ? '' : '?'), type: makeType(property, scope), description }
  })
  const undeclared = [...required].filter((name) => !Object.hasOwn(properties, name))
  members.push(...undeclared.map((name) => ({ key: makeKey(name), type: unknownType })))
  const others = makeIndex(schema, scope, members)
  return makeObject(others === undefined ? members : [...members, { key: '[name: string]', type: others }])
}

function isOmitted(property: JsonSchema, scope: TypeScope): boolean {
  const keyword = scope.omitted ?? (scope.input === undefined ? 'writeOnly' : 'readOnly')
  return hasAccess({ schema: property, root: scope.root, named: scope.schemas }, keyword)
}

/** Returns the valid properties of a schema. */
export function propertiesOf(schema: Keywords): Record<string, JsonSchema> {
  const properties = schema['properties']
  if (typeof properties !== 'object' || properties === null) return {}
  return Object.fromEntries(Object.entries(properties).filter(([, property]) => isSchema(property)))
}

/** Returns the types of the schema's own keywords; none if it only combines others. */
function makeOwnTypes(schema: Keywords, scope: TypeScope, hasOthers: boolean): TypeText[] {
  if ('const' in schema) return [makeLiteral(schema['const'])]
  if (Array.isArray(schema['enum'])) return [makeUnion(schema['enum'].map(makeLiteral))]
  const types = typesOf(schema)
  // An index signature would spoil an intersection.
  if (hasOthers && types.length === 1 && types[0] === 'object' && hasNoObjectKeywords(schema)) return []
  return types.length === 0 ? [] : [makeUnion(types.map((type) => makeTypeOf(type, schema, scope)))]
}

function makeTypeOf(type: unknown, schema: Keywords, scope: TypeScope): TypeText {
  switch (type) {
    case 'object':
      return makeObjectType(schema, scope)
    case 'array':
      return makeArrayType(schema, scope)
    case 'integer':
    case 'number':
      return atom('number')
    case 'string':
    case 'boolean':
    case 'null':
      return atom(type)
    case 'file':
      return atom('File')
    default:
      return unknownType
  }
}

const objectKeywords = ['properties', 'required', 'additionalProperties', 'patternProperties']
const arrayKeywords = ['items', 'prefixItems', 'additionalItems']

function typesOf(schema: Keywords): readonly unknown[] {
  if (Array.isArray(schema['type'])) return schema['type']
  if (schema['type'] !== undefined) return [schema['type']]
  if (objectKeywords.some((keyword) => keyword in schema)) return ['object']
  return arrayKeywords.some((keyword) => keyword in schema) ? ['array'] : []
}

function hasNoObjectKeywords(schema: Keywords): boolean {
  return objectKeywords.every((keyword) => !(keyword in schema))
}

/** Returns the type of the index signature. TypeScript requires it to include the types of all properties. */
function makeIndex(schema: Keywords, scope: TypeScope, members: readonly Member[]): TypeText | undefined {
  const additional = schema['additionalProperties']
  const patterns = Object.values((schema['patternProperties'] ?? {}) as Record<string, unknown>).filter(isSchema)
  const others = [...patterns, ...(isSchema(additional) && additional !== false ? [additional] : [])]
  if (others.length === 0) {
    if (members.length > 0) return undefined
    return additional === false ? neverType : unknownType
  }
  const isSomeOptional = members.some(({ key }) => key.endsWith('?'))
  return makeUnion([
    ...others.map((other) => makeType(other, scope)),
    ...members.map(({ type }) => type),
    ...(isSomeOptional ? [atom('undefined')] : []),
  ])
}

function makeArrayType(schema: Keywords, scope: TypeScope): TypeText {
  // Before 2020-12 a tuple was an array in `items`, and its rest `additionalItems`.
  const isOld = Array.isArray(schema['items'])
  const prefix = schemasOf(isOld ? schema['items'] : schema['prefixItems'])
  const rest = isOld ? schema['additionalItems'] : schema['items']
  const item = isSchema(rest) ? makeType(rest, scope) : unknownType
  if (prefix.length === 0) return makeArray(item)
  const minItems = typeof schema['minItems'] === 'number' ? schema['minItems'] : 0
  const elements = prefix.map((part, index) => {
    const { text, binds } = makeType(part, scope)
    return index < minItems ? text : `${binds === 'atom' ? text : `(${text})`}?`
  })
  return atom(`[${[...elements, ...(rest === false ? [] : [`...${makeArray(item).text}`])].join(', ')}]`)
}

function makeReference(reference: string, scope: TypeScope): TypeText {
  const target = resolveReference(reference, scope)
  if (target === undefined) return unknownType
  return 'alias' in target ? atom(target.alias) : makeType(target.schema, target.scope)
}

function schemasOf(value: unknown): JsonSchema[] {
  return Array.isArray(value) ? value.filter(isSchema) : []
}
