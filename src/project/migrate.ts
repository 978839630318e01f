import type { DatabaseKind } from '../contract/index.ts'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { openBuilder, type Builder } from '../build/index.ts'
import { isWaypostError, systemClock, variable, version, type Diagnostic, type Variables } from '../kit/index.ts'
import type { PluginSet } from '../plugin/index.ts'
import type { BuiltRelease } from '../release/index.ts'
import {
  fileOfMigration,
  loadMigrationModules,
  loadReleasePlugins,
  inspectDatabases,
  openHost,
  withDatabases,
  type AppliedMigration,
  type Host,
  type MigrationDatabases,
  variablesOfConnections,
  withSystemVariables,
} from '../host/index.ts'
import {
  applyMigrations,
  chooseMigrations,
  makeLock,
  migrateSystem,
  pendingSystemMigrations,
  planMigrations,
  systemMigrations,
  type DeclaredMigration,
  type WithLock,
} from '../store/index.ts'
import { writeStep } from '../tables/index.ts'
import type { ChosenForm } from './chosen-form.ts'
import { checkConnection, chooseConnection, commandFor } from './check-connection.ts'
import { errors } from './errors.ts'
import { findProject } from './find-project.ts'
import { assertBuilt, loadDespiteMissing, type BuiltProject, type LoadedProject } from './load-project.ts'
import type { SessionMigrations } from './session-migrations.ts'
import { writeTablesOf } from './write-tables-of.ts'

const alreadyLocked: WithLock = (_name, work) => work()

export interface MigrateOptions {
  readonly folder: string
  readonly variables: Variables
  /** Only this connection, besides Waypost's own tables. */
  readonly connection?: string | undefined
  /** The last migration to apply; by default all are applied. */
  readonly to?: string | undefined
  /** The forms of new times in columns of which rows disagree. */
  readonly forms?: readonly ChosenForm[] | undefined
  /** Only report what would run. */
  readonly dryRun?: boolean
  /** Stops the migrations, or the wait for another process. */
  readonly signal?: AbortSignal | undefined
  /** Called with the address of System before anything changes. */
  onTarget?(target: string): void
  onApplied?(applied: PreviewedMigration): void
  onDiagnostics?(diagnostics: readonly Diagnostic[]): void
  onWarning?(message: string): void
}

export interface LoadedRelease {
  readonly release: BuiltRelease
  readonly plugins: PluginSet
}

export interface MigrationReport {
  readonly applied: readonly PreviewedMigration[]
  /** Changed `tables.ts` and `tables.json` files. */
  readonly written: readonly string[]
}

/**
 * Migrates Waypost's own tables and then each connection with migrations, under one lock, and writes `tables.ts` and
 * `tables.json` of each connection. Without a project only Waypost's own tables are migrated.
 * @throws WP_PROJECT_BROKEN, WP_PROJECT_CONNECTION, WP_PROJECT_NOTHING_TO_MIGRATE, WP_PROJECT_FORM_UNUSED, WP_MIGRATE_FAILED, WP_MIGRATE_EDITED
 */
export async function migrateProject(options: MigrateOptions): Promise<MigrationReport> {
  const isProject = isProjectOf(options)
  const { forms = [], dryRun: isDry = false } = options
  if (forms.length > 0 && (isDry || !isProject)) {
    throw errors.WP_PROJECT_FORM_UNUSED({ where: isDry ? 'with --dry-run' : 'on a host without a project' })
  }
  const built = isProject ? await buildForMigration(options) : undefined
  if (isDry) return previewMigrations(options, built)
  const host = await openHost({ folder: options.folder, variables: options.variables, create: true, unmigrated: true })
  try {
    options.onTarget?.(host.system.target)
    const migrate = async () => {
      const applied = await migrateOwnTables(host, options)
      options.signal?.throwIfAborted()
      for (const one of applied) options.onApplied?.(one)
      if (built === undefined) return { applied, written: [] }
      const own = await withSystemVariables(host, variablesOfConnections(built.release.manifest))
      const report = await migrateConnections({ ...options, host: own, ...built })
      return { applied: [...applied, ...report.applied], written: report.written }
    }
    return await makeLock(host.system.database)('migrate', migrate, { signal: options.signal })
  } catch (error) {
    if (options.signal?.aborted && error === options.signal.reason) throw errors.WP_PROJECT_MIGRATE_STOPPED()
    throw error
  } finally {
    await host.close()
  }
}

/**
 * Whether the folder is that of a project; otherwise it must be that of a host.
 * @throws WP_PROJECT_NOTHING_TO_MIGRATE
 */
