import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import helmet from '@fastify/helmet'
import cors from '@fastify/cors'
import rateLimit from '@fastify/rate-limit'
import Fastify, { LogController, type FastifyBaseLogger, type FastifyInstance, type FastifyPluginAsync, type FastifyRequest } from 'fastify'
import type { Action } from '../contract/index.ts'
import { makeUuid } from '../kit/index.ts'
import type { ManifestMethod } from '../release/index.ts'
import { errors } from './errors.ts'
import { mountRoutes, type RouteSources } from './mount-routes.ts'
import { answerUnreadable, speakProblems } from './problem.ts'

/** Endpoints that are mounted into each generation. */
export type Endpoint = FastifyPluginAsync
/** Where a server writes its structured log. */
export type Logger = FastifyBaseLogger

/** One release turned into a running Fastify instance. It never listens itself: the listener hands requests to it. */
export interface Generation {
  /** The release that it serves; undefined before anything was deployed. */
  readonly releaseId: string | undefined
  handle(request: IncomingMessage, response: ServerResponse): void
  /** Stops it; call when nothing is in flight any more. */
  close(): Promise<void>
}

export interface GenerationOptions {
  readonly releaseId: string | undefined
  /** The routes of the release; undefined serves the endpoints only. */
  readonly routes: RouteSources | undefined
  /** Waypost's own endpoints, and those of plugins. */
  readonly endpoints: readonly Endpoint[]
  readonly logger: Logger
  /** Bytes of a request's body at most. */
  readonly bodyLimit: number
  readonly corsOrigins: readonly string[]
  /** Callers reach it by https: browsers are told to keep to that. */
  readonly isHttps: boolean
  /** Allows pages from any port of this machine: in `dev`. */
  readonly corsLoopback: boolean
  /** Called after each request. */
  onAnswered?(answered: Answered): void
  onServerError?(error: unknown, request: { id: string; method: string; path: string }): void
}

/** One answered request, for the console. */
export interface Answered {
  readonly method: string
  readonly path: string
  readonly status: number
  readonly ms: number
  readonly user: string | undefined
}

/** Builds a generation, ready to serve. */
export async function buildGeneration(options: GenerationOptions): Promise<Generation> {
  const app = Fastify({
    loggerInstance: options.logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: options.bodyLimit,
    genReqId: () => makeUuid().replaceAll('-', '').slice(0, 12),
    serverFactory: (handler) => neverListening(handler),
    routerOptions: { ignoreTrailingSlash: false, maxParamLength: 1024 },
    return503OnClosing: false,
    frameworkErrors: answerUnreadable,
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, allErrors: false } },
  })
  app.removeContentTypeParser('text/plain')
  app.decorateRequest('principal', undefined)
  speakProblems(app, {
    onServerError: (error, request) => options.onServerError?.(error, { id: request.id, method: request.method, path: request.url }),
  })
  if (options.onAnswered !== undefined) reportAnswers(app, options.onAnswered)
  await app.register(helmet, { contentSecurityPolicy: false, strictTransportSecurity: options.isHttps })
  await app.register(cors, { origin: makeOriginCheck(options), exposedHeaders: ['WWW-Authenticate', 'Retry-After'] })
  await app.register(rateLimit, { global: false })
  for (const endpoint of options.endpoints) await app.register(endpoint)
  if (options.routes !== undefined) mountRoutes(app, options.routes)
  await app.ready()
  return { releaseId: options.releaseId, handle: app.routing.bind(app), close: () => app.close() }
}

/** Finds the action of each method among the loaded artifacts and the classes of plugins; one instance a generation. */
export function makeActionFinder(sources: {
  /** Default exports of the action artifacts, by hash. */
  readonly modules: ReadonlyMap<string, unknown>
  readonly classes: ReadonlyMap<string, { make(config: never): Action }>
  resolveConfig(config: Readonly<Record<string, unknown>>): unknown
}): (method: ManifestMethod) => Action {
  const instances = new Map<string, Action>()
  const make = ({ action }: ManifestMethod): Action => {
    if ('artifact' in action) {
      const actionClass = sources.modules.get(action.artifact)
      if (!isActionClass(actionClass)) throw errors.WP_RUNTIME_ACTION_CLASS({ file: action.file })
      return new actionClass()
    }
    const known = sources.classes.get(action.class)
    if (known === undefined) {
      throw errors.WP_RUNTIME_ACTION_PLUGIN({ class: action.class, known: [...sources.classes.keys()].join(', ') || 'none' })
    }
    return known.make(sources.resolveConfig(action.config) as never)
  }
  return (method) => {
    const key = JSON.stringify(method.action)
    const known = instances.get(key)
    if (known !== undefined) return known
    const made = make(method)
    instances.set(key, made)
    return made
  }
}

function isActionClass(value: unknown): value is new () => Action {
  return typeof value === 'function' && typeof (value.prototype as Partial<Action> | undefined)?.handle === 'function'
}

/** Fastify wants a server of its own; this one only carries its handler. */
function neverListening(handler: (request: IncomingMessage, response: ServerResponse) => void): Server {
  return createServer(handler)
}

function reportAnswers(app: FastifyInstance, report: (answered: Answered) => void): void {
  app.addHook('onResponse', async (request: FastifyRequest, reply) => {
    report({
      method: request.method,
      path: request.url,
      status: reply.statusCode,
      ms: reply.elapsedTime,
      user: request.principal?.user.name,
    })
  })
}

function makeOriginCheck(options: GenerationOptions) {
  const loopback = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/
  return [...options.corsOrigins, ...(options.corsLoopback ? [loopback] : [])]
}
