import { Kysely, sql } from 'kysely'
import type { ColumnSnapshot, TableSnapshot } from '../../src/contract/index.ts'
import { loadSnapshot, openPostgres, openSqlite } from '../../src/store/index.ts'

/** Where the tables of another program are made. */
export interface ForeignDatabase {
  /** A new SQLite file, or the URL of an empty database of PostgreSQL. */
  readonly target: string
  readonly schema: readonly string[]
  /** The forms that are chosen for new times, by column. */
  readonly written?: Written | undefined
}

type Written = Readonly<Record<string, ColumnSnapshot['written']>>

// oxlint-disable-next-line typescript/no-explicit-any -- the tables differ
export type AnyTables = Kysely<any>

/** Makes tables, and returns their snapshot, as `waypost migrate --connection` writes it. */
export async function makeForeignTables({
  target,
  schema,
  written,
}: ForeignDatabase): Promise<Readonly<Record<string, TableSnapshot>>> {
  const database = target.startsWith('postgresql:')
    ? openPostgres({ url: target })
    : openSqlite({ file: target, create: true, synchronous: 'OFF' })
  try {
    const db: AnyTables = new Kysely({ dialect: database.dialect() })
    for (const statement of schema) await sql.raw(statement).execute(db)
    return await loadForeignTables(db, written)
  } finally {
    await database.close()
  }
}

/** Returns the snapshot of the tables of a database. */
export async function loadForeignTables(
  db: AnyTables,
  written: Written = {},
): Promise<Readonly<Record<string, TableSnapshot>>> {
  const isPostgres = db.getExecutor().adapter.supportsTransactionalDdl
  return (await loadSnapshot(db, isPostgres ? 'postgresql' : 'sqlite', undefined, (_table, column) => written[column]))
    .tables
}
