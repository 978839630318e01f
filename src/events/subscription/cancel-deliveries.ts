import { sql } from 'kysely'
import type { System } from '../../store/index.ts'

const chunk = 1000
const mostChunks = 50

/**
 * Takes what waits for a subscription out of the queue; what is being posted comes to its end. Very much that waits is
 * left to those who claim it, who see that nobody is there to receive it.
 */
export async function cancelDeliveries(system: System, subscriptionId: string): Promise<void> {
  const lock = system.kind === 'postgresql' ? sql`for update skip locked` : sql``
  for (let count = 0; count < mostChunks; count++) {
    const { numAffectedRows = 0n } = await sql`
      with chosen as materialized (
        select id from waypost_delivery
        where subscription_id = ${subscriptionId} and status = 'pending' and claim_id is null limit ${chunk} ${lock}
      )
      update waypost_delivery set status = 'cancelled', finished_at = ${system.now()}
      where id in (select id from chosen) and status = 'pending' and claim_id is null`.execute(system.db)
    if (numAffectedRows < chunk) return
  }
}
