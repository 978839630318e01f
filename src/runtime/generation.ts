import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import cors, { type FastifyCorsOptions } from '@fastify/cors'
import rateLimit from '@fastify/rate-limit'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyPluginAsync,
  type FastifyRequest,
} from 'fastify'
import { useExactKeywords } from '../kit/index.ts'
import { isAboutHealth } from './health.ts'
import { readJsonBodies } from './json-body.ts'
import { mountRoutes, type MountedRoutes, type RouteSources } from './mount-routes.ts'
import { answerUnreadable, maxParamLength, speakProblems } from './problem.ts'
import { makeProxies, type Proxies } from './proxies.ts'
import type { RateCounters } from './rate-counters.ts'
import { reportAnswers, StreamLog, type Answered } from './report-answers.ts'
import { makeRequestIds } from './request-ids.ts'
import { RequestLog } from './request-log.ts'
import { RunningActions } from './running-actions.ts'
import type { SecurityHeaders } from './security-headers.ts'

import type { Tracing } from './tracing.ts'

export type { Answered } from './report-answers.ts'

/** Endpoints that are mounted into each generation. */
export type Endpoint = FastifyPluginAsync
/** Where a server writes its structured log. */
export type Logger = FastifyBaseLogger

/** One release turned into a running Fastify instance. It never listens itself: the listener hands requests to it. */
export interface Generation {
  /** Its routes; undefined before anything was deployed. */
  readonly routes: MountedRoutes | undefined
  handle(request: IncomingMessage, response: ServerResponse): void
  /** Stops it; call when nothing is in flight any more. */
  close(): Promise<void>
}

export interface GenerationOptions {
  /** The routes of the release; undefined serves the endpoints only. */
  readonly routes: RouteSources | undefined
  /** Waypost's own endpoints, and those of plugins. */
  readonly endpoints: readonly Endpoint[]
  readonly logger: Logger
  /** Bytes of a request's body at most. */
  readonly bodyLimit: number
  readonly corsOrigins: readonly string[]
  readonly securityHeaders: SecurityHeaders
  readonly rateCounters: RateCounters
  /** Proxies whose word on where a request comes from counts: addresses and ranges. */
  readonly trustedProxies: readonly string[]
  /** Allows pages from any port of this machine: in `dev`. */
  readonly corsLoopback: boolean
  /** Spans of what it does, where they are collected. */
  readonly tracing?: Tracing | undefined
  /** Called after each request. */
  onAnswered?(answered: Answered): void
  onServerError?(error: unknown, request: { id: string; method: string; path: string }): void
}

/** Builds a generation, ready to serve. */
export async function buildGeneration(options: GenerationOptions): Promise<Generation> {
  const onServerError = (error: unknown, request: FastifyRequest) =>
    options.onServerError?.(error, { id: request.id, method: request.method, path: request.url })
  const proxies = options.trustedProxies.length === 0 ? undefined : makeProxies(options.trustedProxies)
  const app = Fastify({
    logController: new StreamLog(onServerError),
    bodyLimit: options.bodyLimit,
    genReqId: makeRequestIds(proxies),
    serverFactory: (handler) => neverListening(handler),
    routerOptions: { ignoreTrailingSlash: false, maxParamLength },
    return503OnClosing: false,
    trustProxy: proxies !== undefined && [...options.trustedProxies],
    frameworkErrors: (error, request, reply) =>
      answerUnreadable(error, request, reply.headers(options.securityHeaders.json)),
    ajv: {
      customOptions: { coerceTypes: false, removeAdditional: false, allErrors: false },
      onCreate: useExactKeywords,
    },
  })
  app.removeContentTypeParser('text/plain')
  readJsonBodies(app)
  app.decorateRequest('principal', undefined)
  app.decorateRequest('dropped', undefined)
  app.decorateRequest('reason', undefined)
  speakProblems(app, { onServerError })
  if (options.onAnswered !== undefined) reportAnswers(app, options.onAnswered)
  beginRequests(app, options)
  const { tracing } = options
  if (tracing !== undefined) nameSpans(app, tracing)
  await allowOrigins(app, options)
  await app.register(rateLimit, { global: false, store: options.rateCounters })
  await app.register(async (endpoints) => {
    setHeaders(endpoints, options.securityHeaders.page)
    endBodies(endpoints)
    for (const endpoint of options.endpoints) await endpoints.register(endpoint)
  })
  const running = new RunningActions()
  const routes =
    options.routes &&
    mountRoutes(app, { ...options.routes, pageHeaders: options.securityHeaders.page, tracing }, running)
  await app.ready()
  const handle = tracing === undefined ? app.routing.bind(app) : traced(app, tracing)
  return {
    routes,
    handle: proxies === undefined ? handle : behind(proxies, handle),
    async close() {
      await running.idle(longestActionMs)
      await app.close()
    },
  }
}

