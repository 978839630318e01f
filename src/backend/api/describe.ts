import type { TObject, TSchema } from 'typebox'
import { version } from '../../kit/index.ts'
import { problemSchema } from '../../runtime/index.ts'
import type { AdminRoute } from './route.ts'

/** Describes the admin API as OpenAPI 3.1, from the table of its routes. */
export function describeAdminApi(routes: readonly AdminRoute[]): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes) {
    const path = `/backend${route.path}`.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeOperation(route) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Waypost admin API',
      version,
      description: 'What the pages of the backend call. Requests need an access token with the scope that they name.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(routes.map(tagOf))].toSorted().map((name) => ({ name, description: `Operations on ${name}s` })),
    paths,
    components: {
      schemas: { Problem: problemSchema },
      responses: { Problem: problemResponse },
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'An access token with one of the scopes' },
      },
    },
  }
}

const problemResponse = {
  description: 'An error (RFC 9457)',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
}

/** The media type of lines of JSON. */
export const linesType = 'application/x-ndjson'

function describeOperation(route: AdminRoute): object {
  const { name, summary, scopes, params, query, body, answer, lines, status = 200, hasIfMatch = false } = route
  const problem = { $ref: '#/components/responses/Problem' }
  const content = lines === undefined ? { 'application/json': { schema: answer } } : { [linesType]: { schema: lines } }
  const ok =
    answer === undefined && lines === undefined
      ? { 204: { description: 'Done' } }
      : { [status]: { description: 'Successful', content } }
  return {
    operationId: name,
    summary,
    tags: [tagOf(route)],
    // One of the scopes is enough.
    security: scopes.map((scope) => ({ token: [scope] })),
    parameters: [
      ...describeParameters('path', params),
      ...describeParameters('query', query),
      ...(hasIfMatch ? [ifMatch] : []),
    ],
    ...(body === undefined ? {} : { requestBody: describeBody(body) }),
    responses: { ...ok, '4XX': problem, default: problem },
  }
}

const ifMatch = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description: 'The ETag of the record to change; 412 if the record has another one by now',
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

function describeBody(schema: TSchema): object {
  return { required: true, content: { 'application/json': { schema } } }
}

/** The first part of the path below `/backend`. */
function tagOf({ path }: AdminRoute): string {
  return path.split('/')[1]!
}
