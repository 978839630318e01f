import { sql, type RawBuilder } from 'kysely'
import { nowOnce, type System } from '../../store/index.ts'
import { correctDelayed } from '../message/delayed.ts'

/** A transaction that took a moment to commit does not mean that the clock is wrong. */
const toleranceMs = 1000
/** Messages dispatched in a transaction may become visible this much later. */
const openTransactionMs = 60_000

/**
 * Corrects times in the future, which exist after the database's clock was set back. A delivery keeps the wait that was
 * left, counted from now, and so do a delayed event and the run of a listener. A subscription would be younger than the messages dispatched from now on and miss them: it
 * becomes older than every message that is not fanned out yet, because their real order is unknown.
 */
export async function correctTimes(system: System, lanes: readonly number[]): Promise<void> {
  const now = nowOnce(system)
  const isAhead = (column: RawBuilder<unknown>) => sql<boolean>`${column} > ${now} + ${sql.lit(toleranceMs)}`
  const own = lanes.length === 0 ? sql`lane < 0` : sql`lane in (${sql.join(lanes.map((lane) => sql.lit(lane)))})`
  const delivery = sql<boolean>`status = 'pending' and due_at > 0 and ${own} and ${isAhead(sql`due_at`)}
    and ${isAhead(sql`scheduled_at`)}`
  // Each part is the condition of an index.
  const runs = [sql`exclusive_key is null`, sql`exclusive_key is not null`].map(
    (isIndexed) => sql<boolean>`status = 'pending' and ${isIndexed} and ${isAhead(sql`due_at`)}
      and ${isAhead(sql`scheduled_at`)}`,
  )
  const hasRun = sql.join(
    runs.map((run) => sql`exists (select 1 from waypost_run where ${run})`),
    sql` or `,
  )
  const subscription = isAhead(sql`created_at`)
  const delayed = correctDelayed(system, isAhead)
  const { rows } = await sql<{ wrong: number }>`
    select case when exists (select 1 from waypost_delivery where ${delivery}) or exists (
      select 1 from waypost_subscription where ${subscription}) or ${delayed.isWrong} or ${hasRun} then 1 else 0 end as wrong`.execute(
    system.db,
  )
  if (rows[0]?.wrong !== 1) return // write nothing in the normal case
  await sql`update waypost_delivery set due_at = ${now} + (due_at - scheduled_at), scheduled_at = ${now}
    where ${delivery}`.execute(system.db)
  await delayed.correct.execute(system.db)
  for (const run of runs)
    await sql`update waypost_run set due_at = ${now} + (due_at - scheduled_at), scheduled_at = ${now}
      where ${run}`.execute(system.db)
  await sql`update waypost_subscription set created_at = coalesce((
      select min(message.created_at) from waypost_message message
      where message.fanned_out_at is null and message.event = waypost_subscription.event and message.created_at < ${now}
    ), ${now}) - ${sql.lit(openTransactionMs)}
    where ${subscription}`.execute(system.db)
}
