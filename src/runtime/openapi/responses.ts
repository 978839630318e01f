import { STATUS_CODES } from 'node:http'
import type { ActionHttpResponse, JsonSchema } from '../../contract/index.ts'
import { bodylessStatuses, errorRanges, findResponseKey, isJsonType, itemTypes } from '../../kit/index.ts'
import type { SchemaRoot } from '../../schema/index.ts'
import type { ApiMethod } from './api.ts'
import { makeMedia, type OperationSources } from './make-media.ts'
import { findProblem, problemStatuses, problemType, sendsFiles } from './problem-responses.ts'

type RootOf = (schema: JsonSchema, status: string) => SchemaRoot

/** A Response Object, or what it will have. */
interface ResponseParts {
  readonly description: string
  readonly headers?: Readonly<Record<string, object>>
  readonly content?: Readonly<Record<string, object>>
}

/**
 * Makes the responses of a method: the declared ones, those that its action class describes, and Waypost's own errors.
 */
export function makeResponses(method: ApiMethod, rootOf: RootOf, sources: OperationSources): object {
  const { responses, responseTypes = {}, cache } = method
  const declared = { ...responses, ...responseTypes }
  const action = method.http?.responses ?? {}
  const described = cache === undefined ? action : addCaching(action)
  const own = problemStatuses(method)
  const problems = new Set([...own, ...Object.keys(described).filter((status) => isProblem(described[status]!))])
  const hasSuccess =
    Object.keys(declared).some((status) => /^[23]/.test(status)) ||
    Object.keys(action).some((status) => /^(2|3|default)/.test(status))
  const made = { ...(hasSuccess ? {} : makeUndeclaredResponses(method)), ...makeDeclared(method, rootOf, sources) }
  for (const [status, response] of Object.entries(described)) {
    if (isProblem(response) && made[status] === undefined) continue // shared by all operations
    made[status] = addDescribed(status, { before: made[status], response }, sources)
  }
  const written: Record<string, object> = { ...made }
  // An action can also send a problem with any status of a range.
  for (const range of errorRanges.filter((one) => Object.hasOwn(declared, one)))
    written[range] = { ...made[range], content: { ...made[range]!.content, ...sources.shared.problemContent() } }
  for (const status of problems) {
    const range = findResponseKey(status, declared)
    const declaredRange = range === undefined || range === status ? undefined : made[range]
    const before = made[status] ?? (declaredRange && { ...declaredRange, description: describeStatus(status) })
    written[status] = addProblem(status, { before, response: described[status] }, sources)
  }
  return written
}

/** Makes the responses that a method declares. */
function makeDeclared(method: ApiMethod, rootOf: RootOf, sources: OperationSources): Record<string, ResponseParts> {
  const { responses, responseTypes = {} } = method
  const made: Record<string, ResponseParts> = {}
  for (const [status, schema] of Object.entries(responses))
    made[status] = makeResponse(status, rootOf(schema, status), { ...sources, types: method.produces })
  for (const [status, types] of Object.entries(responseTypes))
    made[status] = makeTypedResponse(status, types, { ...sources, rootOf })
  if (sendsFiles(method) && made['206'] === undefined && made['200'] !== undefined)
    made['206'] = makePart(made['200'], sources)
  return made
}

type DescribedResponses = Readonly<Record<string, ActionHttpResponse>>

/** Adds what `cache` makes of a response: its headers, and 304. */
function addCaching(described: DescribedResponses): DescribedResponses {
  const add = (status: string): ActionHttpResponse => {
    const known = described[status]
    return { ...known, headers: [...new Set(['ETag', 'Cache-Control', ...(known?.headers ?? [])])] }
  }
  return { ...described, 200: add('200'), 304: add('304') }
}

function isProblem({ type }: ActionHttpResponse): boolean {
  return type === problemType
}

type ResponseSources = OperationSources & { readonly types: readonly string[] | undefined }

function makeResponse(
  status: string,
  root: SchemaRoot,
  { types = ['application/json'], ...sources }: ResponseSources,
): ResponseParts {
  const declared = typeof root.schema === 'object' ? root.schema['description'] : undefined
  const known = status === 'default' ? 'Any other error' : describeStatus(status) // the project declares only errors so
  const description = typeof declared === 'string' ? declared : known
  if (bodylessStatuses.has(status)) return { description }
  const media = makeMedia(root, sources)
  return { description, content: Object.fromEntries(types.map((type) => [type, media])) }
}

