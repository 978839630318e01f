import { sql } from 'kysely'
import { errors } from '../errors.ts'
import { cancelOf } from '../lanes/end-deliveries.ts'
import { findOwn, type OwnSubscription, type SubscriptionsOptions } from './subscription-row.ts'

/** Deletes a subscription and cancels its pending deliveries. */
export async function removeSubscription(options: SubscriptionsOptions, which: OwnSubscription): Promise<void> {
  const { system } = options
  const { id, lane } = await findOwn(options, system.db, which)
  const { numAffectedRows } = await sql`
    delete from waypost_subscription where id = ${id} and user_id = ${which.by.id}`.execute(system.db)
  if (numAffectedRows === 0n) throw errors.WP_EVENTS_SUBSCRIPTION_UNKNOWN({ id })
  await cancelOf(system, { id, lane })
}
