import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { ClaimedRun } from '../../events/index.ts'
import { toStorable } from '../../kit/index.ts'
import { nowOnce, withCommit, type System } from '../../store/index.ts'

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
  const { numAffectedRows = 0n } = await confirmation(system, { run, log }).execute(db)
  if (numAffectedRows === 0n) throw new Superseded(superseded)
}

const superseded = 'The run was taken over by another worker, or cancelled'

/**
 * Commits with the last statement, so that a process that is frozen after it does not keep the run locked. No row is a
 * division by zero, which keeps the commit from being executed.
 */
async function confirmAndCommit(system: System, db: Kysely<unknown>, confirmed: Confirmed): Promise<void> {
  const statement = sql`with confirmed as (${confirmation(system, confirmed)} returning id) select 1 / count(*) from confirmed`
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

function confirmation(system: System, { run: { id, turn }, log }: Confirmed): RawBuilder<unknown> {
  const now = nowOnce(system)
  return sql`update waypost_run
    set status = 'done', turn = turn + 1, worker_id = null, finished_at = ${now}, latency_ms = ${now} - started_at,
      outcome = null, log = ${log === null ? null : toStorable(log)}
    where id = ${id} and turn = ${turn}`
}
