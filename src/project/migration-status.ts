import { loadMigrationModules, inspectDatabases } from '../host/index.ts'
import { pendingSystemMigrations, planMigrations, systemMigrations, type MigrationPlan } from '../store/index.ts'
import { commandFor } from './check-connection.ts'
import { buildForMigration, describeHost, openExistingHost, type MigrateOptions } from './migrate.ts'

/** `edited`: applied with another text. `unknown`: applied, but its file is missing. */
export type MigrationState = 'applied' | 'pending' | 'edited' | 'unknown'

export interface ListedMigration {
  /** `waypost` for Waypost's own migrations. */
  readonly connection: string
  readonly name: string
  readonly state: MigrationState
  /** ISO timestamp. */
  readonly applied_at?: string
  /** The command that accepts its text, if it was edited. */
  readonly accept?: string
  /** The command that reverts and reapplies it, which deletes the rows of its tables, if it was edited or its file is missing. */
  readonly redo?: string
}

export interface MigrationStatus {
  /** The address of System; undefined if it does not exist yet. */
  readonly target: string | undefined
  readonly migrations: readonly ListedMigration[]
}

/** Lists all migrations with their state. Changes nothing. */
export async function loadMigrationStatus(options: MigrateOptions): Promise<MigrationStatus> {
  const built = await buildForMigration(options)
  const modules = await loadMigrationModules(built.release)
  const names = options.connection === undefined ? [...modules.keys()] : [options.connection]
  const host = await openExistingHost(options)
  try {
    const pending = host === undefined ? systemMigrations : await pendingSystemMigrations(host.system)
    const listed: ListedMigration[] = systemMigrations.map((name) => {
      return { connection: 'waypost', name, state: pending.includes(name) ? 'pending' : 'applied' }
    })
    const target = await describeHost(options, { host, built, isMigrated: pending.length === 0 })
    await inspectDatabases({ ...built, host: target }, names, async (name, database) => {
      const commandOf = (command: string) => commandFor(command, name, modules)
      listed.push(...listPlan({ connection: name, commandOf }, await planMigrations(database, modules.get(name) ?? [])))
    })
    return { target: host?.system.target, migrations: listed }
  } finally {
    await host?.close()
  }
}

/** Ordered by name. */
function listPlan(
  { connection, commandOf }: { readonly connection: string; commandOf(command: string): string },
  { applied, pending, edited, unknown }: MigrationPlan,
): ListedMigration[] {
  const ran = applied.map(({ name, applied_at }): ListedMigration => {
    const redo = commandOf('migrate:redo')
    const accept = commandOf(`migrate:accept ${name}`)
    if (edited.includes(name)) return { connection, name, state: 'edited', applied_at, accept, redo }
    if (unknown.includes(name)) return { connection, name, state: 'unknown', applied_at, redo }
    return { connection, name, state: 'applied', applied_at }
  })
  const wait = pending.map(({ name }) => ({ connection, name, state: 'pending' as const }))
  return [...ran, ...wait].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}
