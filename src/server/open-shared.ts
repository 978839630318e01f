import {
  forwardBackend,
  makeAdminApi,
  mountBackendUi,
  openPublisher,
  openRows,
  SystemDraft,
  type AdminSources,
  type Forwarder,
} from '../backend/index.ts'
import { makeGuard, mountAuthorization, mountPages, openKeyRing, openTokenIssuer, type KeyRing } from '../auth/index.ts'
import { makeConnectionRegistry, type ConnectionRegistry } from '../connection/index.ts'
import { mountConsumer, type DescribedData } from '../consumer/index.ts'
import { makeSubscriptions, type Subscriptions } from '../events/index.ts'
import { defaultSettings } from '../kit/index.ts'
import { openManualRuns, type ManualRuns } from '../jobs/index.ts'
import { collectSchemas, sampleEventData } from '../operate/index.ts'
import type { Outbound } from '../outbound/index.ts'
import { makeConfigPreparer, makePluginServices, type PrepareConfig, type ServicesOf } from '../plugin/index.ts'
import {
  buildGeneration,
  loadSecurityHeaders,
  makeRateCounters,
  makeSchemaCache,
  mountHealth,
  mountMetrics,
  mountPortal,
  RouteStatistics,
  watchStalls,
  type Endpoint,
  type OpenStreams,
  type RateCounters,
  type SchemaCache,
  type SecurityHeaders,
  type StallWatch,
} from '../runtime/index.ts'
import type { Feed } from '../store/index.ts'
import {
  loadReleasePlugins,
  backendUrlOf,
  type BackendSettings,
  readBackendSettings,
  readTrustedProxies,
  systemConnection,
  type LoadPlugins,
  type ReleaseTerms,
} from '../host/index.ts'
import { receiveReleases } from './receive-releases.ts'
import type { Readiness } from './readiness.ts'
import type { ServerOptions } from './server-options.ts'

/** The parts of a server that outlive a generation. */
export interface Shared {
  readonly options: ServerOptions
  readonly feed: Feed
  readonly loadPlugins: LoadPlugins
  readonly services: ServicesOf
  /** Whether the active release failed to start and no other is served. */
  hasNoRelease(): boolean
  readonly prepareConfig: PrepareConfig
  readonly registry: ConnectionRegistry
  readonly schemas: SchemaCache
  readonly securityHeaders: SecurityHeaders
  readonly trustedProxies: readonly string[]
  readonly rateCounters: RateCounters
  /** The streams of values that this server sends. */
  readonly streams: OpenStreams
  readonly endpoints: readonly Endpoint[]
  readonly guard: ReturnType<typeof makeGuard>
  readonly keys: KeyRing
  readonly stalls: StallWatch
  /** Counts the responses of the release's methods. */
  readonly statistics: RouteStatistics
  /** The address of the backend, a path if it shares the host of the API; undefined if it is off. */
  readonly backendAddress: string | undefined
  /** The origin of the backend if it is on a host of its own: its pages try routes. */
  readonly backendOrigins: readonly string[]
  /** The admin API, which outlives generations. */
  readonly backend: Forwarder
  /** The cronjobs that administrators start on this server. */
  readonly manualRuns: ManualRuns
}

export interface ServerParts {
  readonly feed: Feed
  readonly outbound: Outbound
  readonly readiness: Readiness
  /** Returns the text of `/metrics`. */
  readonly measure: () => Promise<string>
  readonly streams: OpenStreams
  terms(): ReleaseTerms
}

/** Opens the parts of a server that do not depend on the release. */
export async function openShared(
  options: ServerOptions,
  { feed, outbound, readiness, measure, streams, terms }: ServerParts,
): Promise<Shared> {
  const { host, identity } = options
  const { system, clock } = host
  const backendUrl = backendUrlOf(readBackendSettings(host.variables), identity.issuer)
  const trustedProxies = readTrustedProxies(host.variables)
  const keys = await openKeyRing(system, identity.secrets, () => feed.isFresh())
  const stalls = options.stalls ?? watchStalls()
  const issuer = openTokenIssuer({
    system,
    keys,
    clock,
    secrets: identity.secrets,
    issuer: identity.issuer,
    settings: () => terms().settings,
    feed,
    stalledMs: stalls.waitedMs,
  })
  const guard = makeGuard({ system, feed, keys, clock, issuer: identity.issuer })
  const loadPlugins = options.loadPlugins ?? ((release) => loadReleasePlugins(host, release))
  const services = makeServices(options, outbound)
  const subscriptions = makeSubscriptions({
    system,
    outbound,
    secrets: identity.secrets,
    catalog: () => terms().catalog,
    settings: () => terms().settings,
    sample: (event) => sampleEventData(terms(), event),
  })
  const rateCounters = makeRateCounters({ clock, log: options.logger, scope: identity.issuer })
  const securityHeaders = await loadSecurityHeaders(identity.issuer.startsWith('https:'))
  const service = () => nameService(identity.issuer, terms())
  const manualRuns = await openManualRuns({ host, logger: options.logger, loadPlugins })
  const registry = makeRegistry(options, services)
  const systemDraft = new SystemDraft(host, service) // its thread starts with its first task
  const backend = openBackend(options, systemDraft, {
    guard,
    terms,
    outbound,
    startCronjob: manualRuns.start,
    applyChanges: () => issuer.applyChanges(),
    securityHeaders,
    rateCounters,
    trustedProxies,
    loadPlugins,
    registry,
  })
  return {
    options,
    feed,
    loadPlugins,
    services,
    hasNoRelease: () => readiness.hasNoRelease,
    prepareConfig: makeConfigPreparer(host.variables),
    guard,
    keys,
    stalls,
    schemas: makeSchemaCache(),
    rateCounters,
    statistics: new RouteStatistics(),
    streams,
    backend,
    backendAddress: backendUrl?.replace(new URL(identity.issuer).origin, '').concat('/backend'),
    manualRuns,
    backendOrigins: findBackendOrigins(readBackendSettings(host.variables)),
    trustedProxies,
    securityHeaders,
    registry,
    endpoints: [
      mountHealth(readiness.check),
      mountMetrics(guard, measure),
      ...mountAccounts(options, { guard, issuer, terms, subscriptions }, backendUrl),
      await receiveReleases({ host, loadPlugins, guard, draft: systemDraft, isDevelopment: options.isDevelopment }),
      ...(backendUrl === undefined ? [] : [backend.endpoint]),
    ],
  }
}

