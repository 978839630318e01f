import type { JsonSchema } from '../contract/index.ts'
import type { Definition, MediaType, Method, Route, RouteStep } from '../definition/index.ts'
import { bodylessStatuses, itemTypes, listPathParameters } from '../kit/index.ts'
import { reachesAccess, reachesDefault, reachesRequiredDefault } from '../schema/index.ts'
import { makeType, propertiesOf } from './make-type.ts'
import { makeAliases, resolveReference, type InputTypes, type TypeScope } from './type-scope.ts'
import {
  atom,
  indent,
  makeComment,
  makeKey,
  makeObject,
  makeUnion,
  quote,
  unknownType,
  type Member,
  type TypeText,
} from './type-text.ts'

export interface TypesOptions {
  /** Whether `migrations/<Connection>/tables.ts` exists, for each connection, including `System`. */
  readonly tables: Readonly<Record<string, boolean>>
  /** The `clientType` of each connection's class; `unknown` if missing. */
  readonly clientTypes: Readonly<Record<string, string>>
  /** The `stateType` of each step class; `unknown` if missing. */
  readonly stateTypes?: Readonly<Record<string, string>>
}

type Scoped = Pick<TypeScope, 'schemas' | 'aliases' | 'prefix' | 'input'>

/**
 * Returns the text of `.waypost/types.d.ts`, which adds the routes, events, connections and variables of a project to
 * the types of `waypost`.
 */
export function makeTypes(definition: Definition, options: TypesOptions): string {
  const aliases = makeAliases(Object.keys(definition.schemas))
  const scope: Scoped = { schemas: definition.schemas, aliases, prefix: 'Schema.' }
  const received = makeInputTypes('received', definition.schemas, aliases)
  const sent = makeInputTypes('sent', definition.schemas, aliases)
  const sections = [
    makeInterface(
      'Routes',
      definition.routes.flatMap((route) =>
        route.methods.map((method) =>
          makeRoute(route, method, { scope, sent, received, stateTypes: options.stateTypes ?? {} }),
        ),
      ),
    ),
    makeInterface(
      'Events',
      Object.entries(definition.events).map(([name, { schema, description }]) => ({
        key: makeKey(name),
        type: schema === undefined ? unknownType : typeOf(schema, scope),
        description,
      })),
    ),
    ...makeListeners(definition),
    makeInterface('Connections', makeConnections(definition, options)),
    ...makeEnv(definition),
  ]
  const usesState = definition.routes.some(({ methods }) => methods.some(({ steps }) => steps !== undefined))
  return [
    '/* eslint-disable */',
    '// Written by waypost from the project. Do not edit it, do not commit it.',
    `import type { Kysely${usesState ? ', StateOf' : ''} } from 'waypost'\n`,
    ...(aliases.size === 0 ? [] : [makeSchemas('Schema', definition.schemas, { ...scope, prefix: '' })]),
    ...[received, sent].flatMap((input) =>
      input.aliases.size === 0 ? [] : [makeSchemas(namespaces[input.form], definition.schemas, { ...scope, input })],
    ),
    `declare module 'waypost' {\n${sections.map(indent).join('\n\n')}\n}\n`,
  ].join('\n')
}

/**
 * Writes the named schemas, or those listed in `input`, in a namespace, so that their names do not conflict with
 * TypeScript or waypost.
 */
function makeSchemas(namespace: string, schemas: Definition['schemas'], scope: Scoped): string {
  const isListed = (name: string) => scope.input?.aliases.has(name) ?? true
  const types = Object.entries(schemas).flatMap(([name, schema]) => {
    if (!isListed(name)) return []
    const root = { ...scope, root: schema, rootName: name, inlined: [] }
    const description = typeof schema === 'object' ? schema['description'] : undefined
    return indent(`${makeComment(description)}type ${scope.aliases.get(name)} = ${makeType(schema, root).text}`)
  })
  return `export declare namespace ${namespace} {\n${types.join('\n')}\n}\n`
}

const namespaces = { received: 'Received', sent: 'Sent' } as const

function makeInputTypes(
  form: InputTypes['form'],
  schemas: Definition['schemas'],
  aliases: Scoped['aliases'],
): InputTypes {
  const isOther = form === 'received' ? reachesDefault : reachesRequiredDefault
  const divided = new Set(
    Object.keys(schemas).filter((name) => reachesAccess({ schema: schemas[name]!, name }, schemas)),
  )
  const names = Object.keys(schemas).filter(
    (name) => divided.has(name) || isOther({ schema: schemas[name]!, name }, schemas),
  )
  return { form, divided, aliases: new Map(names.map((name) => [name, `${namespaces[form]}.${aliases.get(name)}`])) }
}

function makeInterface(name: string, members: readonly Member[]): string {
  const blocks = members.map(({ key, type, description }) => indent(`${makeComment(description)}${key}: ${type.text}`))
  return `interface ${name} {${blocks.length === 0 ? '' : `\n${blocks.join('\n')}\n`}}`
}

