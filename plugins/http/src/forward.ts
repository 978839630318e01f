import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { Action, Context, Request } from 'waypost'
import { describeFailure, type HttpClient } from './http-client.ts'
import { isDotSegment, type ProxyConfig, type ProxyPlan } from './proxy-plan.ts'

interface ProxyUse {
  readonly plan: ProxyPlan
  readonly method: string
}

const defaultHeaders = {
  request: ['accept', 'accept-language'],
  response: ['content-type', 'content-language', 'content-disposition'],
}

/** Makes the action of a method. */
export function makeProxy(config: ProxyConfig, { plan, method }: ProxyUse): Action {
  const requestHeaders = namesOf(defaultHeaders.request, config.headers.request)
  const responseHeaders = namesOf(defaultHeaders.response, config.headers.response)

  return {
    async handle(request: Request, context: Context) {
      const client = context.connection(config.connection) as Partial<HttpClient>
      if (typeof client.fetch !== 'function')
        throw new Error(`The connection "${config.connection}" does not have the class "http"`)
      const path = fillPath(config.path, request.params as Record<string, unknown>)
      if (path === undefined) throw context.problem(400, 'A path parameter must not be "." or ".."')
      const headers = pickHeaders(requestHeaders, request.headers)
      const body = request.body === undefined ? undefined : JSON.stringify(request.body)
      if (body !== undefined) headers['content-type'] = 'application/json'
      let response: Response
      try {
        response = await client.fetch(path + makeQuery(plan.query, request.query as QueryValues), {
          method,
          headers,
          redirect: 'manual',
          signal: context.signal,
          ...(body === undefined ? {} : { body }),
        })
      } catch (error) {
        throw explain(error, context, config)
      }
      const { status } = response
      const refused = refusedStatus(status)
      if (refused !== undefined) {
        await response.body?.cancel()
        context.log.warn({ connection: config.connection, status }, `proxy: ${refused}`)
        throw context.problem(502, 'The upstream service cannot handle the request')
      }
      const passed = pickHeaders(
        responseHeaders,
        Object.fromEntries(response.headers),
        response.headers.get('connection'),
      )
      if (!plan.json.includes(String(status))) return context.respond(status, streamOf(response), passed)
      return context.respond(status, await readJson(response, context, config), passed)
    },
  }
}

function namesOf(defaults: readonly string[], more: readonly string[]): ReadonlySet<string> {
  return new Set([...defaults, ...more.map((name) => name.toLowerCase())])
}

/** Returns undefined if a parameter, or the segment that contains it, would change the path above it. */
function fillPath(template: string, params: Readonly<Record<string, unknown>>): string | undefined {
  const segments = template.split('/').map((segment) => {
    const values: string[] = []
    const raw = segment.replaceAll(parameter, (_, name: string) => {
      const value = String(params[name])
      values.push(value)
      return value
    })
    return [raw, ...values].some(isDotSegment)
      ? undefined
      : segment.replaceAll(parameter, (mark) => encode(values.shift()!, mark.startsWith('*')))
  })
  return segments.includes(undefined) ? undefined : segments.join('/')
}

const parameter = /[:*](\w+)/g

/** The rest of a path stays several segments. */
function encode(value: string, isRest: boolean): string {
  return isRest ? value.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(value)
}

type Scalar = string | number | boolean
type QueryValues = Readonly<Record<string, Scalar | readonly Scalar[] | undefined>>

function makeQuery(names: readonly string[], query: QueryValues): string {
  const pairs = new URLSearchParams()
  for (const name of names) {
    const value = Object.hasOwn(query, name) ? query[name] : undefined
    for (const one of [value].flat()) if (one !== undefined) pairs.append(name, String(one))
  }
  return pairs.size === 0 ? '' : `?${pairs.toString()}`
}

/** @param hop the `Connection` header, which lists further headers of this hop (RFC 9110 §7.6.1) */
function pickHeaders(
  names: ReadonlySet<string>,
  headers: IncomingHttpHeaders,
  hop: string | null = headers.connection ?? null,
): Record<string, string> {
  const ofHop = new Set(hop?.toLowerCase().split(/[\s,]+/))
  const picked: Record<string, string> = {}
  for (const name of names) {
    const value = headers[name]
    if (value !== undefined && !ofHop.has(name)) picked[name] = [value].flat().join(', ')
  }
  return picked
}

/** Returns why the status of the upstream service is not passed on: it concerns this server, not the caller. */
function refusedStatus(status: number): string | undefined {
  if (status === 401 || status === 407) return 'the upstream service rejected the credentials of the connection'
  if (status >= 300 && status < 400 && status !== 304) return 'the upstream service responded with a redirect'
  return undefined
}

function streamOf({ body }: Response): Readable | undefined {
  return body === null ? undefined : Readable.fromWeb(body)
}

async function readJson(response: Response, context: Context, config: ProxyConfig): Promise<unknown> {
  let text: string
  try {
    text = await response.text()
  } catch (error) {
    throw explain(error, context, config)
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    context.log.warn(
      { err: error, connection: config.connection },
      'proxy: the response of the upstream service is not JSON',
    )
    throw context.problem(502, 'The response of the upstream service is not valid')
  }
}

/** Callers learn that the upstream service failed; the log contains the reason. */
function explain(error: unknown, context: Context, { connection }: ProxyConfig): Error {
  context.log.warn({ connection, reason: describeFailure(error) }, 'proxy: the upstream service failed')
  return isTimeout(error)
    ? context.problem(504, 'The upstream service did not respond in time')
    : context.problem(502, 'The upstream service is not available')
}

function isTimeout(error: unknown): boolean {
  const { name, code, cause } = error as { name?: string; code?: string; cause?: unknown }
  if (name === 'TimeoutError' || code === 'UND_ERR_CONNECT_TIMEOUT') return true
  return cause !== undefined && cause !== null && isTimeout(cause)
}