function makeServices({ host, logger }: ServerOptions, outbound: Outbound): ServicesOf {
  return makePluginServices({
    variables: host.variables,
    log: logger,
    now: () => new Date(host.clock.now()),
    fetch: (input, init) => outbound.fetch(input, init),
  })
}

function makeRegistry({ host, logger }: ServerOptions, services: ServicesOf): ConnectionRegistry {
  const { variables, folder, system } = host
  return makeConnectionRegistry({
    variables,
    folder,
    log: logger,
    services,
    builtIn: { System: systemConnection(system) },
  })
}

interface Accounts {
  readonly guard: Shared['guard']
  readonly issuer: ReturnType<typeof openTokenIssuer>
  readonly subscriptions: Subscriptions
  terms(): ReleaseTerms
}

/** The endpoints and pages of users. */
function mountAccounts(
  { identity, isDevelopment, signInLinks }: ServerOptions,
  { guard, issuer, terms, subscriptions }: Accounts,
  backendUrl: string | undefined,
): readonly Endpoint[] {
  const scopes = () => terms().scopes
  const service = () => nameService(identity.issuer, terms())
  const settings = () => terms().settings
  return [
    mountAuthorization({ issuer, guard, scopes }),
    mountPages({ issuer, isDevelopment: identity.isDevelopment, backendUrl, signInLinks, service, scopes }),
    mountPortal({ issuer: identity.issuer, isDevelopment, settings, service }),
    mountConsumer({
      guard,
      issuer,
      subscriptions,
      scopes,
      catalog: () => terms().catalog,
      describeData: (name) => describeEventData(terms(), name),
    }),
  ]
}

function describeEventData(terms: ReleaseTerms, name: string): DescribedData {
  const { catalog, schemas } = terms
  const schema = catalog[name]?.schema
  return { schema, schemas: collectSchemas(schema, schemas), example: sampleEventData(terms, name) }
}

/** The name of the service that users sign in to. */
function nameService(issuer: string, { settings }: ReleaseTerms): string {
  return settings.title || new URL(issuer).host
}

function findBackendOrigins({ mode, url }: BackendSettings): readonly string[] {
  return mode === 'off' || url === undefined ? [] : [url]
}

/** The admin API and the pages are built on their first request. */
function openBackend(
  { host, identity, isDevelopment, logger, traffic, draft: folder, onServerError }: ServerOptions,
  systemDraft: SystemDraft,
  {
    guard,
    terms,
    outbound,
    applyChanges,
    startCronjob,
    loadPlugins,
    registry,
    ...parts
  }: Pick<Shared, 'guard' | 'loadPlugins' | 'registry' | 'securityHeaders' | 'rateCounters' | 'trustedProxies'> &
    Omit<AdminSources, 'host'>,
): Forwarder {
  const { issuer } = identity
  const settings = readBackendSettings(host.variables)
  const service = () => nameService(issuer, terms())
  const own = folder === undefined && settings.mode === 'on' ? systemDraft : undefined
  const draft = folder ?? own
  const publisher = own && openPublisher({ host, loadPlugins, draft: own, logger })
  const hasRows = settings.data ?? isDevelopment
  const rows = hasRows ? openRows({ host, loadPlugins, registry }) : undefined
  const sources = { host, guard, traffic, draft, terms, outbound, applyChanges, startCronjob, publisher, rows }
  const backend = forwardBackend(() =>
    buildGeneration({
      ...parts,
      routes: undefined,
      endpoints: [
        makeAdminApi(sources),
        mountBackendUi({ system: host.system, settings, issuer, isDevelopment, service }),
      ],
      logger,
      bodyLimit: defaultSettings.body_limit,
      corsOrigins: [],
      corsLoopback: false,
      ...(onServerError === undefined ? {} : { onServerError }),
    }),
  )
  return {
    ...backend,
    async close() {
      await publisher?.close()
      await backend.close()
      await rows?.close()
      systemDraft.close()
    },
  }
}
