import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { Guard } from '../auth/index.ts'
import type { Action } from '../contract/index.ts'
import type { Manifest, ManifestMethod, ManifestRoute } from '../release/index.ts'
import type { ContextSources } from './action-context.ts'
import { makeCallable, type CallSources } from './calls/callable.ts'
import type { Callable, MethodCalls } from './calls/method-call.ts'
import { makeMethodCalls, type LoadPrincipal } from './calls/method-calls.ts'
import { makeAuthorizationHook } from './authorization.ts'
import { makeBodyReader, type ReadBody } from './bodies/body-reader.ts'
import { mountContent, needsReader } from './bodies/mount-content.ts'
import { findRestParameter } from '../kit/index.ts'
import { findShadowedMethods, type ShadowedMethods } from './find-shadowed-methods.ts'
import { deprecationHook, rateConfig } from './limits.ts'
import { makeHandler, type Handler, type MethodToMount } from './make-handler.ts'
import type { CheckSources } from './check-request.ts'
import { pathOf, methodNotAllowed } from './problem.ts'
import type { StreamSources } from './media/start-stream.ts'
import { StreamGroup } from './media/stream-group.ts'
import { toRouterPath, withRest } from './rest-parameter.ts'
import type { RouteStatistics } from './route-statistics.ts'
import type { MountedStep } from './run-steps.ts'
import { makeServeFile, type ServeFile } from './static/serve-files.ts'
import type { RunningActions } from './running-actions.ts'
import type { SendSources } from './send-result.ts'
import type { Tracing } from './tracing.ts'
import type { WriteSources } from './write-result.ts'

/** The instances of the action and the steps of a method. */
export interface MethodCode {
  readonly action: Action
  readonly steps: readonly MountedStep[]
}

export interface RouteSources extends ContextSources, WriteSources, StreamSources {
  readonly guard: Guard
  /** For `context.call` as a user. */
  readonly loadPrincipal: LoadPrincipal
  readonly statistics: RouteStatistics
  /** How many bytes of disk the uploads of this process may use. */
  readonly uploadSpace: number
  /** Finds the code of a method. Returns the same instances for the lifetime of a generation. */
  codeFor(method: ManifestMethod): MethodCode
}

type MountSources = RouteSources & CheckSources & SendSources & { readonly tracing?: Tracing | undefined }

/** The routes of a generation. They can be updated while it serves. */
export interface MountedRoutes {
  /** Whether `update` can apply a manifest, because nothing else differs. */
  canUpdateTo(manifest: Manifest): boolean
  /**
   * Replaces the methods that differ in a manifest, all or none. Running requests end with the code they began with.
   * @param codeFor called for methods whose artifacts have changed
   */
  update(manifest: Manifest, codeFor: RouteSources['codeFor']): void
  /** Serves the file of a path that no route has. Returns whether there is one. */
  readonly serveFile: ServeFile
  /** Resolves when no action runs, or after 5 s. */
  whenIdle(): Promise<void>
  /** Cuts the streams of values, because another generation serves from now on. */
  endStreams(): void
}

/** The current implementation of one method of a route. */
interface Slot {
  readonly method: ManifestMethod
  readonly code: MethodCode
  readonly handle: Handler
  /** Of methods with `content` or `raw`. */
  readonly readBody: ReadBody | undefined
  readonly group: StreamGroup
  /** For calls of the method within this process, made on the first one. */
  readonly callable: () => Callable
}

/** After as many methods, Fastify completes them. `ready` would complete all of them in one turn of the event loop. */
const methodsPerStep = 20

