import { STATUS_CODES } from 'node:http'
import type { JsonSchema } from '../../contract/index.ts'
import { bodylessStatuses, findResponseKey, isJsonType } from '../../kit/index.ts'
import type { Api, ApiMethod, ApiRoute } from './api.ts'
import type { Components } from './components.ts'
import { makeExampleDeriver } from './examples.ts'
import { generateSample } from './generate-sample.ts'
import { makePathParameters, makeQueryParameters } from './parameters.ts'
import { nameOperation } from './operation-ids.ts'
import { problemName, problemStatuses } from './problem-responses.ts'
import { makeAccessRemover, withoutAccessIn, type SchemaRoot } from '../../schema/index.ts'

/** Shared by all operations of one document. */
export interface OperationSources {
  readonly api: Api
  readonly components: Components
  readonly operationIds: ReadonlyMap<string, string>
  /** A `$ref` to the problem schema. */
  problem(): object
  /** Statuses whose shared response is referenced; filled while operations are made. */
  readonly problems: Set<string>
  /** Returns an example of the author of a schema. */
  exampleOf(root: SchemaRoot): unknown
  /** Returns a generated example of a request. */
  sampleOf(schema: JsonSchema): unknown
}

/** Makes the functions that find examples. What they find is kept for the other operations. */
export function makeExamples({ schemas }: Api): Pick<OperationSources, 'exampleOf' | 'sampleOf'> {
  // Read-only properties are not part of a request.
  const change = { keyword: 'readOnly', instead: undefined } as const
  const sent = withoutAccessIn(schemas, change)
  const remove = makeAccessRemover(schemas, change)
  return {
    exampleOf: makeExampleDeriver(schemas),
    sampleOf: (schema) => generateSample(remove(schema), sent),
  }
}

export interface RouteMethod {
  readonly route: ApiRoute
  readonly method: ApiMethod
}

/** Makes the Operation Object of a method. */
export function makeOperation(at: RouteMethod, sources: OperationSources): object {
  const { route, method } = at
  const operationId = sources.operationIds.get(`${method.method} ${route.path}`)!
  const rootOf = (schema: JsonSchema, part: string): SchemaRoot => ({ schema, name: toName(operationId) + part })
  const parameterSources = { components: sources.components, schemas: sources.api.schemas }
  const parameters = [
    ...makePathParameters(route.path, rootOf(method.params ?? true, 'Path'), parameterSources),
    ...makeQueryParameters(rootOf(method.query ?? true, 'Query'), parameterSources),
  ]
  const body = bodySchema(method)
  return {
    operationId,
    ...describe(at, sources.api),
    tags: [tagOf(route.path)],
    ...(route.deprecated === undefined ? {} : { deprecated: true }),
    security: makeSecurity(method),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: makeRequestBody(method, rootOf(body, 'Request'), sources) }),
    responses: makeResponses(method, (schema, status) => rootOf(schema, `Response${status}`), sources),
  }
}

/** Returns the tag of all operations with the same first path segment. */
export function tagOf(path: string): string {
  const [, first = ''] = path.split('/')
  return first === '' || first.startsWith(':') ? '/' : first
}

function toName(operationId: string): string {
  return operationId[0]!.toUpperCase() + operationId.slice(1)
}

/** Makes summary and description. The summary, shown in lists, is the first sentence of the description. */
function describe({ route, method }: RouteMethod, { rates, schemas }: Api): object {
  const text = method.description?.trim() ?? ''
  const [line = ''] = text.split(/\n|(?<=[.!?])\s/)
  const summary = line.length > 120 ? `${line.slice(0, 119)}…` : line.replace(/\.$/, '')
  const rate = method.rate === undefined ? undefined : rates[method.rate]
  const window =
    rate === undefined
      ? ''
      : `${rate.windowMs / 1000} s ${rate.by === 'address' ? 'from one address' : 'by one caller'}`
  const details = [
    ...(text.replace(/\.$/, '') === summary ? [] : [text]),
    describeAccess(method),
    ...(rate === undefined ? [] : [`At most ${rate.limit} requests in ${window}.`]),
    ...(route.deprecated === undefined
      ? []
      : [route.deprecated === true ? 'Deprecated.' : `Deprecated since ${route.deprecated}.`]),
  ]
  return {
    summary: summary === '' ? nameOperation({ method, path: route.path, schemas }) : summary,
    description: details.join('\n\n'),
  }
}