export function isProjectOf({ folder, variables }: Pick<MigrateOptions, 'folder' | 'variables'>): boolean {
  if (existsSync(path.join(folder, 'waypost.yml'))) return true
  if (variable(variables, 'WAYPOST_SYSTEM_URL') !== undefined) return false
  throw errors.WP_PROJECT_NOTHING_TO_MIGRATE({ folder })
}

export async function buildForMigration(
  options: Pick<MigrateOptions, 'folder' | 'connection' | 'to' | 'onDiagnostics'> & { readonly command?: string },
): Promise<LoadedRelease> {
  const project = findProject(options.folder)
  const builder = openBuilder({ ...project, version })
  try {
    const loaded = await loadDespiteMissing(project, { pluginBuilder: builder.plugins, describes: false })
    const release = assertBuilt(await buildMigrations(loaded, builder), (diagnostics) =>
      options.onDiagnostics?.(diagnostics),
    )
    // Before anything is opened or created, so that invalid migrations and names change nothing.
    const migrations = await loadMigrationModules(release)
    const plugins = await loadReleasePlugins({ folder: options.folder }, release)
    if (options.connection !== undefined) {
      // An existing database needs no migrations for a snapshot of its tables.
      const others = options.command === undefined ? databasesOf({ release, plugins }) : []
      checkConnection(options.connection, new Map([...migrations, ...others]))
    } else if (options.to !== undefined) {
      chooseConnection(`${options.command ?? 'migrate'} --to ${options.to}`, migrations)
    }
    return { release, plugins: await loadReleasePlugins({ folder: options.folder }, release) }
  } finally {
    await builder.close()
  }
}

/** Builds without actions, so that migrations run while the code that will use their tables is being written. */
async function buildMigrations(loaded: LoadedProject, builder: Builder): Promise<BuiltProject> {
  const { definition, diagnostics, plugins } = loaded
  if (definition === undefined) return loaded
  const built = await builder.build({ ...definition, routes: [], listeners: {}, cronjobs: {} }, { plugins })
  return { ...loaded, ...built, diagnostics: [...diagnostics, ...built.diagnostics] }
}

/** The connections that can have migrations. */
function databasesOf({ release, plugins }: LoadedRelease): readonly (readonly [name: string, migrations: []])[] {
  return Object.entries(release.manifest.connections).flatMap(([name, use]) =>
    plugins.connections.get(use.class)?.class.migrations === undefined ? [] : [[name, []] as const],
  )
}

/** Lists pending migrations. Creates nothing, not even System. */
async function previewMigrations(options: MigrateOptions, built: LoadedRelease | undefined): Promise<MigrationReport> {
  const host = await openExistingHost(options)
  try {
    options.onTarget?.(host?.system.target ?? 'a new .waypost/system.db')
    const own = host === undefined ? systemMigrations : await pendingSystemMigrations(host.system)
    const applied = own.map((name) => ({ connection: 'waypost', name, ms: 0 }))
    for (const one of applied) options.onApplied?.(one)
    if (built === undefined) return { applied, written: [] }
    const there = await describeHost(options, { host, built, isMigrated: own.length === 0 })
    return { applied: [...applied, ...(await previewConnections({ ...options, host: there, ...built }))], written: [] }
  } finally {
    await host?.close()
  }
}

/** What is known of a host whose System may not exist or not be migrated yet. */
export async function describeHost(
  { folder, variables }: MigrateOptions,
  { host, built, isMigrated }: { host: Host | undefined; built: LoadedRelease; isMigrated: boolean },
): Promise<MigrationDatabases['host']> {
  if (host === undefined) return { folder, variables, system: undefined, clock: systemClock }
  return isMigrated ? withSystemVariables(host, variablesOfConnections(built.release.manifest)) : host
}

export async function openExistingHost({ folder, variables }: MigrateOptions): Promise<Host | undefined> {
  try {
    return await openHost({ folder, variables, unmigrated: true })
  } catch (error) {
    if (isWaypostError(error) && error.code === 'WP_SERVER_NO_SYSTEM') return undefined
    throw error
  }
}

export async function migrateOwnTables(
  host: Host,
  { onWarning, signal }: Pick<MigrateOptions, 'onWarning' | 'signal'>,
): Promise<AppliedMigration[]> {
  const applied: AppliedMigration[] = []
  let startedAt = performance.now()
  const onApplied = (name: string) => {
    const now = performance.now()
    applied.push({ connection: 'waypost', name, ms: now - startedAt })
    startedAt = now
  }
  await migrateSystem(host.system, { onApplied, onWarning: (message) => onWarning?.(message), signal })
  return applied
}

