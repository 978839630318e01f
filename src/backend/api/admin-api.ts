import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { assertRecentPassword, readTokenId, type Guard } from '../../auth/index.ts'
import { isWaypostError, parseAddress } from '../../kit/index.ts'
import { makeProblemBody, problemTypeOf, type Endpoint, type Generation } from '../../runtime/index.ts'
import type { Draft } from '../draft/draft.ts'
import { findActor } from '../deploy/actor.ts'
import { errors, ProblemWith } from '../errors.ts'
import { makeRateLimit } from '../deploy/limit-requests.ts'
import { describeAdminApi, linesType } from './describe.ts'
import { assertMatches, ChangedRecord, etagOf, type AdminCall, type AdminRoute, type AdminSources } from './route.ts'
import { adminRoutes } from './routes.ts'

export interface AdminApiOptions extends AdminSources {
  readonly guard: Guard
}

const documentPath = '/backend/openapi.json'
const requestsPerMinute = 1200
const usualBodyLimit = 1024 * 1024

/** The endpoints of the admin API, mounted from the table of its routes. */
export function makeAdminApi({ guard, ...sources }: AdminApiOptions): FastifyPluginAsync {
  return async (app) => {
    app.addHook('onSend', async (_request, reply) => {
      reply.header('cache-control', 'no-store')
    })
    for (const route of adminRoutes) mountRoute(app, route, { guard, ...sources })
    let document: object | undefined
    app.get(documentPath, { onRequest: authorize(guard, ['backend.read']) }, async () => {
      return (document ??= describeAdminApi(
        adminRoutes.map((route) => ({ ...route, scopes: scopesOf(route, sources.draft) })),
      ))
    })
  }
}

function authorize(guard: Guard, scopes: readonly string[]) {
  return async (request: FastifyRequest) => {
    request.principal = await guard.authorize(request.headers.authorization, scopes)
  }
}

function authorizeRoute(route: AdminRoute, guard: Guard, { host, draft }: AdminSources) {
  const { needsRecentPassword, usesDraft } = route
  const check = authorize(guard, scopesOf(route, draft))
  return async (request: FastifyRequest) => {
    await check(request)
    if (needsRecentPassword === true) assertRecentPassword(request.headers.authorization, host.clock.now())
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

function mountRoute(app: FastifyInstance, route: AdminRoute, { guard, ...sources }: AdminApiOptions): void {
  const { method, path, params, query, body, answer, lines, status = 200, bodyLimit = usualBodyLimit } = route
  app.route({
    method,
    url: `/backend${path}`,
    bodyLimit,
    exposeHeadRoute: false,
    config: makeRateLimit('admin', requestsPerMinute),
    onRequest: authorizeRoute(route, guard, sources),
    // A caller can send the body a minute later. Meanwhile, the token may have been revoked.
    ...(body === undefined ? {} : { preHandler: authorizeRoute(route, guard, sources) }),
    schema: {
      ...(params === undefined ? {} : { params }),
      querystring: query ?? { type: 'object', additionalProperties: false },
      ...(body === undefined ? {} : { body }),
    },
    async handler(request, reply) {
      try {
        const result = await route.handle(makeCall(sources, request, reply))
        if (lines !== undefined) reply.type(linesType)
        return await reply.code(answer === undefined && lines === undefined ? 204 : status).send(result)
      } catch (error) {
        return sendProblem(route, error, reply)
      }
    },
  })
}

type AnyCall = Parameters<AdminRoute['handle']>[0]

function makeCall(sources: AdminSources, request: FastifyRequest, reply: FastifyReply): AnyCall {
  const { host, applyChanges } = sources
  const actor = () => findActor(host.system, request)
  const call: AdminCall<unknown, unknown, unknown> = {
    ...sources,
    params: request.params,
    query: request.query,
    body: request.body,
    principal: request.principal!,
    tokenId: readTokenId((request.headers.authorization ?? '').split(' ').at(-1)!),
    actor,
    acting: async () => ({ ...host, applyChanges, actor: await actor() }),
    assertRecentPassword: () => assertRecentPassword(request.headers.authorization, host.clock.now()),
    tag: (record) => void reply.header('etag', etagOf(record)),
    condition: request.headers['if-none-match'] === '*' ? null : request.headers['if-match'],
    setEtag: (etag) => void reply.header('etag', etag),
    assertUnchanged: (record) => assertMatches(request.headers['if-match'], record),
  }
  return call as AnyCall
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
    .headers(error instanceof ChangedRecord ? { etag: etagOf(error.current) } : {})
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
