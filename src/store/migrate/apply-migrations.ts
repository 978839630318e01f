import { isWaypostError, messageOf, nearest, type Clock } from '../../kit/index.ts'
import { columnTypes, type DatabaseKind } from '../sql/column-types.ts'
import type { WithLock } from '../sql/lock.ts'
import { errors } from './errors.ts'
import { compareNames, ensureMigrationTable, onMigrationTable, type AnyDatabase } from './migration-table.ts'
import { assertSound, planMigrations, quote, type MigrationPlan, type ProjectMigration } from './plan-migrations.ts'

export interface ApplyMigrationsOptions {
  readonly db: AnyDatabase
  readonly kind: DatabaseKind
  readonly migrations: readonly ProjectMigration[]
  /** Held from the look at what was applied to the end. */
  readonly withLock: WithLock
  readonly clock: Clock
  /** The last one to apply; without it all. */
  readonly to?: string | undefined
  readonly onApplied?: (applied: AppliedMigration) => void
  /** How a migration is called where it fails; by its name by default. */
  readonly nameOf?: (name: string) => string
  /** Where things are tried again by themselves, what to do instead of starting it again. */
  readonly again?: string | undefined
  /** The command that reverts and reapplies migrations; `npx waypost migrate:redo` by default. */
  readonly redo?: string | undefined
  /** Names of all that ran before it, for the error of the one that fails; by default those of this database. */
  readonly ranBefore?: (() => readonly string[]) | undefined
  /** Called instead of failing when the next one is not written yet, with it and those behind it, which all wait. */
  readonly onUnwritten?: ((names: readonly string[]) => void) | undefined
}

export interface AppliedMigration {
  readonly name: string
  readonly ms: number
}

export interface AppliedMigrations {
  readonly applied: readonly AppliedMigration[]
  /** Those of them that sort before one that had been applied earlier. */
  readonly outOfOrder: readonly string[]
}

/**
 * Runs what was not applied yet, in order of name, each in a transaction of its own together with its row, so that a
 * failed one leaves nothing and those before it stay.
 *
 * @throws WP_MIGRATE_FAILED, WP_MIGRATE_EDITED, WP_MIGRATE_UNKNOWN, WP_MIGRATE_TARGET, and what the lock throws
 */
export function applyMigrations(options: ApplyMigrationsOptions): Promise<AppliedMigrations> {
  return options.withLock('migrate', async () => {
    const plan = await planMigrations(options.db, options.migrations)
    const chosen = chooseMigrations(plan, options)
    if (chosen.length > 0) await ensureMigrationTable(options.db, options.kind)
    const applied: AppliedMigration[] = []
    for (const [index, one] of chosen.entries()) {
      const began = options.clock.monotonic()
      try {
        await apply(one, options)
      } catch (error) {
        if (options.onUnwritten === undefined || !isUnwritten(error))
          throw failure(one.name, { applied, error }, options)
        options.onUnwritten(chosen.slice(index).map(({ name }) => name))
        break
      }
      const done = { name: one.name, ms: options.clock.monotonic() - began }
      applied.push(done)
      options.onApplied?.(done)
    }
    return { applied, outOfOrder: plan.outOfOrder.filter((name) => applied.some((one) => one.name === name)) }
  })
}

/**
 * What is to run: all that was not applied yet, or those of it up to the one that is named.
 * @throws WP_MIGRATE_EDITED, WP_MIGRATE_UNKNOWN, WP_MIGRATE_TARGET
 */
export function chooseMigrations(
  plan: MigrationPlan,
  { to, migrations, redo = 'npx waypost migrate:redo' }: Pick<ApplyMigrationsOptions, 'migrations' | 'to' | 'redo'>,
): readonly ProjectMigration[] {
  assertSound(plan, redo)
  if (to === undefined) return plan.pending
  const names = migrations.map(({ name }) => name)
  if (names.includes(to)) return plan.pending.filter(({ name }) => compareNames(name, to) <= 0)
  const guess = nearest(to, names)
  throw errors.WP_MIGRATE_TARGET({ name: to, guess: guess === undefined ? '' : `Did you mean "${guess}"?` })
}

async function apply({ name, checksum, migration }: ProjectMigration, options: ApplyMigrationsOptions): Promise<void> {
  await options.db.transaction().execute(async (transaction) => {
    await migration.up(transaction, columnTypes(options.kind))
    const row = { name, checksum, applied_at: new Date(options.clock.now()).toISOString() }
    await onMigrationTable(transaction).insertInto('waypost_migration').values(row).execute()
  })
}

/** What `up` throws before somebody wrote it, as the message of an error. */
export function unwritten(words: string): string {
  return `${words}${unwrittenEnd}`
}

const unwrittenEnd = ' is not written yet'

function isUnwritten(error: unknown): boolean {
  return error instanceof Error && error.message.endsWith(unwrittenEnd)
}

interface Failed {
  readonly applied: readonly AppliedMigration[]
  readonly error: unknown
}

/** A database that is busy or away is not the migration's fault. */
function failure(
  name: string,
  { applied, error }: Failed,
  { nameOf = String, again = 'run the migrations again', ranBefore }: ApplyMigrationsOptions,
): unknown {
  if (isWaypostError(error) && error.kind === 'external') return error
  const names = quote(ranBefore?.() ?? applied.map((one) => one.name))
  const before = names === '' ? 'No migration was applied before it.' : `These stay applied: ${names}.`
  return errors.WP_MIGRATE_FAILED({ name: nameOf(name), reason: messageOf(error), again, before }, { cause: error })
}
