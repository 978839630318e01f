import type { ConnectionRegistry } from '../../connection/index.ts'
import type { CronjobTypes, Log } from '../../contract/index.ts'
import { makeDispatcher } from '../../events/index.ts'
import type { PluginSet, PrepareConfig } from '../../plugin/index.ts'
import { assertServable } from '../../release/index.ts'
import { makeActionFinder, makeDataCheck, makeSchemaCache, runCronjob } from '../../runtime/index.ts'
import { loadModules, planCronjobs, resolveEnv, type Host, type Plan, type ToServe } from '../../host/index.ts'

/** What cronjobs need of the machine that they run on. */
export interface CronjobSources {
  readonly host: Host
  readonly plugins: PluginSet
  readonly prepareConfig: PrepareConfig
  readonly registry: ConnectionRegistry
}

/** The cronjobs of one release, with their code. */
export interface CronjobSet {
  readonly releaseId: string
  readonly plan: Plan
  /** Runs one; until it has ended, what it uses stays. @throws what the action throws */
  run(name: string, run: { readonly slot: number; readonly log: Log; readonly signal: AbortSignal }): Promise<void>
  /** Says that a run goes on, also when it is not waited for. @returns how to say that it does not any more */
  use(): () => void
  /** Gives back what they use when the last run has ended. */
  close(): Promise<void>
}

/**
 * Loads the code of a release's cronjobs and opens the connections of the release, if it has any cronjob.
 * @throws WP_SERVER_VARIABLE, WP_SERVER_VARIABLE_TYPE, WP_SERVER_CRONJOB, or what keeps its code from being loaded
 */
export async function openCronjobs(sources: CronjobSources, toRun: ToServe): Promise<CronjobSet> {
  const { host, registry, plugins, prepareConfig } = sources
  const { manifest, id } = toRun.release
  assertServable(manifest)
  const plan = planCronjobs(toRun.release, host.variables)
  const env = resolveEnv(host, toRun.release)
  const modules = await loadModules(host, toRun, Object.values(manifest.cronjobs))
  const actionFor = makeActionFinder({ modules, classes: plugins.actions, prepareConfig })
  const actions = new Map(Object.entries(manifest.cronjobs).map(([name, job]) => [name, actionFor(job)]))
  const connections = await registry.acquire(plan.size === 0 ? {} : manifest.connections)
  const check = makeDataCheck(makeSchemaCache(), () => manifest)
  const dispatcher = makeDispatcher(host.system, manifest.events, check)
  const contexts = { connections, clock: host.clock, dispatcher, env }
  const { promise: idle, resolve: letGo } = Promise.withResolvers<void>()
  let users = 1 // this set itself
  const release = () => {
    users -= 1
    if (users === 0) letGo()
  }
  let closed: Promise<void> | undefined
  return {
    releaseId: id,
    plan,
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
        closed = idle.then(() => connections.release())
        release()
      }
      return closed
    },
  }
}
