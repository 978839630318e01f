import { sql } from 'kysely'
import type { Migration } from '../../contract/index.ts'
import { isWaypostError, safeMessageOf, type Clock } from '../../kit/index.ts'
import { columnTypes, type DatabaseKind } from '../sql/column-types.ts'
import type { DeclaredMigration } from './declared-migration.ts'
import { errors } from './errors.ts'
import { existingTables, onMigrationTable, type AnyDatabase } from './migration-table.ts'
import { runMigration } from './migration-transaction.ts'
import type { ProjectMigration } from './plan-migrations.ts'

export interface RevertMigrationsOptions {
  readonly db: AnyDatabase
  readonly kind: DatabaseKind
  readonly clock: Clock
  /** The migrations to revert, newest first. */
  readonly revert: readonly { readonly name: string; readonly migration: Migration }[]
  /** The migrations to apply afterwards, oldest first. */
  readonly apply: readonly ProjectMigration[]
}

/**
 * Reverts migrations and optionally reapplies some, in one transaction: a failure changes nothing. The caller holds the
 * lock.
 * @throws WP_MIGRATE_NO_DOWN and WP_MIGRATE_IRREVERSIBLE before anything is changed, WP_MIGRATE_REVERT
 */
export async function revertMigrations({ db, kind, clock, revert, apply }: RevertMigrationsOptions): Promise<void> {
  const types = columnTypes(kind)
  const downs = revert.map(({ name, migration }) => {
    const { irreversible: reason } = migration as DeclaredMigration
    if (reason !== undefined) throw errors.WP_MIGRATE_IRREVERSIBLE({ name, reason })
    if (migration.down === undefined) throw errors.WP_MIGRATE_NO_DOWN({ name })
    return { name, down: migration.down.bind(migration) }
  })
  await runMigration(db, kind, async (transaction) => {
    const table = onMigrationTable(transaction)
    for (const { name, down } of downs) {
      await runStep({ name, what: 'reverted' }, () => down(transaction, types))
      await table.deleteFrom('waypost_migration').where('name', '=', name).execute()
    }
    for (const { name, checksum, migration } of apply) {
      await runStep({ name, what: 'reapplied' }, () => migration.up(transaction, types))
      const row = { name, checksum, applied_at: new Date(clock.now()).toISOString() }
      await table.insertInto('waypost_migration').values(row).execute()
    }
  })
}

/** Whether tables have no rows. A table that does not exist has none. */
export async function areTablesEmpty(db: AnyDatabase, names: readonly string[]): Promise<boolean> {
  for (const name of await existingTables(db, names))
    if (
      (
        await db
          .selectFrom(name)
          .select(sql`1`.as('one'))
          .limit(1)
          .execute()
      ).length > 0
    )
      return false
  return true
}

/** A busy or unavailable database is not the migration's fault. */
async function runStep(about: { name: string; what: string }, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (isWaypostError(error) && error.kind === 'external') throw error
    throw errors.WP_MIGRATE_REVERT({ ...about, reason: safeMessageOf(error) }, { cause: error })
  }
}
