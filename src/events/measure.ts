import { sql } from 'kysely'
import type { System } from '../store/index.ts'
import type { AttemptTotal } from './attempt/attempt-totals.ts'

/** Events in numbers: of System as a whole, whoever asks. */
export interface EventMeasures {
  /** Messages of which a part, or all, is to be fanned out. */
  readonly messages: number
  readonly deliveries: {
    readonly due: number
    /** Due later: they were put off. */
    readonly later: number
    /** Behind an open breaker, or for a paused subscription. */
    readonly held: number
    readonly dead: number
  }
  /** For how long the oldest delivery is due that nothing holds; 0 without one. */
  readonly oldestDueMs: number
  /** Attempts since there are any, by outcome and latency. */
  readonly attempts: readonly AttemptTotal[]
}

/** Measures the queue. What waits is counted by subscription first, which an index can tell. */
export async function measureEvents(system: System): Promise<EventMeasures> {
  const { rows } = await sql<{
    messages: number
    due: number
    later: number
    held: number
    dead: number
    oldest: number
  }>`
    with clock as materialized (select ${system.now()} as now),
    queue as materialized (
      select subscription_id, count(*) as size, sum(case when due_at <= now then 1 else 0 end) as due, min(due_at) as oldest
      from waypost_delivery cross join clock where status = 'pending' group by subscription_id
    ), sorted as (
      select queue.size, queue.due, queue.oldest,
        case when s.status = 'paused' or s.open_until > clock.now then 1 else 0 end as is_held
      from queue cross join clock left join waypost_subscription s on s.id = queue.subscription_id
    )
    select (select count(*) from waypost_message where fanned_out_at is null) as messages,
      (select count(*) from waypost_delivery where status = 'dead') as dead,
      cast(coalesce(sum(case when is_held = 0 then due end), 0) as bigint) as due,
      cast(coalesce(sum(case when is_held = 0 then size - due end), 0) as bigint) as later,
      cast(coalesce(sum(case when is_held = 1 then size end), 0) as bigint) as held,
      cast((select now from clock) - coalesce(min(case when is_held = 0 then oldest end), (select now from clock)) as bigint)
        as oldest
    from sorted`.execute(system.db)
  const { messages, oldest, ...deliveries } = rows[0]!
  const attempts = await system.db.selectFrom('waypost_attempt_total').selectAll().execute()
  return { messages, deliveries, oldestDueMs: Math.max(0, oldest), attempts }
}
