import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { assertRecentPassword, readTokenId, type Guard } from '../../auth/index.ts'
import { isWaypostError, parseAddress, version } from '../../kit/index.ts'
import {
  describeBuiltIn,
  makeProblemBody,
  mountBuiltIn,
  problemTypeOf,
  type Endpoint,
  type Generation,
} from '../../runtime/index.ts'
import type { Draft } from '../draft/draft.ts'
import { findActor } from '../deploy/actor.ts'
import { errors, ProblemWith } from '../errors.ts'
import { errors as rowErrors } from '../rows/errors.ts'
import { makeRateLimit } from '../deploy/limit-requests.ts'
import {
  assertMatches,
  ChangedRecord,
  etagOfRecord,
  type AdminCall,
  type AdminRoute,
  type AdminSources,
} from './route.ts'
import { adminRoutes } from './routes.ts'

export interface AdminApiOptions extends AdminSources {
  readonly guard: Guard
}

const prefix = '/backend'
const requestsPerMinute = 1200
const usualBodyLimit = 1024 * 1024

/** The endpoints of the admin API and their OpenAPI document. */
export function makeAdminApi({ guard, ...sources }: AdminApiOptions): FastifyPluginAsync {
  return async (app) => {
    const checks = new Map(adminRoutes.map((route) => [route, authorizeRoute(route, guard, sources)]))
    mountBuiltIn(app, adminRoutes, {
      prefix,
      bodyLimit: usualBodyLimit,
      config: makeRateLimit('admin', requestsPerMinute),
      hasStrictQuery: true,
      authorize: (route, request) => checks.get(route)!(request),
      makeCall: (request, reply) => makeCall(sources, request, reply),
      sendError: async (route, error, reply) => sendProblem(route, error, reply),
    })
    let document: object | undefined
    app.get(`${prefix}/openapi.json`, { onRequest: authorize(guard, ['backend.read']) }, async () => {
      return (document ??= describeBuiltIn(adminRoutes, {
        title: 'Waypost admin API',
        version,
        description:
          'The API that the pages of the backend call. Each operation requires an access token with the scope that it names.',
        prefix,
        token: 'An access token with one of the scopes',
        scopesOf: (route) => scopesOf(route, sources.draft),
      }))
    })
  }
}

function authorize(guard: Guard, scopes: readonly string[]) {
  return async (request: FastifyRequest) => {
    request.principal = await guard.authorize(request.headers.authorization, scopes)
  }
}

function authorizeRoute(route: AdminRoute, guard: Guard, { host, draft, rows }: AdminSources) {
  const { needsRecentPassword, usesDraft, usesRows } = route
  const check = authorize(guard, scopesOf(route, draft))
  return async (request: FastifyRequest) => {
    await check(request)
    if (needsRecentPassword === true) assertRecentPassword(request.headers.authorization, host.clock.now())
    if (usesRows === true && rows === undefined) throw rowErrors.WP_BACKEND_DATA_OFF()
    if (usesDraft !== true) return
    if (draft === undefined) throw errors.WP_BACKEND_DRAFT()
    // The address of the socket: a proxy could send any other one.
    if (draft.folder !== undefined && !isLoopback(request.socket.remoteAddress))
      throw errors.WP_BACKEND_DRAFT_LOOPBACK()
  }
}

function scopesOf({ scopes, usesDraft = false }: AdminRoute, draft: Draft | undefined): AdminRoute['scopes'] {
  const isServedAtOnce = usesDraft && draft?.folder !== undefined
  return isServedAtOnce ? scopes.map((scope) => (scope === 'backend.write' ? 'backend.deploy' : scope)) : scopes
}

function isLoopback(address: string | undefined): boolean {
  return address !== undefined && parseAddress(address)?.range() === 'loopback'
}

function makeCall(sources: AdminSources, request: FastifyRequest, reply: FastifyReply): AdminCall {
  const { host, applyChanges } = sources
  const actor = () => findActor(host.system, request)
  return {
    ...sources,
    principal: request.principal!,
    log: request.log,
    openSignal: () => signalOf(reply),
    tokenId: readTokenId((request.headers.authorization ?? '').split(' ').at(-1)!),
    actor,
    acting: async () => ({ ...host, applyChanges, actor: await actor() }),
    assertRecentPassword: () => assertRecentPassword(request.headers.authorization, host.clock.now()),
    tag: (record) => void reply.header('etag', etagOfRecord(record)),
    condition: request.headers['if-none-match'] === '*' ? null : request.headers['if-match'],
    setEtag: (etag) => void reply.header('etag', etag),
    assertUnchanged: (record) => assertMatches(request.headers['if-match'], record),
  }
}

function signalOf({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController()
  if (raw.closed) controller.abort()
  else raw.once('close', () => controller.abort())
  return controller.signal
}

/** Adds to an error what callers need to continue: the current record, or the field that caused it. */
function sendProblem({ fields = {} }: AdminRoute, error: unknown, reply: FastifyReply) {
  const known = problemOf(error)
  if (!isWaypostError(known)) throw error
  const { code, status, message, hint } = known
  const path = fields[code as `WP_${string}`]
  const members =
    error instanceof ChangedRecord
      ? { current: error.current }
      : error instanceof ProblemWith
        ? error.members
        : path === undefined
          ? undefined
          : { errors: [{ path, message }] }
  if (members === undefined) throw error
  reply.request.reason = message
  return reply
    .code(status)
    .type('application/problem+json')
    .serializer((value: unknown) => JSON.stringify(value)) // as the type of other problems, without a charset
    .headers(error instanceof ChangedRecord ? { etag: error.etag } : {})
    .send({
      ...makeProblemBody(problemTypeOf(known), status, message),
      ...(hint === undefined ? {} : { hint }),
      ...members,
    })
}

function problemOf(error: unknown): unknown {
  if (error instanceof ProblemWith) return error.problem
  return error instanceof ChangedRecord ? errors.WP_BACKEND_CHANGED() : error
}

/** An endpoint of each generation that passes requests on to one instance, which is built on the first request. */
export interface Forwarder {
  readonly endpoint: Endpoint
  close(): Promise<void>
}

const forwardedMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Forwards all requests below `/backend` that no other endpoint answers. */
export function forwardBackend(build: () => Promise<Pick<Generation, 'handle' | 'close'>>): Forwarder {
  let built: ReturnType<typeof build> | undefined
  const open = () =>
    (built ??= build().catch((error: unknown) => {
      built = undefined
      throw error
    }))
  return {
    endpoint: async (app) => {
      for (const url of ['/backend', '/backend/*']) {
        app.route({
          method: forwardedMethods,
          url,
          exposeHeadRoute: false,
          config: { isForwarded: true },
          async onRequest(request, reply) {
            const { handle } = await open()
            reply.hijack()
            handle(request.raw, reply.raw)
          },
          handler: async () => undefined,
        })
      }
    },
    async close() {
      await (await built?.catch(() => undefined))?.close()
    },
  }
}
