import { safeMessageOf } from '../kit/index.ts'
import { openOutbound, type Outbound } from '../outbound/index.ts'
import { loadArtifacts, type Artifact, type StoredRelease } from '../release/index.ts'
import {
  makePageProtection,
  OpenStreams,
  openGateway,
  removeAbandonedFiles,
  runPluginHooks,
  type ConnectionLimits,
  type Logger,
} from '../runtime/index.ts'
import { startFeed, type Feed } from '../store/index.ts'
import {
  defaultTerms,
  termsOf,
  readBackendSettings,
  readTrustedProxies,
  readConnectionLimit,
  type FailingAction,
  type ReleaseTerms,
  type Host,
} from '../host/index.ts'
import { buildForRelease, type ReleaseGeneration } from './build-for-release.ts'
import { serveCronjobs } from '../jobs/index.ts'
import { recordRouteStatistics, recordTokenUses } from './record-use.ts'
import { makeMetrics } from './metrics/metrics.ts'
import { openShared, type Shared } from './open-shared.ts'
import { makeReadiness, type Readiness } from './readiness.ts'
import type { ServerOptions } from './server-options.ts'

export interface ServeReleaseOptions {
  /** Artifacts in memory; by default they are loaded from System. */
  readonly artifacts?: readonly Artifact[] | undefined
  /** Something besides the release has changed, such as a variable, so update nothing in place. */
  readonly isFullReload?: boolean
  /**
   * The variables that changed, if nothing else did. If a connection that uses one does not respond, the previous
   * generation stays.
   */
  readonly changedVariables?: readonly string[] | undefined
  /** The files that were saved; see `ReleaseToServe`. */
  readonly saved?: ReadonlySet<string> | undefined
  /** After it aborts, code that is being loaded is waited for only briefly. */
  readonly signal?: AbortSignal
}

/** A listening server. */
export interface WaypostServer {
  readonly host: Host
  readonly feed: Feed
  readonly port: number
  readonly outbound: Outbound
  readonly readiness: Readiness
  /** Returns the text of `/metrics`. */
  measure(): Promise<string>
  /** Returns the terms of the release being served. */
  terms(): ReleaseTerms
  /**
   * Builds a generation for a release, then swaps. In development, unchanged parts are kept.
   * @throws the error of the new release; the previous one stays
   */
  serveRelease(release: StoredRelease, how?: ServeReleaseOptions): Promise<void>
  /** Returns the scopes that routes of plugins require. */
  pluginScopes(): ReadonlySet<string>
  /** Stores the responses that were counted since the last minute. */
  recordStatistics(): Promise<void>
  /** Finds methods of the served release with action classes that would fail, without running them. */
  checkActions(): Promise<readonly FailingAction[]>
  /** Makes requests wait until the returned function is called. */
  hold(): () => void
  /** Lets requests through, which wait since the server listens if `isStarting` was set. */
  started(): void
  /** Keeps responding, but asks clients to open new connections. */
  drain(): void
  close(): Promise<void>
}

