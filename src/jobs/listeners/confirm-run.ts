import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { ClaimedRun } from '../../events/index.ts'
import { toStorable } from '../../kit/index.ts'
import { withCommit, type System } from '../../store/index.ts'

/** PostgreSQL ends the transaction of a process that is frozen, so that others can repeat the run. */
export async function limitIdle(transaction: unknown, ms: number): Promise<void> {
  const limit = sql.raw(`set local idle_in_transaction_session_timeout = ${Math.ceil(ms)}`)
  await limit.execute(transaction as Kysely<unknown>)
}

/** Thrown in the transaction of a run that another worker has taken over, or that was cancelled. */
export class Superseded extends Error {}

interface Confirmed {
  readonly run: ClaimedRun
  readonly log: string | null
}

/** The last statement of a run with `once`: it takes effect only if the run still belongs to its worker. */
export async function confirmRun(system: System, transaction: unknown, { run, log }: Confirmed): Promise<void> {
  const db = transaction as Kysely<unknown>
  if (system.kind === 'postgresql') return confirmAndCommit(system, db, { run, log })
  const { numAffectedRows = 0n } = await confirmation(system, run, sql`${storable(log)}`).execute(db)
  if (numAffectedRows === 0n) throw new Superseded(superseded)
}

const superseded = 'The run was taken over by another worker, or cancelled'

/**
 * Commits with the last statement, so that a process that is frozen after it does not keep the run locked. No row is a
 * division by zero, which keeps the commit from being executed.
 */
async function confirmAndCommit(system: System, db: Kysely<unknown>, { run, log }: Confirmed): Promise<void> {
  const confirmed = confirmation(system, run, writeText(storable(log)))
  const statement = sql`with confirmed as (${confirmed} returning id) select 1 / count(*) from confirmed`
  try {
    await withCommit(statement).execute(db)
  } catch (error) {
    throw isNoRow(error) ? new Superseded(superseded, { cause: error }) : error
  }
}

/** A trigger that fails at the commit has a context. */
function isNoRow(error: unknown): boolean {
  const { code, where } = error as { readonly code?: unknown; readonly where?: unknown }
  return code === '22012' && where === undefined
}

/** The id and the turn are Waypost's own. */
function confirmation(system: System, { id, turn }: ClaimedRun, log: RawBuilder<unknown>): RawBuilder<unknown> {
  const now = system.now(sql.lit)
  return sql`update waypost_run
    set status = 'done', turn = turn + 1, worker_id = null, finished_at = ${now}, latency_ms = ${now} - started_at,
      outcome = null, log = ${log}
    where id = ${sql.lit(id)} and turn = ${sql.lit(turn)}`
}

function storable(log: string | null): string | null {
  return log === null ? null : toStorable(log)
}

/** Valid with any `standard_conforming_strings`. */
function writeText(text: string | null): RawBuilder<unknown> {
  if (text === null) return sql`null`
  return sql.raw(`E'${text.replaceAll('\\', String.raw`\\`).replaceAll("'", "''")}'`)
}
