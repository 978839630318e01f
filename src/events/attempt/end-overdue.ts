import { sql, type Transaction } from 'kysely'
import { makeSortedId } from '../../kit/index.ts'
import type { System, SystemTables } from '../../store/index.ts'

/** For how long a delivery is due at most, behind a breaker that does not close. */
export const longestHeldMs = 3 * 86_400_000

/** What the log of attempts says of one that was ended so. */
export const heldTooLong = 'held back for 3 days'

/** Deliveries at most that are ended at once; the next failure ends more. */
const mostEnded = 500

export interface OverdueDelivery {
  readonly id: string
  readonly failures: number
  readonly event: string
}

/**
 * Gives up what has been due for days to a subscription whose endpoint has just failed again, alone, as it did for all
 * that time. What was due so long for another reason, a pause or workers that were away, waits as anything else.
 */
export function endOverdue(system: System, subscriptionId: string): Promise<readonly OverdueDelivery[]> {
  return system.transaction(async (trx) => {
    const rows = await selectOverdue(system, trx, subscriptionId)
    if (rows.length === 0) return []
    const ids = rows.map((row) => row.id)
    await trx
      .updateTable('waypost_delivery')
      .set({ status: 'dead', finished_at: system.now() })
      .where('id', 'in', ids)
      .execute()
    const attempt = { latency_ms: 0, status: null, outcome: heldTooLong, answer: null, hidden: 0 as const }
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
      and d.due_at < (select ${now} - ${sql.lit(longestHeldMs)})
      and exists (
        select 1 from waypost_subscription s
        where s.id = d.subscription_id and s.failing_since < (select ${now} - ${sql.lit(longestHeldMs)})
      )
    order by d.due_at limit ${sql.lit(mostEnded)} ${lock}`.execute(trx)
  return rows
}