/** Starts to listen. Serves Waypost's own endpoints until a release is set. */
export async function startServer(options: ServerOptions): Promise<WaypostServer> {
  const { host } = options
  let terms = defaultTerms
  let allowedRanges = terms.settings.delivery_allow
  await using opened = new AsyncDisposableStack()
  void removeAbandonedFiles()
  const feed = await startServerFeed(options)
  opened.defer(() => feed.close())
  const outbound = openServerOutbound(options, () => allowedRanges)
  opened.defer(() => outbound.close())
  const readiness = makeReadiness(host.system, feed)
  if (options.isStarting) readiness.block('starting', 'The server is starting')
  const streams = new OpenStreams(host.clock)
  const measure = makeMetrics(host.system, { readiness, pressure: options.pressure, streams, terms: () => terms })
  const shared = await openShared(options, { feed, outbound, readiness, measure, streams, terms: () => terms })
  opened.defer(() => shared.guard.close())
  opened.defer(() => shared.stalls.stop())
  opened.defer(() => shared.registry.close())
  opened.defer(() => shared.backend.close())
  opened.defer(() => shared.manualRuns.stop())
  opened.defer(startRecordingUses(shared))
  const recording = recordRouteStatistics(host.system, shared.statistics, (error) =>
    options.logger.warn({ err: error }, 'storing statistics failed'),
  )
  opened.defer(() => recording.stop())
  let generation = makeLazyGeneration(() => buildForRelease(shared, undefined), options.logger)
  const gateway = await openGateway({
    ...options.address,
    pressure: options.pressure,
    refusedHost: options.refusedHost,
    isStarting: options.isStarting,
    protectPages: protectPages(options, () => terms.settings.portal),
    connections: limitConnections(options),
    onError: (error) => options.logger.error({ err: error }, 'accepting a connection failed'),
    generation,
  })
  const cronjobs = await serveCronjobs(shared)
  opened.defer(async () => void (await Promise.all([cronjobs.stop(), gateway.close(options.stopLimitMs)])))
  opened.defer(() => options.traffic?.close())
  const closing = opened.move()
  return {
    host,
    feed,
    outbound,
    readiness,
    measure,
    port: gateway.port,
    terms: () => terms,
    hold: gateway.hold,
    started() {
      readiness.block('starting', undefined)
      gateway.started()
    },
    drain: gateway.drain,
    async serveRelease(release, { artifacts, signal, saved, changedVariables, isFullReload = false } = {}) {
      const loaded = artifacts ?? (await loadArtifacts(host.system, release, release.manifest.artifacts))
      const toServe = { release, artifacts: loaded, signal, saved }
      const changed = changedVariables && { names: changedVariables, plugins: generation.plugins }
      const next = termsOf(release, host.variables)
      // Connections are opened and checked before the release is served, while the one before is still served.
      allowedRanges = [...new Set([...terms.settings.delivery_allow, ...next.settings.delivery_allow])]
      await shared.keys.prepare(next.settings.token_algorithm)
      const activate = async () => {
        const isUpdated = options.isDevelopment && !isFullReload && (await generation.update(toServe))
        if (!isUpdated) generation = await buildForRelease(shared, toServe, changed)
        terms = next
        if (isUpdated) return
        gateway.swap(generation)
        options.traffic?.endStreams()
      }
      await cronjobs.follow(toServe, activate).finally(() => (allowedRanges = terms.settings.delivery_allow))
      const started = generation.plugins.filter(({ isKept }) => changed === undefined || !isKept)
      void runPluginHooks(started, 'generation:ready', (error) => options.logger.warn({ err: error }, error.message))
    },
    pluginScopes: () => generation.pluginScopes,
    recordStatistics: recording.write,
    checkActions: () => generation.checkActions(),
    close: () => closing.disposeAsync(),
  }
}

function startServerFeed({ host, logger }: ServerOptions): Promise<Feed> {
  return startFeed(host.system, {
    clock: host.clock,
    onError: (error) => logger.warn({ reason: safeMessageOf(error) }, 'reading the change feed failed'),
    onRecovered: () => logger.info('reading the change feed succeeds again'),
  })
}

function openServerOutbound(
  { host, identity, tracing }: ServerOptions,
  allow: () => ReleaseTerms['settings']['delivery_allow'],
): Outbound {
  const { clock, variables } = host
  return openOutbound({ allow, loopback: identity.isDevelopment, clock, variables, tracePost: tracing?.post })
}

/** Builds a generation on its first request, because a starting server usually gets a release before that. */
function makeLazyGeneration(build: () => Promise<ReleaseGeneration>, logger: Logger): ReleaseGeneration {
  let built: Promise<ReleaseGeneration> | undefined
  return {
    routes: undefined,
    plugins: [],
    pluginScopes: new Set(),
    call: async (...call) => (await (built ??= build())).call(...call),
    checkActions: async () => [],
    update: async () => false,
    handle(request, response) {
      built ??= build()
      built
        .then((generation) => generation.handle(request, response))
        .catch((error: unknown) => {
          logger.error({ err: error }, "building Waypost's own endpoints failed")
          response.destroy()
        })
    },
    async close() {
      const generation = await built?.catch(() => undefined)
      await generation?.close()
    },
  }
}

function protectPages({ host, identity }: ServerOptions, hasPortal: () => boolean) {
  const { mode, url } = readBackendSettings(host.variables)
  const hasBackend = mode !== 'off'
  return makePageProtection({
    backendUrl: hasBackend ? url : undefined,
    issuer: identity.issuer,
    isShared: () => (hasBackend && url === undefined) || hasPortal(),
  })
}

function limitConnections({ host, logger }: ServerOptions): ConnectionLimits {
  return {
    maxConnections: readConnectionLimit(host.variables),
    ...(readTrustedProxies(host.variables).length > 0 && { unread: { maxBytesOfNetwork: Infinity } }), // all callers have that of the proxy
    onFull: (limit) =>
      logger.warn({ limit }, 'connection limit reached: closing idle connections or refusing new ones'),
  }
}

/** Records in System when tokens were last used. @returns a function that stops */
function startRecordingUses({ guard, options: { host, logger } }: Shared): () => Promise<void> {
  const { stop } = recordTokenUses({
    guard,
    system: host.system,
    onError: (error) => logger.warn({ err: error }, 'storing the last use of tokens failed'),
  })
  return stop
}
