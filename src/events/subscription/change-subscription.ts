import { errors } from '../errors.ts'
import {
  assertMayManage,
  assertMayReceive,
  findOwn,
  findDuplicate,
  lockOwn,
  lockUser,
  viewSubscription,
  type OwnSubscription,
  type SubscriptionRow,
  type SubscriptionView,
  type SubscriptionsOptions,
} from './subscription-row.ts'

export interface SubscriptionChange {
  readonly endpoint?: string | undefined
  readonly status?: 'active' | 'paused' | undefined
}

/**
 * Changes the endpoint or the status of a subscription. Pending deliveries go to the new endpoint. A new endpoint, or a
 * change of the status to `active`, closes the breaker.
 */
export async function changeSubscription(
  options: SubscriptionsOptions,
  which: OwnSubscription,
  change: SubscriptionChange,
): Promise<SubscriptionView> {
  const { system } = options
  const { by } = which
  const found = await findOwn(options, system.db, which)
  const { endpoint = found.endpoint } = change
  if (change.endpoint !== undefined) assertMayManage(options, by, found)
  if (endpoint !== found.endpoint) await options.outbound.checkUrl(endpoint)
  return system.transaction(async (trx) => {
    if (endpoint !== found.endpoint) await lockUser(system, trx, by.id)
    const row = await lockOwn(options, trx, which)
    const { status = row.status } = change
    if (status !== row.status) assertMaySetStatus(options, which, { row, status })
    // Do not undo what another request changed since the address was checked.
    const isMoved = endpoint !== found.endpoint && endpoint !== row.endpoint
    const duplicate = isMoved
      ? await findDuplicate(system, trx, { ...row, by, clientId: row.client_id, endpoint })
      : undefined
    if (duplicate !== undefined) throw errors.WP_EVENTS_SUBSCRIPTION_SAME({ id: duplicate.id })
    const closesBreaker = isMoved || (status === 'active' && row.status !== 'active')
    const changed = await trx
      .updateTable('waypost_subscription')
      .set({ status, ...(closesBreaker ? { failures: 0, open_until: null, failing_since: null } : {}) })
      .$if(row.status !== status, (query) => query.set({ paused_at: row.status === 'active' ? system.now() : null }))
      .$if(isMoved, (query) => query.set({ endpoint, revision: row.revision + 1 }))
      .where('id', '=', which.id)
      .returningAll()
      .executeTakeFirstOrThrow()
    return viewSubscription(by, { ...row, ...changed })
  })
}

/** Pausing needs no permission. Enabling sends data again: a user may not enable what an administrator disabled. */
function assertMaySetStatus(
  options: SubscriptionsOptions,
  { by, id }: OwnSubscription,
  { row, status }: { row: SubscriptionRow; status: SubscriptionRow['status'] },
): void {
  if (row.status === 'disabled' && row.disabled_by !== null) throw errors.WP_EVENTS_SUBSCRIPTION_BARRED({ id })
  if (status !== 'active') return
  if (row.client_id !== null && row.client_status !== 'active') {
    throw errors.WP_EVENTS_CLIENT_DISABLED({ id, client: row.client_name ?? row.client_id })
  }
  assertMayReceive(options, by, row.event)
}
