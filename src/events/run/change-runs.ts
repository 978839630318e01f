import { sql } from 'kysely'
import { isStorable } from '../../kit/index.ts'
import { isOneOf, type System } from '../../store/index.ts'
import { errors } from '../errors.ts'

type Status = 'pending' | 'running' | 'done' | 'dead' | 'cancelled'

async function lockRun(system: System, id: string): Promise<{ readonly status: Status; readonly hasData: boolean }> {
  const lock = system.kind === 'postgresql' ? sql`for update` : sql``
  const { rows } = isStorable(id)
    ? await sql<{ status: Status; message: string | null }>`select status,
        (select m.id from waypost_message m where m.id = message_id) as message
        from waypost_run where id = ${id} ${lock}`.execute(system.db)
    : { rows: [] }
  if (rows[0] === undefined) throw errors.WP_EVENTS_RUN_UNKNOWN({ id })
  return { status: rows[0].status, hasData: rows[0].message !== null }
}

/**
 * Runs a finished run again. It keeps its id, and its failures are forgotten.
 * @throws WP_EVENTS_RUN_UNKNOWN, WP_EVENTS_RUN_PENDING, WP_EVENTS_REPLAY_PRUNED
 */
export async function replayRun(system: System, id: string): Promise<void> {
  const { status, hasData } = await lockRun(system, id)
  if (status === 'pending' || status === 'running') throw errors.WP_EVENTS_RUN_PENDING({ id, status })
  if (!hasData) throw errors.WP_EVENTS_REPLAY_PRUNED({ id })
  const now = system.now()
  await sql`update waypost_run set status = 'pending', failures = 0, postponed = 0, lost = 0, turn = turn + 1,
    due_at = ${now}, scheduled_at = ${now}, finished_at = null, outcome = null where id = ${id}`.execute(system.db)
}

/**
 * Makes a pending run due now.
 * @throws WP_EVENTS_RUN_UNKNOWN, WP_EVENTS_RUN_FINISHED
 */
export async function retryRun(system: System, id: string): Promise<void> {
  const { status } = await lockRun(system, id)
  if (status !== 'pending') throw errors.WP_EVENTS_RUN_FINISHED({ id, status })
  await sql`update waypost_run set due_at = ${system.now()} where id = ${id}`.execute(system.db)
}

const cancelChunk = 1000

/** Cancels the pending runs of a listener. @returns their number */
export async function cancelRuns(system: System, listener: string): Promise<number> {
  const lock = system.kind === 'postgresql' ? sql`for update skip locked` : sql``
  for (let cancelled = 0; ;) {
    const { rows } = await sql<{ id: string }>`select id from waypost_run
      where status = 'pending' and (exclusive_key is null or exclusive_key is not null) and listener = ${listener}
      limit ${sql.lit(cancelChunk)} ${lock}`.execute(system.db)
    if (rows.length === 0) return cancelled
    const isChosen = isOneOf(
      system,
      sql`id`,
      rows.map(({ id }) => id),
    )
    const { numAffectedRows = 0n } = await sql`update waypost_run
      set status = 'cancelled', finished_at = ${system.now()}, turn = turn + 1, outcome = 'cancelled by an administrator'
      where ${isChosen} and status = 'pending'`.execute(system.db)
    cancelled += Number(numAffectedRows)
    if (numAffectedRows === 0n) return cancelled
  }
}
