import { sql, type Transaction } from 'kysely'
import { isStorable } from '../../kit/index.ts'
import type { Secrets, System, SystemTables } from '../../store/index.ts'
import { errors } from '../errors.ts'
import { updateSubscription, type SubscriptionChange } from './change-subscription.ts'
import { replaceSecret, type RotatedSecret } from './rotate-secret.ts'
import { lockUser, selectOwn, type Subscriber, type SubscriptionRow } from './subscription-row.ts'

// What operators change in subscriptions of any user.

interface Locked {
  readonly trx: Transaction<SystemTables>
  /** As a login of the owner, who sees all of their subscriptions. */
  readonly by: Subscriber
  readonly row: SubscriptionRow
}

/** Locks a subscription of any user until the transaction ends. @throws WP_EVENTS_SUBSCRIPTION_UNKNOWN */
async function lockAny<Value>(system: System, id: string, work: (locked: Locked) => Promise<Value>): Promise<Value> {
  const unknown = () => errors.WP_EVENTS_SUBSCRIPTION_UNKNOWN({ id: id.slice(0, 64) })
  if (!isStorable(id)) throw unknown()
  return system.transaction(async (trx) => {
    const { rows } = await sql<Pick<SubscriptionRow, 'user_id' | 'client_id'>>`
      select user_id, client_id from waypost_subscription where id = ${id}`.execute(trx)
    const [found] = rows
    if (found === undefined) throw unknown()
    await lockUser(system, trx, found.user_id)
    const by = { id: found.user_id, scopes: [], client: { id: found.client_id ?? '', isLogin: true } }
    const row = await selectOwn(system, trx, { by })
      .where('subscription.id', '=', id)
      .$if(system.kind === 'postgresql', (query) => query.forUpdate('subscription'))
      .executeTakeFirst()
    if (row === undefined) throw unknown()
    return work({ trx, by, row })
  })
}

/**
 * Changes the endpoint, which was checked, or the status of a subscription of any user.
 * @throws WP_EVENTS_SUBSCRIPTION_UNKNOWN, WP_EVENTS_SUBSCRIPTION_SAME
 */
export async function changeAnySubscription(
  system: System,
  id: string,
  change: SubscriptionChange & { check?(): Promise<void> },
): Promise<void> {
  await lockAny(system, id, async ({ trx, by, row }) => {
    await change.check?.()
    await updateSubscription(system, trx, { by, row, change })
  })
}

/**
 * Gives a subscription of any user a new secret.
 * @throws WP_EVENTS_SUBSCRIPTION_UNKNOWN, WP_EVENTS_OVERLAP, WP_EVENTS_ROTATIONS
 */
export async function rotateAnySecret(
  system: System,
  secrets: Secrets,
  { id, overlap }: { readonly id: string; readonly overlap: string | undefined },
): Promise<Omit<RotatedSecret, 'subscription'>> {
  return lockAny(system, id, async ({ trx, row }) => {
    const { secret, previousUntil } = await replaceSecret({ secrets }, trx, { row, overlap })
    return { secret, previousUntil }
  })
}
