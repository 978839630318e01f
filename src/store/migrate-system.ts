import { sql } from 'kysely'
import { buildIndexes, buildSearchIndexes } from './build-indexes.ts'
import { errors } from './errors.ts'
import { assertMayCreate, existingTables } from './migrate/migration-table.ts'
import { runOutside } from './migrate/migration-transaction.ts'
import { systemMigrations } from './migrations/names.ts'
import type { System } from './system.ts'

const table = 'waypost_schema'
const growingLists = '0023-growing-lists'

/**
 * Returns the names of Waypost's own migrations that System lacks.
 * @throws WP_STORE_NEWER
 */
export async function pendingSystemMigrations(system: System): Promise<readonly string[]> {
  const applied = await appliedSystemMigrations(system)
  const unknown = applied.find((name) => !systemMigrations.includes(name))
  if (unknown !== undefined) throw errors.WP_STORE_NEWER({ target: system.target, name: unknown })
  return systemMigrations.filter((name) => !applied.includes(name))
}

/**
 * Checks that the tables of System match this version.
 * @throws WP_STORE_NOT_MIGRATED, WP_STORE_NEWER
 */
export async function assertSystemMigrated(system: System): Promise<void> {
  const pending = await pendingSystemMigrations(system)
  if (pending.length > 0) throw errors.WP_STORE_NOT_MIGRATED({ target: system.target })
}

export interface SystemMigrationOptions {
  /** Called after each migration. */
  onApplied?(name: string): void
  /** Called if something optional was not done. */
  onWarning?(message: string): void
  /** Stops the build of indexes for searches, or the wait for it. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Runs Waypost's own pending migrations, and builds the indexes for searches if PostgreSQL has pg_trgm. The caller holds the migration lock.
 * @returns the names of the applied migrations, oldest first
 */
export async function migrateSystem(system: System, options: SystemMigrationOptions = {}): Promise<readonly string[]> {
  const pending = await pendingSystemMigrations(system)
  const done = pending.length === 0 ? [] : await runPending(system, pending, options)
  const reason = await buildSearchIndexes(system, options.signal)
  if (reason !== undefined)
    options.onWarning?.(`The indexes for searches of users and clients were not built, so run migrate again: ${reason}`)
  return done
}

async function runPending(
  system: System,
  pending: readonly string[],
  { onApplied }: SystemMigrationOptions,
): Promise<string[]> {
  const schema = system.kind === 'postgresql' ? await assertMayCreate(system.db, system.target) : undefined
  const { openOrm } = await import('./orm.ts') // loaded only if needed, because it is the heaviest dependency
  const done: string[] = []
  const up = async (to?: string) => {
    const orm = await openOrm(system, table, schema)
    try {
      orm.migrator.on('migrated', ({ name }) => onApplied?.(name))
      const applied = await orm.migrator.up(to === undefined ? undefined : { to })
      done.push(...applied.map((migration) => migration.name))
    } finally {
      await orm.close()
      // MikroORM ends with "reset search_path", which is not that of the address.
      if (system.database.kind === 'postgresql') system.database.staleness.replaceAll()
    }
  }
  const isNew = pending.length === systemMigrations.length
  if (system.kind === 'postgresql' && !isNew && pending.includes(growingLists)) {
    const before = pending[pending.indexOf(growingLists) - 1]
    if (before !== undefined) await up(before)
    const { growingIndexes } = await import('./migrations/0023-growing-lists.ts') // loads MikroORM
    await runOutside(system.db, { kind: system.kind }, (db) => buildIndexes(db, growingIndexes))
  }
  await up()
  return done
}

async function appliedSystemMigrations(system: System): Promise<string[]> {
  if ((await existingTables(system, [table])).length === 0) return []
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(table)} order by id`.execute(system.db)
  return rows.map((row) => row.name)
}
