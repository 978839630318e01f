import type { TObject, TSchema } from 'typebox'
import { problemSchema, problemType } from '../openapi/problem-responses.ts'
import type { BuiltInRoute } from './route.ts'

/** The media type of lines of JSON. */
export const linesType = 'application/x-ndjson'
export const csvType = 'text/csv'

/** How a table of built-in endpoints is documented. */
export interface TableDescription<Route extends BuiltInRoute> {
  readonly title: string
  readonly version: string
  readonly description: string
  /** Begins all paths: `/backend`. */
  readonly prefix: string
  /** What the token of the security scheme must be. */
  readonly token: string
  /** The scopes of which a token needs one; undefined if the route needs no token. */
  scopesOf(route: Route): readonly string[] | undefined
}

/** Describes a table of built-in endpoints as OpenAPI 3.1. */
export function describeBuiltIn<Route extends BuiltInRoute>(
  routes: readonly Route[],
  table: TableDescription<Route>,
): object {
  const tagOf = (route: Route) => route.path.split('/')[1]!
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes) {
    const path = `${table.prefix}${route.path}`.replaceAll(/:(\w+)/g, '{$1}')
    const scopes = table.scopesOf(route)
    paths[path] = {
      ...paths[path],
      [route.method.toLowerCase()]: {
        operationId: route.name,
        summary: route.summary,
        tags: [tagOf(route)],
        // One of the scopes is enough.
        security: scopes === undefined ? [] : scopes.map((scope) => ({ token: [scope] })),
        ...describeOperation(route),
      },
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: table.title,
      version: table.version,
      description: table.description,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(routes.map(tagOf))].toSorted().map((name) => ({ name, description: `Operations on ${name}s` })),
    paths,
    components: {
      schemas: { Problem: problemSchema },
      responses: { Problem: problemResponse },
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: table.token } },
    },
  }
}

const problemResponse = {
  description: 'An error (RFC 9457)',
  headers: {
    'Retry-After': { description: 'The number of seconds after which to try again', schema: { type: 'integer' } },
    'WWW-Authenticate': {
      description: 'Which token is required, if it is missing or not valid',
      schema: { type: 'string' },
    },
  },
  content: { [problemType]: { schema: { $ref: '#/components/schemas/Problem' } } },
}

function describeOperation(route: BuiltInRoute): object {
  const { params, query, body, csv, status = 200, hasIfMatch = false } = route
  const problem = { $ref: '#/components/responses/Problem' }
  const content = describeContent(route)
  const successes = typeof status === 'number' ? [status] : status
  const ok =
    content === undefined
      ? { 204: { description: 'Done' } }
      : Object.fromEntries(successes.map((one) => [one, { description: 'Successful', content }]))
  return {
    parameters: [
      ...describeParameters('path', params),
      ...describeParameters('query', query),
      ...(hasIfMatch ? [ifMatch] : []),
    ],
    ...(body === undefined ? {} : { requestBody: describeBody(body) }),
    ...(csv === 'body' && { requestBody: { required: true, content: { [csvType]: { schema: { type: 'string' } } } } }),
    responses: { ...ok, '4XX': problem, default: problem },
  }
}

function describeContent({ response, lines, csv }: BuiltInRoute): object | undefined {
  if (csv === 'response') return { [csvType]: { schema: { type: 'string' } } }
  if (lines !== undefined) return { [linesType]: { schema: lines } }
  return response === undefined ? undefined : { 'application/json': { schema: response } }
}

const ifMatch = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description: 'The ETag of the record to change; 412 if the record now has a different one',
  schema: { type: 'string' },
}

function describeParameters(place: 'path' | 'query', schema: TObject | undefined): object[] {
  const required = new Set((schema?.required ?? []) as readonly string[])
  return Object.entries(schema?.properties ?? {}).map(([name, one]) => ({
    name,
    in: place,
    required: required.has(name),
    schema: one,
  }))
}

/** A body that may be null may be omitted: both have no value. */
function describeBody(schema: TSchema): object {
  const alternatives = (schema as { readonly anyOf?: readonly { readonly type?: unknown }[] }).anyOf ?? []
  const required = !alternatives.some(({ type }) => type === 'null')
  return { required, content: { 'application/json': { schema } } }
}