/** Mounts the routes of a release. Compiling their schemas takes long, so other work gets its turn after each method. */
export async function mountRoutes(
  app: FastifyInstance,
  given: MountSources,
  running: RunningActions,
): Promise<MountedRoutes> {
  let { manifest } = given
  const slots: Slot[] = []
  const sources = { ...given, assertScopes: given.guard.assertScopes, calls: makeSlotCalls(given, slots) }
  let structure: string | undefined
  const counterOf = (route: ManifestRoute, { method }: ManifestMethod) =>
    sources.statistics.of(`${method} ${route.path}`)
  const makeSlot = (
    current: MountSources & CallSources,
    mounting: Pick<MethodToMount, 'route' | 'method'>,
    code: MethodCode,
  ): Slot => {
    const { route, method } = mounting
    const counter = counterOf(route, method)
    const group = new StreamGroup()
    const toMount = { ...mounting, ...code, counter, running, group, tracing: sources.tracing }
    const handle = makeHandler(current, toMount)
    const { schemas, uploadSpace } = current
    const readBody = needsReader(method)
      ? makeBodyReader({ schemas, named: current.manifest.schemas, uploadSpace }, method)
      : undefined
    let callable: Callable | undefined
    return { method, code, handle, readBody, group, callable: () => (callable ??= makeCallable(current, toMount)) }
  }
  const withReaders: RouteOptions[] = []
  for (const { route, method } of methodsOf(manifest)) {
    slots.push(makeSlot(sources, { route, method }, sources.codeFor(method)))
    const index = slots.length - 1
    const options = makeOptions(sources, {
      route,
      method,
      counter: counterOf(route, method),
      slot: () => slots[index]!,
    })
    if (needsReader(method)) withReaders.push(options)
    else app.route(options)
    if (slots.length % methodsPerStep === 0) await app.after()
    await nextTurn()
  }
  await mountContent(app, withReaders)
  for (const hidden of findShadowedMethods(manifest.routes)) rejectShadowedMethods(app, hidden)
  let serveFile = makeServeFile(sources, manifest, running)
  return {
    serveFile: (request, reply) => serveFile?.(request, reply) ?? false,
    whenIdle: () => running.whenIdle(),
    endStreams() {
      for (const { group } of slots) group.end()
    },
    canUpdateTo: (next) => structureOf(next) === (structure ??= structureOf(manifest)),
    update(next, codeFor) {
      const current = { ...sources, manifest: next }
      const hasSameSchemas = isSame(next.schemas, manifest.schemas)
      const known = new Map(slots.map(({ method, code }) => [codeOf(method), code]))
      const findCode = (method: ManifestMethod): MethodCode => known.get(codeOf(method)) ?? codeFor(method)
      const made = methodsOf(next).map(({ route, method }, index) => {
        const slot = slots[index]!
        const hasSame = hasSameCode(slot.method, method)
        if (hasSameSchemas && hasSame && isSame(slot.method, method, ignoredKeys)) return { ...slot, method }
        return makeSlot(current, { route, method }, hasSame ? slot.code : findCode(method))
      })
      const kept = new Set(made.map(({ group }) => group))
      const before = slots.splice(0, slots.length, ...made)
      for (const { group } of before) if (!kept.has(group)) group.end()
      if (!isSame([manifest.static], [next.static])) serveFile = makeServeFile(sources, next, running)
      manifest = next
    },
  }
}

interface MethodToRoute extends Pick<MethodToMount, 'route' | 'method' | 'counter'> {
  /** The current implementation. */
  slot(): Slot
}

function makeOptions({ manifest, guard }: MountSources, { route, method, counter, slot }: MethodToRoute): RouteOptions {
  const rest = findRestParameter(route.path)
  const handler = (request: FastifyRequest, reply: FastifyReply) => slot().handle(request, reply)
  return {
    method: method.method === 'GET' ? ['GET', 'HEAD'] : method.method,
    url: toRouterPath(route.path),
    exposeHeadRoute: false,
    ...(method.bodyLimit !== undefined && { bodyLimit: method.bodyLimit }),
    config: {
      ...rateConfig(manifest, method),
      counter,
      acceptsNoBody: () => slot().method.request === undefined,
      ...(needsReader(method) && { readBody: (request, payload) => slot().readBody!(request, payload) }),
    },
    onRequest: [...deprecationHook(route.deprecated), makeAuthorizationHook(guard, method)],
    handler: rest === undefined ? handler : withRest(rest, handler),
  }
}

