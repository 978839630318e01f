import { sql } from 'kysely'
import { isStorable } from '../../kit/index.ts'
import { isOneOf, nowOnce, type System } from '../../store/index.ts'
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
  await sql`update waypost_run set ${replayed(system)} where id = ${id}`.execute(system.db)
}

const replayed = (system: System) => sql`status = 'pending', failures = 0, postponed = 0, lost = 0, turn = turn + 1,
  due_at = ${nowOnce(system)}, scheduled_at = ${nowOnce(system)}, finished_at = null, outcome = null`

/**
 * Makes a pending run due now.
 * @throws WP_EVENTS_RUN_UNKNOWN, WP_EVENTS_RUN_FINISHED
 */
export async function retryRun(system: System, id: string): Promise<void> {
  const { status } = await lockRun(system, id)
  if (status !== 'pending') throw errors.WP_EVENTS_RUN_FINISHED({ id, status })
  await sql`update waypost_run set due_at = ${system.now()} where id = ${id}`.execute(system.db)
}

/** Cancels a pending run. @throws WP_EVENTS_RUN_UNKNOWN, WP_EVENTS_RUN_ENDED */
export async function cancelRun(system: System, id: string): Promise<void> {
  const { status } = await lockRun(system, id)
  if (status !== 'pending') throw errors.WP_EVENTS_RUN_ENDED({ id, status })
  await sql`update waypost_run set ${cancelled(system)} where id = ${id}`.execute(system.db)
}

const cancelled = (system: System) =>
  sql`status = 'cancelled', finished_at = ${system.now()}, turn = turn + 1, outcome = 'cancelled by an administrator'`

const chunk = 1000

/** Runs the dead runs of a listener again, except those whose message was deleted. @returns their number */
export async function replayDeadRuns(system: System, listener: string): Promise<number> {
  const lock = system.kind === 'postgresql' ? sql`for update skip locked` : sql``
  for (let count = 0, last = ''; ;) {
    const { rows } = await sql<{ id: string; kept: string | null }>`
      select id, (select m.id from waypost_message m where m.id = message_id) as kept from waypost_run
      where listener = ${listener} and status = 'dead' and id > ${last} order by id limit ${sql.lit(chunk)}`.execute(
      system.db,
    )
    const chosen = rows.filter(({ kept }) => kept !== null).map(({ id }) => id)
    if (chosen.length > 0) {
      const { numAffectedRows = 0n } = await sql`update waypost_run set ${replayed(system)} where id in (
        select id from waypost_run where ${isOneOf(system, sql`id`, chosen)} and status = 'dead' ${lock})`.execute(
        system.db,
      )
      count += Number(numAffectedRows)
    }
    if (rows.length < chunk) return count
    last = rows.at(-1)!.id
  }
}

/** Cancels the pending runs of a listener. @returns their number */
export async function cancelRuns(system: System, listener: string): Promise<number> {
  const lock = system.kind === 'postgresql' ? sql`for update skip locked` : sql``
  for (let count = 0; ;) {
    const { rows } = await sql<{ id: string }>`select id from waypost_run
      where status = 'pending' and (exclusive_key is null or exclusive_key is not null) and listener = ${listener}
      limit ${sql.lit(chunk)} ${lock}`.execute(system.db)
    if (rows.length === 0) return count
    const isChosen = isOneOf(
      system,
      sql`id`,
      rows.map(({ id }) => id),
    )
    const { numAffectedRows = 0n } = await sql`update waypost_run
      set ${cancelled(system)} where ${isChosen} and status = 'pending'`.execute(system.db)
    count += Number(numAffectedRows)
    if (numAffectedRows === 0n) return count
  }
}
