// `waypost/sql`: for connection plugins that offer SQLite and PostgreSQL with the same JavaScript values as System.
import { openPostgres as openPool, type OpenPostgresOptions, type SharedPostgres } from './store/index.ts'

export { Kysely } from 'kysely'
export {
  columnTypes,
  openSqlite,
  readInteger,
  readTimestamp,
  runInSavepoint,
  writeCsvCell,
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
