import type { Transaction } from 'kysely'
import type { System, SystemTables } from '../../store/index.ts'
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
  type Subscriber,
  type SubscriptionRow,
  type SubscriptionView,
  type SubscriptionsOptions,
} from './subscription-row.ts'

export interface SubscriptionChange {
  readonly endpoint?: string | undefined
  readonly status?: 'active' | 'paused' | undefined
  readonly ordered?: boolean | undefined
}

/**
 * Changes the endpoint or the status of a subscription. Pending deliveries go to the new endpoint. A new endpoint, or a
 * change of the status to `active`, closes the breaker.
 * @throws WP_EVENTS_SUBSCRIPTION_SAME, WP_EVENTS_SUBSCRIPTION_BARRED, WP_EVENTS_CLIENT_DISABLED, and the address errors
 * of `subscribe`
 */
export async function changeSubscription(
  options: SubscriptionsOptions,
  which: OwnSubscription,
  change: SubscriptionChange,
): Promise<SubscriptionView> {
  const { system } = options
  const { by } = which
  const found = await findOwn(options, system.db, which)
  if (change.endpoint !== undefined) assertMayManage(options, by, found)
  // An endpoint that is sent again must not undo what another request changes.
  const endpoint = change.endpoint === found.endpoint ? undefined : change.endpoint
  if (endpoint !== undefined) await options.outbound.checkUrl(endpoint)
  return system.transaction(async (trx) => {
    if (endpoint !== undefined) await lockUser(system, trx, by.id)
    const row = await lockOwn(options, trx, which)
    const { status = row.status } = change
    if (status !== row.status) assertMaySetStatus(options, which, { row, status })
    const changed = await updateSubscription(system, trx, { by, row, change: { ...change, endpoint, status } })
    return viewSubscription(by, changed)
  })
}

/** The endpoint is checked. */
type Update = Omit<SubscriptionChange, 'status'> & { readonly status?: SubscriptionRow['status'] | undefined }

/** Writes a permitted change of a locked subscription of its owner. @throws WP_EVENTS_SUBSCRIPTION_SAME */
export async function updateSubscription(
  system: System,
  trx: Transaction<SystemTables>,
  { by, row, change }: { readonly by: Subscriber; readonly row: SubscriptionRow; readonly change: Update },
): Promise<SubscriptionRow> {
  const { endpoint = row.endpoint, status, ordered } = change
  const isMoved = endpoint !== row.endpoint
  const wanted = { ...row, by, clientId: row.client_id, endpoint }
  const duplicate = isMoved ? await findDuplicate(system, trx, wanted) : undefined
  if (duplicate !== undefined) throw errors.WP_EVENTS_SUBSCRIPTION_SAME({ id: duplicate.id })
  const isSet = status !== undefined && status !== row.status
  const closesBreaker = isMoved || (isSet && status === 'active')
  const changed = await trx
    .updateTable('waypost_subscription')
    .set({
      status: status ?? row.status,
      ...(ordered === undefined ? {} : { ordered: ordered ? 1 : 0 }),
      ...(closesBreaker ? { failures: 0, open_until: null, failing_since: null } : {}),
    })
    .$if(isSet, (query) => query.set({ disabled_by: null, paused_at: row.status === 'active' ? system.now() : null }))
    .$if(isMoved, (query) => query.set({ endpoint, revision: row.revision + 1 }))
    .where('id', '=', row.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return { ...row, ...changed }
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
