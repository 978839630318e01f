import { safeMessageOf, shortId, variable, type Variables } from '../../kit/index.ts'
import {
  loadActiveId,
  loadActiveRelease,
  recordReleaseServed,
  listServedReleases,
  loadManifest,
  type Manifest,
} from '../../release/index.ts'
import type { Logger } from '../../runtime/index.ts'
import { refreshVariables, type ServerReport } from '../../host/index.ts'
import type { ChangeKind } from '../../store/index.ts'
import type { WaypostServer } from '../start-server.ts'

export interface FollowerOptions {
  readonly server: WaypostServer
  readonly logger: Logger
  readonly report: ServerReport
  /** Delay before a failed release is retried for the first time; doubled for each further retry. */
  readonly retryMs: number
  /** Reloads the environment of this server, whose variables may have been fixed. */
  refresh?(): void
}

const maxRetryMs = 60_000

/**
 * Serves the active release, now and after each activation, and again after a change of variables that it uses. Retries
 * failures.
 */
export class Follower {
  readonly #options: FollowerOptions
  readonly #stopListening: () => void
  #served: string | undefined
  /** The values with which it was built of the variables that it uses. */
  #values: Variables = {}
  /** The variables with other values in what is being loaded; empty for another release. */
  #changing: readonly string[] = []
  /** Whether variables may have changed since. */
  #isOutdated = false
  /** The release that last failed, and why. */
  #failed: { readonly id: string | undefined; readonly reason: string } | undefined
  #retries = 0
  #running: Promise<void> = Promise.resolve()
  #superseded = new AbortController()
  #retry: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(options: FollowerOptions) {
    this.#options = options
    this.#stopListening = options.server.feed.listen((changes) => {
      const hasChanged = (kind: ChangeKind) => changes === 'reset' || changes.some((change) => change.kind === kind)
      if (hasChanged('variable')) this.#isOutdated = true
      if (hasChanged('activation') || this.#isOutdated) this.#changed()
    })
  }

  /** Serves the active release or, if that fails, the last release that any server could serve. Never throws. */
  async start(): Promise<void> {
    void this.#catchUp()
    this.#running = this.#running.then(() => this.#fallBack()) // after any activation that is already being processed
    await this.#running
  }

  async #fallBack(): Promise<void> {
    const failed = this.#failed
    if (this.#served !== undefined || failed?.id === undefined || this.#isStopped) return
    const id = await fallBack(this.#options, failed.id)
    if (id === undefined) return
    this.#served = id
    this.#updateReadiness()
    const { report } = this.#options
    await report
      .update({ state: 'failed', release: id, wanted: failed.id, error: failed.reason })
      .catch(() => undefined)
  }

  /** Waits for a release that is being loaded. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#retry)
    this.#stopListening()
    this.#superseded.abort()
    await this.#running
  }

  /** Another release was activated or variables changed, so stop waiting for what is being loaded. */
  #changed(): void {
    this.#retries = 0
    this.#superseded.abort()
    void this.#catchUp()
  }

  #catchUp(): Promise<void> {
    clearTimeout(this.#retry)
    this.#running = this.#running.then(() => this.#update())
    return this.#running
  }

  async #update(): Promise<void> {
    const { server, logger, report } = this.#options
    const { system } = server.host
    this.#superseded = new AbortController()
    let wanted: string | undefined
    try {
      wanted = await loadActiveId(system)
      if (this.#isStopped || wanted === undefined) return
      if (wanted === this.#served && this.#failed === undefined && !this.#isOutdated) return
      this.#isOutdated = false
      const isRebuilt = await this.#serve(wanted)
      if (!isRebuilt && this.#failed === undefined) return
      this.#failed = undefined
      this.#retries = 0
      this.#updateReadiness()
      logger.info({ release: shortId(wanted) }, 'release activated')
      await report.update({ state: 'serving', release: wanted })
      await recordReleaseServed(system, wanted)
    } catch (error) {
      await this.#fail(wanted, error)
    }
  }

  /** @returns false if the release is already served with the same values of its variables */
  async #serve(wanted: string): Promise<boolean> {
    const { server, report, refresh } = this.#options
    const { host } = server
    // During a retry the row keeps the error and its time.
    const reportSwap = () => report.update({ state: 'swapping', wanted }).catch(() => undefined)
    const isSame = wanted === this.#served
    this.#changing = []
    if (!isSame && wanted !== this.#failed?.id) await reportSwap()
    refresh?.()
    const release = await loadActiveRelease(host.system)
    if (release === undefined || release.id !== wanted) throw new Superseded() // the feed will report the new one
    await refreshVariables(host)
    const values = valuesFor(release.manifest, host.variables)
    const changed = Object.keys(values).filter((name) => values[name] !== this.#values[name])
    if (isSame && changed.length === 0) return false
    if (isSame && this.#failed === undefined) await reportSwap()
    const changedVariables = isSame ? changed : undefined
    this.#changing = changedVariables ?? []
    await server.serveRelease(release, { signal: this.#superseded.signal, changedVariables })
    this.#served = wanted
    this.#values = values
    return true
  }

  async #fail(wanted: string | undefined, error: unknown): Promise<void> {
    const { logger, report, retryMs } = this.#options
    if (this.#isStopped) return
    const isSuperseded = error instanceof Superseded || this.#superseded.signal.aborted
    const isKnown = this.#failed !== undefined && this.#failed.id === wanted
    const hasOtherValues = wanted !== undefined && wanted === this.#served && this.#changing.length > 0
    const message = safeMessageOf(error)
    const unnamed = hasOtherValues ? this.#changing.filter((name) => !message.includes(name)) : []
    const reason = unnamed.length === 0 ? message : `${unnamed.join(', ')}: ${message}`
    this.#failed = { id: wanted, reason }
    this.#updateReadiness()
    const pauseMs = isSuperseded ? 0 : Math.min(retryMs * 2 ** this.#retries++, maxRetryMs)
    const line = { err: error, ...(wanted === undefined ? {} : { release: shortId(wanted) }), retryMs: pauseMs }
    if (isSuperseded) logger.info(line, 'activation abandoned for a newer release')
    else if (isKnown) logger.warn(line, 'active release still fails to start')
    else if (wanted === this.#served)
      logger.error(line, 'changed variables failed; still serving with their previous values')
    else logger.error(line, 'active release failed to start; still serving the previous release')
    if (!isSuperseded) await report.update({ state: 'failed', wanted, error: reason }).catch(() => undefined)
    if (!this.#isStopped) this.#retry = setTimeout(() => void this.#catchUp(), pauseMs).unref()
  }

  #updateReadiness(): void {
    const { readiness } = this.#options.server
    const hasNoRelease = this.#failed !== undefined && this.#served === undefined
    readiness.block('release', hasNoRelease ? 'The active release failed to start' : undefined)
    readiness.isBehind = this.#failed !== undefined
  }
}

/** Returns the values of the variables that a release uses. */
function valuesFor({ variables: used }: Manifest, variables: Variables): Variables {
  return Object.fromEntries(Object.keys(used).map((name) => [name, variable(variables, name)]))
}

/** Another release was activated while one was being loaded. */
class Superseded extends Error {}

/** Older releases are unlikely to match the current environment. */
const maxFallbacks = 3

/**
 * Serves the last release that any server of this System could serve, for a server that starts while the active release
 * fails.
 * @returns its id; undefined if there is none or none can be served
 */
export async function fallBack(
  { server, logger }: { readonly server: WaypostServer; readonly logger: Logger },
  failed: string,
): Promise<string | undefined> {
  const { system } = server.host
  const ids = await listServedReleases(system, { except: failed, limit: maxFallbacks }).catch(() => [])
  for (const id of ids) {
    const names = { release: shortId(id), active: shortId(failed) }
    try {
      const manifest = await loadManifest(system, id)
      await refreshVariables(server.host)
      await server.serveRelease({ id, manifest, activatedAt: 0, activatedBy: '' })
      logger.error(names, 'active release failed to start; serving the last release that started')
      return id
    } catch (error) {
      logger.error({ ...names, err: error }, 'earlier release failed to start')
    }
  }
  logger.error({ active: shortId(failed) }, 'no release could be started; no project routes are served')
  return undefined
}
