import type { ActionUse, JsonSchema } from 'waypost'

const prefix = 'schema:///'

/** Whether a property of the body can be an object or anything. Arrays alone may be meant for an array of PostgreSQL. */
export function isJsonProperty(name: string, { declared: { request }, schemas }: ActionUse): boolean {
  const found = request === undefined ? [] : findProperty(request, { name, named: schemas })
  return found.length > 0 && found.every((schema) => acceptsObjects(schema, schemas))
}

interface Wanted {
  readonly name: string
  readonly named: ActionUse['schemas']
}

/** Returns the schemas of a property of an object. */
function findProperty(schema: JsonSchema, wanted: Wanted, depth = 0): readonly JsonSchema[] {
  if (typeof schema === 'boolean' || depth > 20) return []
  const { $ref, properties, allOf, anyOf, oneOf } = schema as SchemaParts
  const { name, named } = wanted
  const target = resolveReference($ref, named)
  return [
    ...(properties !== undefined && Object.hasOwn(properties, name) ? [properties[name]!] : []),
    ...[...(target === undefined ? [] : [target]), ...(allOf ?? []), ...(anyOf ?? []), ...(oneOf ?? [])].flatMap(
      (one) => findProperty(one, wanted, depth + 1),
    ),
  ]
}

interface SchemaParts {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly allOf?: readonly JsonSchema[]
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
}

function acceptsObjects(schema: JsonSchema, named: ActionUse['schemas'], depth = 0): boolean {
  if (typeof schema === 'boolean' || depth > 20) return schema === true
  const { $ref, type, allOf = [], anyOf, oneOf } = schema as SchemaParts
  if (type !== undefined) return [type].flat().includes('object')
  if ('enum' in schema || 'const' in schema) return false
  const accepts = (one: JsonSchema) => acceptsObjects(one, named, depth + 1)
  const target = resolveReference($ref, named)
  return (
    (target === undefined || accepts(target)) &&
    allOf.every(accepts) &&
    [anyOf, oneOf].every((alternatives) => alternatives === undefined || alternatives.some(accepts))
  )
}

/** Returns the named schema that a reference means. */
export function resolveReference($ref: string | undefined, named: ActionUse['schemas']): JsonSchema | undefined {
  return $ref?.startsWith(prefix) === true ? named[decodeURIComponent($ref.slice(prefix.length))] : undefined
}
