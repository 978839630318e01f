import { makeDispatcher, type Dispatcher } from '../events/index.ts'
import { defaultSettings, type Settings } from '../kit/index.ts'
import { assertServable, type Manifest, type ManifestMethod } from '../release/index.ts'
import {
  buildGeneration,
  hasSameCode,
  makeActionFinder,
  makeDataCheck,
  mountDocs,
  type Endpoint,
  type Generation,
  type RouteSources,
} from '../runtime/index.ts'
import { loadModules, resolveEnv, termsOf, type ReleaseToServe } from '../host/index.ts'
import type { Shared } from './open-shared.ts'

/** A generation that `dev` can bring up to date. */
export interface ReleaseGeneration extends Generation {
  /**
   * Takes over a release that has the same routes for the same callers, and the same surroundings: actions and methods
   * that are the same stay as they are.
   * @returns false, and changes nothing, where the release needs a generation of its own
   * @throws what kept an action from being loaded; nothing has changed then
   */
  update(toServe: ReleaseToServe): Promise<boolean>
}

/** What was compiled for a method and is not used any more goes with the generation: that must not be never. */
const mostUpdates = 100

/** Builds the generation of a release; without one it serves Waypost's own endpoints. */
export async function buildFor(shared: Shared, toServe: ReleaseToServe | undefined): Promise<ReleaseGeneration> {
  const { options, registry } = shared
  const common = commonOf(shared)
  if (toServe === undefined) {
    const { body_limit: bodyLimit, cors } = defaultSettings
    const generation = await buildGeneration({ ...common, routes: undefined, bodyLimit, corsOrigins: cors })
    return { ...generation, update: async () => false }
  }
  const { release } = toServe
  let { manifest } = release
  let updates = 0
  assertServable(manifest)
  const { settings } = termsOf(release, options.host.variables)
  const env = resolveEnv(options.host, release)
  const actionFor = await loadActions(shared, toServe, methodsOf(manifest))
  const connections = await registry.acquire(manifest.connections)
  for (const [name, reason] of connections.down)
    options.logger.warn({ connection: name, reason }, 'opening a connection failed')
  shared.schemas.beginGeneration()
  try {
    const generation = await buildGeneration({
      ...common,
      endpoints: [...common.endpoints, docsOf(shared, () => manifest, settings)],
      bodyLimit: settings.body_limit,
      corsOrigins: settings.cors,
      routes: {
        manifest,
        schemas: shared.schemas,
        guard: shared.guard,
        connections,
        clock: options.host.clock,
        env,
        dispatcher: dispatcherOf(shared, () => manifest),
        checkResults: options.isDevelopment,
        actionFor,
      },
    })
    return {
      ...generation,
      async update(next) {
        const wanted = next.release.manifest
        if (updates >= mostUpdates || generation.routes?.canUpdateTo(wanted) !== true) return false
        generation.routes.update(wanted, await loadActions(shared, next, findNewCode(manifest, wanted)))
        manifest = wanted
        updates += 1
        return true
      },
      async close() {
        await generation.close()
        await connections.release()
      },
    }
  } catch (error) {
    await connections.release()
    throw error
  }
}

/** Checks by the manifest that is served: `dev` takes over one with the same events, whose schemas may be others. */
function dispatcherOf({ options, schemas }: Shared, manifest: () => Manifest): Dispatcher {
  return makeDispatcher(options.host.system, manifest().events, makeDataCheck(schemas, manifest))
}

/** What every generation of a server has in common. */
function commonOf(shared: Shared) {
  const { options } = shared
  return {
    endpoints: shared.endpoints,
    logger: options.logger,
    securityHeaders: shared.securityHeaders,
    rateCounters: shared.rateCounters,
    corsLoopback: options.isDevelopment,
    trustedProxies: shared.trustedProxies,
    tracing: options.tracing,
    ...(options.onResponse === undefined ? {} : { onResponse: options.onResponse }),
    ...(options.onServerError === undefined ? {} : { onServerError: options.onServerError }),
  }
}

async function loadActions(
  { options, plugins, prepareConfig }: Shared,
  toServe: ReleaseToServe,
  methods: readonly ManifestMethod[],
): Promise<RouteSources['actionFor']> {
  const modules = await loadModules(options.host, toServe, methods)
  return makeActionFinder({ modules, classes: plugins.actions, prepareConfig })
}

/** The methods whose code is another one, in two manifests with the same methods. */
function findNewCode(before: Manifest, after: Manifest): ManifestMethod[] {
  const known = methodsOf(before)
  return methodsOf(after).filter((method, index) => !hasSameCode(method, known[index]!))
}

function methodsOf({ routes }: Manifest): ManifestMethod[] {
  return routes.flatMap(({ methods }) => methods)
}

function docsOf({ options, guard }: Shared, manifest: () => Manifest, { docs, title }: Settings): Endpoint {
  // `dev` is reached by several names; in production there is one.
  const serverUrl = options.isDevelopment ? undefined : options.identity.issuer
  const how = { access: docs, title: title || undefined, serverUrl, redirectRoot: options.isDevelopment }
  return mountDocs({ manifest, guard, ...how })
}
