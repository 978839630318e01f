import {
  loadUserScopes,
  makeGuard,
  makeLogin,
  mountAuthorization,
  openKeyRing,
  type TokenIssuer,
} from '../auth/index.ts'
import { makeConnectionRegistry, type ConnectionRegistry } from '../connection/index.ts'
import { mountLogin, mountSubscriptions } from '../consumer/index.ts'
import type { OpenConnection } from '../contract/index.ts'
import { makeDispatcher, makeSubscriptions } from '../events/index.ts'
import { defaultSettings, resolveReferences, type Settings } from '../kit/index.ts'
import { openOutbound, type Outbound } from '../outbound/index.ts'
import { loadPlugins, type PluginSet } from '../plugin/index.ts'
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
  loadSecurityHeaders,
  makeActionFinder,
  makeRateCounters,
  makeSchemaCache,
  mountDocs,
  mountHealth,
  openListener,
  registerArtifacts,
  type Answered,
  type Endpoint,
  type Generation,
  type Logger,
  type RateCounters,
  type SchemaCache,
  type SecurityHeaders,
} from '../runtime/index.ts'
import { startFeed, type Feed, type System } from '../store/index.ts'
import { termsOf, type ReleaseTerms } from './active-release.ts'
import { errors } from './errors.ts'
import type { Host } from './host.ts'
import type { Identity } from './open-identity.ts'

export interface ServerOptions {
  readonly host: Host
  readonly identity: Identity
  readonly address: { readonly host: string; readonly port: number }
  readonly logger: Logger
  /** `dev` and tests: results are checked, pages of this machine may call. */
  readonly isDevelopment: boolean
  onAnswered?(answered: Answered): void
  onServerError?(error: unknown, request: { id: string; method: string; path: string }): void
}

/** A server that listens. */
export interface WaypostServer {
  readonly host: Host
  readonly feed: Feed
  readonly port: number
  readonly outbound: Outbound
  /** The terms of the release that is served. */
  terms(): ReleaseTerms
  /**
   * Brings up a release beside the one that is served, then swaps.
   * @param artifacts where they are at hand; else they are loaded from System
   * @throws what kept it from coming up; the release before stays
   */
  serveRelease(release: StoredRelease, artifacts?: readonly Artifact[]): Promise<void>
  /** Lets requests wait until the given function is called. */
  hold(): () => void
  close(): Promise<void>
}

/** Everything that outlives a generation. */
interface Shared {
  readonly options: ServerOptions
  readonly feed: Feed
  readonly plugins: PluginSet
  readonly registry: ConnectionRegistry
  readonly schemas: SchemaCache
  readonly securityHeaders: SecurityHeaders
  readonly rateCounters: RateCounters
  readonly endpoints: readonly Endpoint[]
  readonly guard: ReturnType<typeof makeGuard>
}

/** Starts to listen; it serves Waypost's own endpoints until a release is given to it. */
export async function startServer(options: ServerOptions): Promise<WaypostServer> {
  const { host, identity } = options
  let terms: ReleaseTerms = { settings: defaultSettings, catalog: {} }
  const closers: (() => Promise<void> | void)[] = []
  const close = async () => {
    for (const step of closers.splice(0).toReversed()) await step()
  }
  try {
    const feed = await startFeed(host.system, {
      onError: (error) => options.logger.warn({ err: error }, 'the change feed cannot be read'),
    })
    closers.push(() => feed.close())
    const outbound = openOutbound({
      allow: () => terms.settings.delivery_allow,
      loopback: identity.isDevelopment,
      clock: host.clock,
    })
    closers.push(() => outbound.close())
    const shared = await openShared(options, { feed, outbound, terms: () => terms })
    closers.push(
      () => shared.guard.close(),
      () => shared.registry.close(),
    )
    const listener = await openListener({ ...options.address, generation: await buildFor(shared, undefined) })
    closers.push(() => listener.close())

    return {
      host,
      feed,
      outbound,
      port: listener.port,
      terms: () => terms,
      hold: () => listener.hold(),
      async serveRelease(release, artifacts) {
        const next = termsOf(release, host.variables)
        const generation = await buildFor(shared, { release, artifacts })
        terms = next
        listener.swap(generation)
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

interface Living {
  readonly feed: Feed
  readonly outbound: Outbound
  terms(): ReleaseTerms
}

async function openShared(options: ServerOptions, { feed, outbound, terms }: Living): Promise<Shared> {
  const { host, identity } = options
  const { system, clock } = host
  const keys = await openKeyRing(system, identity.secrets)
  const issuer: TokenIssuer = {
    system,
    keys,
    clock,
    issuer: identity.issuer,
    settings: () => terms().settings,
    refreshKeys: identity.secrets.deriveKeys('refresh'),
    noticeChanges: () => feed.catchUp().catch(() => undefined), // nothing cached counts while it cannot be read
  }
  const guard = makeGuard({ system, feed, keys, clock, issuer: identity.issuer })
  const plugins = await loadPlugins(host.folder)
  const subscriptions = makeSubscriptions({
    system,
    outbound,
    secrets: identity.secrets,
    catalog: () => terms().catalog,
    settings: () => terms().settings,
  })
  return {
    options,
    feed,
    plugins,
    guard,
    schemas: makeSchemaCache(),
    rateCounters: makeRateCounters(clock),
    securityHeaders: await loadSecurityHeaders(identity.issuer.startsWith('https:')),
    registry: makeConnectionRegistry({
      classes: plugins.connections,
      variables: host.variables,
      folder: host.folder,
      log: options.logger,
      builtIn: { System: systemConnection(system) },
    }),
    endpoints: [
      mountHealth(() => checkSystem(system)),
      mountAuthorization(issuer),
      mountLogin(makeLogin(issuer)),
      mountSubscriptions({ guard, subscriptions, scopesOf: (userId) => loadUserScopes(system.db, userId) }),
      ...plugins.plugins.flatMap((plugin) => plugin.routes ?? []),
    ],
  }
}

interface ToServe {
  readonly release: StoredRelease
  readonly artifacts: readonly Artifact[] | undefined
}

async function buildFor(shared: Shared, toServe: ToServe | undefined): Promise<Generation> {
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
    return buildGeneration({ ...common, releaseId: undefined, routes: undefined, bodyLimit, corsOrigins: cors })
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
      releaseId: release.id,
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
          resolveConfig: (config) => resolveReferences(config, options.host.variables).value,
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

/** System as actions see it: Kysely over the application's tables, on the same pool as Waypost's own. */
function systemConnection(system: System): OpenConnection {
  return {
    client: system.db,
    check: () => checkSystem(system),
    transaction: (work) => system.transaction((trx) => work(trx)),
    close: async () => undefined,
  }
}

async function checkSystem(system: System): Promise<void> {
  await system.guardDb.selectFrom('waypost_feed_head').select('id').execute()
}
