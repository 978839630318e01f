import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import AjvCompiler from '@fastify/ajv-compiler'
import cors, { type FastifyCorsOptions } from '@fastify/cors'
import rateLimit from '@fastify/rate-limit'
import { _, Name } from 'ajv/dist/2020.js'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyPluginAsync,
  type FastifyRequest,
} from 'fastify'
import type { PluginHost } from '../contract/index.ts'
import { useExactKeywords } from '../kit/index.ts'
import { errors } from './errors.ts'
import { isHealthRequest } from './health.ts'
import { readJsonBodies } from './json-body.ts'
import type { StartPage } from './lead-to-page.ts'
import { decoratePrincipal } from './authorization.ts'
import { LeanResponse } from './lean-messages.ts'
import { mountRoutes, type MountedRoutes, type RouteSources } from './mount-routes.ts'
import { callOperation } from './call-operation.ts'
import { respondToUnparsablePath, maxParamLength, mountErrorHandler } from './problem.ts'
import { makeProxies, type Proxies } from './proxies.ts'
import type { RateCounters } from './rate-counters.ts'
import {
  reportExchanges,
  reportRequests,
  StreamLog,
  type RequestExchange,
  type RequestReport,
} from './report-requests.ts'
import { declareField } from './request-fields.ts'
import { makeRequestIds } from './request-ids.ts'
import { RequestLog } from './request-log.ts'
import { RunningActions } from './running-actions.ts'
import type { SecurityHeaders } from './security-headers.ts'

import type { Tracing } from './tracing.ts'

export type { RequestExchange, RequestReport } from './report-requests.ts'

/** Endpoints that are mounted in each generation. */
export type Endpoint = FastifyPluginAsync
/** The structured log of a server. */
export type Logger = FastifyBaseLogger

/** A release running as a Fastify instance. It does not listen; the gateway passes requests to it. */
export interface Generation {
  /** The routes of the release; undefined before the first deployment. */
  readonly routes: MountedRoutes | undefined
  handle(request: IncomingMessage, response: ServerResponse): void
  /** Calls an operation within this process; see `PluginHost.call`. */
  readonly call: PluginHost['call']
  /** Stops the generation. Call it when no request is in flight. */
  close(): Promise<void>
}

export interface GenerationOptions {
  /** The routes of the release; undefined serves the endpoints only. */
  readonly routes: RouteSources | undefined
  /** Endpoints of Waypost and of plugins. */
  readonly endpoints: readonly Endpoint[]
  readonly logger: Logger
  /** Maximum size of a request body, in bytes. */
  readonly bodyLimit: number
  /** Whether responses of routes are compressed. */
  readonly compression?: boolean
  readonly corsOrigins: readonly string[]
  readonly securityHeaders: SecurityHeaders
  /** The path of the base URL, if it has one. */
  readonly basePath?: string
  readonly rateCounters: RateCounters
  /** Addresses and ranges of the proxies whose `X-Forwarded-*` headers are trusted. */
  readonly trustedProxies: readonly string[]
  /** Allow pages from any port of this machine; used by `dev`. */
  readonly corsLoopback: boolean
  /** Records spans, if tracing is enabled. */
  readonly tracing?: Tracing | undefined
  /** Called after each request. */
  onResponse?(answered: RequestReport): void
  /** For the coverage of tests. */
  onExchange?(exchange: RequestExchange): void
  /** Whether this generation is served in place of a release that failed to start. */
  hasNoRelease?(): boolean
  /** Without it, `/` is a path like any other. */
  startPage?(): StartPage
  onServerError?(error: unknown, request: { id: string; method: string; path: string }): void
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route decodes its query itself, also one that is not valid UTF-8. */
    readsRawQuery?: boolean
  }
}

/**
 * Kept for the next generation: the schemas of Waypost's endpoints are constants, and compiling all of them takes longer
 * than mounting a thousand routes.
 */
let compilers: ReturnType<typeof AjvCompiler> | undefined

