import type { ActionHttp, JsonSchema } from '../../contract/index.ts'
import { isJsonType } from '../../kit/index.ts'
import type { SchemaRoot } from '../../schema/index.ts'
import type { Api, ApiMethod, ApiRoute } from './api.ts'
import { makeContent } from './make-content.ts'
import { makeMedia, type OperationSources } from './make-media.ts'
import { nameOperation } from './operation-ids.ts'
import { makePathParameters, makeQueryParameters } from './parameters.ts'
import { sendsFiles } from './problem-responses.ts'
import { makeResponses } from './responses.ts'

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
    ...Object.entries(headersOf(method)).map(([name, need]) => sources.shared.parameter(name, need)),
  ]
  const body = bodySchema(method)
  return {
    operationId,
    ...describe(at, sources.api),
    tags: tagsOf(route.path, method),
    ...(route.deprecated === undefined ? {} : { deprecated: true }),
    security: makeSecurity(method),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: makeRequestBody(method, rootOf(body, 'Request'), sources) }),
    responses: makeResponses(method, (schema, status) => rootOf(schema, `Response${status}`), sources),
  }
}

/** Returns the headers of requests that matter to a method. */
function headersOf(method: ApiMethod): NonNullable<ActionHttp['headers']> {
  const { http, cache, responseTypes = {} } = method
  const hasEvents = Object.values(responseTypes).some((types) => types['text/event-stream']?.schema !== undefined)
  return {
    ...(cache !== undefined && { 'If-None-Match': 'optional' }),
    ...(sendsFiles(method) && { Range: 'optional' }),
    ...(hasEvents && { 'Last-Event-ID': 'optional' }),
    ...http?.headers,
  }
}

/** Returns the headings under which readers find an operation. */
export function tagsOf(path: string, { tags }: Pick<ApiMethod, 'tags'>): readonly string[] {
  return tags ?? [tagOf(path)]
}

/** Returns the tag of all operations with the same first path segment. */
function tagOf(path: string): string {
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
  const first = line.length > 120 ? `${line.slice(0, 119)}…` : line.replace(/\.$/, '')
  const summary = method.summary ?? first
  const rate = method.rate === undefined ? undefined : rates[method.rate]
  const window =
    rate === undefined
      ? ''
      : `${rate.windowMs / 1000} s ${rate.by === 'address' ? 'from one address' : 'by one caller'}`
  const details = [
    ...(text.replace(/\.$/, '') === summary ? [] : [text]),
    ...Object.values(method.http?.behavior ?? {}),
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
function bodySchema({ method, request, requestTypes }: ApiMethod): JsonSchema | undefined {
  if (method === 'GET') return undefined
  if (requestTypes !== undefined) return request ?? true
  return request ?? (method === 'DELETE' ? undefined : { type: 'object' })
}

function makeRequestBody(method: ApiMethod, root: SchemaRoot, sources: OperationSources): object {
  if (method.requestTypes !== undefined)
    return { required: true, content: makeContent(method.requestTypes, root, sources) }
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
