import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Kysely } from 'kysely'
import { makeConnectionRegistry } from '../connection/index.ts'
import { nearest } from '../kit/index.ts'
import { makeConfigPreparer, type PluginSet } from '../plugin/index.ts'
import type { BuiltRelease } from '../release/index.ts'
import { quietLog, type Host } from '../server/index.ts'
import { writeTables, type SystemKind } from '../store/index.ts'
import { errors } from './errors.ts'

export interface ConnectionDatabase {
  // oxlint-disable-next-line typescript/no-explicit-any -- the tables are the project's
  readonly db: Kysely<any>
  readonly kind: SystemKind
}

export interface MigrationDatabases {
  /** Without System only the other connections are opened. */
  readonly host: Pick<Host, 'folder' | 'variables' | 'imports'> & { readonly system: Host['system'] | undefined }
  readonly release: BuiltRelease
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
      if (use === undefined)
        throw errors.WP_PROJECT_CONNECTION({ name, hint: `Name it under connection: in waypost.yml.` })
      const kind = plugins.connections.get(use.class)?.migrations
      if (kind === undefined) throw errors.WP_PROJECT_CONNECTION_MIGRATIONS({ name, class: use.class })
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

export function checkConnection(name: string, migrations: ReadonlyMap<string, unknown>): string {
  if (migrations.has(name) || name === 'System') return name
  const names = ['System', ...migrations.keys()]
  const guess = nearest(name, names)
  throw errors.WP_PROJECT_CONNECTION({
    name,
    hint:
      guess === undefined ? `There is migrations/ for: ${[...new Set(names)].join(', ')}.` : `Did you mean "${guess}"?`,
  })
}

/** Writes the types of a connection's tables. @returns the file, where it is another one now */
export async function writeTablesOf(
  folder: string,
  name: string,
  { db, kind }: ConnectionDatabase,
): Promise<readonly string[]> {
  const file = path.join('migrations', name, 'tables.ts')
  return (await writeIfChanged(path.join(folder, file), await writeTables(db, kind))) ? [file] : []
}

async function writeIfChanged(file: string, text: string): Promise<boolean> {
  const before = await readFile(file, 'utf8').catch(() => undefined)
  if (before === text) return false
  await mkdir(path.dirname(file), { recursive: true })
  await writeFile(file, text)
  return true
}
