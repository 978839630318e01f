import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Guard } from '../auth/index.ts'
import type { Action, Principal } from '../contract/index.ts'
import type { ManifestMethod, ManifestRoute } from '../release/index.ts'
import { makeActionContext, type ContextSources } from './action-context.ts'
import { makeRequestCheck } from './check-request.ts'
import { deprecationHook, rateConfig, withTimeout } from './limits.ts'
import { ActionFailure, pathOf, refuseMethod } from './problem.ts'
import { RequestScope } from './request-scope.ts'
import type { RunningActions } from './running-actions.ts'
import { makeSender, type SendSources } from './send-result.ts'
import type { WriteSources } from './write-result.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the guard on a private route, and on a public one that was called with a valid token. */
    principal: Principal | undefined
  }
}

export interface RouteSources extends ContextSources, WriteSources {
  readonly guard: Guard
  /** Finds the action of a method; the same answer for the whole life of a generation. */
  actionFor(method: ManifestMethod): Action
}

const methodNames = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

type MountSources = RouteSources & SendSources

/** Mounts the routes of a release. */
export function mountRoutes(app: FastifyInstance, sources: MountSources, running: RunningActions): void {
  for (const route of sources.manifest.routes) {
    for (const method of route.methods) {
      app.route({
        method: method.method,
        url: route.path,
        config: rateConfig(sources.manifest, method),
        onRequest: [...deprecationHook(route.deprecated), makeAuthorization(sources.guard, method)],
        handler: makeHandler(sources, { route, method, running }),
      })
    }
    mountOtherMethods(app, route)
  }
}

interface Mounting {
  readonly route: ManifestRoute
  readonly method: ManifestMethod
  readonly running: RunningActions
}

/** A request's way: checked, handed to the action, its result sent. */
function makeHandler(sources: MountSources, { route, method, running }: Mounting) {
  const check = makeRequestCheck(sources, method)
  const send = makeSender(sources, { route, method })
  const action = sources.actionFor(method)
  const { timeoutMs } = method

  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const { params, query, body } = check(request)
    const given = { method: request.method, url: request.url, params, query, body, headers: request.headers }
    const scope = new RequestScope(request, reply)
    const context = makeActionContext(sources, scope)
    const run = async () => {
      running.begin()
      try {
        return await action.handle(given, context)
      } catch (error) {
        throw ActionFailure.of(error)
      } finally {
        running.end()
      }
    }
    const result = await (timeoutMs === undefined ? run() : withTimeout(run(), { timeoutMs, aborting: scope }))
    return send({ result, context, reply })
  }
}

/** The guard of a method. A public route answers whoever calls; a valid token only tells who it is. */
function makeAuthorization(guard: Guard, method: ManifestMethod): onRequestHookHandler {
  if (method.public) return recognize(guard)
  return (request, _reply, done) => {
    const settle = (principal: Principal) => {
      request.principal = principal
      done()
    }
    // Callbacks, because a token that was seen before is judged at once: a promise would cost more than the judgement.
    try {
      const found = guard.authorize(request.headers.authorization, method.scopes)
      if (found instanceof Promise) found.then(settle, done)
      else settle(found)
    } catch (error) {
      done(error as Error)
    }
  }
}

function recognize(guard: Guard): onRequestHookHandler {
  return (request, _reply, done) => {
    const { authorization } = request.headers
    if (authorization === undefined) return done()
    const authorize = async () => guard.authorize(authorization, [])
    const end = (principal?: Principal) => {
      request.principal = principal
      done()
    }
    authorize().then(end, () => end())
  }
}

/** 405 for the methods that a path does not have, also where a path with a parameter would answer them. */
function mountOtherMethods(app: FastifyInstance, route: ManifestRoute): void {
  const own = route.methods.map((method) => method.method)
  const allowed = [...own, ...(own.includes('GET') ? ['HEAD'] : [])]
  const others = methodNames.filter((method) => !own.includes(method))
  if (others.length === 0) return
  app.route({
    method: others,
    url: route.path,
    exposeHeadRoute: false,
    config: { refusesMethod: true },
    onRequest: async (request) => {
      throw refuseMethod({ path: pathOf(request), method: request.method, allowed })
    },
    handler: async () => undefined,
  })
}