/** Builds a generation that is ready to serve. */
export async function buildGeneration(options: GenerationOptions): Promise<Generation> {
  const onServerError = (error: unknown, request: FastifyRequest) =>
    options.onServerError?.(error, { id: request.id, method: request.method, path: request.url })
  const proxies = options.trustedProxies.length === 0 ? undefined : makeProxies(options.trustedProxies)
  const streamLog = new StreamLog(onServerError)
  const app = Fastify({
    logController: streamLog,
    bodyLimit: options.bodyLimit,
    genReqId: makeRequestIds(proxies),
    serverFactory: (handler) => createUnboundServer(handler),
    routerOptions: { ignoreTrailingSlash: false, maxParamLength },
    return503OnClosing: false,
    pluginTimeout: 0, // routes of plugins have a limit of their own, whose error names the plugin
    trustProxy: proxies !== undefined && [...options.trustedProxies],
    frameworkErrors: (error, request, reply) =>
      respondToUnparsablePath(error, request, reply.headers(options.securityHeaders.json)),
    schemaController: { compilersFactory: { buildValidator: (compilers ??= AjvCompiler()) } },
    ajv: {
      customOptions: { coerceTypes: false, removeAdditional: false, allErrors: false, strictNumbers: true },
      onCreate: (ajv) => useExactKeywords(ajv, { _, Name }),
    },
  })
  app.removeContentTypeParser('text/plain')
  readJsonBodies(app)
  decoratePrincipal(app)
  declareField(app, 'dropped', undefined)
  declareField(app, 'reason', undefined)
  const { hasNoRelease, startPage } = options
  const mounted: { routes?: MountedRoutes | undefined } = {}
  mountErrorHandler(app, {
    onServerError,
    ...(hasNoRelease && { hasNoRelease }),
    ...(startPage && { startPage }),
    serveFile: (request, reply) => mounted.routes?.serveFile(request, reply) ?? false,
  })
  if (options.onResponse !== undefined) reportRequests(app, options.onResponse)
  if (options.onExchange !== undefined) reportExchanges(app, options.onExchange)
  addRequestHook(app, options)
  const { tracing } = options
  if (tracing !== undefined) nameSpans(app, tracing)
  await registerCors(app, options)
  await app.register(rateLimit, { global: false, store: options.rateCounters.storeOf(options.routes?.connections) })
  await app.register(async (endpoints) => {
    addHeadersHook(endpoints, options.securityHeaders.page)
    replaceEndedBodies(endpoints)
    for (const endpoint of options.endpoints) await endpoints.register(endpoint)
  })
  const running = new RunningActions()
  const routes =
    options.routes &&
    (await mountRoutes(
      app,
      {
        ...options.routes,
        bodyLimit: options.bodyLimit,
        pageHeaders: options.securityHeaders.page,
        basePath: options.basePath ?? '',
        compression: options.compression ?? false,
        streamLog,
        tracing,
      },
      running,
    ))
  mounted.routes = routes
  await app.ready()
  const handle = tracing === undefined ? app.routing.bind(app) : withTracing(app, tracing)
  return {
    routes,
    handle: proxies === undefined ? handle : withForwardedHeaders(proxies, handle),
    call: (operation, input, principal) => callOperation(app, operation, input, principal),
    async close() {
      await running.whenIdle()
      await app.close()
    },
  }
}

function withForwardedHeaders(proxies: Proxies, handle: Generation['handle']): Generation['handle'] {
  return (request, response) => {
    proxies.readForwarded(request)
    handle(request, response)
  }
}

function withTracing(app: FastifyInstance, tracing: Tracing): Generation['handle'] {
  return (request, response) => {
    // Load balancers probe every few seconds; their spans would hide the others.
    if (isHealthRequest(request)) app.routing(request, response)
    else tracing.request(request, response, () => app.routing(request, response))
  }
}

/** Names spans by route. Requests without a route get no name, so that callers cannot create span names. */
function nameSpans(app: FastifyInstance, tracing: Tracing): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const { url } = request.routeOptions
    if (url !== undefined && url !== '*') tracing.setRoute(request.method, url)
    done()
  })
}

/** Creates the server that Fastify requires. It never listens and only provides the handler. */
function createUnboundServer(handler: (request: IncomingMessage, response: ServerResponse) => void): Server {
  return createServer(handler)
}

/**
 * Sets the logger of each request and the first headers of its response, in one hook, because each hook slows down
 * every request. Fastify's own logger would listen to the end of every response, and a log factory would be checked on
 * every request.
 */
function addRequestHook(app: FastifyInstance, { logger, securityHeaders }: GenerationOptions): void {
  const { json: headers } = securityHeaders
  app.addHook('onRequest', (request, reply, done) => {
    const log = new RequestLog(logger, request) as FastifyBaseLogger
    request.log = log
    reply.log = log
    if (reply.raw instanceof LeanResponse) reply.raw.baseHeaders = headers
    else reply.headers(headers)
    if (isDecodable(request.url) || request.routeOptions.config.readsRawQuery === true) done()
    else done(errors.WP_RUNTIME_QUERY())
  })
}

/** Whether the query of a URL can be decoded. Parsers of queries pass on what cannot, unlike those of paths. */
function isDecodable(url: string): boolean {
  const start = url.indexOf('?')
  if (start === -1 || !url.includes('%', start)) return true
  try {
    decodeURIComponent(url.slice(start))
    return true
  } catch {
    return false
  }
}

function addHeadersHook(app: FastifyInstance, headers: SecurityHeaders['page']): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers)
    done()
  })
}

/** Replaces the ended stream of a request without a body (see the gateway), because form parsers wait for its end. */
function replaceEndedBodies(app: FastifyInstance): void {
  app.addHook('preParsing', async (request, _reply, payload) =>
    request.raw.readableEnded ? Readable.from([]) : payload,
  )
}

const loopback = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/

async function registerCors(app: FastifyInstance, { corsOrigins, corsLoopback }: GenerationOptions): Promise<void> {
  const origin = [...corsOrigins, ...(corsLoopback ? [loopback] : [])]
  if (origin.length === 0) return // avoids the cost of the hook
  app.addHook('onRequest', (request, reply, done) => {
    // An OPTIONS request that is not a preflight asks for the methods of a path, which @fastify/cors does not look up.
    const isMethodQuery = request.method === 'OPTIONS' && request.routeOptions.url === '*' && !isPreflight(request)
    if (isMethodQuery) reply.callNotFound()
    else done()
  })
  const forPages: FastifyCorsOptions = {
    origin,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: '*', // without credentials this means all headers, including those of actions
    maxAge: 600,
    strictPreflight: false,
  }
  await app.register(cors, {
    delegator: (request: FastifyRequest, decide: (error: null, options: FastifyCorsOptions) => void) =>
      decide(null, hasOwnCorsPolicy(request) ? { origin: false } : forPages),
  })
}

/**
 * The OAuth2 endpoints have their own CORS policy: pages that may call the API must not read the login and consent
 * pages, nor call the admin API.
 */
function hasOwnCorsPolicy({ url, routeOptions }: FastifyRequest): boolean {
  // A preflight matches the route of every path, so check the path itself, decoded as the router does.
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
