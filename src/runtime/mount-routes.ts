import type { FastifyInstance } from 'fastify'
import type { Guard } from '../auth/index.ts'
import type { Action } from '../contract/index.ts'
import type { Manifest, ManifestMethod, ManifestRoute } from '../release/index.ts'
import type { ContextSources } from './action-context.ts'
import { makeAuthorization } from './authorization.ts'
import { findHidden, type HiddenMethods } from './find-hidden.ts'
import { deprecationHook, rateConfig } from './limits.ts'
import { makeHandler, type Handler, type Mounting } from './make-handler.ts'
import { pathOf, refuseMethod } from './problem.ts'
import type { RunningActions } from './running-actions.ts'
import type { SendSources } from './send-result.ts'
import type { Tracing } from './tracing.ts'
import type { WriteSources } from './write-result.ts'

export interface RouteSources extends ContextSources, WriteSources {
  readonly guard: Guard
  /** Finds the action of a method; the same answer for the whole life of a generation. */
  actionFor(method: ManifestMethod): Action
}

type MountSources = RouteSources & SendSources & { readonly tracing?: Tracing | undefined }

/** The routes of a generation, which can be brought up to date while it serves. */
export interface MountedRoutes {
  /** Whether a manifest differs only in what `update` can bring about. */
  fits(manifest: Manifest): boolean
  /**
   * Makes the methods anew that are others in a manifest which fits; all or none. Requests that an action already works
   * on end as they began.
   * @param actionFor asked for methods whose artifact is another one
   */
  update(manifest: Manifest, actionFor: RouteSources['actionFor']): void
}

/** What stands behind one method of a route. */
interface Slot {
  readonly method: ManifestMethod
  readonly action: Action
  readonly handle: Handler
}

/** Mounts the routes of a release. */
export function mountRoutes(app: FastifyInstance, sources: MountSources, running: RunningActions): MountedRoutes {
  let { manifest } = sources
  let frame: string | undefined
  const makeSlot = (current: MountSources, mounting: Omit<Mounting, 'running'>): Slot => ({
    method: mounting.method,
    action: mounting.action,
    handle: makeHandler(current, { ...mounting, running, tracing: sources.tracing }),
  })
  const slots = methodsOf(manifest).map(({ route, method }) =>
    makeSlot(sources, { route, method, action: sources.actionFor(method) }),
  )
  for (const [index, { route, method }] of methodsOf(manifest).entries()) {
    app.route({
      method: method.method === 'GET' ? ['GET', 'HEAD'] : method.method,
      url: route.path,
      exposeHeadRoute: false,
      config: rateConfig(manifest, method),
      onRequest: [...deprecationHook(route.deprecated), makeAuthorization(sources.guard, method)],
      handler: (request, reply) => slots[index]!.handle(request, reply),
    })
  }
  for (const hidden of findHidden(manifest.routes)) refuseOthers(app, hidden)
  return {
    fits: (next) => frameOf(next) === (frame ??= frameOf(manifest)),
    update(next, actionFor) {
      const current = { ...sources, manifest: next }
      const hasSameSchemas = isSame(next.schemas, manifest.schemas)
      const findAction = (method: ManifestMethod): Action =>
        slots.find((slot) => hasSameCode(slot.method, method))?.action ?? actionFor(method)
      const made = methodsOf(next).map(({ route, method }, index) => {
        const slot = slots[index]!
        const hasSame = hasSameCode(slot.method, method)
        if (hasSameSchemas && hasSame && isSame(slot.method, method, saidElsewhere)) return { ...slot, method }
        return makeSlot(current, { route, method, action: hasSame ? slot.action : findAction(method) })
      })
      slots.splice(0, slots.length, ...made)
      manifest = next
    },
  }
}

function methodsOf({ routes }: Manifest): { readonly route: ManifestRoute; readonly method: ManifestMethod }[] {
  return routes.flatMap((route) => route.methods.map((method) => ({ route, method })))
}

/** What an app is built for; everything else of a manifest stands in the slots, or is nothing to who serves. */
function frameOf({ routes, connections, events, rates, config, plugins, variables }: Manifest): string {
  const mounted = routes.map((route) => [
    route.path,
    route.deprecated,
    ...route.methods.map((one) => [one.method, one.public, one.scopes, one.rate]),
  ])
  return JSON.stringify([mounted, connections, events, rates, config, plugins, variables])
}

/** Whether two methods are answered by the same action. */
export function hasSameCode({ action: one }: ManifestMethod, { action: other }: ManifestMethod): boolean {
  if ('artifact' in one && 'artifact' in other) return one.artifact === other.artifact && one.file === other.file
  return isSame(one, other)
}

/** Keys of a method that are compared by themselves, or say nothing of what it does. */
const saidElsewhere: ReadonlySet<string> = new Set(['action', 'source'])

/** Most of what a definition says is the same objects from one save to the next. */
function isSame(one: object, other: object, except: ReadonlySet<string> = new Set()): boolean {
  const keys = Object.keys(one)
  if (keys.length !== Object.keys(other).length) return false
  return keys.every((key) => {
    if (except.has(key)) return true
    const [value, there] = [one[key as never], other[key as never]] as [unknown, unknown]
    return value === there || (there !== undefined && JSON.stringify(value) === JSON.stringify(there))
  })
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
