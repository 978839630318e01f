import { sql } from 'kysely'
import { buildIndexes, listMissingSearchIndexes } from './build-indexes.ts'
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

/**
 * Runs Waypost's own pending migrations, and builds the indexes for searches if PostgreSQL has pg_trgm. The caller holds the migration lock.
 * @param onApplied called after each migration
 * @returns the names of the applied migrations, oldest first
 */
export async function migrateSystem(
  system: System,
  onApplied: (name: string) => void = () => undefined,
): Promise<readonly string[]> {
  const pending = await pendingSystemMigrations(system)
  if (pending.length === 0) {
    await buildSearchIndexes(system)
    return []
  }
  const schema = system.kind === 'postgresql' ? await assertMayCreate(system.db, system.target) : undefined
  const { openOrm } = await import('./orm.ts') // loaded only if needed, because it is the heaviest dependency
  const done: string[] = []
  const up = async (to?: string) => {
    const orm = await openOrm(system, table, schema)
    try {
      orm.migrator.on('migrated', ({ name }) => onApplied(name))
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
  await buildSearchIndexes(system)
  return done
}

/** Also if the extension was added after the last migration. */
async function buildSearchIndexes({ db, kind }: System): Promise<void> {
  const missing = kind === 'postgresql' ? await listMissingSearchIndexes(db) : []
  if (missing.length > 0) await runOutside(db, { kind }, (connection) => buildIndexes(connection, missing))
}

async function appliedSystemMigrations(system: System): Promise<string[]> {
  if ((await existingTables(system, [table])).length === 0) return []
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(table)} order by id`.execute(system.db)
  return rows.map((row) => row.name)
}