function behind(proxies: Proxies, handle: Generation['handle']): Generation['handle'] {
  return (request, response) => {
    proxies.readForwarded(request)
    handle(request, response)
  }
}

function traced(app: FastifyInstance, tracing: Tracing): Generation['handle'] {
  return (request, response) => {
    // Probes ask every few seconds: their spans would only hide the others.
    if (isAboutHealth(request)) app.routing(request, response)
    else tracing.request(request, response, () => app.routing(request, response))
  }
}

/** Only the router knows the route; a path that has none names nothing, or callers would name spans. */
function nameSpans(app: FastifyInstance, tracing: Tracing): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const { url } = request.routeOptions
    if (url !== undefined && url !== '*') tracing.found(request.method, url)
    done()
  })
}

/** How long an action whose caller has gone keeps what it uses. */
const longestActionMs = 5000

/** Fastify wants a server of its own; this one only carries its handler. */
function neverListening(handler: (request: IncomingMessage, response: ServerResponse) => void): Server {
  return createServer(handler)
}

/**
 * Gives each request its log and its answer the first headers; one hook, since each costs every request. With a logger
 * of its own Fastify would listen to the end of every response, and a factory of logs it checks at every request.
 */
function beginRequests(app: FastifyInstance, { logger, securityHeaders }: GenerationOptions): void {
  const headers = Object.entries(securityHeaders.json)
  app.addHook('onRequest', (request, reply, done) => {
    const log = new RequestLog(logger, request) as FastifyBaseLogger
    request.log = log
    reply.log = log
    for (const [name, value] of headers) reply.header(name, value)
    done()
  })
}

function setHeaders(app: FastifyInstance, headers: SecurityHeaders['page']): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers)
    done()
  })
}

/** A request without a body is over before it is read (see the listener), and parsers of forms wait for its end. */
function endBodies(app: FastifyInstance): void {
  app.addHook('preParsing', async (request, _reply, payload) =>
    request.raw.readableEnded ? Readable.from([]) : payload,
  )
}

const loopback = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/

async function allowOrigins(app: FastifyInstance, { corsOrigins, corsLoopback }: GenerationOptions): Promise<void> {
  const origin = [...corsOrigins, ...(corsLoopback ? [loopback] : [])]
  if (origin.length === 0) return // or every answer would pay for it
  app.addHook('onRequest', (request, reply, done) => {
    // An OPTIONS that no browser sent asks for the methods of a path: @fastify/cors would not look for it.
    const isAsking = request.method === 'OPTIONS' && request.routeOptions.url === '*' && !isPreflight(request)
    if (isAsking) reply.callNotFound()
    else done()
  })
  const forPages: FastifyCorsOptions = {
    origin,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: '*', // no cookie is ever sent, so it means all of them, those of actions too
    maxAge: 600,
    strictPreflight: false,
  }
  await app.register(cors, {
    delegator: (request: FastifyRequest, decide: (error: null, options: FastifyCorsOptions) => void) =>
      decide(null, isOwnMatter(request) ? { origin: false } : forPages),
  })
}

/**
 * OAuth2's own endpoints say themselves which pages may call them: a page that may use the API may not therefore read
 * the pages for login and consent. Nor has it anything to do with administration.
 */
function isOwnMatter({ url, routeOptions }: FastifyRequest): boolean {
  // A pre-flight finds the route of every path, so that the path itself says whose it is, as the router reads it.
  return [routeOptions.url ?? '', decodePath(url)].some((path) =>
    /^\/(authorization|backend|\.well-known)\//.test(path),
  )
}

function decodePath(url: string): string {
  try {
    return url.includes('%') ? decodeURI(url) : url
  } catch {
    return url
  }
}

function isPreflight({ headers }: FastifyRequest): boolean {
  return headers.origin !== undefined && headers['access-control-request-method'] !== undefined
}
