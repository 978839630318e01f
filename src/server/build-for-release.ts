import { makeDispatcher } from '../events/index.ts'
import { defaultSettings, resolveReferences, type Settings } from '../kit/index.ts'
import {
  assertServable,
  loadArtifacts,
  shortId,
  type Artifact,
  type Manifest,
  type StoredRelease,
} from '../release/index.ts'
import {
  buildGeneration,
  importArtifact,
  makeActionFinder,
  mountDocs,
  registerArtifacts,
  type Endpoint,
  type Generation,
} from '../runtime/index.ts'
import type { System } from '../store/index.ts'
import { termsOf } from './active-release.ts'
import { errors } from './errors.ts'
import type { Host } from './host.ts'
import type { Shared } from './open-shared.ts'

export interface ToServe {
  readonly release: StoredRelease
  readonly artifacts: readonly Artifact[] | undefined
}

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
  const modules = await loadActionModules(options.host.system, toServe)
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
        actionFor: makeActionFinder({
          modules,
          classes: shared.plugins.actions,
          prepareConfig: shared.prepareConfig,
        }),
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

async function loadActionModules(
  system: System,
  { release, artifacts }: ToServe,
): Promise<ReadonlyMap<string, unknown>> {
  const { manifest } = release
  registerArtifacts(artifacts ?? (await loadArtifacts(system, release, Object.keys(manifest.artifacts))))
  const hashes = new Set(
    manifest.routes.flatMap((route) =>
      route.methods.flatMap(({ action }) => ('artifact' in action ? [action.artifact] : [])),
    ),
  )
  const modules = new Map<string, unknown>()
  for (const hash of hashes) {
    const module = (await importArtifact(hash)) as { default?: unknown }
    modules.set(hash, module.default)
  }
  return modules
}
