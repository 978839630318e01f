import { makeConnectionRegistry } from '../../connection/index.ts'
import type { Context, CronjobTypes, Log } from '../../contract/index.ts'
import { makeDispatcher } from '../../events/index.ts'
import {
  loadModules,
  logClosed,
  makeHostServices,
  resolveEnv,
  systemConnection,
  termsOf,
  type Host,
} from '../../host/index.ts'
import { withDeadlineAfterAbort } from '../../kit/index.ts'
import type { PluginSet } from '../../plugin/index.ts'
import { serializeRelease, useArtifacts } from '../../release/index.ts'
import { makeDataCheck, makeSchemaCache, runCronjob } from '../../runtime/index.ts'
import type { BuiltScripts } from './build-scripts.ts'
import { errors } from '../errors.ts'

export interface ScriptSources extends BuiltScripts {
  readonly host: Host
  readonly plugins: PluginSet
  readonly log: Log
  /** Whether dispatched events are stored; otherwise they are only checked. */
  readonly sendsEvents: boolean
  /** When it aborts, a script has `graceMs` to end. */
  readonly signal?: AbortSignal | undefined
}

/** Scripts that were loaded, and the connections that they use. */
export interface OpenedScripts {
  /** The default export of a script. */
  load(file: string): Promise<unknown>
  /**
   * Runs code with the context of a cronjob's action.
   * @throws what the code throws, or the reason of the abort
   */
  run(file: string, work: ScriptRun, args?: readonly string[]): Promise<void>
  close(): Promise<void>
}

export type ScriptRun = (context: Context<'cronjob'>, request: { readonly params: CronjobTypes['params'] }) => unknown

/** How long a script that was stopped may continue. */
const graceMs = 10_000

/**
 * Opens the connections of a project for its scripts.
 * @throws WP_SERVER_VARIABLE, WP_SERVER_VARIABLE_TYPE, or the error of a connection
 */
export async function openScripts(sources: ScriptSources): Promise<OpenedScripts> {
  const { host, release, hashes, plugins, log, signal } = sources
  const { manifest, artifacts } = release
  const stored = { id: serializeRelease(release).id, manifest, activatedAt: host.clock.now(), activatedBy: '' }
  const env = resolveEnv(host, stored)
  const services = makeHostServices(host, log, () => termsOf(stored, host.variables).settings.delivery_allow)
  await using opened = new AsyncDisposableStack()
  const registry = makeConnectionRegistry({
    variables: host.variables,
    folder: host.folder,
    log,
    services,
    builtIn: { System: systemConnection(host.system) },
  })
  opened.defer(() => registry.close())
  const use = useArtifacts(artifacts, { isDevelopment: false })
  opened.defer(async () => logClosed({ left: [], errors: (await use.end()).errors }, log))
  const connections = await registry.acquire(manifest.connections, plugins.connections)
  opened.defer(() => connections.release())
  const check = makeDataCheck(makeSchemaCache(), () => manifest)
  const dispatcher = makeDispatcher(host.system, manifest.events, check)
  const contexts = {
    connections,
    clock: host.clock,
    dispatcher: sources.sendsEvents ? dispatcher : { ...dispatcher, store: async () => undefined },
    env,
  }
  const closers = opened.move()
  return {
    async load(file) {
      const hash = hashes.get(file)!
      const { modules } = await loadModules(host, { release: stored, artifacts, signal }, [
        { action: { artifact: hash, file } },
      ])
      return modules.get(hash)
    },
    async run(file, work, args) {
      const slot = new Date(host.clock.now()).toISOString()
      const params = { cronjob: file, slot, ...(args === undefined ? {} : { args }) }
      const running = runCronjob({ handle: (request, context) => work(context, request) }, contexts, {
        params,
        log,
        signal: signal ?? new AbortController().signal,
      })
      const late = () => {
        throw errors.WP_PROJECT_SCRIPT_STOPPED({ file, seconds: graceMs / 1000 })
      }
      await withDeadlineAfterAbort(running, { signal, limitMs: () => graceMs, late })
    },
    close: () => closers.disposeAsync(),
  }
}
