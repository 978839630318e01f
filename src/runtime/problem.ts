import { STATUS_CODES } from 'node:http'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ErrorDescription, isContention, isWaypostError, type WaypostError } from '../kit/index.ts'
import { isProjectFrame, resolveStack } from '../release/index.ts'
import { collectAllowedMethods } from './allowed-methods.ts'
import { UncaughtConflict } from './conflicts.ts'
import { errors } from './errors.ts'
import { leadToStart, leadWithoutSlash, type StartPage } from './lead-to-page.ts'
import type { SchemaProblem } from './compile-schema.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Why the request was rejected, in a few words for the console. */
    reason: string | undefined
    /** The code of the error that was sent. */
    code?: string | undefined
  }
}

/** A body of `application/problem+json` (RFC 9457). */
export interface ProblemBody {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly hint?: string
  readonly errors?: readonly SchemaProblem[]
}

/** The error that `context.problem` returns. */
export class ActionProblem extends Error {
  readonly status: number

  constructor(status: number, detail: string) {
    super(detail)
    this.name = 'ActionProblem'
    this.status = status
  }
}

/**
 * Any other error of an action, or of a route of a plugin. Its message is only logged, because it may come from a library,
 * a database or another server.
 */
export class ActionFailure extends Error {
  readonly status: number

  constructor(message: string, options: ErrorOptions, status = 500) {
    super(message, options)
    this.status = status
  }

  /** Wraps an error of an action, unless callers may see it. Some are those of a method that it called. */
  static of(thrown: unknown): unknown {
    if (thrown instanceof ActionProblem || isWaypostError(thrown)) return thrown
    if (thrown instanceof InvalidRequest || thrown instanceof UncaughtConflict) return thrown
    if (isContention(thrown)) return makeContention(thrown)
    return new ActionFailure('action failed', { cause: thrown })
  }
}

/** A request that does not match its schema. */
export class InvalidRequest extends Error {
  readonly status = 400
  readonly problems: readonly SchemaProblem[]

  constructor(problems: readonly SchemaProblem[]) {
    super(`The request does not match its schema: ${summarize(problems)}`)
    this.problems = problems
  }
}

export interface ProblemOptions {
  /** Called with the error behind a response that does not show it. */
  onServerError?(error: unknown, request: FastifyRequest): void
  /** Whether no release is served, so that an unknown path may be a route of the release that failed to start. */
  hasNoRelease?(): boolean
  /** Without it, `/` is a path like any other. */
  startPage?(): StartPage
  /** Serves the file of a path that no route has. Returns whether there is one. */
  serveFile?(request: FastifyRequest, reply: FastifyReply): boolean
}

interface Failing {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly status?: number
}

