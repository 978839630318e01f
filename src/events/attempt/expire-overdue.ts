import { sql, type Transaction } from 'kysely'
import { makeSortedId } from '../../kit/index.ts'
import type { System, SystemTables } from '../../store/index.ts'

/** How long a delivery may stay due behind a breaker that does not close. */
export const maxHeldMs = 3 * 86_400_000

/** The outcome in the attempt log of a delivery that expired this way. */
export const expiredOutcome = 'held back for 3 days'

/** The next failure expires more. */
const maxExpired = 500

export interface OverdueDelivery {
  readonly id: string
  readonly failures: number
  readonly event: string
}

/**
 * Marks deliveries dead that have been due for days to a subscription whose endpoint has failed throughout and has just
 * failed again. Deliveries that are overdue for another reason, such as a pause or missing workers, stay pending.
 */
export function expireOverdue(system: System, subscriptionId: string): Promise<readonly OverdueDelivery[]> {
  return system.transaction(async (trx) => {
    const rows = await selectOverdue(system, trx, subscriptionId)
    if (rows.length === 0) return []
    const ids = rows.map((row) => row.id)
    await trx
      .updateTable('waypost_delivery')
      .set({ status: 'dead', finished_at: system.now() })
      .where('id', 'in', ids)
      .execute()
    const attempt = {
      latency_ms: 0,
      status: null,
      outcome: expiredOutcome,
      answer: null,
      headers: null,
      hidden: 0 as const,
    }
    await trx
      .insertInto('waypost_attempt')
      .values(
        rows.map(({ id, now }) => ({ ...attempt, id: makeSortedId('att_', now), delivery_id: id, started_at: now })),
      )
      .execute()
    return rows
  })
}

async function selectOverdue(
  system: System,
  trx: Transaction<SystemTables>,
  subscriptionId: string,
): Promise<readonly (OverdueDelivery & { readonly now: number })[]> {
  const now = system.now()
  const lock = system.kind === 'postgresql' ? sql`for update of d skip locked` : sql``
  const { rows } = await sql<OverdueDelivery & { now: number }>`
    select d.id, d.failures, coalesce(m.event, '') as event, ${now} as now
    from waypost_delivery d left join waypost_message m on m.id = d.message_id
    where d.subscription_id = ${subscriptionId} and d.status = 'pending' and d.claim_id is null
      and d.due_at < (select ${now} - ${sql.lit(maxHeldMs)})
      and exists (
        select 1 from waypost_subscription s
        where s.id = d.subscription_id and s.failing_since < (select ${now} - ${sql.lit(maxHeldMs)})
      )
    order by d.due_at limit ${sql.lit(maxExpired)} ${lock}`.execute(trx)
  return rows
}
