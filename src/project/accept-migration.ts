import { nearest } from '../kit/index.ts'
import {
  loadMigrationModules,
  openHost,
  variablesOfConnections,
  withDatabases,
  withSystemVariables,
} from '../host/index.ts'
import { inOneTransaction, makeLock, planMigrations, updateChecksum, writeAudit, type Actor } from '../store/index.ts'
import { chooseConnection } from './check-connection.ts'
import { errors } from './errors.ts'
import { buildForMigration, type MigrateOptions } from './migrate.ts'
import { writeTablesOf } from './write-tables-of.ts'

export interface AcceptOptions extends Omit<MigrateOptions, 'dryRun' | 'onApplied' | 'to'> {
  readonly name: string
  /** For the audit log. */
  readonly actor: Actor
  /** Called before anything changes, with `Connection/name`. */
  confirm(name: string): Promise<boolean>
}

export interface AcceptReport {
  /** `Connection/name` */
  readonly accepted: string
  /** Changed `tables.ts` and `tables.json` files. */
  readonly written: readonly string[]
}

/**
 * Records the current text of an applied migration as the one that was applied. Runs nothing and changes no table.
 * @returns undefined if it was not confirmed
 * @throws WP_PROJECT_ACCEPT, WP_PROJECT_MIGRATION_WHERE
 */
export async function acceptMigration(options: AcceptOptions): Promise<AcceptReport | undefined> {
  const { folder, variables, name, onDiagnostics } = options
  const built = await buildForMigration({ ...options, command: 'migrate:accept' })
  const modules = await loadMigrationModules(built.release)
  const connection = options.connection ?? chooseConnection(`migrate:accept ${name}`, modules)
  const migrations = modules.get(connection) ?? []
  const opened = await openHost({ folder, variables })
  let report: AcceptReport | undefined
  try {
    options.onTarget?.(opened.system.target)
    const host = await withSystemVariables(opened, variablesOfConnections(built.release.manifest))
    const accepted = `${connection}/${name}`
    await makeLock(host.system.database)('migrate', () =>
      withDatabases({ ...built, host }, [connection], async (_name, database) => {
        const { edited } = await planMigrations(database, migrations)
        const migration = migrations.find((one) => one.name === name)
        if (migration === undefined || !edited.includes(name)) throw notEdited(name, edited)
        if (!(await options.confirm(accepted))) return
        await updateChecksum(database.db, migration)
        await inOneTransaction(host.system, (joined) =>
          writeAudit(joined, options.actor, { action: 'migration.accept', subject: { name: accepted } }),
        )
        report = { accepted, written: await writeTablesOf({ folder, name: connection, database, onDiagnostics }) }
      }),
    )
    return report
  } finally {
    await opened.close()
  }
}

function notEdited(name: string, edited: readonly string[]) {
  const guess = nearest(name, edited)
  const changed = edited.length === 0 ? 'No applied migration has changed.' : `Changed: ${edited.join(', ')}.`
  return errors.WP_PROJECT_ACCEPT({ name, hint: guess === undefined ? changed : `Did you mean "${guess}"?` })
}