/** Sends every error of an app, including its plugins, as problem+json. Details of bugs are only logged. */
export function mountErrorHandler(app: FastifyInstance, options: ProblemOptions = {}): void {
  const fail = (error: unknown, { request, reply, status = 500 }: Failing) => {
    if (reply.raw.destroyed) {
      noteLeft(request)
      return reply.send()
    }
    options.onServerError?.(error, request)
    request.log.error({ err: error }, 'request failed')
    const what = status === 500 ? 'Internal server error' : titleOf(status)
    return send(reply, makeProblemBody('about:blank', status, `${what}. It is logged as request ${request.id}.`))
  }
  const sendConflict = ({ known, problems, cause }: UncaughtConflict, request: FastifyRequest, reply: FastifyReply) => {
    options.onServerError?.(cause, request)
    const err = new ErrorDescription(cause, { stackOf: firstFrame }) // short, because callers can repeat it
    request.log.warn({ err }, 'database constraint violated by an action')
    request.reason = known.message
    const fields = problems.length === 0 ? {} : { errors: problems }
    return send(reply, { ...makeProblemBody(problemTypeOf(known), known.status, known.message), ...fields })
  }
  const sendExternal = (known: WaypostError, request: FastifyRequest, reply: FastifyReply) => {
    request.log.warn({ err: known }, 'external system failed')
    if (isRuntimeError(known)) return sendKnown(reply, known)
    options.onServerError?.(known, request)
    return sendUnavailable(reply, known)
  }
  app.setErrorHandler((error: unknown, request, reply) => {
    if (error instanceof ActionFailure) return fail(error.cause, { request, reply, status: error.status })
    if (error instanceof ActionProblem) {
      if (!isVisibleStatus(error.status)) return fail(error, { request, reply })
      request.reason = error.message
      return send(reply, makeProblemBody('about:blank', error.status, error.message))
    }
    if (error instanceof UncaughtConflict) return sendConflict(error, request, reply)
    const problems = error instanceof InvalidRequest ? error.problems : endpointProblems(Object(error) as FastifyError)
    if (problems !== undefined) {
      const known = errors.WP_RUNTIME_REQUEST_INVALID()
      request.reason = summarize(problems)
      return send(reply, { ...makeProblemBody(problemTypeOf(known), 400, known.message), errors: problems })
    }
    const known = isWaypostError(error)
      ? error
      : isUntypedQuery(error)
        ? explainUnrouted(request)
        : translate(error, request)
    if (known !== undefined && known.kind !== 'bug' && known.status !== 500) {
      if (reply.raw.destroyed) noteLeft(request)
      return known.kind === 'external' && known.status >= 500
        ? sendExternal(known, request, reply)
        : sendKnown(reply, known)
    }
    return fail(error, { request, reply })
  })
  const methods = collectAllowedMethods(app)
  const explainUnrouted = (request: FastifyRequest): WaypostError => {
    const allowed = methods.of(request.url.split('?')[0]!)
    const path = pathOf(request)
    return allowed.length === 0 || allowed.includes(request.method)
      ? errors.WP_RUNTIME_NOT_FOUND({ path })
      : methodNotAllowed({ path, method: request.method, allowed })
  }
  const leadTo = (request: FastifyRequest, reply: FastifyReply) =>
    leadWithoutSlash(request, reply, (path) => methods.of(path).includes('GET')) ||
    (options.startPage !== undefined && leadToStart(request, reply, options.startPage()))
  app.setNotFoundHandler((request, reply) => {
    const allowed = methods.of(request.url.split('?')[0]!)
    if (allowed.length === 0 && options.serveFile?.(request, reply) === true) return reply
    if (request.method === 'OPTIONS' && allowed.length > 0) {
      return reply
        .code(204)
        .header('allow', [...allowed, 'OPTIONS'].join(', '))
        .send()
    }
    if (allowed.length === 0 && options.hasNoRelease?.() === true)
      throw errors.WP_RUNTIME_NO_RELEASE({}, { retryAfterSeconds: 1 })
    if (allowed.length === 0 && leadTo(request, reply)) return reply
    throw explainUnrouted(request)
  })
}

/** Logs that the caller has disconnected, if the body has not arrived completely. */
function noteLeft(request: FastifyRequest): void {
  const { complete, method } = request.raw
  if (!complete) request.log.info({ method, path: pathOf(request) }, 'caller disconnected while sending a body')
}

/** Whether Fastify rejected a QUERY without a content type, before it looked for a route. */
function isUntypedQuery(error: unknown): boolean {
  return (Object(error) as Partial<FastifyError>).code === 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE'
}

/** Returns the place in the project at which an error was thrown. */
function firstFrame(stack: string | undefined): string | undefined {
  const frame = stack?.split('\n').find((line) => isProjectFrame(line))
  return frame === undefined ? undefined : resolveStack(frame.trim())
}

/** Maximum length of a path parameter, in characters. */
export const maxParamLength = 1024

/** Responds to a path that the router cannot parse. Fastify does not call the error handler for it. */
export function respondToUnparsablePath(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  void sendKnown(reply, translate(error, request) ?? errors.WP_RUNTIME_NOT_FOUND({ path: pathOf(request) }))
}

/** Makes the 405 error with the supported methods in `Allow` (RFC 9110 §15.5.6). */
export function methodNotAllowed(about: { path: string; method: string; allowed: readonly string[] }): WaypostError {
  const allowed = about.allowed.join(', ')
  return errors.WP_RUNTIME_METHOD({ ...about, allowed }, { headers: { allow: allowed } })
}

/** Whether callers see the message of `context.problem` with this status. For 500 they get an id instead. */
function isVisibleStatus(status: number): boolean {
  return Number.isInteger(status) && status >= 400 && status <= 599 && status !== 500
}

export function pathOf(request: Pick<FastifyRequest, 'url'>): string {
  return request.url.split('?')[0]!.slice(0, 200)
}

function sendKnown(reply: FastifyReply, error: WaypostError) {
  if (error.retryAfterSeconds !== undefined) reply.header('retry-after', String(error.retryAfterSeconds))
  else if (error.status === 503) reply.header('retry-after', '1')
  reply.headers(error.headers)
  reply.request.reason = error.brief
  const hint = error.hint === undefined ? {} : { hint: error.hint }
  return send(reply, { ...makeProblemBody(problemTypeOf(error), error.status, error.message), ...hint })
}

