import type { ConnectionRegistry } from '../../connection/index.ts'
import type { CronjobTypes, Log } from '../../contract/index.ts'
import { makeDispatcher } from '../../events/index.ts'
import type { PrepareConfig, ServicesOf } from '../../plugin/index.ts'
import { assertServable, useArtifacts, type ClosedModules } from '../../release/index.ts'
import { makeActions, makeDataCheck, makeSchemaCache, runCronjob, type CodeSources } from '../../runtime/index.ts'
import {
  catalogOf,
  findDatabases,
  loadModules,
  resolveCronjobs,
  resolveEnv,
  type Host,
  type LoadPlugins,
  type ResolvedCronjobs,
  type ReleaseToServe,
} from '../../host/index.ts'
import { withCalls } from '../open-calls.ts'

/** The resources of this host that cronjobs use. */
export interface CronjobSources {
  readonly host: Host
  readonly loadPlugins: LoadPlugins
  readonly services: ServicesOf
  readonly prepareConfig: PrepareConfig
  readonly registry: ConnectionRegistry
  readonly isDevelopment: boolean
  /** Called when the code of cronjobs was closed. */
  onClosed(closed: ClosedModules): void
}

/** The cronjobs of one release, with their code. */
export interface CronjobSet {
  readonly releaseId: string
  readonly cronjobs: ResolvedCronjobs
  /**
   * Runs one cronjob. Its resources stay open until it has ended.
   * @throws what the action throws
   */
  run(name: string, run: { readonly slot: number; readonly log: Log; readonly signal: AbortSignal }): Promise<void>
  /**
   * Keeps the resources open for a run, even if nothing waits for it.
   * @returns a function that releases them
   */
  use(): () => void
  /** Releases the resources when the last run has ended. */
  close(): Promise<void>
}

/**
 * Loads the code of a release's cronjobs. Opens the connections of the release if it has a cronjob.
 * @throws WP_SERVER_VARIABLE, WP_SERVER_VARIABLE_TYPE, WP_SERVER_CRONJOB, or the error of code that cannot be loaded
 */
export async function openCronjobs(sources: CronjobSources, toRun: ReleaseToServe): Promise<CronjobSet> {
  const { host, registry, prepareConfig, services } = sources
  const { manifest, id } = toRun.release
  assertServable(manifest)
  const cronjobs = resolveCronjobs(toRun.release, host.variables)
  const env = resolveEnv(host, toRun.release)
  const use = useArtifacts(cronjobs.size === 0 ? [] : toRun.artifacts, sources)
  await using opened = new AsyncDisposableStack()
  opened.defer(async () => sources.onClosed(await use.end()))
  const plugins = await sources.loadPlugins({ ...toRun, manifest })
  const names = Object.keys(manifest.cronjobs)
  const databases = findDatabases(manifest, plugins, host.system)
  const load: CodeSources['load'] = (wanted) => loadModules(host, toRun, wanted)
  const code = { load, classes: plugins.actions, steps: plugins.steps, prepareConfig, databases, services }
  const made = await makeActions(
    { ...code, ...(await load(Object.values(manifest.cronjobs))) },
    Object.values(manifest.cronjobs),
  )
  const actions = new Map(names.map((name, index) => [name, made[index]!]))
  const connections = await registry.acquire(cronjobs.size === 0 ? {} : manifest.connections, plugins.connections)
  opened.defer(() => connections.release())
  const check = makeDataCheck(makeSchemaCache(), () => manifest)
  const dispatcher = makeDispatcher(host.system, catalogOf(manifest), check)
  const contexts = withCalls(
    { connections, clock: host.clock, dispatcher, env },
    { host, release: toRun.release, code },
  )
  const { promise: idle, resolve: markIdle } = Promise.withResolvers<void>()
  let users = 1 // the set itself
  const release = () => {
    users -= 1
    if (users === 0) markIdle()
  }
  let closed: Promise<void> | undefined
  const closers = opened.move()
  return {
    releaseId: id,
    cronjobs,
    use() {
      users += 1
      return release
    },
    async run(name, { slot, log, signal }) {
      const params: CronjobTypes['params'] = { cronjob: name, slot: new Date(slot).toISOString() }
      await runCronjob(actions.get(name)!, contexts, { params, log, signal })
    },
    close() {
      if (closed === undefined) {
        closed = idle.then(() => closers.disposeAsync())
        release()
      }
      return closed
    },
  }
}
