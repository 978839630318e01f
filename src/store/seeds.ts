import type { Transaction } from 'kysely'
import { columnTypes } from './sql/column-types.ts'
import { assertMayCreate, existingTables, type AnyDatabase } from './migrate/migration-table.ts'
import type { System } from './system.ts'

const table = 'waypost_seed'

/** The table that seeds add to System when the first one runs, as migrations add theirs. */
interface SeedTable {
  [table]: { name: string; ran_at: string }
}

const onSeeds = (db: AnyDatabase) => db as unknown as Transaction<SeedTable>

/** Returns the names of the seeds that have run on a System. */
export async function loadSeeds(system: System): Promise<ReadonlySet<string>> {
  if ((await existingTables(system, [table])).length === 0) return new Set()
  const rows = await onSeeds(system.db).selectFrom(table).select('name').execute()
  return new Set(rows.map(({ name }) => name))
}

/** @throws WP_MIGRATE_SCHEMA */
export async function ensureSeedTable({ db, kind }: System): Promise<void> {
  if ((await existingTables({ db, kind }, [table])).length > 0) return
  if (kind === 'postgresql') await assertMayCreate(db)
  await db.schema
    .createTable(table)
    .ifNotExists()
    .addColumn('name', 'varchar(255)', (column) => column.primaryKey().notNull())
    .addColumn('ran_at', columnTypes(kind).timestamp, (column) => column.notNull())
    .execute()
}

/**
 * Records that a seed has run.
 * @param db the transaction in which it runs
 */
export async function recordSeed(db: AnyDatabase, name: string, ranAt: Date): Promise<void> {
  const row = { name, ran_at: ranAt.toISOString() }
  await onSeeds(db)
    .insertInto(table)
    .values(row)
    .onConflict((on) => on.column('name').doUpdateSet(row))
    .execute()
}

/** Makes all seeds run again. */
export async function forgetSeeds(system: System): Promise<void> {
  if ((await existingTables(system, [table])).length > 0) await onSeeds(system.db).deleteFrom(table).execute()
}
