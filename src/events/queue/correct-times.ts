import { sql, type RawBuilder } from 'kysely'
import type { Clock } from '../../kit/index.ts'
import type { System } from '../../store/index.ts'
import { nowOnce } from '../expressions.ts'

const everyMs = 60_000
/** What was written by transactions that took a moment is no sign of a wrong clock. */
const toleranceMs = 1000
/** What is dispatched in a transaction may be seen so much later. */
const openTransactionMs = 60_000

/**
 * Mends what was written in times to come: the database's clock was set back since then. A delivery would wait for as
 * much longer; from now on it waits for what it was to wait then. A subscription would be younger than what is dispatched
 * from now on, which would not reach it: it becomes older than all that is not fanned out yet, since nobody can tell which
 * of that came first.
 */
export async function correctTimes(system: System): Promise<void> {
  const now = nowOnce(system)
  const isAhead = (column: RawBuilder<unknown>) => sql<boolean>`${column} > ${now} + ${sql.lit(toleranceMs)}`
  const delivery = sql<boolean>`status = 'pending' and ${isAhead(sql`due_at`)} and ${isAhead(sql`scheduled_at`)}`
  const subscription = isAhead(sql`created_at`)
  const { rows } = await sql<{ wrong: number }>`
    select case when exists (select 1 from waypost_delivery where ${delivery})
      or exists (select 1 from waypost_subscription where ${subscription}) then 1 else 0 end as wrong`.execute(
    system.db,
  )
  if (rows[0]?.wrong !== 1) return // so that nothing is written where all is well
  await sql`update waypost_delivery set due_at = ${now} + (due_at - scheduled_at), scheduled_at = ${now}
    where ${delivery}`.execute(system.db)
  await sql`update waypost_subscription set created_at = coalesce((
      select min(message.created_at) from waypost_message message
      where message.fanned_out_at is null and message.event = waypost_subscription.event and message.created_at < ${now}
    ), ${now}) - ${sql.lit(openTransactionMs)}
    where ${subscription}`.execute(system.db)
}

/** Mends times at the first touch, and then once a minute. */
export function makeTimeCorrector(system: System, clock: Clock): { touch(): Promise<void> } {
  let next = -Infinity
  return {
    async touch() {
      if (clock.monotonic() < next) return
      next = clock.monotonic() + everyMs
      await correctTimes(system)
    },
  }
}