/** Makes the calls of methods that are served, with the code that is current when they are called. */
function makeSlotCalls({ manifest, loadPrincipal }: MountSources, slots: readonly Slot[]): MethodCalls {
  // Only what can be updated in place differs from one manifest to the next, so each method keeps its place.
  let places: ReadonlyMap<string, number> | undefined
  const findPlaces = () =>
    (places ??= new Map(methodsOf(manifest).map(({ route, method }, at) => [`${method.method} ${route.path}`, at])))
  return makeMethodCalls({
    loadPrincipal,
    operations: () => [...findPlaces().keys()],
    find: (operation) => slots[findPlaces().get(operation) ?? -1]?.callable(),
  })
}

function methodsOf({ routes }: Manifest): { readonly route: ManifestRoute; readonly method: ManifestMethod }[] {
  return routes.flatMap((route) => route.methods.map((method) => ({ route, method })))
}

/**
 * The parts of a manifest that are fixed when the app is built. Slots hold the others, or serving does not need them.
 */
function structureOf({
  routes,
  connections,
  events,
  listeners = {},
  rates,
  config,
  plugins,
  variables,
}: Manifest): string {
  const mounted = routes.map((route) => [
    route.path,
    route.deprecated,
    ...route.methods.map((one) => [one.method, one.public, one.scopes, one.rate, one.bodyLimit, needsReader(one)]),
  ])
  const heard = Object.entries(listeners).map(([name, { event, exclusive }]) => [name, event, exclusive])
  return JSON.stringify([mounted, connections, events, heard, rates, config, plugins, variables])
}

/** Equal texts mean the same code. */
function codeOf({ action, steps = [] }: ManifestMethod): string {
  const text = 'artifact' in action ? `${action.artifact} ${action.file}` : JSON.stringify(action)
  return steps.length === 0 ? text : `${text} ${JSON.stringify(steps)}`
}

/** Whether two methods run the same action and steps. */
export function hasSameCode(before: ManifestMethod, after: ManifestMethod): boolean {
  if (before.steps !== after.steps && JSON.stringify(before.steps) !== JSON.stringify(after.steps)) return false
  const [{ action: one }, { action: other }] = [before, after]
  if ('artifact' in one && 'artifact' in other) return one.artifact === other.artifact && one.file === other.file
  return isSame(one, other)
}

/** Keys of a method that are compared separately. */
const ignoredKeys: ReadonlySet<string> = new Set(['action'])

/**
 * Compares objects key by key. Identical values are the common case, because most objects are reused from one save to
 * the next.
 */
function isSame(one: object, other: object, except: ReadonlySet<string> = new Set()): boolean {
  const keys = Object.keys(one)
  if (keys.length !== Object.keys(other).length) return false
  return keys.every((key) => {
    if (except.has(key)) return true
    const [value, otherValue] = [one[key as never], other[key as never]] as [unknown, unknown]
    return value === otherValue || (otherValue !== undefined && JSON.stringify(value) === JSON.stringify(otherValue))
  })
}

/** Responds with 405 for methods that a path lacks and that the router would otherwise route to another path. */
function rejectShadowedMethods(app: FastifyInstance, { route, methods }: ShadowedMethods): void {
  const own = route.methods.map((method) => method.method)
  const allowed = own.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  app.route({
    method: methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])),
    url: toRouterPath(route.path),
    exposeHeadRoute: false,
    config: { rejectsMethod: true },
    onRequest: async (request) => {
      throw methodNotAllowed({ path: pathOf(request), method: request.method, allowed })
    },
    handler: async () => undefined,
  })
}
