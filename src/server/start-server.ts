import { messageOf } from '../kit/index.ts'
import { openOutbound, type Outbound } from '../outbound/index.ts'
import type { Artifact, StoredRelease } from '../release/index.ts'
import { openListener, type ConnectionLimits, type Logger } from '../runtime/index.ts'
import { startFeed, type Feed } from '../store/index.ts'
import { defaultTerms, termsOf, readConnectionLimit, type ReleaseTerms, type Host } from '../host/index.ts'
import { buildFor, type ReleaseGeneration } from './build-for-release.ts'
import { serveCronjobs } from '../jobs/index.ts'
import { keepUses } from './keep-uses.ts'
import { makeMetrics } from './metrics/metrics.ts'
import { openShared, type Shared } from './open-shared.ts'
import { makeReadiness, type Readiness } from './readiness.ts'
import type { ServerOptions } from './server-options.ts'

export interface HowToServe {
  /** Where they are at hand; else they are loaded from System. */
  readonly artifacts?: readonly Artifact[] | undefined
  /** Something beside the release is new, for example a variable: keep nothing. */
  readonly isFullReload?: boolean
  /** Once it aborts, code that is being loaded is waited for only a moment longer. */
  readonly signal?: AbortSignal
}

/** A server that listens. */
export interface WaypostServer {
  readonly host: Host
  readonly feed: Feed
  readonly port: number
  readonly outbound: Outbound
  readonly readiness: Readiness
  /** What `/metrics` says. */
  measure(): Promise<string>
  /** The terms of the release that is served. */
  terms(): ReleaseTerms
  /**
   * Brings up a release beside the one that is served, then swaps. In development what is the same stays in place.
   * @throws what kept it from coming up; the release before stays
   */
  serveRelease(release: StoredRelease, how?: HowToServe): Promise<void>
  /** Lets requests wait until the given function is called; while it starts they are refused when that takes long. */
  hold(isStarting?: boolean): () => void
  /** Goes on answering, and tells callers to open other connections. */
  drain(): void
  close(): Promise<void>
}

/** Starts to listen; it serves Waypost's own endpoints until a release is given to it. */
export async function startServer(options: ServerOptions): Promise<WaypostServer> {
  const { host, identity } = options
  let terms = defaultTerms
  await using opened = new AsyncDisposableStack()
  const feed = await startFeed(host.system, {
    clock: host.clock,
    onError: (error) => options.logger.warn({ reason: messageOf(error) }, 'reading the change feed failed'),
  })
  opened.defer(() => feed.close())
  const outbound = openOutbound({
    allow: () => terms.settings.delivery_allow,
    loopback: identity.isDevelopment,
    clock: host.clock,
    tracePost: options.tracing?.post,
  })
  opened.defer(() => outbound.close())
  const readiness = makeReadiness(host.system, feed)
  const measure = makeMetrics(host.system, { readiness, pressure: options.pressure, terms: () => terms })
  const shared = await openShared(options, { feed, outbound, readiness, measure, terms: () => terms })
  opened.defer(() => shared.guard.close())
  opened.defer(() => shared.stalls.stop())
  opened.defer(() => shared.registry.close())
  opened.defer(writeUses(shared))
  opened.defer(() => runHooks(shared, 'onClosed', undefined))
  let generation = makeLazyGeneration(() => buildFor(shared, undefined), options.logger)
  const listener = await openListener({
    ...options.address,
    pressure: options.pressure,
    refusedHost: options.refusedHost,
    connections: limitConnections(options),
    onError: (error) => options.logger.error({ err: error }, 'accepting a connection failed'),
    generation,
  })
  const cronjobs = await serveCronjobs(shared)
  opened.defer(async () => void (await Promise.all([cronjobs.stop(), listener.close(options.stopLimitMs)])))
  const closing = opened.move()
  return {
    host,
    feed,
    outbound,
    readiness,
    measure,
    port: listener.port,
    terms: () => terms,
    hold: listener.hold,
    drain: listener.drain,
    async serveRelease(release, { artifacts, signal, isFullReload = false } = {}) {
      const toServe = { release, artifacts, signal }
      await cronjobs.follow(toServe, async () => {
        const next = termsOf(release, host.variables)
        const isUpdated = options.isDevelopment && !isFullReload && (await generation.update(toServe))
        if (!isUpdated) generation = await buildFor(shared, toServe)
        terms = next
        if (!isUpdated) listener.swap(generation)
      })
      void runHooks(shared, 'onActivated', { id: release.id })
    },
    close: () => closing.disposeAsync(),
  }
}

/** Builds a generation when its first request arrives: when a server starts, its release usually comes first. */
function makeLazyGeneration(build: () => Promise<ReleaseGeneration>, logger: Logger): ReleaseGeneration {
  let built: Promise<ReleaseGeneration> | undefined
  return {
    routes: undefined,
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

function limitConnections({ host, logger }: ServerOptions): ConnectionLimits {
  return {
    maxConnections: readConnectionLimit(host.variables),
    onFull: (limit) =>
      logger.warn({ limit }, 'connection limit reached: closing idle connections or refusing new ones'),
  }
}

/** Keeps in System when tokens were used the last time. @returns the way to stop */
function writeUses({ guard, options: { host, logger } }: Shared): () => Promise<void> {
  const { stop } = keepUses({
    guard,
    system: host.system,
    onError: (error) => logger.warn({ err: error }, 'storing the last use of tokens failed'),
  })
  return stop
}

/** Tells plugins what happened. A hook that throws is logged and stops nothing. */
async function runHooks(
  { plugins, options }: Shared,
  name: 'onActivated' | 'onClosed',
  news: { readonly id: string } | undefined,
): Promise<void> {
  for (const plugin of plugins.plugins) {
    try {
      await plugin.hooks?.[name]?.(news as { readonly id: string })
    } catch (error) {
      options.logger.warn({ plugin: plugin.name, err: error }, `hook ${name} failed: ${messageOf(error)}`)
    }
  }
}
