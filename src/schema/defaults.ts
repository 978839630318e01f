import type { JsonSchema } from '../contract/index.ts'
import { compilePattern } from '../kit/index.ts'
import { mapSubSchemas } from './placed.ts'
import { followReference, isSchema, type NamedSchemas, type Schema, type SchemaRoot } from './references.ts'

/**
 * Returns a function that sets missing properties of a value to their defaults, in place; undefined for a schema
 * without defaults. Defaults below `anyOf`, `oneOf`, `not`, `if` and similar keywords are ignored: whether they apply
 * depends on the value.
 * @param onSteps called with an estimate of the work, before it is done
 */
export function makeDefaults(
  schema: JsonSchema,
  named: NamedSchemas,
  onSteps: (count: number) => void = () => undefined,
): ((value: unknown) => void) | undefined {
  const root = { schema, name: '' }
  if (!reachesDefault(root, named)) return undefined
  const known = new Map<Schema, Fill>()
  return makeFill(schema, { root, named, known, onSteps })
}

type Fill = (value: unknown) => void

interface FillContext {
  readonly root: SchemaRoot
  readonly named: NamedSchemas
  /** A schema may refer to itself. */
  readonly known: Map<Schema, Fill>
  onSteps(count: number): void
}

const fillNothing: Fill = () => undefined
const fillingKeywords = [
  '$ref',
  'allOf',
  'properties',
  'patternProperties',
  'additionalProperties',
  'prefixItems',
  'items',
]

function makeFill(schema: JsonSchema, context: FillContext): Fill {
  if (typeof schema === 'boolean' || !fillingKeywords.some((keyword) => keyword in schema)) return fillNothing
  const known = context.known.get(schema)
  if (known !== undefined) return known
  const fills: Fill[] = []
  const fill: Fill = (value) => {
    for (const one of fills) one(value)
  }
  context.known.set(schema, fill)
  const target = followIn(schema, context.root, context.named)
  if (target !== undefined) fills.push(makeFill(target.schema, { ...context, root: target.root }))
  for (const part of schemasIn(schema['allOf'])) fills.push(makeFill(part, context))
  fills.push(fillObject(schema, context), fillList(schema, context))
  return fill
}

function fillObject(schema: Schema, context: FillContext): Fill {
  const properties = Object.entries(propertiesIn(schema)).map(([name, property]) => ({
    name,
    property,
    fill: makeFill(property, context),
  }))
  const patterns = Object.entries((schema['patternProperties'] ?? {}) as NamedSchemas).map(([pattern, inner]) => ({
    matcher: compilePattern(pattern),
    fill: makeFill(inner, context),
  }))
  const others = isSchema(schema['additionalProperties'])
    ? makeFill(schema['additionalProperties'], context)
    : fillNothing
  const names = new Set(properties.map(({ name }) => name))
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return
    const object = value as Record<string, unknown>
    context.onSteps(2)
    for (const { name, property, fill } of properties) {
      if (!Object.hasOwn(object, name)) {
        if (!hasDefault(property)) continue
        const defaultValue: unknown = property['default']
        const given = typeof defaultValue === 'object' ? structuredClone(defaultValue) : defaultValue
        Object.defineProperty(object, name, { value: given, enumerable: true, configurable: true, writable: true })
      }
      fill(object[name])
    }
    if (patterns.length === 0 && others === fillNothing) return
    // Object.entries would take twice as long if there are many keys.
    for (const name in object) {
      const inner = object[name]
      if (typeof inner !== 'object' || inner === null || !Object.hasOwn(object, name)) continue // has no properties
      context.onSteps(patterns.length * (8 + name.length / 16))
      const found = patterns.filter(({ matcher }) => matcher.test(name))
      for (const { fill } of found) fill(inner)
      if (found.length === 0 && !names.has(name)) others(inner)
    }
  }
}

