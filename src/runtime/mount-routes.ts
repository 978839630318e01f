import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Guard } from '../auth/index.ts'
import type { Action, Principal } from '../contract/index.ts'
import type { Manifest, ManifestMethod, ManifestRoute } from '../release/index.ts'
import { makeActionContext, type ContextSources } from './action-context.ts'
import { makeRequestCheck } from './check-request.ts'
import { findHidden, type HiddenMethods } from './find-hidden.ts'
import { deprecationHook, rateConfig, withTimeout } from './limits.ts'
import { ActionFailure, pathOf, refuseMethod } from './problem.ts'
import { discardResult } from './raw-body.ts'
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

type MountSources = RouteSources & SendSources

/** The actions behind the routes of a generation. */
export interface MountedActions {
  /**
   * Puts the actions of a manifest whose artifact is another one in the place of those that run, for requests from now
   * on; all or none.
   * @param manifest differs in nothing but artifacts from the one that was mounted
   */
  replace(manifest: Manifest, actionFor: RouteSources['actionFor']): void
}

/** Where a handler finds its action. */
interface Slot {
  use: ManifestMethod['action']
  action: Action
}

/** Mounts the routes of a release. */
export function mountRoutes(app: FastifyInstance, sources: MountSources, running: RunningActions): MountedActions {
  const { manifest } = sources
  const slots: Slot[] = []
  for (const route of manifest.routes) {
    for (const method of route.methods) {
      const slot: Slot = { use: method.action, action: sources.actionFor(method) }
      slots.push(slot)
      app.route({
        method: method.method === 'GET' ? ['GET', 'HEAD'] : method.method,
        url: route.path,
        exposeHeadRoute: false,
        config: rateConfig(manifest, method),
        onRequest: [...deprecationHook(route.deprecated), makeAuthorization(sources.guard, method)],
        handler: makeHandler(sources, { route, method, slot, running }),
      })
    }
  }
  for (const hidden of findHidden(manifest.routes)) refuseOthers(app, hidden)
  return {
    replace(next, actionFor) {
      const methods = next.routes.flatMap((route) => route.methods)
      const changes = slots.flatMap((slot, index) => {
        const method = methods[index]!
        return hasSameCode(slot.use, method.action) ? [] : [{ slot, use: method.action, action: actionFor(method) }]
      })
      for (const { slot, use, action } of changes) Object.assign(slot, { use, action })
    },
  }
}

function hasSameCode(one: Slot['use'], other: Slot['use']): boolean {
  return !('artifact' in one && 'artifact' in other) || one.artifact === other.artifact
}

interface Mounting {
  readonly route: ManifestRoute
  readonly method: ManifestMethod
  readonly slot: Slot
  readonly running: RunningActions
}

/** A request's way: checked, handed to the action, its result sent. */
function makeHandler(sources: MountSources, { route, method, slot, running }: Mounting) {
  const check = makeRequestCheck(sources, method)
  const send = makeSender(sources, { route, method })
  const { timeoutMs } = method

  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const { params, query, body } = check(request)
    const given = { method: request.method, url: request.url, params, query, body, headers: request.headers }
    const scope = new RequestScope(request, reply)
    const context = makeActionContext(sources, scope)
    const run = async () => {
      running.begin()
      try {
        return await slot.action.handle(given, context)
      } catch (error) {
        throw ActionFailure.of(error)
      } finally {
        running.end()
      }
    }
    const result = await (timeoutMs === undefined
      ? run()
      : withTimeout(run(), { timeoutMs, aborting: scope, discard: discardResult }))
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

/** 405 where the router would hand a method that a path does not have to the route of another path. */
function refuseOthers(app: FastifyInstance, { route, methods }: HiddenMethods): void {
  const own = route.methods.map((method) => method.method)
  const allowed = own.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  app.route({
    method: methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])),
    url: route.path,
    exposeHeadRoute: false,
    config: { refusesMethod: true },
    onRequest: async (request) => {
      throw refuseMethod({ path: pathOf(request), method: request.method, allowed })
    },
    handler: async () => undefined,
  })
}