interface RouteScope {
  readonly scope: Scoped
  readonly received: InputTypes
  readonly sent: InputTypes
  readonly stateTypes: Readonly<Record<string, string>>
}

function makeRoute(route: Route, method: Method, { scope, received, sent, stateTypes }: RouteScope): Member {
  const inside: Scoped = { ...scope, input: received }
  const body = makeBody(method, inside)
  const sentBody = makeBody(method, { ...scope, input: sent })
  const responses = makeResponses(method, scope)
  const members = [
    { key: 'params', type: makeParams(route.path, method.params, scope) },
    { key: 'query', type: method.query === undefined ? atom('{}') : typeOf(method.query, inside) },
    { key: 'body', type: body },
    ...makeBodies(method, inside),
    ...(sentBody.text === body.text ? [] : [{ key: 'sent', type: sentBody }]),
    ...(method.raw === true ? [{ key: 'raw', type: atom('true') }] : []),
    { key: 'result', type: makeResult(responses) },
    { key: 'responses', type: makeObject(responses) },
    ...makeMediaMembers(method, scope),
    ...(method.steps === undefined
      ? []
      : [{ key: 'state', type: makeObject(method.steps.map((step) => makeState(step, stateTypes))) }]),
    ...(method.public ? [] : [{ key: 'private', type: atom('true') }]),
  ]
  const lines = members.map(({ key, type }) => indent(`${key}: ${type.text}`))
  return {
    key: quote(`${method.method} ${route.path}`),
    type: atom(`{\n${lines.join('\n')}\n}`),
    description: method.description,
  }
}

/** Returns the type of the body of each status, in ascending order. */
function makeResponses({ responses, responseTypes = {} }: Method, scope: Scoped): Member[] {
  const statuses = [...new Set([...Object.keys(responses), ...Object.keys(responseTypes)])].toSorted()
  return statuses.map((status) => {
    const key = /^\d+$/.test(status) ? status : makeKey(status)
    const types = Object.hasOwn(responseTypes, status) ? responseTypes[status] : undefined
    if (types !== undefined)
      return { key, type: makeUnion(Object.entries(types).map((one) => makeSentType(one, scope))) }
    return { key, type: bodylessStatuses.has(status) ? atom('undefined') : typeOf(responses[status]!, scope) }
  })
}

/** Returns the type of what an action sends. Without a schema, it is text; bytes and streams are always allowed. */
function makeSentType([type, { schema }]: readonly [string, MediaType], scope: Scoped): TypeText {
  if (schema === undefined) return atom('string')
  const { text } = typeOf(schema, scope)
  if (!itemTypes.has(type)) return typeOf(schema, scope)
  return type === eventType
    ? atom(`AsyncIterable<${text} | { event?: string; id?: string | number; data: ${text} }>`)
    : makeUnion([atom(`AsyncIterable<${text}>`), atom(`Iterable<${text}>`)])
}

const eventType = 'text/event-stream'

/** Returns what a method with media types has besides: its types by status, those of its result, and the items of a stream. */
function makeMediaMembers({ responses, responseTypes }: Method, scope: Scoped): Member[] {
  if (responseTypes === undefined) return []
  const types = Object.entries(responseTypes).map(([status, media]) => ({
    key: /^\d+$/.test(status) ? status : makeKey(status),
    type: makeObject(Object.entries(media).map((one) => ({ key: quote(one[0]), type: makeSentType(one, scope) }))),
  }))
  const success = [...new Set([...Object.keys(responses), ...Object.keys(responseTypes)])].filter((one) =>
    one.startsWith('2'),
  )
  const declared = responseTypes[success.toSorted()[0] ?? '']
  if (declared === undefined) return [{ key: 'types', type: makeObject(types) }]
  const items = Object.entries(declared).flatMap(([type, { schema }]) => {
    if (schema === undefined || !itemTypes.has(type)) return []
    const { text } = typeOf(schema, scope)
    return [type === eventType ? atom(`{ event?: string; id?: string; data: ${text} }`) : typeOf(schema, scope)]
  })
  return [
    { key: 'types', type: makeObject(types) },
    { key: 'accepts', type: makeUnion(Object.keys(declared).map((type) => atom(quote(type)))) },
    ...(items.length === 0 ? [] : [{ key: 'items', type: makeUnion(items) }]),
  ]
}

/** Returns the type that an action may return: the body of the lowest 2xx, or nothing if a 2xx has no body. */
function makeResult(responses: readonly Member[]): TypeText {
  // Statuses have three digits, so the keys of the object are in ascending order.
  const success = responses.filter(({ key }) => /^2\d\d$/.test(key))
  const [lowest] = success
  if (lowest === undefined) return unknownType
  const body = bodylessStatuses.has(lowest.key) ? [] : [lowest.type]
  return makeUnion([...body, ...(body.length === 0 || success.some(({ key }) => key === '204') ? [atom('void')] : [])])
}

