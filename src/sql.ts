// `waypost/sql`: what connection plugins need to offer SQLite and PostgreSQL with the same values that System has.
export {
  columnTypes,
  openPostgres,
  openSqlite,
  type OpenPostgresOptions,
  type OpenSqliteOptions,
  type PostgresDatabase,
  type SqliteDatabase,
} from './store/index.ts'