function describeAccess({ public: isPublic, scopes }: ApiMethod): string {
  if (isPublic) return 'No access token is needed.'
  const names = scopes.map((scope) => `\`${scope}\``)
  if (names.length === 0) return 'Requires an access token.'
  const scope = names.length === 1 ? `the scope ${names[0]}` : `one of the scopes ${names.join(', ')}`
  return `Requires an access token with ${scope}.`
}

/** A token needs only one of the scopes, so each scope is an alternative. */
function makeSecurity({ public: isPublic, scopes }: ApiMethod): object[] {
  if (isPublic) return []
  const alternatives = scopes.length === 0 ? [[]] : scopes.map((scope) => [scope])
  return [...alternatives.map((way) => ({ oauth2: way })), { bearer: [] }]
}

/** Returns the schema of the body. Methods with a body and no schema accept any object; GET has no body. */
function bodySchema({ method, request }: ApiMethod): JsonSchema | undefined {
  if (method === 'GET') return undefined
  return request ?? (method === 'DELETE' ? undefined : { type: 'object' })
}

function makeRequestBody(method: ApiMethod, root: SchemaRoot, sources: OperationSources): object {
  const media = makeMedia(root, sources, true)
  // Requests get a generated example so that readers can send one; responses do not.
  const hasNoSample = 'example' in media || method.request === undefined
  const sample = hasNoSample ? undefined : sources.sampleOf(root.schema)
  const json = { ...media, ...(sample === undefined ? {} : { example: sample }) }
  const types = Object.entries(method.consumes ?? { 'application/json': undefined })
  const content = Object.fromEntries(
    types.map(([type, schema]) => [
      type === '*' ? '*/*' : type,
      schema !== undefined ? makeMedia({ ...root, schema }, sources, true) : isJsonType(type) ? json : media,
    ]),
  )
  return { required: method.request !== undefined, content }
}

function makeMedia(root: SchemaRoot, { components, exampleOf }: OperationSources, isRequest = false): object {
  const example = exampleOf(root)
  return { schema: components.write(root.schema, root, isRequest), ...(example === undefined ? {} : { example }) }
}

const ranges: Readonly<Record<string, string>> = {
  '4XX': 'Any other client error',
  '5XX': 'Any other server error',
  default: 'Any other error',
}

type RootOf = (schema: JsonSchema, status: string) => SchemaRoot

function makeResponses(method: ApiMethod, rootOf: RootOf, sources: OperationSources): object {
  const declared = Object.entries(method.responses).map(([status, schema]) => [
    status,
    makeResponse(status, rootOf(schema, status), { ...sources, types: method.produces }),
  ])
  const own = problemStatuses(method, bodySchema(method) !== undefined)
  const isDeclared = Object.keys(method.responses).some((status) => status.startsWith('2'))
  const responses: Record<string, object> = {
    ...(isDeclared ? {} : makeUndeclaredResponses(method)),
    ...Object.fromEntries(declared),
  }
  for (const status of own) {
    const key = findResponseKey(status, method.responses)
    const range =
      key === undefined || key === status ? undefined : { ...responses[key], description: STATUS_CODES[status] }
    responses[status] = addProblem(status, responses[status] ?? range, sources)
  }
  return responses
}

type ResponseSources = OperationSources & { readonly types: readonly string[] | undefined }

function makeResponse(
  status: string,
  root: SchemaRoot,
  { types = ['application/json'], ...sources }: ResponseSources,
): object {
  const declared = typeof root.schema === 'object' ? root.schema['description'] : undefined
  const description =
    typeof declared === 'string' ? declared : (STATUS_CODES[status] ?? ranges[status] ?? `Status ${status}`)
  if (bodylessStatuses.has(status)) return { description }
  const media = makeMedia(root, sources)
  return { description, content: Object.fromEntries(types.map((type) => [type, media])) }
}

/** Describes the response of a method that declares none: anything, or nothing. */
function makeUndeclaredResponses({ html }: ApiMethod): Record<string, object> {
  const content = html === 'trusted' ? { 'text/html': { schema: { type: 'string' } } } : { '*/*': { schema: {} } }
  return {
    200: { description: 'The result; its media type is not declared', content },
    204: { description: 'No result' },
  }
}

/** Adds Waypost's own errors to a status. A declared error describes only what the action sends. */
function addProblem(status: string, declared: object | undefined, { problem, problems }: OperationSources): object {
  if (declared !== undefined) {
    const content = (declared as { content?: object }).content
    return { ...declared, content: { ...content, 'application/problem+json': { schema: problem() } } }
  }
  problems.add(status)
  return { $ref: `#/components/responses/${problemName(status)}` }
}
