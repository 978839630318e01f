import { sql } from 'kysely'
import { makeId, type Settings } from '../kit/index.ts'
import type { System } from '../store/index.ts'

/** A delivery that this worker, and no other, posts now. */
export interface ClaimedDelivery {
  readonly id: string
  readonly claim_id: string
  readonly failures: number
  readonly event: string
  readonly data: string
  readonly subscription_id: string
  readonly endpoint: string
  readonly revision: number
  /** Sealed. */
  readonly secret: string
}

const mostLost = 5
const lookAhead = 1000

/**
 * Claims deliveries that are due, under a lease: at most `count`, and at most the per-endpoint cap for each
 * subscription less what is under way there already.
 */
export async function claimDeliveries(system: System, settings: Settings, count: number): Promise<readonly ClaimedDelivery[]> {
  const claimId = makeId('clm_', 16)
  const now = system.now()
  const claimed = await system.transaction(async (trx) => {
    const due = sql<boolean>`status = 'pending' and due_at <= ${now} and (lease_until is null or lease_until <= ${now})`
    const lock = system.kind === 'postgresql' ? sql`for update of d skip locked` : sql``
    // The ranking is materialised: locks are taken on a plain join only, and a planner may not run it again.
    await sql`
      with ranked as materialized (
        select id, row_number() over (partition by subscription_id order by due_at, id) as place
        from (select id, subscription_id, due_at from waypost_delivery where ${due} order by due_at, id limit ${lookAhead}) candidates
      ), picked as materialized (
        select d.id from waypost_delivery d join ranked on ranked.id = d.id
        where ranked.place <= ${settings.delivery_concurrency_per_endpoint} and ${due}
        order by d.due_at, d.id limit ${count} ${lock}
      )
      update waypost_delivery set
        lost = lost + case when claim_id is null then 0 else 1 end,
        claim_id = ${claimId},
        lease_until = ${now} + ${settings.delivery_lease}
      where id in (select id from picked)`.execute(trx)
    await trx
      .updateTable('waypost_delivery')
      .set({ status: 'dead', claim_id: null, lease_until: null, finished_at: now })
      .where('claim_id', '=', claimId)
      .where('lost', '>=', mostLost)
      .execute()
    return trx
      .selectFrom('waypost_delivery as delivery')
      .innerJoin('waypost_message as message', 'message.id', 'delivery.message_id')
      .innerJoin('waypost_subscription as subscription', 'subscription.id', 'delivery.subscription_id')
      .select(['delivery.id', 'delivery.failures', 'message.event', 'message.data'])
      .select(['subscription.id as subscription_id', 'subscription.endpoint', 'subscription.revision', 'subscription.secret'])
      .where('delivery.claim_id', '=', claimId)
      .where('delivery.status', '=', 'pending')
      .execute()
  })
  return claimed.map((delivery) => ({ ...delivery, claim_id: claimId }))
}
