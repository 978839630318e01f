import type { JsonSchema } from '../../contract/index.ts'
import { findRestParameter, listPathParameters } from '../../kit/index.ts'
import { collectProperties, type Property } from './collect-properties.ts'
import type { Components } from './components.ts'
import { explodeKeyword, isSentWithCommas } from '../split-lists.ts'
import { followReference, type NamedSchemas, type Schema, type SchemaRoot } from '../../schema/index.ts'

export interface ParameterSources {
  readonly components: Components
  readonly schemas: NamedSchemas
}

const restDescription = 'The rest of the path. It may contain slashes.'

/** Marks a path parameter that is the rest of the path. */
const restMark = 'x-rest'

/** Makes the path parameters. A parameter without a schema is a string. */
export function makePathParameters(path: string, root: SchemaRoot, sources: ParameterSources): object[] {
  const found = collectProperties(root, sources.schemas)
  const rest = findRestParameter(path)
  return listPathParameters(path).map((name) => {
    const property = found.get(name) ?? { parts: [{ schema: { type: 'string' }, root }], isRequired: true }
    const parameter = makeParameter({ name, in: 'path', required: true }, property, sources)
    // OpenAPI has no form for it. Clients that do not know the mark encode slashes, which the server decodes.
    return name === rest ? { description: restDescription, ...parameter, [restMark]: true } : parameter
  })
}

/** Makes the query parameters from the properties of an object schema, including referenced and combined schemas. */
export function makeQueryParameters(root: SchemaRoot, sources: ParameterSources): object[] {
  return [...collectProperties(root, sources.schemas)].map(([name, property]) =>
    makeParameter({ name, in: 'query', required: property.isRequired }, property, sources),
  )
}

interface Place {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly required: boolean
}

function makeParameter(place: Place, { parts }: Property, { components, schemas }: ParameterSources): object {
  const own = parts.map(({ schema, root }) => components.write(schema, root))
  const described = parts.map(({ schema, root }) => resolve(schema, root, schemas))
  const hasDefault = described.some((schema) => 'default' in schema)
  const description = described.find((schema) => typeof schema['description'] === 'string')?.['description']
  return {
    name: place.name,
    in: place.in,
    ...(place.required && (place.in === 'path' || !hasDefault) ? { required: true } : {}),
    ...(description === undefined ? {} : { description }),
    ...(described.some((schema) => schema['deprecated'] === true) ? { deprecated: true } : {}),
    ...(place.in === 'query' && described.some(isSentWithCommas) ? { explode: false } : {}),
    schema: own.length === 1 ? withoutDescription(own[0]!) : { allOf: own },
  }
}

/** Removes what the parameter itself says. */
function withoutDescription({ description: _, [explodeKeyword]: __, ...schema }: Schema): Schema {
  return schema
}

const maxReferences = 50

/** Resolves references. Keywords next to a `$ref` apply too. */
function resolve(schema: JsonSchema, root: SchemaRoot, schemas: NamedSchemas): Schema {
  let found = { schema, root }
  const siblings: Schema[] = []
  for (let hops = 0; hops < maxReferences; hops++) {
    if (typeof found.schema === 'boolean') break
    siblings.unshift(found.schema)
    const reference = found.schema['$ref']
    const target = typeof reference === 'string' ? followReference(reference, found.root, schemas) : undefined
    if (target === undefined) break
    found = target
  }
  return Object.assign({}, ...siblings) as Schema
}
