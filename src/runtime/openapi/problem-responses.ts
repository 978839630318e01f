import { authErrors } from '../../auth/index.ts'
import type { JsonSchema } from '../../contract/index.ts'
import { bodylessStatuses, itemTypes, type WaypostError } from '../../kit/index.ts'
import { errors } from '../errors.ts'
import { makeProblemBody, problemTypeOf, type ProblemBody } from '../problem.ts'
import type { ApiMethod } from './api.ts'

export const problemType = 'application/problem+json'

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

/** One of Waypost's own errors. */
interface Problem {
  readonly name: string
  readonly description: string
  readonly example?: ProblemBody
  readonly headers?: readonly string[]
}

const authenticate = ['WWW-Authenticate'] as const
const retryAfter = ['Retry-After'] as const

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
    headers: authenticate,
  },
  403: { name: 'Forbidden', description: 'The access token does not have the required scope', headers: authenticate },
  404: { name: 'NotFound', description: 'The resource does not exist' },
  406: {
    name: 'NotAcceptable',
    description: 'The Accept header of the request does not allow the response',
    example: exampleOf(errors.WP_RUNTIME_NOT_ACCEPTABLE({ type: 'application/json' })),
  },
  409: {
    name: 'Conflict',
    description: 'The request conflicts with stored data',
    example: {
      ...exampleOf(errors.WP_RUNTIME_CONFLICT({ reason: 'A value that must be unique is already taken' })),
      errors: [{ path: 'body/title', message: 'is already taken' }],
    },
  },
  412: {
    name: 'PreconditionFailed',
    description: 'The resource does not have the version that If-Match or If-None-Match allows',
    example: makeProblemBody('about:blank', 412, 'The resource has been changed'),
  },
  413: {
    name: 'ContentTooLarge',
    description: 'The body is too large',
    example: exampleOf(errors.WP_RUNTIME_BODY_SIZE({ limit: 1_048_576 })),
  },
  415: {
    name: 'UnsupportedMediaType',
    description: 'The body is not JSON, or is compressed',
    example: exampleOf(errors.WP_RUNTIME_BODY_TYPE({ types: 'application/json' })),
    headers: ['Accept-Encoding'],
  },
  416: {
    name: 'RangeNotSatisfiable',
    description: 'The file has no bytes in the requested range',
    example: exampleOf(errors.WP_RUNTIME_RANGE({ size: 1000 })),
    headers: ['Content-Range'],
  },
  428: {
    name: 'PreconditionRequired',
    description: 'The header If-Match is missing',
    example: makeProblemBody('about:blank', 428, 'Send If-Match with the ETag of the resource'),
  },
  429: {
    name: 'TooManyRequests',
    description: 'Too many requests, or open streams',
    example: exampleOf(errors.WP_RUNTIME_RATE({ limit: 100, window: 60, seconds: 17 })),
    headers: retryAfter,
  },
  500: { name: 'InternalServerError', description: 'Internal error; "detail" contains the id of its log entry' },
  502: {
    name: 'BadGateway',
    description: 'The upstream service is not available, or its response is not valid',
    example: makeProblemBody('about:blank', 502, 'The upstream service is not available'),
  },
  503: {
    name: 'ServiceUnavailable',
    description: 'The server, or a system that it depends on, is not available',
    headers: retryAfter,
  },
  504: {
    name: 'GatewayTimeout',
    description: 'The upstream service did not respond in time',
    example: makeProblemBody('about:blank', 504, 'The upstream service did not respond in time'),
  },
}

function exampleOf(error: WaypostError): ProblemBody {
  const hint = error.hint === undefined ? {} : { hint: error.hint }
  return { ...makeProblemBody(problemTypeOf(error), error.status, error.message), ...hint }
}

/** Returns the statuses of Waypost's own errors for a method. */
export function problemStatuses(method: ApiMethod): readonly string[] {
  const isReading = method.method === 'GET'
  // A response that the method declares must be acceptable for the caller; after a change it is always sent.
  const { responses, responseTypes = {} } = method
  const isNegotiated =
    (isReading && Object.keys(responses).some(hasBody)) || Object.keys(responseTypes).some((one) => one.startsWith('2'))
  // Code may also write for a GET request. An action class describes the conflicts of one.
  const isWriting = !isReading || (method.action !== undefined && 'file' in method.action)
  return [
    '400',
    ...(method.public ? [] : ['401']),
    ...(method.public || method.scopes.length === 0 ? [] : ['403']),
    '404',
    ...(isNegotiated ? ['406'] : []),
    ...(isWriting ? ['409'] : []),
    ...(isReading ? [] : ['413', '415']),
    ...(sendsFiles(method) ? ['416'] : []),
    ...(method.rate === undefined && !sendsItems(method) ? [] : ['429']),
    '500',
    '503',
  ]
}

/** Whether code may send a file, of which callers may request a part. */
export function sendsFiles({ method, action, responseTypes = {} }: ApiMethod): boolean {
  if (method !== 'GET' || action === undefined || !('file' in action)) return false
  return Object.values(responseTypes['200'] ?? {}).some(({ schema }) => schema === undefined)
}

/** Whether a method sends streams of values, of which each caller may have a limited number. */
function sendsItems({ responseTypes = {} }: ApiMethod): boolean {
  return Object.values(responseTypes).some((types) => Object.keys(types).some((type) => itemTypes.has(type)))
}

function hasBody(status: string): boolean {
  return status.startsWith('2') && !bodylessStatuses.has(status)
}

/** Returns Waypost's own error of a status; undefined if it has none. */
export function findProblem(status: string): Problem | undefined {
  return Object.hasOwn(problems, status) ? problems[status] : undefined
}

/** Adds an example to the content of an error. */
export function makeProblemContent(content: Readonly<Record<string, object>>, example: ProblemBody | undefined) {
  return example === undefined ? content : { [problemType]: { ...content[problemType], example } }
}