function summarize([first, ...others]: readonly SchemaProblem[]): string | undefined {
  if (first === undefined) return undefined
  return `${first.path} ${first.message}${others.length === 0 ? '' : ` (and ${others.length} more)`}`
}

/** Whether callers may see the message. Messages about external systems name hosts, files and internal reasons. */
function isRuntimeError(error: WaypostError): boolean {
  return error.code.startsWith('WP_RUNTIME_')
}

function sendUnavailable(reply: FastifyReply, error: WaypostError) {
  reply.header('retry-after', String(error.retryAfterSeconds ?? 1))
  const detail = `A required system is not available at the moment. It is logged as request ${reply.request.id}.`
  return send(reply, makeProblemBody(problemTypeOf(error), error.status, detail))
}

function send(reply: FastifyReply, body: ProblemBody) {
  reply.request.routeOptions.config.counter?.count(reply, body.status)
  // RFC 9110 §15.5.2. The guard says more.
  if (body.status === 401 && !reply.hasHeader('www-authenticate'))
    reply.header('www-authenticate', 'Bearer realm="waypost"')
  const code = body.type.split('#')[1]
  if (code !== undefined) reply.request.code = code
  removeBodyHeaders(reply, body.status)
  return reply
    .code(body.status)
    .type('application/problem+json')
    .header('cache-control', 'no-store') // browsers cache 404, 405 and 410 otherwise
    .serializer((value: unknown) => JSON.stringify(value))
    .send(body)
}

export function makeProblemBody(type: string, status: number, detail: string): ProblemBody {
  return { type, title: titleOf(status), status, detail }
}

function titleOf(status: number): string {
  return STATUS_CODES[status] ?? 'Error'
}

export function problemTypeOf(error: WaypostError): string {
  return `urn:waypost:errors#${error.code}`
}

/** Returns the validation errors of Fastify, which checks the schemas of Waypost's own endpoints and of plugins. */
function endpointProblems(error: FastifyError): readonly SchemaProblem[] | undefined {
  return error.validation?.map((one) => {
    const { missingProperty, additionalProperty } = (one.params ?? {}) as Readonly<Record<string, unknown>>
    const missing = (missingProperty ?? additionalProperty) as string | undefined
    const path = `${error.validationContext ?? 'body'}${one.instancePath ?? ''}${missing === undefined ? '' : `/${missing}`}`
    return { path, message: one.keyword === 'required' ? 'is required' : (one.message ?? 'does not match its schema') }
  })
}

function makeContention(cause: unknown): WaypostError {
  return errors.WP_RUNTIME_CONTENTION({}, { cause, retryAfterSeconds: 1 })
}

/** Converts errors of databases about others, and errors that Fastify throws before a handler runs. */
function translate(error: unknown, request: FastifyRequest): WaypostError | undefined {
  if (isContention(error)) return makeContention(error)
  const { code, statusCode, message } = Object(error) as Partial<FastifyError>
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return errors.WP_RUNTIME_BODY_SIZE({ limit: request.routeOptions.bodyLimit })
  if (code === 'FST_ERR_MAX_PARAM_LENGTH') return errors.WP_RUNTIME_PATH_SIZE({ limit: maxParamLength })
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return errors.WP_RUNTIME_BODY_TYPE({ types: 'application/json' })
  if (code === 'FST_ERR_CTP_EMPTY_JSON_BODY') return errors.WP_RUNTIME_BODY_JSON({ reason: 'it is empty' })
  if (code === 'FST_ERR_CTP_INVALID_JSON_BODY' || error instanceof SyntaxError) {
    return errors.WP_RUNTIME_BODY_JSON({ reason: 'it cannot be parsed' })
  }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return errors.WP_RUNTIME_REQUEST({ reason: message ?? 'The request is malformed' })
  }
  return undefined
}

/** Removes what headers say of the body that the problem replaces, for example of a stream that could not be read. */
function removeBodyHeaders(reply: FastifyReply, status: number): void {
  for (const name of status < 500 ? ['content-encoding'] : ['content-encoding', 'etag', 'last-modified']) {
    if (!reply.hasHeader(name) && !reply.raw.hasHeader(name)) continue
    reply.removeHeader(name)
    reply.raw.removeHeader(name) // a stream has already set it
  }
}
