import type { DatabaseKind } from '../../contract/index.ts'
import { sql, type Kysely } from 'kysely'
import { columnTypes } from '../sql/column-types.ts'
import { errors } from './errors.ts'

/** An applied migration. */
export interface MigrationRow {
  readonly name: string
  readonly checksum: string
  /** Missing for a declared one, and for one that an earlier version has applied. */
  readonly code?: string | undefined
  readonly applied_at: string
}

/** The table that migrations add to the database of a connection. */
export interface MigrationTable {
  waypost_migration: {
    name: string
    /** The checksum, and after a dot the code. */
    checksum: string
    applied_at: string
  }
}

/** Returns what identifies a migration as its row stores it. */
export function writeChecksum({ checksum, code }: Pick<MigrationRow, 'checksum' | 'code'>): string {
  return code === undefined ? checksum : `${checksum}.${code}`
}

// oxlint-disable-next-line typescript/no-explicit-any -- the tables of a connection are the project's
export type AnyDatabase = Kysely<any>

/** The database of a connection. */
export interface ConnectionDatabase {
  readonly db: AnyDatabase
  readonly kind: DatabaseKind
}

const table = 'waypost_migration'

export function onMigrationTable(db: AnyDatabase): Kysely<MigrationTable> {
  return db as Kysely<MigrationTable>
}

/** Replaces what the row of an applied migration says about its text and its code. */
export async function updateChecksum(
  db: AnyDatabase,
  one: Pick<MigrationRow, 'name' | 'checksum' | 'code'>,
): Promise<void> {
  const update = onMigrationTable(db)
    .updateTable(table)
    .set({ checksum: writeChecksum(one) })
  await update.where('name', '=', one.name).execute()
}

/**
 * Returns which of these tables exist in the schema that new tables are created in. Looks at nothing else: a view that
 * cannot be read or tables of other programs do not matter.
 */
export async function existingTables(
  { db, kind }: ConnectionDatabase,
  names: readonly string[],
): Promise<readonly string[]> {
  const wanted = sql.join(names.length === 0 ? [null] : names)
  const query =
    kind === 'sqlite'
      ? sql<{ name: string }>`select name from sqlite_schema where type = 'table' and name in (${wanted})`
      : sql<{ name: string }>`
          select tablename as name from pg_tables where schemaname = current_schema() and tablename in (${wanted})`
  return (await query.execute(db)).rows.map(({ name }) => name)
}

/** Returns the rows of applied migrations by name; empty if the table does not exist. */
export async function loadApplied(database: ConnectionDatabase): Promise<readonly MigrationRow[]> {
  if ((await existingTables(database, [table])).length === 0) return []
  const rows = await onMigrationTable(database.db).selectFrom(table).selectAll().execute()
  return rows
    .map(({ name, checksum: stored, applied_at }): MigrationRow => {
      const [checksum = '', code] = stored.split('.')
      return { name, checksum, ...(code !== undefined && { code }), applied_at }
    })
    .toSorted((a, b) => compareNames(a.name, b.name))
}

/**
 * Returns the schema of PostgreSQL in which new tables are created: the first one of the search path that exists.
 * @throws WP_MIGRATE_SCHEMA if the role may not create tables there
 */
export async function assertMayCreate(db: AnyDatabase, target?: string): Promise<string> {
  const { rows } = await sql<{
    schema: string | null
    may: boolean | null
    role: string
    path: string
    database: string
  }>`
    select current_schema() as schema, has_schema_privilege(current_schema(), 'create') as may, current_user as role,
      current_setting('search_path') as path, current_database() as database`.execute(db)
  const { schema, may, role, path, database } = rows[0]!
  if (schema !== null && may === true) return schema
  const wanted = schema ?? 'SCHEMA'
  throw errors.WP_MIGRATE_SCHEMA({ target: target ?? database, role, path, schema: wanted })
}

export async function ensureMigrationTable({ db, kind }: ConnectionDatabase): Promise<void> {
  if ((await existingTables({ db, kind }, [table])).length > 0) return
  if (kind === 'postgresql') await assertMayCreate(db)
  await db.schema
    .createTable(table)
    .ifNotExists()
    .addColumn('name', 'varchar(255)', (column) => column.primaryKey().notNull())
    .addColumn('checksum', 'varchar(128)', (column) => column.notNull())
    .addColumn('applied_at', columnTypes(kind).timestamp, (column) => column.notNull())
    .execute()
}

/** The order in which migrations run, independent of the locale of host and database. */
export function compareNames(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