type MediaTypes = NonNullable<ApiMethod['responseTypes']>[string]

/** Makes the response of a status whose media types are declared. */
function makeTypedResponse(
  status: string,
  types: MediaTypes,
  sources: OperationSources & { readonly rootOf: RootOf },
): ResponseParts {
  const roots = Object.entries(types).map(([type, { schema }]) => ({
    type,
    root: schema === undefined ? undefined : sources.rootOf(schema, status),
  }))
  const json = roots.find(({ type }) => isJsonType(type))?.root?.schema
  const declared = typeof json === 'object' ? json['description'] : undefined
  const description = typeof declared === 'string' ? declared : describeStatus(status)
  const content = roots.map(({ type, root }) => [type, makeTypedMedia(type, root, sources)])
  return { description, content: Object.fromEntries(content) }
}

function makeTypedMedia(type: string, root: SchemaRoot | undefined, sources: OperationSources): object {
  if (root === undefined) return { schema: schemaWithout(type) }
  const media = makeMedia(root, sources) as { readonly schema: object; readonly example?: unknown }
  if (!itemTypes.has(type)) return media
  // OpenAPI 3.1 has no keyword for the items of a stream.
  const isEvents = type === 'text/event-stream'
  const description = `A stream of ${isEvents ? 'events, the data of each' : 'lines, each'} as JSON: see x-item-schema`
  return { schema: { type: 'string', description }, 'x-item-schema': media.schema }
}

/** Returns the schema of a body that is described by its media type alone. */
function schemaWithout(type: string): object {
  if (type.startsWith('text/')) return { type: 'string' }
  return { type: 'string', format: 'binary', contentMediaType: type }
}

/** The part of a file that a request with `Range` gets. */
function makePart(whole: ResponseParts, { shared }: OperationSources): ResponseParts {
  return {
    ...whole,
    description: 'The part that Range requests, if the response is a file',
    headers: { ...whole.headers, ...shared.headers(['Content-Range']) },
  }
}

const ranges: Readonly<Record<string, string>> = {
  '4XX': 'Any other client error',
  '5XX': 'Any other server error',
  default: 'Any other response',
}

function describeStatus(status: string): string {
  return STATUS_CODES[status] ?? ranges[status] ?? `Status ${status}`
}

/** Describes the response of a method that declares none: anything, or nothing. */
function makeUndeclaredResponses({ html }: ApiMethod): Record<string, ResponseParts> {
  const content = html === 'trusted' ? { 'text/html': { schema: { type: 'string' } } } : { '*/*': { schema: {} } }
  return {
    200: { description: 'The result; its media type is not declared', content },
    204: { description: 'No result' },
  }
}

interface Described {
  /** What is known of the status without it. */
  readonly before: ResponseParts | undefined
  readonly response: ActionHttpResponse | undefined
}

/** Adds what an action class describes: the headers of a response, and its media type. */
function addDescribed(status: string, { before, response }: Described, { shared }: OperationSources): ResponseParts {
  const { type, headers = [], description } = response ?? {}
  const added = shared.headers(headers)
  const content = type === undefined || type === problemType ? {} : { [type]: { schema: schemaOf(type) } }
  const merged = { ...before?.content, ...content }
  return {
    description: description ?? before?.description ?? findProblem(status)?.description ?? describeStatus(status),
    ...(headers.length === 0 && before?.headers === undefined ? {} : { headers: { ...before?.headers, ...added } }),
    ...(Object.keys(merged).length === 0 ? {} : { content: merged }),
  }
}

function schemaOf(type: string): JsonSchema {
  return type.startsWith('text/') ? { type: 'string' } : {}
}

/** Adds an error to a status. A declared error describes only what the action sends. */
function addProblem(status: string, { before, response }: Described, sources: OperationSources): object {
  const { shared } = sources
  const { headers = [], description } = response ?? {}
  const known = findProblem(status)
  if (known !== undefined && before === undefined && headers.length === 0 && description === undefined)
    return shared.problemResponse(status)
  const names = [...new Set([...(known?.headers ?? []), ...headers])]
  const made = addDescribed(
    status,
    { before, response: { headers: names, ...(description && { description }) } },
    sources,
  )
  return { ...made, content: { ...made.content, ...shared.problemContent() } }
}
