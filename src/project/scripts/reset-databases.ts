import {
  inspectDatabases,
  loadMigrationModules,
  loadReleasePlugins,
  nameTarget,
  openHost,
  refreshVariables,
  withDatabases,
  type AppliedMigration,
  type Host,
} from '../../host/index.ts'
import { markActionLogger, type Diagnostic, type Variables } from '../../kit/index.ts'
import { wasDeployed } from '../../release/index.ts'
import { dropTables, forgetSeeds, hasAppliedMigrations, listDroppedTables, makeLock } from '../../store/index.ts'
import type { DevConsole } from '../dev-console.ts'
import { makeDevLogger } from '../dev-logger.ts'
import { notifyMigrated } from '../dev-server-file.ts'
import { errors } from '../errors.ts'
import { buildForMigration, migrateConnections, type LoadedRelease, type MigrationReport } from '../migrate.ts'
import { buildScripts } from './build-scripts.ts'
import { listSeeds } from './find-seeds.ts'
import { runSeeds, type RanSeed } from './run-seeds.ts'

export interface ResetOptions {
  readonly folder: string
  readonly variables: Variables
  /** Only this connection; by default all that have migrations. */
  readonly connection?: string | undefined
  /** Whether the seeds of the project run afterwards. */
  readonly isSeeded: boolean
  readonly console: Pick<DevConsole, 'logged'>
  /** Called when it begins. Returns a signal that stops it. */
  stopSignal?(): AbortSignal
  /** Called with the address of System before anything changes. */
  onTarget?(target: string): void
  /** Called before anything changes. */
  confirm(plan: readonly ResetPlan[]): Promise<boolean>
  onApplied?(applied: AppliedMigration): void
  onRan?(seed: RanSeed): void
  onDiagnostics?(diagnostics: readonly Diagnostic[]): void
}

/** What is dropped. */
export interface ResetPlan {
  readonly connection: string
  readonly tables: readonly string[]
}

export interface ResetReport extends MigrationReport {
  readonly dropped: readonly ResetPlan[]
  readonly seeded: readonly RanSeed[]
}

/**
 * Drops the tables of the connections of a project, applies all migrations and runs the seeds.
 * @returns undefined if it was not confirmed
 * @throws WP_PROJECT_RESET_DEPLOYED, WP_PROJECT_RESET_FOREIGN, WP_PROJECT_RESET_NOTHING, WP_PROJECT_CONNECTION,
 * WP_PROJECT_BROKEN, WP_MIGRATE_FAILED, WP_PROJECT_SEED_FAILED
 */
export async function resetDatabases(options: ResetOptions): Promise<ResetReport | undefined> {
  const { folder, variables, connection } = options
  const built = await buildForMigration({ ...options, command: 'db:reset' })
  const modules = await loadMigrationModules(built.release)
  const names = connection === undefined ? [...modules.keys()] : [connection]
  if (names.length === 0) throw errors.WP_PROJECT_RESET_NOTHING()
  const host = await openHost({ folder, variables })
  try {
    const target = nameTarget(host)
    options.onTarget?.(target)
    if (await wasDeployed(host.system)) throw errors.WP_PROJECT_RESET_DEPLOYED({ target })
    await refreshVariables(host)
    const report = await makeLock(host.system.database)('migrate', () => reset({ ...options, ...built, host, names }))
    if (report !== undefined) await notifyMigrated(folder)
    return report
  } finally {
    await host.close()
  }
}

interface Reset extends ResetOptions, LoadedRelease {
  readonly host: Host
  readonly names: readonly string[]
}

async function reset(toReset: Reset): Promise<ResetReport | undefined> {
  const { host, folder, names, isSeeded, console } = toReset
  const plan = await planReset(toReset)
  const seeds = isSeeded ? listSeeds(folder) : []
  // Before anything is dropped, so that invalid seeds change nothing.
  const files = seeds.map(({ file }) => file)
  const scripts = files.length === 0 ? undefined : await buildScripts({ ...toReset, variables: host.variables, files })
  if (!(await toReset.confirm(plan))) return undefined
  const signal = toReset.stopSignal?.()
  await withDatabases(toReset, names, (_, database) => dropTables(database, { signal }))
  await forgetSeeds(host.system)
  const migrated = await migrateConnections({ ...toReset, signal })
  if (scripts === undefined) return { dropped: plan, ...migrated, seeded: [] }
  const plugins = await loadReleasePlugins(host, scripts.release)
  const log = markActionLogger(makeDevLogger(host, console))
  const seeded = await runSeeds({ ...toReset, ...scripts, plugins, log, seeds, sendsEvents: false, signal })
  return { dropped: plan, ...migrated, seeded }
}

/** @throws WP_PROJECT_RESET_DEPLOYED, WP_PROJECT_RESET_FOREIGN */
async function planReset({ names, ...databases }: Reset): Promise<readonly ResetPlan[]> {
  const plan: ResetPlan[] = []
  await inspectDatabases(databases, names, async (connection, database) => {
    const tables = database === undefined ? [] : await listDroppedTables(database)
    plan.push({ connection, tables })
    if (database === undefined || tables.length === 0) return
    if (await wasDeployed(database)) throw errors.WP_PROJECT_RESET_DEPLOYED({ target: `the database of ${connection}` })
    if (!(await hasAppliedMigrations(database))) throw errors.WP_PROJECT_RESET_FOREIGN({ connection })
  })
  return plan
}
