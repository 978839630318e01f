import { makeSortedId } from '../../kit/index.ts'
import { closeBreakers } from '../attempt/close-breakers.ts'
import { errors } from '../errors.ts'
import { assertMayManage, findOwn, type OwnSubscription } from './subscription-row.ts'
import type { SubscriptionsOptions } from './subscriptions-options.ts'

/** The event that no API has: projects cannot name one that begins with `waypost.`. */
export const testEvent = 'waypost.test'

/**
 * Sends an event of our own to one subscription, as every other delivery goes: signed, and resent if it fails.
 * @returns the delivery's id
 */
export async function sendTestEvent(options: SubscriptionsOptions, which: OwnSubscription): Promise<string> {
  const { system } = options
  const row = await findOwn(options, system.db, which)
  const { id, event, status, now } = row
  if (status !== 'active') throw errors.WP_EVENTS_SUBSCRIPTION_STOPPED({ id, status })
  assertMayManage(options, which.by, row) // nothing is delivered of an event that there is no more, this neither
  await closeBreakers(system, { subscription: id })
  const message = makeSortedId('msg_', now)
  const delivery = makeSortedId('dlv_', now)
  const times = { created_at: now, finished_at: null }
  await system.transaction(async (trx) => {
    const data = JSON.stringify({ subscription: id, event, sent: new Date(now).toISOString() })
    await trx
      .insertInto('waypost_message')
      .values({
        id: message,
        event: testEvent,
        data,
        users: null,
        created_at: now,
        fanned_out_at: now,
        fan_cursor: null,
      })
      .execute()
    await trx
      .insertInto('waypost_delivery')
      .values({
        ...times,
        id: delivery,
        message_id: message,
        subscription_id: id,
        status: 'pending',
        due_at: now,
        scheduled_at: now,
        failures: 0,
        lost: 0,
        claim_id: null,
        lease_until: null,
      })
      .execute()
  })
  return delivery
}
