import type { JsonSchema } from '../../contract/index.ts'
import type { Definition, HttpMethod, Writable, WritableMap } from '../../definition/index.ts'
import { isJsonType } from '../../kit/index.ts'
import type { RouteNames } from './name-route.ts'
import { shapeRequest, shapeResponse, type RequestShape } from './shape-content.ts'

/** The input and responses of a new method, and the schemas that must be added. */
export interface MethodShape {
  readonly method: WritableMap
  readonly path: WritableMap
  readonly schemas: WritableMap
}

/** The properties of an entity without a schema, to be edited: an id and a name. */
const sample: WritableMap = { name: { type: 'string', minLength: 1, maxLength: 64 } }

/** A method, and the media types of its bodies; by default JSON. */
export interface MethodBodies {
  readonly method: HttpMethod
  readonly request?: readonly string[] | undefined
  readonly response?: readonly string[] | undefined
}

/** Finds or creates schemas by name. */
interface ShapeContext {
  readonly bodies: MethodBodies
  readonly definition: Definition
  readonly names: RouteNames
  readonly path: WritableMap
  readonly made: Record<string, WritableMap>
}

/** Creates a method for the entity that its path names. Uses schemas of the project with matching names. */
export function shapeMethod(bodies: MethodBodies, names: RouteNames, definition: Definition): MethodShape {
  const path = Object.fromEntries(names.parameters.map((name) => [name, shapeParameter(name, definition)]))
  const context: ShapeContext = { bodies, definition, names, path, made: {} }
  const shaped = methods[bodies.method](context)
  return { method: shaped, path, schemas: context.made }
}

const methods: Readonly<Record<HttpMethod, (context: ShapeContext) => WritableMap>> = {
  GET: (context) => (context.names.isEntity ? shapeEntity(context) : shapeCollection(context)),
  POST: (context) => {
    const [output, request] = [respond(context), accept(context, shapeInput)]
    const declared: WritableMap = context.names.isEntity ? { response: output } : { responses: { 201: output } }
    return { description: `Creates one ${context.names.noun}`, ...request, ...declared }
  },
  PUT: (context) => {
    const [response, request] = [respond(context), accept(context, shapeInput)]
    return { description: `Changes ${what(context.names)}`, ...request, response }
  },
  PATCH: (context) => {
    const [response, request] = [respond(context), accept(context, shapePatch)]
    return { description: `Changes parts of ${what(context.names)}`, ...request, response }
  },
  DELETE: (context) => ({
    description: `Removes ${what(context.names)}`,
    ...(context.bodies.response === undefined ? { responses: { 204: null } } : { response: respond(context) }),
  }),
}

function respond(context: ShapeContext, shapeJson = shapeOutput): Writable {
  return shapeResponse(context.bodies.response, {
    json: () => shapeJson(context),
    item: () => shapeOutput(context),
  })
}

function accept(context: ShapeContext, shapeJson: (context: ShapeContext) => string): RequestShape & WritableMap {
  const shaped = shapeRequest(context.bodies.request, {
    json: () => shapeJson(context),
    properties: () => knownProperties(context),
  })
  return { ...shaped }
}

function what({ isEntity, noun, plural }: RouteNames): string {
  return isEntity ? `one ${noun}` : plural
}

function shapeEntity(context: ShapeContext): WritableMap {
  return { description: `Shows one ${context.names.noun}`, response: respond(context) }
}

function shapeCollection(context: ShapeContext): WritableMap {
  const response = respond(context, shapePage)
  const isPaged = context.bodies.response?.some(isJsonType) !== false
  return {
    description: `Lists ${context.names.plural}`,
    ...(isPaged && { parameters: { startIndex: { type: 'integer', minimum: 0, default: 0 } } }),
    response,
  }
}

function shapePage(context: ShapeContext): string {
  const entry = shapeOutput(context)
  const count = { type: 'integer' }
  return ensureSchema(context, `${context.names.schema}-Collection`, () => ({
    type: 'object',
    required: ['totalResults', 'startIndex', 'itemsPerPage', 'entry'],
    properties: {
      totalResults: count,
      startIndex: count,
      itemsPerPage: count,
      entry: { type: 'array', items: { $ref: `schema:///${entry}` } },
    },
  }))
}

function shapeOutput(context: ShapeContext): string {
  return ensureSchema(context, context.names.schema, () => ({
    type: 'object',
    required: ['id', 'name'],
    properties: { id: idOf(context), name: { type: 'string' } },
  }))
}

function idOf({ names, path }: ShapeContext): Writable {
  const id = names.isEntity ? names.parameters.at(-1) : undefined
  return (id === undefined ? undefined : path[id]) ?? { type: 'integer' }
}

function shapeInput(context: ShapeContext): string {
  return ensureSchema(context, `${context.names.schema}-Input`, () => {
    const properties = knownProperties(context)
    return { type: 'object', required: Object.keys(properties), additionalProperties: false, properties }
  })
}

function shapePatch(context: ShapeContext): string {
  return ensureSchema(context, `${context.names.schema}-Patch`, () => ({
    type: 'object',
    minProperties: 1,
    additionalProperties: false,
    properties: knownProperties(context),
  }))
}

/** Returns the known properties of the input. */
function knownProperties({ definition, names }: ShapeContext): WritableMap {
  const input = findSchema(definition, `${names.schema}-Input`)
  const schema = input === undefined ? undefined : definition.schemas[input]
  const properties = typeof schema === 'object' ? schema['properties'] : undefined
  return typeof properties === 'object' && properties !== null && isSelfContained(properties)
    ? (properties as WritableMap)
    : sample
}

/** Returns the name of a schema. Creates it if the project has none with this name in any spelling. */
function ensureSchema({ definition, made }: ShapeContext, name: string, make: () => WritableMap): string {
  const known = findSchema(definition, name)
  if (known !== undefined) return known
  made[name] = make()
  return name
}

function findSchema({ schemas }: Definition, name: string): string | undefined {
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[-_.]/g, '')
  return Object.hasOwn(schemas, name) ? name : Object.keys(schemas).find((known) => plain(known) === plain(name))
}

/** Uses the schema of other routes; otherwise an id is a number and everything else a string. */
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

/** Whether a schema has no references relative to its location. */
function isSelfContained(schema: unknown): boolean {
  return !JSON.stringify(schema).includes('"$ref":"#')
}
