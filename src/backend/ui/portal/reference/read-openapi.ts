// Reads the OpenAPI document of this server. Its structure is known; names, descriptions and examples are text of the
// people who write the API.
import type { NamedSchemas, Schema } from '../../components/named-schemas.ts'
import { exampleOf } from '../../edit/make-schema.ts'
import { isMap, type Json } from '../../edit/values.ts'
import { plainText } from '../../markdown/parse-inline.ts'

export interface Reference {
  readonly title: string
  /** Changes only with the API. */
  readonly version: string
  readonly groups: readonly Group[]
  readonly schemas: NamedSchemas
  readonly scopes: readonly Scope[]
  /** Errors that many operations share, by status. */
  readonly problems: readonly Response[]
}

/** Operations whose paths begin with the same segment. */
export interface Group {
  readonly name: string
  readonly operations: readonly Operation[]
}

export interface Scope {
  readonly name: string
  readonly description: string
  /** How many operations accept it. */
  readonly operations: number
}

export interface Operation {
  /** Part of the address of its page. */
  readonly id: string
  /** In upper case. */
  readonly method: string
  /** With `:name` for parameters. */
  readonly path: string
  readonly group: string
  readonly summary: string
  /** Without its summary and what other members say; empty if there is nothing to add. */
  readonly description: string
  readonly isDeprecated: boolean
  readonly isPublic: boolean
  /** A token needs one of them. */
  readonly scopes: readonly string[]
  /** Object schemas with a property for each parameter. */
  readonly pathParameters: Schema
  readonly query: Schema
  readonly headers: Schema
  readonly body: Body | undefined
  /** In order of their status. */
  readonly responses: readonly Response[]
}

export interface Body extends Content {
  readonly isRequired: boolean
  /** In its other media types. */
  readonly others: readonly Content[]
}

export interface Response {
  readonly status: string
  readonly description: string
  /** Undefined without a body. */
  readonly content: Content | undefined
  /** Bodies of other media types. */
  readonly others: readonly Content[]
  readonly headers: readonly Header[]
  /** Whether it is an error of the server, which other operations have too. */
  readonly isShared: boolean
}

interface Header {
  readonly name: string
  readonly description: string
  readonly schema: Schema
}

export interface Content {
  readonly type: string
  /** Of a stream, that of one item. */
  readonly schema: unknown
  readonly isStream: boolean
  /** Undefined if there is none and none can be made. */
  readonly example: unknown
}

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const

/** Reads a document. Parts that are missing or have an unexpected form are left out. */
export function readOpenApi(document: unknown): Reference {
  const root = mapOf(document)
  const info = mapOf(root['info'])
  const components = mapOf(root['components'])
  const source: Source = {
    schemas: mapOf(components['schemas']),
    responses: mapOf(components['responses']),
    parameters: mapOf(components['parameters']),
    headers: mapOf(components['headers']),
  }
  // Paths are appended to the base URL: without a slash, they would change the host that gets the token.
  const paths = Object.entries(mapOf(root['paths'])).filter(([path]) => path.startsWith('/'))
  const operations = paths.flatMap(([path, item]) =>
    methods
      .filter((method) => Object.hasOwn(mapOf(item), method))
      .map((method) => readOperation({ method, path, operation: mapOf(mapOf(item)[method]) }, source)),
  )
  const groups = Map.groupBy(operations, ({ group }) => group)
  return {
    title: textOf(info['title']),
    version: textOf(info['version']),
    groups: [...groups]
      .map(([name, own]) => ({ name, operations: own.toSorted(comparePaths) }))
      .toSorted((a, b) => compare(a.name, b.name)),
    schemas: source.schemas,
    scopes: readScopes(components, operations),
    problems: findProblems(operations),
  }
}

/** Returns the operation with an id, and its neighbours in the list. */
export function findOperation({ groups }: Reference, id: string) {
  const all = groups.flatMap(({ operations }) => operations)
  const index = all.findIndex((one) => one.id === id)
  return index < 0 ? undefined : { operation: all[index]!, previous: all[index - 1], next: all[index + 1] }
}

