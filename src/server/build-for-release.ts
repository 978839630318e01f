import { loadUserPrincipal } from '../auth/index.ts'
import type { ConnectionSet } from '../connection/index.ts'
import { makeDispatcher, type Dispatcher } from '../events/index.ts'
import { defaultSettings, parseReferences, type Settings } from '../kit/index.ts'
import type { LoadedPlugin, PluginSet } from '../plugin/index.ts'
import { assertServable, findVariableUses, useArtifacts, type ArtifactUse, type Manifest } from '../release/index.ts'
import {
  buildGeneration,
  hasSameCode,
  loadMethodCode,
  makeDataCheck,
  methodsOf,
  mountDocs,
  type DocsSources,
  mountPluginRoutes,
  runPluginHooks,
  type CodeSources,
  type Endpoint,
  type Generation,
  type HostedPlugin,
  type MethodAt,
  type StartPage,
} from '../runtime/index.ts'
import {
  catalogOf,
  checkActions,
  findDatabases,
  loadModules,
  logClosed,
  resolveEnv,
  termsOf,
  type FailingAction,
  type ReleaseToServe,
} from '../host/index.ts'
import { errors } from './errors.ts'
import type { Shared } from './open-shared.ts'
import type { ServerOptions } from './server-options.ts'

/** A generation that `dev` can update in place. */
export interface ReleaseGeneration extends Generation {
  readonly plugins: readonly ServedPlugin[]
  /** The scopes that routes of plugins require. */
  readonly pluginScopes: ReadonlySet<string>
  /** Finds methods with action classes that would fail, without running them. */
  checkActions(): Promise<readonly FailingAction[]>
  /**
   * Updates the generation to a release with the same routes, access rules, connections and settings. Unchanged actions
   * and methods are kept.
   * @returns false, without changes, if the release needs a new generation
   * @throws an error of loading an action; nothing has changed then
   */
  update(toServe: ReleaseToServe): Promise<boolean>
}

/** A plugin with routes or hooks in a generation. */
export interface ServedPlugin extends HostedPlugin {
  /** What its host uses. A plugin that is kept shares it with the previous generation, and it is moved to the next. */
  readonly base: { connections: ConnectionSet; generation: Promise<Generation>; owner: object }
  /** Whether it is kept from the previous generation, so that its hooks do not run. */
  readonly isKept: boolean
}

/** Changed variables of the release that is already served. */
export interface ChangedVariables {
  readonly names: readonly string[]
  /** The plugins of the generation with the previous values. */
  readonly plugins: readonly ServedPlugin[]
}

/** Code compiled for replaced methods is freed only with the generation, so rebuild it from time to time. */
const maxUpdates = 100

