import { authErrors } from '../../auth/index.ts'
import type { JsonSchema } from '../../contract/index.ts'
import type { WaypostError } from '../../kit/index.ts'
import { errors } from '../errors.ts'
import { makeProblemBody, problemTypeOf, type ProblemBody } from '../problem.ts'
import type { ApiMethod } from './api.ts'

/** The schema of `application/problem+json` (RFC 9457) in Waypost's responses. */
export const problemSchema = {
  type: 'object',
  description: 'An error (RFC 9457)',
  required: ['type', 'title', 'status', 'detail'],
  properties: {
    type: {
      type: 'string',
      format: 'uri-reference',
      description: 'The kind of error; the same for every error of that kind',
    },
    title: { type: 'string', description: 'The HTTP status as text' },
    status: { type: 'integer', description: 'The HTTP status' },
    detail: { type: 'string', description: 'The problem with this request' },
    hint: { type: 'string', description: 'What to do next' },
    errors: {
      type: 'array',
      description: 'Each invalid part of the request',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: {
          path: {
            type: 'string',
            description: 'The part of the request, followed by a JSON pointer',
            examples: ['body/title'],
          },
          message: { type: 'string', examples: ['is required'] },
        },
      },
    },
  },
} satisfies JsonSchema

interface Problem {
  readonly name: string
  readonly description: string
  readonly example?: ProblemBody
  readonly header?: readonly [name: string, description: string, schema: JsonSchema]
}

const retryAfter = ['Retry-After', 'Seconds to wait before the next attempt', { type: 'integer' }] as const
const authenticate = ['WWW-Authenticate', 'Why the token was refused (RFC 6750)', { type: 'string' }] as const

/** Waypost's own errors, by status. */
const problems: Readonly<Record<string, Problem>> = {
  400: {
    name: 'BadRequest',
    description: 'The request does not match its schema, or is malformed',
    example: {
      ...exampleOf(errors.WP_RUNTIME_REQUEST_INVALID()),
      errors: [{ path: 'body/title', message: 'is required' }],
    },
  },
  401: {
    name: 'Unauthorized',
    description: 'The access token is missing, invalid, expired or revoked',
    example: exampleOf(authErrors.WP_AUTH_NO_TOKEN({ need: '' })),
    header: authenticate,
  },
  403: { name: 'Forbidden', description: 'The access token lacks the required scope', header: authenticate },
  404: { name: 'NotFound', description: 'The resource does not exist' },
  409: {
    name: 'Conflict',
    description: 'The request conflicts with stored data',
    example: {
      ...exampleOf(errors.WP_RUNTIME_CONFLICT({ reason: 'A value that must be unique is already taken' })),
      errors: [{ path: 'body/title', message: 'is already taken' }],
    },
  },
  413: {
    name: 'ContentTooLarge',
    description: 'The body is too large',
    example: exampleOf(errors.WP_RUNTIME_BODY_SIZE({ limit: 1_048_576 })),
  },
  415: {
    name: 'UnsupportedMediaType',
    description: 'The body is not JSON',
    example: exampleOf(errors.WP_RUNTIME_BODY_TYPE({ types: 'application/json' })),
  },
  429: {
    name: 'TooManyRequests',
    description: 'Too many requests',
    example: exampleOf(errors.WP_RUNTIME_RATE({ limit: 100, window: 60, seconds: 17 })),
    header: retryAfter,
  },
  500: { name: 'InternalServerError', description: 'Internal error; "detail" contains the id of its log entry' },
  503: {
    name: 'ServiceUnavailable',
    description: 'The server, or a system that it depends on, is not available',
    header: retryAfter,
  },
}

function exampleOf(error: WaypostError): ProblemBody {
  const hint = error.hint === undefined ? {} : { hint: error.hint }
  return { ...makeProblemBody(problemTypeOf(error), error.status, error.message), ...hint }
}

/** Returns the statuses of Waypost's own errors for a method. */
export function problemStatuses(method: ApiMethod, hasBody: boolean): readonly string[] {
  const isChecked = method.params !== undefined || method.query !== undefined || hasBody
  return [
    ...(isChecked || !method.public ? ['400'] : []),
    ...(method.public ? [] : ['401']),
    ...(method.public || method.scopes.length === 0 ? [] : ['403']),
    '404',
    ...(method.method === 'GET' ? [] : ['409']),
    ...(hasBody ? ['413', '415'] : []),
    ...(method.rate === undefined ? [] : ['429']),
    '500',
    '503',
  ]
}

/** Returns the name of the shared response for a status. */
export function problemName(status: string): string {
  return problems[status]!.name
}

/** Makes the shared response for a status. @param schema a reference to the problem schema */
export function makeProblemResponse(status: string, schema: object): object {
  const { description, example, header } = problems[status]!
  return {
    description,
    ...(header === undefined ? {} : { headers: { [header[0]]: { description: header[1], schema: header[2] } } }),
    content: { 'application/problem+json': { schema, ...(example === undefined ? {} : { example }) } },
  }
}
