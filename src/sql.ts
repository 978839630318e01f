// `waypost/sql`: for connection plugins that offer SQLite and PostgreSQL with the same JavaScript values as System.
export {
  columnTypes,
  openPostgres,
  openSqlite,
  type OpenPostgresOptions,
  type OpenSqliteOptions,
  type PostgresDatabase,
  type SqliteDatabase,
} from './store/index.ts'
