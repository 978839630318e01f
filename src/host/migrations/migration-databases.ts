import type { Kysely } from 'kysely'
import { makeConnectionRegistry } from '../../connection/index.ts'
import { makeConfigPreparer, type PluginSet } from '../../plugin/index.ts'
import type { Manifest } from '../../release/index.ts'
import type { SystemKind } from '../../store/index.ts'
import type { Host } from '../host.ts'
import { errors } from '../errors.ts'
import type { Log } from '../../contract/index.ts'

export interface ConnectionDatabase {
  // oxlint-disable-next-line typescript/no-explicit-any -- the tables are the project's
  readonly db: Kysely<any>
  readonly kind: SystemKind
}

export interface MigrationDatabases {
  /** Without System only the other connections are opened. */
  readonly host: Pick<Host, 'folder' | 'variables' | 'imports'> & { readonly system: Host['system'] | undefined }
  readonly release: { readonly manifest: Pick<Manifest, 'connections'> }
  readonly plugins: PluginSet
}

/** Opens the database of each connection in turn; System's own is open already. */
export async function withDatabases(
  { host, release, plugins }: MigrationDatabases,
  names: readonly string[],
  work: (name: string, database: ConnectionDatabase) => Promise<void>,
): Promise<void> {
  const { system } = host
  const registry = makeConnectionRegistry({
    classes: plugins.connections,
    variables: host.variables,
    folder: host.folder,
    log: quietLog,
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
      const kind = plugins.connections.get(use.class)?.migrations
      if (kind === undefined) throw errors.WP_SERVER_MIGRATION_CLASS({ name, class: use.class })
      const set = await registry.acquire({ [name]: use })
      await work(name, { db: set.get(name).client as ConnectionDatabase['db'], kind })
      await set.release()
    }
  } finally {
    await registry.close()
  }
}

/** As `withDatabases`, but makes none: of one that is not there yet there is nothing. */
export async function lookAtDatabases(
  options: MigrationDatabases,
  names: readonly string[],
  work: (name: string, database: ConnectionDatabase | undefined) => Promise<void>,
): Promise<void> {
  for (const name of names) {
    if (isThere(options, name)) await withDatabases(options, [name], work)
    else await work(name, undefined)
  }
}

/** What is wrong with a connection is said by who opens it. */
function isThere({ host, release, plugins }: MigrationDatabases, name: string): boolean {
  if (name === 'System') return host.system !== undefined
  const use = release.manifest.connections[name]
  const found = use && plugins.connections.get(use.class)
  if (use === undefined || found?.isThere === undefined) return true
  const prepared = makeConfigPreparer(host.variables)(found.config, use.config)
  return !('config' in prepared) || found.isThere(prepared.config, { folder: host.folder })
}

/** A log for commands, which say what they have to say themselves. */
export const quietLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
}