/** All parameters of the path are required, whatever the schema says. */
function makeParams(path: string, schema: JsonSchema | undefined, scope: Scoped): TypeText {
  const found = schema === undefined ? undefined : flatten(schema, scope)
  const properties = found === undefined ? {} : propertiesOf(found.schema)
  const names = listPathParameters(path)
  return makeObject(
    names.map((name) => {
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined
      return { key: makeKey(name), type: property === undefined ? atom('string') : makeType(property, found!.scope) }
    }),
  )
}

function makeBody({ method, request, requestTypes }: Method, scope: Scoped): TypeText {
  if (requestTypes !== undefined) return makeUnion(Object.values(requestTypes).map((one) => makeGivenType(one, scope)))
  if (request !== undefined) return typeOf(request, scope)
  return atom(method === 'GET' || method === 'DELETE' ? 'undefined' : 'Record<string, unknown>')
}

/** Returns the type of what an action gets: without a schema, a stream of the bytes. */
function makeGivenType({ schema }: MediaType, scope: Scoped): TypeText {
  return schema === undefined ? atom('ReadableStream<Uint8Array>') : typeOf(schema, scope)
}

/** Says which media type the body has, or how its type depends on it. */
function makeBodies({ requestTypes = {} }: Method, scope: Scoped): Member[] {
  const types = Object.entries(requestTypes)
  const [[only] = [undefined]] = types
  if (only === undefined) return []
  if (types.length === 1) return [{ key: 'contentType', type: atom(quote(only)) }]
  const members = types.map(([type, media]) => ({ key: quote(type), type: makeGivenType(media, scope) }))
  return [{ key: 'bodies', type: makeObject(members) }]
}

function makeConnections({ connections }: Definition, { tables, clientTypes }: TypesOptions): Member[] {
  const types = { System: 'Kysely<{Tables}>', ...clientTypes }
  return ['System', ...Object.keys(connections).filter((name) => name !== 'System')].map((name) => {
    const file = `import(${quote(`../migrations/${name}/tables.ts`)}).Tables`
    const type = Object.hasOwn(types, name) ? types[name as keyof typeof types] : 'unknown'
    return { key: makeKey(name), type: atom(type.replaceAll('{Tables}', () => (tables[name] === true ? file : 'any'))) }
  })
}

/** The data of a listener is that of its event. */
function makeListeners({ listeners }: Definition): string[] {
  const members = Object.entries(listeners).map(([name, { event, description }]): Member => {
    return { key: makeKey(name), type: atom(quote(event)), description }
  })
  return members.length === 0 ? [] : [makeInterface('Listeners', members)]
}

/** Returns the type of what a step adds to `context.state`: that of its class. */
function makeState({ name, action }: RouteStep, types: RouteScope['stateTypes']): Member {
  const known = 'file' in action || !Object.hasOwn(types, action.class) ? undefined : types[action.class]
  const type = 'file' in action ? `StateOf<typeof import(${quote(`../${action.file}`)}).default>` : (known ?? 'unknown')
  return { key: makeKey(name), type: atom(type) }
}

function makeEnv({ variables }: Definition): string[] {
  const members = Object.entries(variables).flatMap(([name, { declared }]): Member[] => {
    if (declared === undefined) return []
    const type = declared.type === 'integer' ? 'number' : declared.type
    return [{ key: name, type: atom(type), description: declared.description }]
  })
  return members.length === 0 ? [] : [makeInterface('Env', members)]
}

function typeOf(schema: JsonSchema, scope: Scoped): TypeText {
  return makeType(schema, { ...scope, root: schema, inlined: [] })
}

interface Flat {
  readonly schema: Exclude<JsonSchema, boolean>
  readonly scope: TypeScope
}

/** Resolves references to a schema with plain properties; undefined if other keywords are combined with them. */
function flatten(schema: JsonSchema, scope: Scoped): Flat | undefined {
  let found: { schema: JsonSchema; scope: TypeScope } = { schema, scope: { ...scope, root: schema, inlined: [schema] } }
  for (;;) {
    if (typeof found.schema === 'boolean') return undefined
    const reference = found.schema['$ref']
    if (typeof reference !== 'string') break
    // Without aliases, so that a named schema is resolved and not referenced by its name.
    const target = resolveReference(reference, { ...found.scope, aliases: new Map() })
    if (target === undefined || 'alias' in target) return undefined
    found = { schema: target.schema, scope: { ...target.scope, aliases: scope.aliases } }
  }
  const isCombined = ['allOf', 'anyOf', 'oneOf'].some((keyword) => keyword in (found.schema as object))
  return isCombined || !('properties' in found.schema) ? undefined : (found as Flat)
}
