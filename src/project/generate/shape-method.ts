import type { JsonSchema } from '../../contract/index.ts'
import type { Definition, HttpMethod, Writable, WritableMap } from '../../definition/index.ts'
import type { RouteNames } from './name-route.ts'

/** What a new method says of its input and its answers, and the schemas that it needs and that are not there yet. */
export interface MethodShape {
  readonly method: WritableMap
  readonly path: WritableMap
  readonly schemas: WritableMap
}

/** What a thing without a schema is taken for until somebody says more: it has an id and a name. */
const sample: WritableMap = { name: { type: 'string', minLength: 1, maxLength: 64 } }

/** Finds or makes schemas by name. */
interface Shaping {
  readonly definition: Definition
  readonly names: RouteNames
  readonly path: WritableMap
  readonly made: Record<string, WritableMap>
}

/** Shapes a method after the thing that its path names. A schema of the project that fits by its name is used. */
export function shapeMethod(method: HttpMethod, names: RouteNames, definition: Definition): MethodShape {
  const path = Object.fromEntries(names.parameters.map((name) => [name, shapeParameter(name, definition)]))
  const shaping: Shaping = { definition, names, path, made: {} }
  const shaped = methods[method](shaping)
  return { method: shaped, path, schemas: shaping.made }
}

const methods: Readonly<Record<HttpMethod, (shaping: Shaping) => WritableMap>> = {
  GET: (shaping) => (shaping.names.isEntity ? shapeEntity(shaping) : shapeCollection(shaping)),
  POST: (shaping) => {
    const [output, request] = [shapeOutput(shaping), shapeInput(shaping)]
    const answer: WritableMap = shaping.names.isEntity ? { response: output } : { responses: { 201: output } }
    return { description: `Creates one ${shaping.names.noun}`, request, ...answer }
  },
  PUT: (shaping) => {
    const [response, request] = [shapeOutput(shaping), shapeInput(shaping)]
    return { description: `Changes ${what(shaping.names)}`, request, response }
  },
  PATCH: (shaping) => {
    const [response, request] = [shapeOutput(shaping), shapePatch(shaping)]
    return { description: `Changes parts of ${what(shaping.names)}`, request, response }
  },
  DELETE: ({ names }) => ({ description: `Removes ${what(names)}`, responses: { 204: null } }),
}

function what({ isEntity, noun, plural }: RouteNames): string {
  return isEntity ? `one ${noun}` : plural
}

function shapeEntity(shaping: Shaping): WritableMap {
  return { description: `Shows one ${shaping.names.noun}`, response: shapeOutput(shaping) }
}

function shapeCollection(shaping: Shaping): WritableMap {
  const entry = shapeOutput(shaping)
  const count = { type: 'integer' }
  const response = ensure(shaping, `${shaping.names.schema}-Collection`, () => ({
    type: 'object',
    required: ['totalResults', 'startIndex', 'itemsPerPage', 'entry'],
    properties: {
      totalResults: count,
      startIndex: count,
      itemsPerPage: count,
      entry: { type: 'array', items: { $ref: `schema:///${entry}` } },
    },
  }))
  return {
    description: `Lists ${shaping.names.plural}`,
    parameters: { startIndex: { type: 'integer', minimum: 0, default: 0 } },
    response,
  }
}

function shapeOutput(shaping: Shaping): string {
  return ensure(shaping, shaping.names.schema, () => ({
    type: 'object',
    required: ['id', 'name'],
    properties: { id: idOf(shaping), name: { type: 'string' } },
  }))
}

function idOf({ names, path }: Shaping): Writable {
  const id = names.isEntity ? names.parameters.at(-1) : undefined
  return (id === undefined ? undefined : path[id]) ?? { type: 'integer' }
}

function shapeInput(shaping: Shaping): string {
  return ensure(shaping, `${shaping.names.schema}-Input`, () => {
    const properties = knownProperties(shaping)
    return { type: 'object', required: Object.keys(properties), additionalProperties: false, properties }
  })
}

function shapePatch(shaping: Shaping): string {
  return ensure(shaping, `${shaping.names.schema}-Patch`, () => ({
    type: 'object',
    minProperties: 1,
    additionalProperties: false,
    properties: knownProperties(shaping),
  }))
}

/** What the project says already of what may be sent. */
function knownProperties({ definition, names }: Shaping): WritableMap {
  const input = findSchema(definition, `${names.schema}-Input`)
  const schema = input === undefined ? undefined : definition.schemas[input]
  const properties = typeof schema === 'object' ? schema['properties'] : undefined
  return typeof properties === 'object' && properties !== null && isSelfContained(properties)
    ? (properties as WritableMap)
    : sample
}

/** The name of a schema, which is made if the project has none of that name, however it is spelt. */
function ensure({ definition, made }: Shaping, name: string, make: () => WritableMap): string {
  const known = findSchema(definition, name)
  if (known !== undefined) return known
  made[name] = make()
  return name
}

function findSchema({ schemas }: Definition, name: string): string | undefined {
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[-_.]/g, '')
  return Object.hasOwn(schemas, name) ? name : Object.keys(schemas).find((known) => plain(known) === plain(name))
}

/** As another route has it; else an id is a number, and everything else a text. */
function shapeParameter(name: string, definition: Definition): Writable {
  const known = definition.routes.flatMap(({ methods }) => methods.map(({ params }) => parameterOf(params, name)))
  const found = known.find((schema) => schema !== undefined)
  if (found !== undefined) return found
  if (/uuid$/i.test(name)) return { type: 'string', format: 'uuid' }
  return { type: /(^|_)id$|[a-z]Id$/.test(name) ? 'integer' : 'string' }
}

function parameterOf(params: JsonSchema | undefined, name: string): Writable | undefined {
  const properties = typeof params === 'object' ? params['properties'] : undefined
  const schema = (properties as Readonly<Record<string, Writable>> | undefined)?.[name]
  return schema !== undefined && isSelfContained(schema) ? schema : undefined
}

/** Whether a schema means the same wherever it stands. */
function isSelfContained(schema: unknown): boolean {
  return !JSON.stringify(schema).includes('"$ref":"#')
}
