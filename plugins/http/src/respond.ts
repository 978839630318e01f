import type { ActionClass, ActionHttp, ConfigProblem, JsonSchema } from 'waypost'

interface Config {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly text?: string
  readonly type: string
}

const config = {
  type: 'object',
  properties: {
    status: {
      type: 'integer',
      description: 'The HTTP status. The default is 200, or 204 without a body',
      minimum: 200,
      maximum: 599,
    },
    headers: { type: 'object', description: 'Headers of the response', additionalProperties: { type: 'string' } },
    body: { description: 'The body, sent as JSON' },
    text: { type: 'string', description: 'The body as text, instead of "body"' },
    type: { type: 'string', description: 'The content type of "text"', default: 'text/plain; charset=utf-8' },
  },
  additionalProperties: false,
}

const bodyless = new Set([204, 205, 304])

/** Responds to each request with the same response. */
export const respond: ActionClass<Config> = {
  description: 'Returns a fixed response',
  config,
  describe(config) {
    const status = statusOf(config)
    const problems = [...checkBody(config), ...checkHeaders(config)]
    if (problems.length > 0) return { problems }
    const http = describeHttp(config)
    if (bodyless.has(status)) return { problems, http, responses: { [status]: { type: 'null' } } }
    if (config.body === undefined) return { problems, http } // only JSON has a schema
    return { problems, http, responses: { [status]: inferSchema(config.body) } }
  },
  make({ config }) {
    const { headers, body, text, type } = config
    const status = statusOf(config)
    const withType = text === undefined ? headers : { 'content-type': type, ...headers }
    return { handle: (_request, context) => context.respond(status, text ?? body, withType) }
  },
}

function statusOf({ status, body, text }: Config): number {
  return status ?? (body === undefined && text === undefined ? 204 : 200)
}

function describeHttp(config: Config): ActionHttp {
  const { text, type, headers = {} } = config
  const response = {
    ...(text !== undefined && { type: /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+/.exec(type)?.[0] ?? '*/*' }),
    ...(Object.keys(headers).length > 0 && { headers: Object.keys(headers) }),
  }
  return { responses: { [statusOf(config)]: response } }
}

function checkBody(config: Config): ConfigProblem[] {
  const { body, text } = config
  const status = statusOf(config)
  const at = text === undefined ? '/body' : '/text'
  if (body !== undefined && text !== undefined)
    return [{ at, message: '"body" and "text" cannot be used together', hint: 'Remove one of the two' }]
  const hasBody = body !== undefined || text !== undefined
  if (hasBody && bodyless.has(status)) return [{ at, message: `A ${status} response has no body` }]
  if (!hasBody && !bodyless.has(status) && (status < 300 || status >= 400))
    return [{ at: '/status', message: `A ${status} response needs a body`, hint: 'Add "body" or "text"' }]
  return []
}

/** Headers that describe the connection or the encoding of the body, which the server sets. */
const reserved = new Set([
  'connection',
  'content-length',
  'content-type',
  'keep-alive',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

// RFC 9110 §5.6.2 and §5.5. Not checked by node:http, which would take longer to load than the whole plugin.
const headerName = /^[\w!#$%&'*+.^`|~-]+$/
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/

function checkHeaders({ headers = {} }: Config): ConfigProblem[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    const at = `/headers/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    if (reserved.has(name.toLowerCase())) {
      const hint = name.toLowerCase() === 'content-type' ? 'Use "type" with "text"' : 'Remove it'
      return [{ at, message: `The header "${name}" cannot be set`, hint }]
    }
    if (!headerName.test(name)) return [{ at, message: `"${name}" is not a valid name of a header` }]
    return headerValue.test(value) ? [] : [{ at, message: `The value of the header "${name}" has invalid characters` }]
  })
}

/** Returns a schema that describes the structure of a value, so that `/openapi.json` and clients know it. */
function inferSchema(value: unknown): JsonSchema {
  if (Array.isArray(value)) {
    const [first, ...others] = value.map(inferSchema)
    const isUniform = first !== undefined && others.every((one) => JSON.stringify(one) === JSON.stringify(first))
    return { type: 'array', items: isUniform ? first : {} }
  }
  if (typeof value === 'object' && value !== null) {
    const properties = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, inferSchema(one)]))
    return { type: 'object', required: Object.keys(properties), properties }
  }
  if (value === null) return { type: 'null' }
  return value === undefined ? {} : { type: Number.isInteger(value) ? 'integer' : typeof value }
}
