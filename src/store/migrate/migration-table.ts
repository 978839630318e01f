import type { Kysely } from 'kysely'
import { columnTypes, type DatabaseKind } from '../sql/column-types.ts'

/** What the database remembers of a migration that ran. */
export interface MigrationRow {
  readonly name: string
  readonly checksum: string
  readonly applied_at: string
}

/** The one table that migrations add to a connection's database. */
export interface MigrationTable {
  waypost_migration: MigrationRow
}

// oxlint-disable-next-line typescript/no-explicit-any -- the tables of a connection are the project's
export type AnyDatabase = Kysely<any>

const table = 'waypost_migration'

export function onMigrationTable(db: AnyDatabase): Kysely<MigrationTable> {
  return db as Kysely<MigrationTable>
}

/** The rows of what was applied, in order of name; none where the table is not there yet. */
export async function loadApplied(db: AnyDatabase): Promise<readonly MigrationRow[]> {
  const tables = await db.introspection.getTables()
  if (!tables.some(({ name }) => name === table)) return []
  const rows = await onMigrationTable(db).selectFrom(table).selectAll().execute()
  return rows.toSorted((a, b) => compareNames(a.name, b.name))
}

export async function ensureMigrationTable(db: AnyDatabase, kind: DatabaseKind): Promise<void> {
  await db.schema
    .createTable(table)
    .ifNotExists()
    .addColumn('name', 'varchar(255)', (column) => column.primaryKey().notNull())
    .addColumn('checksum', 'varchar(128)', (column) => column.notNull())
    .addColumn('applied_at', columnTypes(kind).timestamp, (column) => column.notNull())
    .execute()
}

/** The order in which migrations run, whatever the locale of the machine and of the database. */
export function compareNames(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
