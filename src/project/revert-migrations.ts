import type { Migration } from '../contract/index.ts'
import { findMigration, registerArtifacts } from '../release/index.ts'
import {
  fileOfMigration,
  loadMigration,
  loadMigrationModules,
  openHost,
  withDatabases,
  type Host,
  variablesOfConnections,
  withSystemVariables,
} from '../host/index.ts'
import {
  loadFacts,
  makeLock,
  planMigrations,
  revertMigrations,
  type MigrationPlan,
  type ProjectMigration,
} from '../store/index.ts'
import { chooseConnection } from './check-connection.ts'
import { notifyMigrated } from './dev-server-file.ts'
import { errors } from './errors.ts'
import { buildForMigration, type MigrateOptions } from './migrate.ts'
import { writeTablesOf } from './write-tables-of.ts'

export interface RevertOptions extends Omit<MigrateOptions, 'dryRun' | 'onApplied' | 'signal'> {
  /** Called when it begins. Returns a signal that stops it. */
  stopSignal?(): AbortSignal
  /** Called before anything changes. */
  confirm(plan: RevertPlan): Promise<boolean>
}

/** The migrations to revert and then reapply, as `Connection/name`, in execution order. */
export interface RevertPlan {
  readonly revert: readonly string[]
  readonly apply: readonly string[]
}

export interface RevertReport extends RevertPlan {
  /** Changed `tables.ts` and `tables.json` files. */
  readonly written: readonly string[]
}

/**
 * Reverts the last migration of a connection, or all after the one that `to` names.
 * @returns undefined if it was not confirmed
 * @throws WP_MIGRATE_TARGET, WP_MIGRATE_NO_DOWN, WP_MIGRATE_REVERT, WP_PROJECT_MIGRATION_WHERE,
 * WP_PROJECT_MIGRATION_GONE
 */
export async function revertProjectMigrations(options: RevertOptions): Promise<RevertReport | undefined> {
  return revert({ ...options, command: 'migrate:down' }, ({ applied }) => {
    const { to } = options
    if (to === undefined) return { from: applied.at(-1)?.name, isRedo: false }
    const index = applied.findIndex(({ name }) => name === to)
    if (index === -1) throw errors.WP_PROJECT_MIGRATION_APPLIED({ name: to })
    return { from: applied[index + 1]?.name, isRedo: false }
  })
}

/**
 * Reverts and reapplies migrations of a development System: from the first one that was edited or whose file is
 * missing, otherwise the last one.
 * @returns undefined if it was not confirmed
 * @throws WP_PROJECT_REDO, and the errors of `revertProjectMigrations`
 */
export async function redoMigrations(options: RevertOptions): Promise<RevertReport | undefined> {
  return revert({ ...options, command: 'migrate:redo' }, ({ applied, edited, unknown }) => {
    const [first] = [...edited, ...unknown].toSorted()
    return { from: first ?? applied.at(-1)?.name, isRedo: true }
  })
}

interface Choice {
  /** The first migration to revert; undefined if there is none. */
  readonly from: string | undefined
  readonly isRedo: boolean
}

async function revert(
  options: RevertOptions & { readonly command: string },
  choose: (plan: MigrationPlan) => Choice,
): Promise<RevertReport | undefined> {
  const { folder, variables, onDiagnostics } = options
  const built = await buildForMigration(options)
  const modules = await loadMigrationModules(built.release)
  const connection = options.connection ?? chooseConnection(options.command, modules)
  const migrations = modules.get(connection) ?? []
  const opened = await openHost({ folder, variables })
  let report: RevertReport | undefined
  try {
    options.onTarget?.(opened.system.target)
    const host = await withSystemVariables(opened, variablesOfConnections(built.release.manifest))
    await makeLock(host.system.database)('migrate', () =>
      withDatabases({ ...built, host }, [connection], async (_name, database) => {
        const plan = await planMigrations(database, migrations)
        const choice = choose(plan)
        if (choice.isRedo) await assertDevelopment(host)
        const steps = await planSteps({ host, connection, migrations, plan }, choice)
        const named = nameSteps(connection, steps)
        if (!(await options.confirm(named))) return
        if (steps.revert.length > 0)
          await revertMigrations({ ...database, ...steps, clock: host.clock, signal: options.stopSignal?.() })
        report = {
          ...named,
          written:
            steps.revert.length === 0 ? [] : await writeTablesOf({ folder, name: connection, database, onDiagnostics }),
        }
      }),
    )
    if (report !== undefined && report.revert.length > 0) await notifyMigrated(folder)
    return report
  } finally {
    await opened.close()
  }
}

/** Data lost from a System that serves a deployment cannot be restored. */
async function assertDevelopment({ system, isEmbedded }: Host): Promise<void> {
  const { origin } = await loadFacts(system)
  const isDevelopment = origin === undefined ? isEmbedded : origin === 'development'
  if (!isDevelopment) throw errors.WP_PROJECT_REDO({ target: system.target })
}

interface Steps {
  readonly revert: readonly { readonly name: string; readonly migration: Migration }[]
  readonly apply: readonly ProjectMigration[]
}

interface StepContext {
  readonly host: Host
  readonly connection: string
  readonly migrations: readonly ProjectMigration[]
  readonly plan: MigrationPlan
}

async function planSteps(planning: StepContext, { from, isRedo }: Choice): Promise<Steps> {
  if (from === undefined) return { revert: [], apply: [] }
  const rows = planning.plan.applied.filter(({ name }) => name >= from)
  const revert: Steps['revert'][number][] = []
  for (const { name, checksum } of rows.toReversed()) {
    revert.push({ name, migration: await loadApplied(planning, { name, checksum }) })
  }
  const names = new Set(rows.map(({ name }) => name))
  return { revert, apply: isRedo ? planning.migrations.filter(({ name }) => names.has(name)) : [] }
}

/**
 * Loads a migration as it was applied, since only that `down` matches its `up`; the current text if the applied one is
 * lost.
 */
async function loadApplied(
  { host, connection, migrations }: StepContext,
  row: { readonly name: string; readonly checksum: string },
): Promise<Migration> {
  const current = migrations.find(({ name }) => name === row.name)
  if (current?.checksum === row.checksum) return current.migration
  const found = await findMigration(host.system, { connection, ...row })
  if (found !== undefined) {
    registerArtifacts(found.artifacts)
    return loadMigration(fileOfMigration({ connection, ...row }), found.artifact)
  }
  if (current === undefined) throw errors.WP_PROJECT_MIGRATION_GONE({ name: row.name, connection })
  return current.migration
}

function nameSteps(connection: string, { revert, apply }: Steps): RevertPlan {
  const nameOf = ({ name }: { readonly name: string }) => `${connection}/${name}`
  return { revert: revert.map(nameOf), apply: apply.map(nameOf) }
}
