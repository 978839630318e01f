import type { DatabaseKind } from '../../contract/index.ts'
import { isWaypostError, safeMessageOf, nearest, type Clock } from '../../kit/index.ts'
import { columnTypes } from '../sql/column-types.ts'
import type { WithLock } from '../sql/lock.ts'
import { errors } from './errors.ts'
import {
  compareNames,
  ensureMigrationTable,
  onMigrationTable,
  updateChecksum,
  writeChecksum,
  type AnyDatabase,
} from './migration-table.ts'
import { runMigration, runOutside, runsOutside, TransactionEnded } from './migration-transaction.ts'
import {
  assertConsistent,
  isComparable,
  planMigrations,
  quote,
  type MigrationPlan,
  type ProjectMigration,
} from './plan-migrations.ts'

export interface ApplyMigrationsOptions {
  readonly db: AnyDatabase
  readonly kind: DatabaseKind
  readonly migrations: readonly ProjectMigration[]
  /** Held from the check of applied migrations to the end. */
  readonly withLock: WithLock
  readonly clock: Clock
  /** The last migration to apply; by default all are applied. */
  readonly to?: string | undefined
  /** Stops: the migration that runs is rolled back, and its statement is canceled in PostgreSQL. */
  readonly signal?: AbortSignal | undefined
  readonly onApplied?: (applied: AppliedMigration) => void
  /** Names a migration in errors; by default its name. */
  readonly nameOf?: (name: string) => string
  /** What the hint of a failure suggests instead of running the migrations again. */
  readonly again?: string | undefined
  /** The command that reverts and reapplies migrations; by default `npx waypost migrate:redo`. */
  readonly redo?: string | undefined
  /**
   * Returns the names of all migrations applied before the one that failed, for its error; by default those of this
   * database.
   */
  readonly appliedBefore?: (() => readonly string[]) | undefined
  /**
   * Called instead of failing when the next migration is still a stub, with the names of it and all later ones, which
   * stay pending.
   */
  readonly onNotImplemented?: ((names: readonly string[]) => void) | undefined
}

export interface AppliedMigration {
  readonly name: string
  readonly ms: number
}

export interface AppliedMigrations {
  readonly applied: readonly AppliedMigration[]
  /** Applied migrations that sort before one that was applied earlier. */
  readonly outOfOrder: readonly string[]
}

/**
 * Applies pending migrations in order of name. Each runs in its own transaction together with its row, so a failed one
 * leaves no changes and earlier ones stay applied. One with `transaction: false` runs outside a transaction, and its row is
 * written after it succeeded.
 *
 * @throws WP_MIGRATE_FAILED, WP_MIGRATE_UNFINISHED, WP_MIGRATE_TRANSACTION, WP_MIGRATE_OUTSIDE, WP_MIGRATE_EDITED, WP_MIGRATE_UNKNOWN, WP_MIGRATE_TARGET, and the errors of the lock
 */
export function applyMigrations(options: ApplyMigrationsOptions): Promise<AppliedMigrations> {
  return options.withLock('migrate', async () => {
    const plan = await planMigrations(options, options.migrations)
    const chosen = chooseMigrations(plan, options)
    await updateRows(plan, options)
    if (chosen.length > 0) await ensureMigrationTable(options)
    const applied: AppliedMigration[] = []
    for (const [index, one] of chosen.entries()) {
      const startedAt = options.clock.monotonic()
      if (options.signal?.aborted) throw stopped(one, { applied, state: 'it has not begun' }, options)
      try {
        await apply(one, options)
      } catch (error) {
        const state = runsOutside(one.migration, options.kind)
          ? 'the changes that it has already made remain'
          : 'it was rolled back'
        if (options.signal?.aborted) throw stopped(one, { applied, state }, options)
        if (options.onNotImplemented === undefined || !isNotImplemented(error))
          throw failure(one, { applied, error }, options)
        options.onNotImplemented(chosen.slice(index).map(({ name }) => name))
        break
      }
      const done = { name: one.name, ms: options.clock.monotonic() - startedAt }
      applied.push(done)
      options.onApplied?.(done)
    }
    return { applied, outOfOrder: plan.outOfOrder.filter((name) => applied.some((one) => one.name === name)) }
  })
}

/**
 * Returns the migrations to run: all pending ones, or those up to `to`.
 * @throws WP_MIGRATE_EDITED, WP_MIGRATE_UNKNOWN, WP_MIGRATE_TARGET
 */
