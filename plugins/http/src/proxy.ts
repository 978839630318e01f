import type { ActionClass, ActionHttp, ActionUse, ConfigProblem, JsonSchema } from 'waypost'
import { isDotSegment, type ProxyConfig, type ProxyPlan } from './proxy-plan.ts'

const headerNames = (description: string) => ({
  type: 'array',
  description,
  items: { type: 'string', pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$" },
  default: [],
})

const config = {
  type: 'object',
  required: ['connection', 'path'],
  properties: {
    connection: { type: 'string', description: 'A connection of the class http', 'x-waypost': 'connection' },
    path: {
      type: 'string',
      description:
        'The path below the base URL of the connection, such as /items/:id; :id is a path parameter of the route, *path the rest of its path',
      pattern: '^/[^?#\\\\\\s]*$',
    },
    query: {
      type: 'array',
      description: 'The query parameters that are passed on. By default all that the method declares',
      items: { type: 'string', minLength: 1 },
      uniqueItems: true,
    },
    headers: {
      type: 'object',
      description: 'Headers to pass on in addition to the default ones',
      properties: {
        request: headerNames('Headers of the request, for example If-None-Match'),
        response: headerNames('Headers of the response, for example ETag'),
      },
      default: { request: [], response: [] },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
}

/** Passes requests on to an HTTP service, and its responses back. */
export const proxy: ActionClass<ProxyConfig> = {
  description: 'Passes requests on to an HTTP service',
  routesOnly: true,
  config,
  describe(config, use) {
    const declared = use.declared.parameters
    const known = declared === undefined ? [] : propertyNames(declared, use.schemas)
    const query = config.query ?? known
    const problems = [
      ...checkConnection(config, use),
      ...checkPath(config, use),
      ...checkHeaders(config),
      ...(declared === undefined ? [] : checkQuery(query, known)),
    ]
    const json = Object.keys(use.declared.responses).filter((status) => !['204', '205', '304'].includes(status))
    const plan: ProxyPlan = {
      format: 1,
      query,
      json: use.dispatch === undefined || json.some((status) => status < '300') ? json : [...json, '200', '201'],
    }
    const described = { problems, plan: { ...plan }, http: describeHttp(config, use) }
    if (declared !== undefined || query.length === 0) return described
    const properties = Object.fromEntries(query.map((name) => [name, { type: 'string' }]))
    return { ...described, parameters: { type: 'object', properties } }
  },
  async make({ config, plan, use }) {
    if (use === undefined) throw new Error('the class "proxy" needs a route')
    if (plan?.format !== 1) throw new Error('it was built by another version of Waypost. Deploy again')
    const { makeProxy } = await import('./forward.ts')
    return makeProxy(config, { plan: plan as unknown as ProxyPlan, method: use.method })
  },
}

const problem = { type: 'application/problem+json' }

/** Describes the headers that are passed on, and what callers get if the service fails. */
function describeHttp({ headers: { request, response } }: ProxyConfig, { declared }: ActionUse): ActionHttp {
  // OpenAPI has other places for these.
  const sent = request.filter((name) => !['accept', 'content-type'].includes(name.toLowerCase()))
  const passed = response.length === 0 ? {} : { headers: response }
  const statuses = Object.keys(declared.responses)
  return {
    ...(sent.length > 0 && { headers: Object.fromEntries(sent.map((name) => [name, 'optional' as const])) }),
    responses: {
      ...(response.length > 0 && Object.fromEntries(statuses.map((status) => [status, passed]))),
      502: problem,
      504: problem,
      default: { type: '*/*', ...passed, description: 'The response of the service' },
    },
  }
}

function checkConnection({ connection }: ProxyConfig, { connections }: ActionUse): ConfigProblem[] {
  const name = connection === 'System' ? 'System' : connections[connection]
  if (name === undefined || name === 'http') return []
  const message = `The connection "${connection}" does not have the class "http"`
  return [{ at: '/connection', message, hint: 'Use a connection with "class: http"' }]
}

function checkPath({ path }: ProxyConfig, use: ActionUse): ConfigProblem[] {
  const at = '/path'
  const known = parametersOf(use.path)
  const unknown = parametersOf(path).filter((name) => !known.includes(name))
  const isClimbing = path.split('/').some((segment) => isDotSegment(segment))
  return [
    ...unknown.map((name) => ({
      at,
      message: `":${name}" is not a parameter of the path ${use.path}`,
      hint: 'The path has no parameters',
      unknown: { name, known },
    })),
    ...(isClimbing ? [{ at, message: 'The path must not contain "." or ".." as a segment' }] : []),
    ...(path.includes('//') ? [{ at, message: 'The path must not contain an empty segment' }] : []),
  ]
}

function parametersOf(path: string): string[] {
  return [...path.matchAll(/[:*](\w+)/g)].map(([, name]) => name!)
}

function checkQuery(query: readonly string[], known: readonly string[]): ConfigProblem[] {
  return query.flatMap((name, index) => {
    if (known.includes(name)) return []
    const message = `"${name}" is not a query parameter of the method`
    return [{ at: `/query/${index}`, message, hint: 'Declare it below "parameters"', unknown: { name, known } }]
  })
}

/**
 * Headers that are never passed on: credentials, the caller's address and host, headers of one hop (RFC 9110 §7.6.1) or of
 * the body's encoding, and what only the server itself may tell browsers.
 */
const forbiddenHeader = new RegExp(
  `^(${[
    'authorization|cookie2?|set-cookie2?|www-authenticate|proxy-.*',
    'host|forwarded|x-forwarded-.*|x-real-ip|via|origin|sec-.*',
    'connection|keep-alive|te|trailer|transfer-encoding|upgrade|http2-settings|expect',
    'content-length|content-encoding|accept-encoding',
    'access-control-.*|cross-origin-.*|content-security-policy.*|strict-transport-security|x-content-type-options',
    'x-frame-options|permissions-policy|clear-site-data|alt-svc|nel|report-to|reporting-endpoints',
  ].join('|')})$`,
)

function checkHeaders({ headers }: ProxyConfig): ConfigProblem[] {
  return (['request', 'response'] as const).flatMap((part) =>
    headers[part].flatMap((name, index) => {
      if (!forbiddenHeader.test(name.toLowerCase())) return []
      const message = `The header "${name}" cannot be passed on`
      const hint =
        'The proxy never passes on credentials, cookies, or headers that describe the connection or the server'
      return [{ at: `/headers/${part}/${index}`, message, hint }]
    }),
  )
}

const refPrefix = 'schema:///'

/** The names of the properties that an object schema declares, also those of schemas that it refers to. */
function propertyNames(schema: JsonSchema, named: ActionUse['schemas']): string[] {
  const names = new Set<string>()
  const seen = new Set<JsonSchema>()
  const collect = (one: JsonSchema | undefined): void => {
    if (one === undefined || typeof one === 'boolean' || seen.has(one)) return
    seen.add(one)
    const { $ref, properties, allOf } = one as { $ref?: string; properties?: object; allOf?: readonly JsonSchema[] }
    for (const name of Object.keys(properties ?? {})) names.add(name)
    for (const part of allOf ?? []) collect(part)
    if ($ref?.startsWith(refPrefix) === true) collect(named[decodeURIComponent($ref.slice(refPrefix.length))])
  }
  collect(schema)
  return [...names]
}
