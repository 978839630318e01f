import { makeConnectionRegistry } from '../connection/index.ts'
import type { Databases } from '../contract/index.ts'
import type { Location } from '../definition/index.ts'
import { takeBreaks, type Diagnostic } from '../kit/index.ts'
import type { PluginSet } from '../plugin/index.ts'
import type { Manifest, ManifestAction } from '../release/index.ts'
import { errors } from './errors.ts'
import { findDatabases } from './find-databases.ts'
import type { Host } from './host.ts'
import { makeHostServices } from './load-plugins.ts'
import { databaseExists, silentLog } from './migrations/migration-databases.ts'

/** What would fail when a method is called. */
export interface FailingAction {
  readonly method: string
  readonly path: string
  readonly message: string
}

/** The parts of a manifest that are checked. */
export interface CheckedRoutes {
  readonly routes: readonly {
    readonly path: string
    readonly methods: readonly { readonly method: string; readonly action: ManifestAction }[]
  }[]
}

/**
 * Finds methods with action classes that would fail, without running them. Skips those whose connection is down.
 * @param connection returns the client of a connection
 * @param databases those of the connections
 */
export async function checkActions(
  { routes }: CheckedRoutes,
  { actions }: Pick<PluginSet, 'actions'>,
  { connection, databases }: { connection(name: string): Promise<unknown>; readonly databases: Databases },
): Promise<readonly FailingAction[]> {
  const found: FailingAction[] = []
  const mayBreak = takeBreaks()
  for (const { path, methods } of routes) {
    for (const { method, action } of methods) {
      if (!('class' in action)) continue
      const { check } = actions.get(action.class)?.class ?? {}
      try {
        const problems = (await check?.({ plan: action.plan, connection, databases })) ?? []
        for (const message of problems) found.push({ method, path, message })
      } catch {
        // The system does not respond, which is reported where it is opened or used.
      }
      await mayBreak()
    }
  }
  return found
}

/** The parts of a definition that say where actions are. */
export interface ActionPlaces {
  readonly routes: readonly {
    readonly path: string
    readonly methods: readonly { readonly method: string; readonly action: { readonly at: Location } }[]
  }[]
}

/**
 * Returns a diagnostic at the action of each method that would fail.
 * @param textOf returns the text of a definition file
 */
export async function diagnoseActions(
  { routes }: ActionPlaces,
  found: readonly FailingAction[],
  {
    severity,
    textOf,
  }: { readonly severity: Diagnostic['severity']; textOf(file: string): Promise<string | undefined> },
): Promise<readonly Diagnostic[]> {
  const diagnostics = found.map(async ({ method, path, message: problem }) => {
    const own = routes.filter((one) => one.path === path).flatMap(({ methods }) => methods)
    const used = own.find((one) => one.method === method)
    if (used === undefined) return []
    const { file, line, column } = used.action.at
    const source = (await textOf(file))?.split('\n')[line - 1]?.trimEnd() ?? ''
    const range = { start: { line, column }, end: { line, column: Math.max(source.length + 1, column) } }
    const { code, message, hint = '' } = errors.WP_HOST_ACTION({ method, path, problem })
    return [{ code, severity, message, hint, file, range, source }]
  })
  return (await Promise.all(diagnostics)).flat()
}

export interface CheckReleaseOptions {
  readonly host: Host
  readonly release: { readonly manifest: Pick<Manifest, 'connections'> & CheckedRoutes }
  readonly plugins: PluginSet
  /** Connections that are not ready for the release, for example because migrations are pending. */
  readonly unready: ReadonlySet<string>
}

/** Checks the actions of a release that is not served, with connections of its own. */
export async function checkReleaseActions(options: CheckReleaseOptions): Promise<readonly FailingAction[]> {
  const { host, release, plugins, unready } = options
  const { manifest } = release
  const registry = makeConnectionRegistry({
    variables: host.variables,
    folder: host.folder,
    log: silentLog,
    services: makeHostServices(host, silentLog),
    builtIn: {},
  })
  const opened = new Map<string, Promise<unknown>>()
  const open = async (name: string): Promise<unknown> => {
    if (unready.has(name) || !databaseExists(options, name)) throw new Error(`"${name}" is not ready`)
    if (name === 'System') return host.system.db
    const use = manifest.connections[name]
    const set = await registry.acquire(use === undefined ? {} : { [name]: use }, plugins.connections)
    return set.get(name).client
  }
  try {
    const connection = (name: string) => {
      const client = opened.get(name) ?? open(name)
      opened.set(name, client)
      return client
    }
    return await checkActions(manifest, plugins, {
      connection,
      databases: findDatabases(manifest, plugins, host.system),
    })
  } finally {
    await registry.close()
  }
}
