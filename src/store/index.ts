// store: the System database: entities, Waypost's own migrations, SQLite and PostgreSQL, the migration runner, the
// change feed, secrets at rest. May import kit and contract. MikroORM owns the tables; hot paths use Kysely on the same pool.
export { recordChanges, type Change, type ChangeKind } from './changes.ts'
export { errors as storeErrors } from './errors.ts'
export { loadFacts, replaceFact, storeFact, type SystemFacts } from './facts.ts'
export { startFeed, type Feed, type FeedListener } from './feed.ts'
export { assertSystemMigrated, migrateSystem, pendingSystemMigrations } from './migrate-system.ts'
export { makeSecrets, type SealedPlace, type Secrets } from './secrets.ts'
export { openSystem, type OpenSystemOptions, type System, type SystemKind } from './system.ts'
export type { SystemTables } from './tables.ts'
export { columnTypes } from './sql/column-types.ts'
export { makeLock, type LockOptions, type WithLock } from './sql/lock.ts'
export { openPostgres, type OpenPostgresOptions, type PostgresDatabase } from './sql/postgres-dialect.ts'
export { openSqlite, type OpenSqliteOptions, type SqliteDatabase } from './sql/sqlite-dialect.ts'