export interface ConnectionsMigration {
  readonly host: MigrationDatabases['host'] & Pick<Host, 'clock' | 'system'>
  readonly release: BuiltRelease
  readonly plugins: PluginSet
  readonly connection?: string | undefined
  readonly folder: string
  /** Do not write `tables.ts` and `tables.json`. */
  readonly keepTables?: boolean
  readonly to?: string | undefined
  readonly forms?: readonly ChosenForm[] | undefined
  readonly signal?: AbortSignal | undefined
  onDiagnostics?(diagnostics: readonly Diagnostic[]): void
  /** Set by `dev`, which retries on each save. Migrations that are still stubs stay pending with a warning. */
  readonly dev?: { readonly session: SessionMigrations; warned(message: string): void }
  onApplied?(applied: AppliedMigration): void
}

/** Runs the project's migrations of each connection. The caller holds the lock. */
export async function migrateConnections(options: ConnectionsMigration): Promise<MigrationReport> {
  const migrations = await loadMigrationModules(options.release, options.host.imports)
  const names = chooseConnections(options.connection, migrations)
  const applied: AppliedMigration[] = []
  const written: string[] = []
  const before = options.dev?.session.open(options) ?? []
  await withDatabases(options, [...new Set([...names, ...before])], async (name, database) => {
    const own = migrations.get(name) ?? []
    const onApplied = (one: { readonly name: string; readonly ms: number }) => {
      applied.push({ connection: name, ...one })
      options.onApplied?.({ connection: name, ...one })
    }
    const { clock } = options.host
    const startedAt = clock.monotonic()
    const again = await options.dev?.session.redo(name, { ...database, migrations: own, clock })
    if (again !== undefined) onApplied({ name: again, ms: clock.monotonic() - startedAt })
    const nameOf = (one: string) => fileOfMigration(findMigration(options.release, { connection: name, name: one }))
    await applyMigrations({
      ...database,
      migrations: own,
      withLock: alreadyLocked,
      clock,
      to: options.to,
      signal: options.signal,
      redo: commandFor('migrate:redo', name, migrations),
      nameOf,
      ...(options.dev && {
        again: 'save it; dev runs it again',
        onNotImplemented: ([first, ...later]) => options.dev?.warned(describeNotImplemented(nameOf(first!), later)),
      }),
      onApplied(one) {
        options.dev?.session.noteApplied(
          name,
          own.find((migration) => migration.name === one.name)!,
        )
        onApplied(one)
      },
    })
    if (options.keepTables) return
    const { folder, forms, onDiagnostics } = options
    written.push(...(await writeTablesOf({ folder, name, database, forms, onDiagnostics })))
  })
  return { applied, written }
}

function findMigration({ manifest }: BuiltRelease, wanted: { readonly connection: string; readonly name: string }) {
  return manifest.migrations.find((one) => one.connection === wanted.connection && one.name === wanted.name) ?? wanted
}

function describeNotImplemented(file: string, later: readonly string[]): string {
  const those = later.length === 0 ? '' : `, as do the migrations after it: ${later.join(', ')}`
  return `${file} has no content yet and is skipped${those}`
}

/** A migration that would run. */
export interface PreviewedMigration extends AppliedMigration {
  /** The statements of a declared migration, on each database. */
  readonly sql?: Readonly<Record<DatabaseKind, readonly string[]>>
}

function writeSql({ steps }: DeclaredMigration): Pick<PreviewedMigration, 'sql'> {
  const write = (kind: DatabaseKind) => steps!.flatMap((step) => writeStep(step, kind))
  return steps === undefined ? {} : { sql: { sqlite: write('sqlite'), postgresql: write('postgresql') } }
}

/** Lists the pending migrations of each connection. Does not create missing databases. */
async function previewConnections(
  options: MigrateOptions & MigrationDatabases & LoadedRelease,
): Promise<readonly PreviewedMigration[]> {
  const modules = await loadMigrationModules(options.release)
  const listed: PreviewedMigration[] = []
  await inspectDatabases(options, chooseConnections(options.connection, modules), async (connection, database) => {
    const migrations = modules.get(connection) ?? []
    const redo = commandFor('migrate:redo', connection, modules)
    const plan = await planMigrations(database, migrations)
    const chosen = chooseMigrations(plan, { to: options.to, migrations, redo })
    listed.push(...chosen.map(({ name, migration }) => ({ connection, name, ms: 0, ...writeSql(migration) })))
  })
  for (const one of listed) options.onApplied?.(one)
  return listed
}

function chooseConnections(wanted: string | undefined, migrations: ReadonlyMap<string, unknown>): readonly string[] {
  return wanted === undefined ? [...migrations.keys()] : [wanted]
}
