// store: the System database: entities, Waypost's own migrations, SQLite and PostgreSQL, the migration runner, the
// change feed, encryption at rest.
// May import kit, contract and tables. MikroORM defines the tables; hot paths use Kysely on the same pool.
export { readCsvText, writeCsvCell } from './sql/csv-cell.ts'
export {
  auditActions,
  writeAudit,
  type Actor,
  type AuditAction,
  type AuditEntry,
  type AuditFacts,
  type CommandActor,
  type HttpActor,
} from './audit.ts'
export { inOneTransaction, recordChanges } from './changes.ts'
export {
  cancelDeliveries,
  endSubscriptions,
  type SubscriptionEnd,
  type SubscriptionSelector,
} from './end-subscriptions.ts'
export { errors as storeErrors } from './errors.ts'
export { exchangeFact, loadFacts, lockFact, removeFact, replaceFact, storeFact, type SystemFacts } from './facts.ts'
export { openCommitWatch, type CommitWatch } from './commit-watch.ts'
export { startFeed, type Feed, type FeedListener } from './feed.ts'
export { makeFeedCache, type FeedCache } from './feed-cache.ts'
export { assertSystemMigrated, migrateSystem, pendingSystemMigrations } from './migrate-system.ts'
export { systemMigrations } from './migrations/names.ts'
export { ensureSeedTable, forgetSeeds, loadSeeds, recordSeed } from './seeds.ts'
export { sealedColumns } from './secrets.ts'
export { makeSecrets, type SealedLocation, type Secrets } from './secrets.ts'
export { countOlderSealed, resealAll, resealInBatches, type ResealCounts } from './reseal.ts'
export {
  openSystem,
  type Change,
  type ChangeKind,
  type OpenSystemOptions,
  type System,
  type TraceStatement,
} from './system.ts'
export type { SystemTables } from './tables.ts'
export { applyMigrations, chooseMigrations, notImplemented } from './migrate/apply-migrations.ts'
export { makeDeclaredMigration, type DeclaredMigration } from './migrate/declared-migration.ts'
export { dropTables, hasAppliedMigrations, listDroppedTables } from './migrate/drop-tables.ts'
export { loadSnapshot } from './migrate/load-snapshot.ts'
export { existingTables, updateChecksum, type ConnectionDatabase } from './migrate/migration-table.ts'
export { areTablesEmpty, revertMigrations } from './migrate/revert-migrations.ts'
export { planMigrations, type MigrationPlan, type ProjectMigration } from './migrate/plan-migrations.ts'
export { writeTables } from './migrate/write-tables.ts'
export { columnTypes } from './sql/column-types.ts'
export { isCursorOf, listPage, listRows, makeCursor, makePage, whereAfter, type Page, type Sort } from './list-rows.ts'
export { followIndexes, isOneOf, jsonRows, jsonStrings, nowOnce, readInIndexOrder } from './sql/expressions.ts'
export { makeLock, type LockOptions, type WithLock } from './sql/lock.ts'
export {
  openPostgres,
  redactUrl,
  type OpenPostgresOptions,
  type PostgresDatabase,
  type SharedPostgres,
} from './sql/postgres-dialect.ts'
export { isUnreachable } from './sql/postgres-errors.ts'
export { assertRestorable, backUpSqlite, hasSqliteTable, restoreSqlite } from './sql/sqlite-backup.ts'
export { readInteger, readTimestamp } from './sql/values.ts'
export { runInSavepoint } from './sql/savepoint.ts'
export { withCommit } from './sql/end-transaction.ts'
export { openSqlite, type OpenSqliteOptions, type SqliteDatabase } from './sql/sqlite-dialect.ts'
export { loadDatabaseTime } from './facts.ts'
