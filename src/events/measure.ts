import { sql } from 'kysely'
import type { Settings } from '../kit/index.ts'
import type { System } from '../store/index.ts'
import type { AttemptTotal } from './attempt/attempt-totals.ts'
import type { EventCatalog } from './message/catalog.ts'
import { measureUnfanned } from './message/measure-unfanned.ts'
import { isOpen } from './queue/candidates.ts'

/** Events in numbers: of System as a whole, whoever asks. */
export interface EventMeasures {
  /** Messages of which a part, or all, is to be fanned out. */
  readonly messages: number
  /** Those that messages will become when they are fanned out count as well. */
  readonly deliveries: {
    readonly due: number
    /** Due later: they were put off. */
    readonly later: number
    /** Behind an open breaker, for a paused subscription, or of an event that the release does not name. */
    readonly held: number
    readonly dead: number
  }
  /** For how long the oldest delivery is due that nothing holds; 0 without one. */
  readonly oldestDueMs: number
}

/** What the active release says of events. */
export interface MeasureTerms {
  readonly catalog: EventCatalog
  readonly settings: Settings
}

/** Measures the queue. Deliveries are counted by subscription first, which an index can tell. */
export async function measureEvents(system: System, terms: MeasureTerms): Promise<EventMeasures> {
  const { rows } = await sql<{
    now: number
    messages: number
    due: number
    later: number
    held: number
    dead: number
    oldest: number | null
  }>`
    with clock as materialized (select ${system.now()} as now),
    queue as materialized (
      select subscription_id, count(*) as size, sum(case when due_at <= now then 1 else 0 end) as due, min(due_at) as oldest
      from waypost_delivery cross join clock where status = 'pending' group by subscription_id
    ), sorted as (
      select queue.size, queue.due, queue.oldest, case when ${isOpen(system, terms)} then 0 else 1 end as is_held
      from queue left join waypost_subscription s on s.id = queue.subscription_id
    )
    select (select now from clock) as now,
      (select count(*) from waypost_message where fanned_out_at is null) as messages,
      (select count(*) from waypost_delivery where status = 'dead') as dead,
      cast(coalesce(sum(case when is_held = 0 then due end), 0) as bigint) as due,
      cast(coalesce(sum(case when is_held = 0 then size - due end), 0) as bigint) as later,
      cast(coalesce(sum(case when is_held = 1 then size end), 0) as bigint) as held,
      min(case when is_held = 0 then oldest end) as oldest
    from sorted`.execute(system.db)
  const { now, messages, oldest, dead, later, ...deliveries } = rows[0]!
  const unfanned = messages === 0 ? nothing : await measureUnfanned(system, terms)
  const oldestAt = Math.min(oldest ?? now, unfanned.oldestAt ?? now)
  return {
    messages,
    deliveries: { due: deliveries.due + unfanned.due, later, held: deliveries.held + unfanned.held, dead },
    oldestDueMs: Math.max(0, now - oldestAt),
  }
}

const nothing = { due: 0, held: 0, oldestAt: null }

/** Attempts since there are any, by outcome and latency. */
export function loadAttemptTotals({ db }: System): Promise<readonly AttemptTotal[]> {
  return db.selectFrom('waypost_attempt_total').selectAll().execute()
}
