import { errors } from '../errors.ts'
import {
  findOwn,
  findSame,
  lockOwn,
  lockUser,
  viewSubscription,
  type OwnSubscription,
  type SubscriptionView,
} from './subscription-row.ts'
import type { SubscriptionsOptions } from './subscriptions-options.ts'

export interface SubscriptionChange {
  readonly endpoint?: string | undefined
  readonly status?: 'active' | 'paused' | undefined
}

/**
 * Changes where deliveries go, or whether they go. What waits goes to the new endpoint; another endpoint, and `active`
 * for what was not, close the breaker.
 */
export async function changeSubscription(
  options: SubscriptionsOptions,
  which: OwnSubscription,
  change: SubscriptionChange,
): Promise<SubscriptionView> {
  const { system } = options
  const found = await findOwn(system, system.db, which)
  const { endpoint = found.endpoint } = change
  if (endpoint !== found.endpoint) await options.outbound.checkUrl(endpoint)
  return system.transaction(async (trx) => {
    if (endpoint !== found.endpoint) await lockUser(system, trx, which.userId)
    const row = await lockOwn(system, trx, which)
    const { status = row.status } = change
    // What somebody else made of it since the address was checked is not for this request to undo.
    const isMoved = endpoint !== found.endpoint && endpoint !== row.endpoint
    const same = isMoved ? await findSame(system, trx, { ...row, userId: which.userId, endpoint }) : undefined
    if (same !== undefined) throw errors.WP_EVENTS_SUBSCRIPTION_SAME({ id: same.id })
    const isFresh = isMoved || (status === 'active' && row.status !== 'active')
    const changed = await trx
      .updateTable('waypost_subscription')
      .set({ status, ...(isFresh ? { failures: 0, open_until: null, failing_since: null } : {}) })
      .$if(row.status !== status, (query) => query.set({ paused_at: row.status === 'active' ? system.now() : null }))
      .$if(isMoved, (query) => query.set({ endpoint, revision: row.revision + 1 }))
      .where('id', '=', which.id)
      .returningAll()
      .executeTakeFirstOrThrow()
    return viewSubscription({ ...changed, now: row.now })
  })
}
