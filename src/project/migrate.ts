import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import path from 'node:path'
import type { Kysely } from 'kysely'
import { openBuilder } from '../build/index.ts'
import { makeConnectionRegistry } from '../connection/index.ts'
import { nearest, variable, version, type Diagnostic, type Variables } from '../kit/index.ts'
import type { PluginSet } from '../plugin/index.ts'
import type { BuiltRelease } from '../release/index.ts'
import { openHost, quietLog, type Host } from '../server/index.ts'
import {
  applyMigrations,
  makeLock,
  migrateSystem,
  planMigrations,
  writeTables,
  type ProjectMigration,
  type SystemKind,
  type WithLock,
} from '../store/index.ts'
import { errors } from './errors.ts'
import { findProject } from './find-project.ts'
import { loadMigrationModules } from './load-migrations.ts'
import { assertBuilt, buildProject } from './load-project.ts'

export interface MigrateOptions {
  readonly folder: string
  readonly variables: Variables
  /** Only this connection, beside Waypost's own tables. */
  readonly connection?: string | undefined
  /** Called with System's address before anything is changed. */
  onTarget?(target: string): void
  onApplied?(applied: AppliedMigration): void
  onDiagnostics?(diagnostics: readonly Diagnostic[]): void
}

export interface AppliedMigration {
  /** `waypost` for Waypost's own. */
  readonly connection: string
  readonly name: string
  readonly ms: number
}

export interface MigrationReport {
  readonly applied: readonly AppliedMigration[]
  /** Files named `tables.ts` that changed. */
  readonly written: readonly string[]
}

/**
 * Brings up Waypost's own tables and then the migrations of every connection that has a folder, under one lock, and
 * writes each connection's `tables.ts`. A folder without a project gets Waypost's own tables only.
 * @throws WP_PROJECT_BROKEN, WP_PROJECT_CONNECTION, WP_PROJECT_NOTHING_TO_MIGRATE, WP_MIGRATE_FAILED, WP_MIGRATE_EDITED
 */
export async function migrateProject(options: MigrateOptions): Promise<MigrationReport> {
  const isProject = existsSync(path.join(options.folder, 'waypost.yml'))
  if (!isProject && variable(options.variables, 'WAYPOST_SYSTEM_URL') === undefined) {
    throw errors.WP_PROJECT_NOTHING_TO_MIGRATE({ folder: options.folder })
  }
  const built = isProject ? await buildForMigration(options) : undefined
  const host = await openHost({ folder: options.folder, variables: options.variables, create: true, unmigrated: true })
  try {
    options.onTarget?.(host.system.target)
    return await makeLock(host.system.database)('migrate', async () => {
      const applied = await migrateOwnTables(host)
      for (const one of applied) options.onApplied?.(one)
      if (built === undefined) return { applied, written: [] }
      const report = await migrateConnections({ ...options, host, ...built })
      return { applied: [...applied, ...report.applied], written: report.written }
    })
  } finally {
    await host.close()
  }
}

async function buildForMigration(options: MigrateOptions): Promise<{ release: BuiltRelease; plugins: PluginSet }> {
  const project = findProject(options.folder)
  const builder = openBuilder({ ...project, version })
  try {
    const built = await buildProject(project, builder)
    const release = assertBuilt(built, (diagnostics) => options.onDiagnostics?.(diagnostics))
    // Before anything is opened or made: what does not load or does not exist changes nothing.
    const migrations = await loadMigrationModules(release)
    if (options.connection !== undefined) checkName(options.connection, migrations)
    return { release, plugins: built.plugins }
  } finally {
    await builder.close()
  }
}

export async function migrateOwnTables(host: Host): Promise<AppliedMigration[]> {
  const began = performance.now()
  const names = await migrateSystem(host.system)
  return names.map((name) => ({ connection: 'waypost', name, ms: performance.now() - began }))
}

export interface ConnectionsMigration {
  readonly host: Host
  readonly release: BuiltRelease
  readonly plugins: PluginSet
  readonly connection?: string | undefined
  readonly folder: string
  /** Leave `tables.ts` as it is. */
  readonly keepTables?: boolean
  onApplied?(applied: AppliedMigration): void
}

/** Runs the project's migrations of each connection. The caller holds the lock. */
export async function migrateConnections(options: ConnectionsMigration): Promise<MigrationReport> {
  const migrations = await loadMigrationModules(options.release)
  const names = options.connection === undefined ? [...migrations.keys()] : [checkName(options.connection, migrations)]
  const applied: AppliedMigration[] = []
  const written: string[] = []
  await withDatabases(options, names, async (name, database) => {
    await applyMigrations({
      ...database,
      migrations: migrations.get(name) ?? [],
      withLock: alreadyLocked,
      clock: options.host.clock,
      onApplied: (one: { name: string; ms: number }) => {
        applied.push({ connection: name, ...one })
        options.onApplied?.({ connection: name, ...one })
      },
    })
    if (options.keepTables) return
    const file = path.join('migrations', name, 'tables.ts')
    if (await writeIfChanged(path.join(options.folder, file), await writeTables(database.db, database.kind)))
      written.push(file)
  })
  return { applied, written }
}

const alreadyLocked: WithLock = (_name, work) => work()

/** The migrations of a release that have not run on the target, as `Connection/name`. @throws WP_PROJECT_MIGRATIONS_EDITED */
export async function pendingMigrations(options: Omit<ConnectionsMigration, 'folder'>): Promise<readonly string[]> {
  const migrations = await loadMigrationModules(options.release)
  const pending: string[] = []
  const edited: string[] = []
  await withDatabases(options, [...migrations.keys()], async (name, database) => {
    const plan = await planMigrations(database.db, migrations.get(name) ?? [])
    pending.push(...plan.pending.map((one: ProjectMigration) => `${name}/${one.name}`))
    edited.push(...plan.edited.map((one) => `${name}/${one}`))
  })
  if (edited.length > 0) throw errors.WP_PROJECT_MIGRATIONS_EDITED({ names: edited.join(', ') })
  return pending
}

interface ConnectionDatabase {
  // oxlint-disable-next-line typescript/no-explicit-any -- the tables are the project's
  readonly db: Kysely<any>
  readonly kind: SystemKind
}

/** Opens the database of each connection in turn; System's own is open already. */
async function withDatabases(
  { host, release, plugins }: Pick<ConnectionsMigration, 'host' | 'release' | 'plugins'>,
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
        await work(name, { db: system.db, kind: system.kind })
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

function checkName(name: string, migrations: ReadonlyMap<string, unknown>): string {
  if (migrations.has(name) || name === 'System') return name
  const names = ['System', ...migrations.keys()]
  const guess = nearest(name, names)
  throw errors.WP_PROJECT_CONNECTION({
    name,
    hint:
      guess === undefined ? `There is migrations/ for: ${[...new Set(names)].join(', ')}.` : `Did you mean "${guess}"?`,
  })
}

async function writeIfChanged(file: string, text: string): Promise<boolean> {
  const before = await readFile(file, 'utf8').catch(() => undefined)
  if (before === text) return false
  await mkdir(path.dirname(file), { recursive: true })
  await writeFile(file, text)
  return true
}