function fillList(schema: Schema, context: FillContext): Fill {
  const prefix = schemasIn(schema['prefixItems']).map((inner) => makeFill(inner, context))
  const rest = isSchema(schema['items']) ? makeFill(schema['items'], context) : undefined
  return (value) => {
    if (!Array.isArray(value)) return
    context.onSteps(2)
    for (let index = 0; index < value.length; index += 1) (prefix[index] ?? rest)?.(value[index])
  }
}

/** Returns true if the schema has defaults that `makeDefaults` fills in. */
export function reachesDefault(root: SchemaRoot, named: NamedSchemas): boolean {
  return reaches(root, named, (schema) => Object.values(propertiesIn(schema)).some(hasDefault))
}

/** Returns true if a required property of `root`, of its subschemas or of a schema it refers to has a default. */
export function reachesRequiredDefault(root: SchemaRoot, named: NamedSchemas): boolean {
  return reaches(root, named, (schema) => schema !== requireWithoutDefault(schema))
}

/** Returns true if a part of the schema is `readOnly` or `writeOnly`. */
export function reachesAccess(root: SchemaRoot, named: NamedSchemas): boolean {
  return reaches(root, named, (schema) => schema['readOnly'] === true || schema['writeOnly'] === true)
}

/** Returns the schema as senders see it: properties with a default are not required. Subschemas are not changed. */
export function requireWithoutDefault(schema: Schema): Schema {
  const { required, ...rest } = schema
  if (!Array.isArray(required)) return schema
  const properties = propertiesIn(schema)
  const left = required.filter((name: string) => !Object.hasOwn(properties, name) || !hasDefault(properties[name]!))
  if (left.length === required.length) return schema
  return left.length === 0 ? rest : { ...rest, required: left }
}

/** Applies `requireWithoutDefault` to the schema and its subschemas. Named schemas it refers to are not changed. */
export function requireWithoutDefaults(schema: JsonSchema): JsonSchema {
  if (typeof schema === 'boolean') return schema
  const written = mapSubSchemas(schema, (inner, keyword) =>
    holdsAlways(keyword) || keyword === '$defs' || keyword === 'definitions' ? requireWithoutDefaults(inner) : inner,
  )
  return requireWithoutDefault(written)
}

const always: ReadonlySet<string> = new Set([
  'allOf', 'properties', 'patternProperties', 'additionalProperties', 'items', 'prefixItems', 'additionalItems',
]) // prettier-ignore

/** Returns true if the subschemas of a keyword apply whenever the parent schema does. */
export function holdsAlways(keyword: string): boolean {
  return always.has(keyword)
}

/** Returns true if the test passes for the schema or for a subschema that always applies with it. */
function reaches(root: SchemaRoot, named: NamedSchemas, test: (schema: Schema) => boolean): boolean {
  const seen = new Set<JsonSchema>()
  const visit = (schema: JsonSchema, currentRoot: SchemaRoot): boolean => {
    if (typeof schema === 'boolean' || seen.has(schema)) return false
    seen.add(schema)
    if (test(schema)) return true
    const target = followIn(schema, currentRoot, named)
    if (target !== undefined && visit(target.schema, target.root)) return true
    const inner: JsonSchema[] = []
    mapSubSchemas(schema, (one, keyword) => {
      if (holdsAlways(keyword)) inner.push(one)
      return one
    })
    return inner.some((one) => visit(one, currentRoot))
  }
  return visit(root.schema, root)
}

function followIn(schema: Schema, root: SchemaRoot, named: NamedSchemas) {
  const reference = schema['$ref']
  return typeof reference === 'string' ? followReference(reference, root, named) : undefined
}

function propertiesIn(schema: Schema): NamedSchemas {
  return (schema['properties'] ?? {}) as NamedSchemas
}

function hasDefault(schema: JsonSchema): schema is Schema {
  return typeof schema === 'object' && 'default' in schema
}

function schemasIn(value: unknown): readonly JsonSchema[] {
  return Array.isArray(value) ? value.filter(isSchema) : []
}