/** Keeps the operations in which every word of a text occurs. */
export function filterGroups(groups: readonly Group[], text: string): readonly Group[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const matches = ({ method, path, summary, description, scopes }: Operation) => {
    const searched = [method, path, summary, description, ...scopes].join(' ').toLowerCase()
    return words.every((word) => searched.includes(word))
  }
  return groups
    .map((group) => ({ ...group, operations: group.operations.filter(matches) }))
    .filter(({ operations }) => operations.length > 0)
}

interface Source {
  readonly schemas: NamedSchemas
  readonly responses: Json
  readonly parameters: Json
  readonly headers: Json
}

interface Place {
  readonly method: string
  readonly path: string
  readonly operation: Json
}

function readOperation({ method, path, operation }: Place, source: Source): Operation {
  const parameters = listOf(operation['parameters']).map((one) => resolvePart(one, 'parameters', source).part)
  const rests = new Set(parameters.flatMap((one) => (one['x-rest'] === true ? [one['name']] : [])))
  const [group] = listOf(operation['tags'])
  const security = Array.isArray(operation['security']) ? operation['security'].map(mapOf) : undefined
  const access = {
    isPublic: security?.length === 0,
    scopes: (security ?? []).flatMap(({ oauth2 }) => listOf(oauth2).filter((scope) => typeof scope === 'string')),
  }
  const summary = textOf(operation['summary'])
  const responses = Object.entries(mapOf(operation['responses']))
    .map(([status, response]) => readResponse(status, response, source))
    .toSorted((a, b) => compare(a.status, b.status))
  return {
    id: textOf(operation['operationId']) || `${method}${path.replaceAll(/[^A-Za-z0-9]+/g, '-')}`,
    method: method.toUpperCase(),
    path: path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `${rests.has(name) ? '*' : ':'}${name}`),
    group: textOf(group) || '/',
    summary: plainText(summary), // the beginning of a description, which may have Markdown
    description: shorten(textOf(operation['description']), { ...access, summary }),
    isDeprecated: operation['deprecated'] === true,
    ...access,
    pathParameters: readParameters(parameters, 'path'),
    query: readParameters(parameters, 'query'),
    headers: addAccept(readParameters(parameters, 'header'), responses),
    body: readBody(operation['requestBody'], source),
    responses,
  }
}

/** Removes what the page shows elsewhere: the summary, the access and that the operation is deprecated. */
function shorten(
  description: string,
  { summary, isPublic, scopes }: Pick<Operation, 'summary' | 'isPublic' | 'scopes'>,
) {
  const names = scopes.map((scope) => `\`${scope}\``)
  const needed = names.length === 1 ? `the scope ${names[0]}` : `one of the scopes ${names.join(', ')}`
  const access = isPublic
    ? 'No access token is needed.'
    : names.length === 0
      ? 'Requires an access token.'
      : `Requires an access token with ${needed}.`
  const [first = '', ...others] = description.split(/\n{2,}/)
  const rest = first.startsWith(summary) ? first.slice(summary.length) : first
  // A summary that is only the beginning of a sentence stays part of it.
  const isWhole = summary !== '' && first !== rest && /^(?:\.?$|[.!?]?\s)/.test(rest)
  return [isWhole ? rest.replace(/^[.!?]?\s*/, '') : first, ...others]
    .filter((part) => part !== '' && part !== access && part !== 'Deprecated.')
    .join('\n\n')
}

function readParameters(all: readonly unknown[], place: 'path' | 'query' | 'header'): Schema {
  const own = all.map(mapOf).filter((one) => one['in'] === place && typeof one['name'] === 'string')
  const required = own.filter((one) => one['required'] === true).map((one) => one['name'])
  return {
    type: 'object',
    properties: Object.fromEntries(own.map((one) => [one['name'], readParameter(one)])),
    ...(required.length === 0 ? {} : { required }),
  }
}

/** OpenAPI does not describe the header that chooses a media type, because the media types say it. */
function addAccept(headers: Schema, responses: readonly Response[]): Schema {
  const success = responses.find(({ status }) => status.startsWith('2'))
  const types = [success?.content, ...(success?.others ?? [])].map((content) => content?.type)
  if (types.length < 2) return headers
  return { ...headers, properties: { Accept: { type: 'string', enum: types }, ...mapOf(headers['properties']) } }
}

