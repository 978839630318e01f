import { sql } from 'kysely'
import type { Migration, DatabaseKind } from '../../contract/index.ts'
import { isWaypostError, safeMessageOf, type Clock } from '../../kit/index.ts'
import { columnTypes } from '../sql/column-types.ts'
import type { DeclaredMigration } from './declared-migration.ts'
import { errors } from './errors.ts'
import { existingTables, onMigrationTable, type AnyDatabase, type ConnectionDatabase } from './migration-table.ts'
import { recordApplied } from './apply-migrations.ts'
import { runMigration, runOutside, runsOutside, TransactionEnded, type Guard } from './migration-transaction.ts'
import type { ProjectMigration } from './plan-migrations.ts'

export interface RevertMigrationsOptions {
  readonly db: AnyDatabase
  readonly kind: DatabaseKind
  readonly clock: Clock
  /** The migrations to revert, newest first. */
  readonly revert: readonly { readonly name: string; readonly migration: Migration }[]
  /** The migrations to apply afterwards, oldest first. */
  readonly apply: readonly ProjectMigration[]
  /** Stops: nothing is committed, and a statement is canceled in PostgreSQL. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Reverts migrations and optionally reapplies some, in one transaction: a failure changes nothing. One that runs outside a
 * transaction must be alone. The caller holds the lock.
 * @throws WP_MIGRATE_ALONE, WP_MIGRATE_NO_DOWN and WP_MIGRATE_IRREVERSIBLE before anything is changed, WP_MIGRATE_REVERT
 */
export async function revertMigrations(options: RevertMigrationsOptions): Promise<void> {
  const { db, kind, clock, revert, apply, signal } = options
  const types = columnTypes(kind)
  const downs = revert.map(({ name, migration }) => {
    const { irreversible: reason } = migration as DeclaredMigration
    if (reason !== undefined) throw errors.WP_MIGRATE_IRREVERSIBLE({ name, reason })
    if (migration.down === undefined) throw errors.WP_MIGRATE_NO_DOWN({ name })
    return { name, down: migration.down.bind(migration) }
  })
  const all = [...revert, ...apply]
  const outside = all.find(({ migration }) => runsOutside(migration, kind))
  const isOutside = outside !== undefined
  const isAlone = new Set(all.map(({ name }) => name)).size === 1
  if (isOutside && !isAlone) throw errors.WP_MIGRATE_ALONE({ name: outside.name })
  const run = async (on: AnyDatabase, guard: Guard) => {
    for (const { name, down } of downs) {
      await runStep({ name, what: 'reverted', isOutside }, () => guard(() => down(on, types)))
      await onMigrationTable(on).deleteFrom('waypost_migration').where('name', '=', name).execute()
    }
    for (const one of apply) {
      await runStep({ name: one.name, what: 'reapplied', isOutside }, () => guard(() => one.migration.up(on, types)))
      await recordApplied(on, one, clock)
    }
  }
  if (!isOutside) return runMigration(db, { kind, signal }, run)
  await runOutside(db, { kind, signal }, (connection) => run(connection, (work) => work()))
}

/** Whether tables have no rows. A table that does not exist has none. */
export async function areTablesEmpty(database: ConnectionDatabase, names: readonly string[]): Promise<boolean> {
  for (const name of await existingTables(database, names))
    if (
      (
        await database.db
          .selectFrom(name)
          .select(sql`1`.as('one'))
          .limit(1)
          .execute()
      ).length > 0
    )
      return false
  return true
}

interface StepOfRun {
  readonly name: string
  readonly what: string
  readonly isOutside: boolean
}

/** A busy or unavailable database is not the migration's fault. */
async function runStep(about: StepOfRun, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (isWaypostError(error) && error.kind === 'external') throw error
    if (error instanceof TransactionEnded)
      throw errors.WP_MIGRATE_TRANSACTION({ name: about.name, again: 'run the command again' }, { cause: error.cause })
    if (about.isOutside) {
      const values = { name: about.name, reason: safeMessageOf(error), again: 'run the command again', before: '' }
      throw errors.WP_MIGRATE_UNFINISHED(values, { cause: error })
    }
    throw errors.WP_MIGRATE_REVERT({ ...about, reason: safeMessageOf(error) }, { cause: error })
  }
}
