import { makeConnectionRegistry } from '../../connection/index.ts'
import { makeConfigPreparer, type PluginSet } from '../../plugin/index.ts'
import type { Manifest } from '../../release/index.ts'
import type { Host } from '../host.ts'
import { errors } from '../errors.ts'
import type { Log } from '../../contract/index.ts'
import { makeHostServices } from '../load-plugins.ts'
import type { ConnectionDatabase } from '../../store/index.ts'

export interface MigrationDatabases {
  /** Without System, only other connections are opened. */
  readonly host: Pick<Host, 'folder' | 'variables' | 'imports' | 'clock'> & {
    readonly system: Host['system'] | undefined
  }
  readonly release: { readonly manifest: Pick<Manifest, 'connections'> }
  readonly plugins: PluginSet
}

/** Opens the database of each connection in turn. System's own database is already open. */
export async function withDatabases(
  { host, release, plugins }: MigrationDatabases,
  names: readonly string[],
  work: (name: string, database: ConnectionDatabase) => Promise<void>,
): Promise<void> {
  const { system } = host
  const registry = makeConnectionRegistry({
    variables: host.variables,
    folder: host.folder,
    log: silentLog,
    services: makeHostServices(host, silentLog),
    builtIn: {},
  })
  try {
    for (const name of names) {
      if (name === 'System') {
        if (system !== undefined) await work(name, { db: system.db, kind: system.kind })
        continue
      }
      const use = release.manifest.connections[name]
      if (use === undefined) throw errors.WP_SERVER_MIGRATION_CONNECTION({ name })
      const kind = plugins.connections.get(use.class)?.class.migrations
      if (kind === undefined) throw errors.WP_SERVER_MIGRATION_CLASS({ name, class: use.class })
      const set = await registry.acquire({ [name]: use }, plugins.connections)
      await work(name, { db: set.get(name).client as ConnectionDatabase['db'], kind })
      await set.release()
    }
  } finally {
    await registry.close()
  }
}

/** Like `withDatabases`, but creates no database: passes undefined if it does not exist yet. */
export async function inspectDatabases(
  options: MigrationDatabases,
  names: readonly string[],
  work: (name: string, database: ConnectionDatabase | undefined) => Promise<void>,
): Promise<void> {
  for (const name of names) {
    if (databaseExists(options, name)) await withDatabases(options, [name], work)
    else await work(name, undefined)
  }
}

/** Errors of a connection are reported when it is opened. */
export function databaseExists({ host, release, plugins }: MigrationDatabases, name: string): boolean {
  if (name === 'System') return host.system !== undefined
  const use = release.manifest.connections[name]
  const found = use && plugins.connections.get(use.class)?.class
  if (use === undefined || found?.isThere === undefined) return true
  const prepared = makeConfigPreparer(host.variables)(found.config, use.config)
  return !('config' in prepared) || found.isThere(prepared.config, { folder: host.folder })
}

/** A silent log, for commands that print their own messages. */
export const silentLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
}