/** Builds the generation of a release. Without a release, it serves Waypost's own endpoints. */
export async function buildForRelease(
  shared: Shared,
  toServe: ReleaseToServe | undefined,
  changed: ChangedVariables = { names: [], plugins: [] },
): Promise<ReleaseGeneration> {
  if (toServe === undefined) return buildWithoutRelease(shared)
  const { options, registry } = shared
  const common = makeCommonOptions(shared)
  const { release } = toServe
  const { manifest } = release
  assertServable(manifest)
  const { settings } = termsOf(release, options.host.variables)
  const env = resolveEnv(options.host, release)
  const served: Served = { manifest, use: useArtifacts(toServe.artifacts, options), updates: 0 }
  await using opened = new AsyncDisposableStack()
  opened.defer(() => endUse(options, served.use))
  const plugins = await shared.loadPlugins({ ...toServe, manifest })
  const codeFor = await loadMethodCode(codeOf(shared, plugins, toServe), methodsOf(manifest))
  const connections = await registry.acquire(manifest.connections, plugins.connections)
  opened.defer(() => connections.release())
  assertConnected(manifest, connections, changed.names)
  for (const [name, reason] of connections.down)
    options.logger.warn({ connection: name, reason }, 'opening a connection failed')
  shared.schemas.beginGeneration()
  const built = Promise.withResolvers<Generation>()
  built.promise.catch(() => undefined)
  const base = { connections, generation: built.promise, owner: {} }
  const hosted = hostPlugins(shared, plugins, { release, base, changed })
  const pluginRoutes = mountPluginRoutes(shared.guard, hosted, manifest)
  const generation = await buildGeneration({
    ...common,
    endpoints: [
      ...common.endpoints,
      makeDocs(shared, { manifest: () => served.manifest, pluginRoutes: pluginRoutes.described }, settings),
      pluginRoutes.mount,
    ],
    startPage: () =>
      findStartPage(shared, settings, served.manifest.routes.length + pluginRoutes.described.length === 0),
    bodyLimit: settings.body_limit,
    compression: settings.compression,
    corsOrigins: [...settings.cors, ...shared.backendOrigins],
    routes: {
      manifest,
      schemas: shared.schemas,
      guard: shared.guard,
      loadPrincipal: (id) => loadUserPrincipal(options.host.system, id),
      connections,
      clock: options.host.clock,
      env,
      dispatcher: makeServerDispatcher(shared, () => served.manifest),
      checkResults: options.isDevelopment,
      statistics: shared.statistics,
      uploadSpace: settings.upload_space,
      streams: shared.streams,
      streamsPerPrincipal: settings.streams_per_principal,
      codeFor,
    },
  })
  built.resolve(generation)
  for (const plugin of hosted) Object.assign(plugin.base, base)
  opened.move() // closed with the generation
  return {
    ...generation,
    plugins: hosted,
    pluginScopes: pluginRoutes.scopes,
    checkActions: () =>
      checkActions(served.manifest, plugins, {
        connection: async (name) => connections.get(name).client,
        databases: findDatabases(manifest, plugins, options.host.system),
      }),
    update: (next) => updateInPlace(shared, served, { next, plugins, generation }),
    async close() {
      const own = hosted.filter((plugin) => plugin.base.owner === base.owner) // others are in the next generation
      await runPluginHooks(own, 'generation:closed', (error) => options.logger.warn({ err: error }, error.message))
      await generation.close()
      await endUse(options, served.use)
      await connections.release()
    },
  }
}

/** Serves Waypost's own endpoints. */
async function buildWithoutRelease(shared: Shared): Promise<ReleaseGeneration> {
  const { body_limit: bodyLimit, cors } = defaultSettings
  const startPage = () => findStartPage(shared, defaultSettings, true)
  const common = makeCommonOptions(shared)
  const generation = await buildGeneration({ ...common, routes: undefined, startPage, bodyLimit, corsOrigins: cors })
  return {
    ...generation,
    plugins: [],
    pluginScopes: new Set(),
    checkActions: async () => [],
    update: async () => false,
  }
}

/** What a generation serves, which `dev` updates in place. */
interface Served {
  manifest: Manifest
  use: ArtifactUse
  updates: number
}

interface Update {
  readonly next: ReleaseToServe
  readonly plugins: PluginSet
  readonly generation: Generation
}

async function updateInPlace(shared: Shared, served: Served, { next, plugins, generation }: Update): Promise<boolean> {
  const { options } = shared
  const wanted = next.release.manifest
  if (served.updates >= maxUpdates || generation.routes?.canUpdateTo(wanted) !== true) return false
  if (served.use.mustClose(next.artifacts)) return false
  const [previous, nextUse] = [served.use, useArtifacts(next.artifacts, options)]
  try {
    const changed = findNewCode(served.manifest, wanted)
    generation.routes.update(wanted, await loadMethodCode(codeOf(shared, plugins, next), changed))
  } catch (error) {
    await endUse(options, nextUse)
    throw error
  }
  served.use = nextUse
  void generation.routes.whenIdle().then(() => endUse(options, previous))
  served.manifest = wanted
  served.updates += 1
  return true
}

async function endUse({ logger, onClosed }: ServerOptions, use: ArtifactUse): Promise<void> {
  const closed = await use.end()
  if (closed.left.length + closed.errors.length === 0) return
  if (onClosed === undefined) logClosed(closed, logger)
  else onClosed(closed)
}

/** @throws WP_SERVER_VARIABLE_CONNECTION */
function assertConnected(manifest: Manifest, connections: ConnectionSet, variables: readonly string[]): void {
  for (const [name, reason] of connections.down) {
    const changed = variables.filter((one) => findVariableUses(manifest, one).includes(`connection ${name}`))
    if (changed.length === 0) continue
    throw errors.WP_SERVER_VARIABLE_CONNECTION({ name, reason, variables: changed.join(', ') })
  }
}

interface Hosting {
  readonly release: ReleaseToServe['release']
  readonly base: ServedPlugin['base']
  readonly changed: ChangedVariables
}

