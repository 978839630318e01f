import { makeDispatcher } from '../events/index.ts'
import { defaultSettings, resolveReferences, type Settings } from '../kit/index.ts'
import { assertServable, shortId, type Manifest, type ManifestMethod, type StoredRelease } from '../release/index.ts'
import {
  buildGeneration,
  makeActionFinder,
  mountDocs,
  type Endpoint,
  type Generation,
  type RouteSources,
} from '../runtime/index.ts'
import { termsOf } from './active-release.ts'
import { errors } from './errors.ts'
import type { Host } from './host.ts'
import { loadModules, type ToServe } from './load-modules.ts'
import type { Shared } from './open-shared.ts'

/** Builds the generation of a release; without one it serves Waypost's own endpoints. */
export async function buildFor(shared: Shared, toServe: ToServe | undefined): Promise<Generation> {
  const { options, registry } = shared
  const common = {
    endpoints: shared.endpoints,
    logger: options.logger,
    securityHeaders: shared.securityHeaders,
    rateCounters: shared.rateCounters,
    corsLoopback: options.isDevelopment,
    ...(options.onAnswered === undefined ? {} : { onAnswered: options.onAnswered }),
    ...(options.onServerError === undefined ? {} : { onServerError: options.onServerError }),
  }
  if (toServe === undefined) {
    const { body_limit: bodyLimit, cors } = defaultSettings
    return buildGeneration({ ...common, routes: undefined, bodyLimit, corsOrigins: cors })
  }
  const { release } = toServe
  assertServable(release.manifest)
  const { settings, catalog } = termsOf(release, options.host.variables)
  assertVariables(options.host, release)
  const actionFor = await loadActions(shared, toServe, methodsOf(release.manifest))
  const connections = await registry.acquire(release.manifest.connections)
  for (const [name, reason] of connections.down)
    options.logger.warn({ connection: name, reason }, 'a connection cannot be opened')
  shared.schemas.beginGeneration()
  try {
    const generation = await buildGeneration({
      ...common,
      endpoints: [...common.endpoints, docsOf(shared, release.manifest, settings)],
      bodyLimit: settings.body_limit,
      corsOrigins: settings.cors,
      routes: {
        manifest: release.manifest,
        schemas: shared.schemas,
        guard: shared.guard,
        connections,
        clock: options.host.clock,
        dispatcher: makeDispatcher(options.host.system, catalog),
        checkResults: options.isDevelopment,
        actionFor,
      },
    })
    return {
      ...generation,
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

/** Loads what is new of the actions of a release that differs from the served one in nothing else, and puts it in place. */
export async function replaceActions(
  shared: Shared,
  { actions }: Generation,
  { served, toServe }: { readonly served: StoredRelease; readonly toServe: ToServe },
): Promise<void> {
  const before = methodsOf(served.manifest).map(({ action }) => artifactOf(action))
  const fresh = methodsOf(toServe.release.manifest).filter(({ action }, index) => artifactOf(action) !== before[index])
  actions!.replace(toServe.release.manifest, await loadActions(shared, toServe, fresh))
}

async function loadActions(
  { options, plugins, prepareConfig }: Shared,
  toServe: ToServe,
  methods: readonly ManifestMethod[],
): Promise<RouteSources['actionFor']> {
  const modules = await loadModules(options.host.system, toServe, methods)
  return makeActionFinder({ modules, classes: plugins.actions, prepareConfig })
}

function artifactOf(action: ManifestMethod['action']): string | undefined {
  return 'artifact' in action ? action.artifact : undefined
}

function methodsOf({ routes }: Manifest): ManifestMethod[] {
  return routes.flatMap(({ methods }) => methods)
}

function docsOf({ options, guard }: Shared, manifest: Manifest, { docs }: Settings): Endpoint {
  // `dev` is reached by several names; in production there is one.
  const serverUrl = options.isDevelopment ? undefined : options.identity.issuer
  return mountDocs({ manifest, guard, access: docs, serverUrl })
}

function assertVariables(host: Host, release: StoredRelease): void {
  const { missing } = resolveReferences(
    Object.entries(release.manifest.variables).flatMap(([name, { optional }]) => (optional ? [] : [`\${env.${name}}`])),
    host.variables,
  )
  if (missing.length > 0)
    throw errors.WP_SERVER_VARIABLE({ variables: missing.join(', '), release: shortId(release.id) })
}
