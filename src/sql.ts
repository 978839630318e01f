// `waypost/sql`: for connection plugins that offer SQLite and PostgreSQL with the same JavaScript values as System.
import { writeCsvCell as writeCell } from './kit/index.ts'
import { openPostgres as openPool, type OpenPostgresOptions, type SharedPostgres } from './store/index.ts'

export { Kysely } from 'kysely'
export {
  columnTypes,
  openSqlite,
  readInteger,
  readTimestamp,
  runInSavepoint,
  type OpenPostgresOptions,
  type OpenSqliteOptions,
  type SharedPostgres as PostgresDatabase,
  type SqliteDatabase,
} from './store/index.ts'

/**
 * Opens a pool. The first query opens the first connection.
 * @throws WP_STORE_URL_INVALID
 */
export const openPostgres: (options: OpenPostgresOptions) => SharedPostgres = openPool

/** Writes a cell of a CSV file: null is empty, an empty text is in quotes, and formulas begin with an apostrophe. */
export const writeCsvCell: (text: string | null) => string = writeCell