/**
 * What each plugin with routes or hooks gets from the generation. After a change of variables, plugins that do not depend
 * on them are kept, with what their hooks started.
 * @throws WP_PLUGIN_CONFIG
 */
function hostPlugins(
  { services, options }: Shared,
  set: PluginSet,
  { release, base, changed }: Hosting,
): readonly ServedPlugin[] {
  const databases = findDatabases(release.manifest, set, options.host.system)
  const hosted = set.plugins.filter(({ plugin: { routes, hooks } }) => routes !== undefined || hooks !== undefined)
  return hosted.map((loaded) => {
    const before = changed.plugins.find((one) => one.loaded.plugin.name === loaded.plugin.name)
    if (before !== undefined && !dependsOn(release.manifest, loaded, changed.names)) return { ...before, isKept: true }
    const own = { ...base }
    return {
      loaded,
      base: own,
      isKept: false,
      host: {
        ...services(loaded),
        release: { id: release.id },
        connection: (name) => own.connections.get(name).client,
        databases,
        call: async (operation, input, principal) => (await own.generation).call(operation, input, principal),
      },
    }
  })
}

/** A plugin can use every connection, and keep its client. */
function dependsOn(manifest: Manifest, { config }: LoadedPlugin, variables: readonly string[]): boolean {
  const { references } = parseReferences(JSON.stringify(config))
  const isOwn = references.some(({ name }) => variables.includes(name))
  const places = variables.flatMap((name) => findVariableUses(manifest, name))
  return isOwn || places.some((place) => place.startsWith('connection '))
}

/**
 * Checks data against the manifest being served, which `dev` can replace by one with the same events but other schemas.
 */
function makeServerDispatcher({ options, schemas }: Shared, manifest: () => Manifest): Dispatcher {
  return makeDispatcher(options.host.system, catalogOf(manifest()), makeDataCheck(schemas, manifest))
}

/** Options shared by all generations of a server. */
function makeCommonOptions(shared: Shared) {
  const { options } = shared
  return {
    endpoints: shared.endpoints,
    logger: options.logger,
    securityHeaders: shared.securityHeaders,
    basePath: basePathOf(options.identity.issuer),
    rateCounters: shared.rateCounters,
    corsLoopback: options.isDevelopment,
    trustedProxies: shared.trustedProxies,
    tracing: options.tracing,
    hasNoRelease: shared.hasNoRelease,
    ...(options.onResponse === undefined ? {} : { onResponse: options.onResponse }),
    ...(options.onExchange === undefined ? {} : { onExchange: options.onExchange }),
    ...(options.onServerError === undefined ? {} : { onServerError: options.onServerError }),
  }
}

/** Where the code of a release comes from. */
function codeOf(
  { options: { host }, prepareConfig, services }: Shared,
  plugins: PluginSet,
  toServe: ReleaseToServe,
): CodeSources {
  const databases = findDatabases(toServe.release.manifest, plugins, host.system)
  const load: CodeSources['load'] = (uses) => loadModules(host, toServe, uses)
  return { load, classes: plugins.actions, steps: plugins.steps, prepareConfig, databases, services }
}

/** Returns the methods whose code differs between two manifests with the same methods. */
function findNewCode(before: Manifest, after: Manifest): MethodAt[] {
  const known = methodsOf(before)
  return methodsOf(after).filter(({ of }, index) => !hasSameCode(of, known[index]!.of))
}

function makeDocs(
  { options: { identity, isDevelopment }, guard }: Shared,
  sources: Pick<DocsSources, 'manifest' | 'pluginRoutes'>,
  settings: Settings,
): Endpoint {
  return mountDocs({ ...sources, settings, guard, issuer: identity.issuer, isDevelopment })
}

function basePathOf(issuer: string): string {
  return new URL(issuer).pathname.replace(/\/$/, '')
}

/** Returns what people who open `/` need: the portal, or the backend until there is an API. */
function findStartPage({ options, backendAddress }: Shared, { docs, portal }: Settings, isEmpty: boolean): StartPage {
  const base = basePathOf(options.identity.issuer)
  if (portal) return { url: `${base}/portal/`, isEmpty }
  if (isEmpty) return { url: backendAddress, isEmpty }
  return { url: options.isDevelopment && docs !== 'off' ? `${base}/docs` : undefined, isEmpty }
}