export function chooseMigrations(
  plan: MigrationPlan,
  { to, migrations, redo = 'npx waypost migrate:redo' }: Pick<ApplyMigrationsOptions, 'migrations' | 'to' | 'redo'>,
): readonly ProjectMigration[] {
  assertConsistent(plan, redo)
  if (to === undefined) return plan.pending
  const names = migrations.map(({ name }) => name)
  if (names.includes(to)) return plan.pending.filter(({ name }) => compareNames(name, to) <= 0)
  const guess = nearest(to, names)
  throw errors.WP_MIGRATE_TARGET({ name: to, guess: guess === undefined ? '' : `Did you mean "${guess}"?` })
}

/**
 * Stores the codes of migrations that another version has applied with the same text, and the texts of those whose code is
 * the same: the next version of the compiler makes their codes incomparable.
 */
async function updateRows({ applied }: MigrationPlan, { db, migrations }: ApplyMigrationsOptions): Promise<void> {
  const byName = new Map(migrations.map((one) => [one.name, one]))
  for (const row of applied) {
    const one = byName.get(row.name)
    if (one?.code === undefined) continue
    const [isSameText, isSameCode] = [row.checksum === one.checksum, row.code === one.code]
    if (isComparable(row, one) ? isSameCode && !isSameText : isSameText) await updateChecksum(db, one)
  }
}

async function apply(one: ProjectMigration, { db, kind, clock, signal }: ApplyMigrationsOptions): Promise<void> {
  const up = (on: AnyDatabase) => one.migration.up(on, columnTypes(kind))
  if (runsOutside(one.migration, kind)) {
    await runOutside(db, { kind, signal }, up)
    return recordApplied(db, one, clock)
  }
  await runMigration(db, { kind, signal }, async (transaction, guard) => {
    await guard(() => up(transaction))
    await recordApplied(transaction, one, clock)
  })
}

/** Writes the row of an applied migration. */
export async function recordApplied(
  db: AnyDatabase,
  one: Pick<ProjectMigration, 'name' | 'checksum' | 'code'>,
  clock: Pick<Clock, 'now'>,
): Promise<void> {
  const row = { name: one.name, checksum: writeChecksum(one), applied_at: new Date(clock.now()).toISOString() }
  await onMigrationTable(db).insertInto('waypost_migration').values(row).execute()
}

/** Returns the message of the error that `up` of a migration stub throws. */
export function notImplemented(words: string): string {
  return `${words}${notImplementedSuffix}`
}

const notImplementedSuffix = ' is not written yet'

function isNotImplemented(error: unknown): boolean {
  return error instanceof Error && error.message.endsWith(notImplementedSuffix)
}

interface FailedRun {
  readonly applied: readonly AppliedMigration[]
  readonly error: unknown
}

function listBefore(applied: readonly AppliedMigration[], { appliedBefore }: ApplyMigrationsOptions): string {
  const names = quote(appliedBefore?.() ?? applied.map((one) => one.name))
  return names === '' ? 'No migration was applied before it.' : `These stay applied: ${names}.`
}

function stopped(
  { name }: ProjectMigration,
  { applied, state }: { readonly applied: readonly AppliedMigration[]; readonly state: string },
  options: ApplyMigrationsOptions,
): Error {
  const { nameOf = String, again = 'run the migrations again' } = options
  const before = listBefore(applied, options)
  return errors.WP_MIGRATE_STOPPED({ name: nameOf(name), state, before, again })
}

/** A busy or unavailable database is not the migration's fault. */
function failure(
  { name: own, migration }: ProjectMigration,
  { applied, error }: FailedRun,
  options: ApplyMigrationsOptions,
): unknown {
  const { kind, nameOf = String, again = 'run the migrations again' } = options
  const name = nameOf(own)
  const isOutside = runsOutside(migration, kind)
  if (isWaypostError(error) && error.kind === 'external' && !isOutside) return error
  if (error instanceof TransactionEnded) return errors.WP_MIGRATE_TRANSACTION({ name, again }, { cause: error.cause })
  const before = listBefore(applied, options)
  const values = { name, reason: safeMessageOf(error), again, before }
  if (isOutside) return errors.WP_MIGRATE_UNFINISHED(values, { cause: error })
  const needsOutside = outsideCodes.has((error as { code?: unknown }).code)
  return errors[needsOutside ? 'WP_MIGRATE_OUTSIDE' : 'WP_MIGRATE_FAILED'](values, { cause: error })
}

/** Statements that PostgreSQL runs only outside a transaction, and the use of a new value of an enum. */
const outsideCodes: ReadonlySet<unknown> = new Set(['25001', '55P04'])