function readParameter({ schema, description, deprecated }: Json): Schema {
  return {
    ...mapOf(schema),
    ...(typeof description === 'string' ? { description } : {}),
    ...(deprecated === true ? { deprecated } : {}),
  }
}

function readBody(body: unknown, source: Source): Body | undefined {
  if (!isMap(body)) return undefined
  const [content, ...others] = readContents(body['content'], source, 'readOnly')
  return content && { ...content, isRequired: body['required'] === true, others }
}

interface Resolved {
  readonly part: Json
  /** Whether other operations refer to it too. */
  readonly isShared: boolean
}

/** Follows a reference to a component that is not a schema. */
function resolvePart(given: unknown, kind: 'responses' | 'parameters' | 'headers', source: Source): Resolved {
  const { $ref } = mapOf(given)
  const prefix = `#/components/${kind}/`
  const name = typeof $ref === 'string' && $ref.startsWith(prefix) ? $ref.slice(prefix.length) : ''
  const isShared = Object.hasOwn(source[kind], name)
  return { part: mapOf(isShared ? source[kind][name] : given), isShared }
}

function readResponse(status: string, given: unknown, source: Source): Response {
  const { part: response, isShared } = resolvePart(given, 'responses', source)
  // A status may have several media types: what the action returns comes before errors of the server.
  const [content, ...others] = readContents(response['content'], source, 'writeOnly')
  return {
    status,
    description: textOf(response['description']),
    content,
    others,
    headers: Object.entries(mapOf(response['headers'])).map(([name, value]) => {
      const { description, schema } = resolvePart(value, 'headers', source).part
      return { name, description: textOf(description), schema: mapOf(schema) }
    }),
    isShared,
  }
}

/** @param hidden the keyword of properties that its examples do not have */
function readContents(content: unknown, { schemas }: Source, hidden: 'readOnly' | 'writeOnly'): readonly Content[] {
  return Object.entries(mapOf(content)).map(([type, value]) => readContent(type, mapOf(value), { schemas, hidden }))
}

interface ExampleSource {
  readonly schemas: NamedSchemas
  readonly hidden: 'readOnly' | 'writeOnly'
}

function readContent(type: string, media: Json, { schemas, hidden }: ExampleSource): Content {
  const { schema: own = true, 'x-item-schema': item } = media
  const isStream = item !== undefined
  const schema = isStream ? item : own
  const isEmpty = isMap(schema) && Object.keys(schema).length === 0
  const made = (isJsonType(type) || isStream) && !isEmpty ? exampleOf(schema, schemas, hidden) : undefined
  return { type, schema, isStream, example: 'example' in media ? media['example'] : (made ?? undefined) }
}

/** Whether bodies of a media type are JSON. */
export function isJsonType(type: string): boolean {
  return /^application\/(?:[\w.-]+\+)?json(?:;|$)/.test(type)
}

function readScopes(components: Json, operations: readonly Operation[]): readonly Scope[] {
  const flows = mapOf(mapOf(mapOf(components['securitySchemes'])['oauth2'])['flows'])
  const all = mapOf(mapOf(flows['clientCredentials'])['scopes'])
  return Object.entries(all).map(([name, description]) => ({
    name,
    description: textOf(description) === `The scope ${name}` ? '' : textOf(description),
    operations: operations.filter(({ scopes }) => scopes.includes(name)).length,
  }))
}

/** The shared responses that operations refer to, once for each status. */
function findProblems(operations: readonly Operation[]): readonly Response[] {
  const shared = operations.flatMap(({ responses }) => responses.filter(({ isShared }) => isShared))
  return [...new Map(shared.map((response) => [response.status, response])).values()].toSorted((a, b) =>
    compare(a.status, b.status),
  )
}

function comparePaths(a: Operation, b: Operation): number {
  return compare(a.path, b.path) || methods.indexOf(lower(a)) - methods.indexOf(lower(b))
}

function lower({ method }: Operation): (typeof methods)[number] {
  return method.toLowerCase() as (typeof methods)[number]
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function mapOf(value: unknown): Json {
  return isMap(value) ? value : {}
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
