import { sql, type Kysely, type Transaction } from 'kysely'
import { isOneOf } from './sql/expressions.ts'
import type { System } from './system.ts'
import type { SystemTables } from './tables.ts'

/** Which subscriptions: those that match all given conditions. Give at least one. */
export interface SubscriptionSelector {
  readonly id?: string | undefined
  readonly userId?: string | undefined
  readonly clientId?: string | undefined
}

/**
 * `disabled`: nothing is sent until the user enables it again. `barred`: only an administrator can enable it again.
 * `deleted`: the row is removed.
 */
export type SubscriptionEnd = 'disabled' | 'barred' | 'deleted'

/** Pending deliveries that are cancelled within the transaction. Workers cancel the rest when they reach them. */
const maxCancelled = 5000

/**
 * Ends subscriptions and cancels their pending deliveries. Revoke the tokens first if they are revoked too: a
 * transaction that writes a subscription locks the row of its token until the commit, so this function sees every
 * subscription.
 * @returns the number of ended subscriptions
 */
export async function endSubscriptions(
  system: System,
  trx: Transaction<SystemTables>,
  { of, to }: { of: SubscriptionSelector; to: SubscriptionEnd },
): Promise<number> {
  const { id, userId, clientId } = of
  const conditions = { id, user_id: userId, client_id: clientId }
  const given = Object.fromEntries(Object.entries(conditions).filter(([, value]) => value !== undefined))
  if (Object.keys(given).length === 0) throw new TypeError('endSubscriptions requires a filter')
  // A fixed order for all transactions that lock several rows.
  const found = await trx
    .selectFrom('waypost_subscription')
    .select(['id', 'lane'])
    .where((column) => column.and(given))
    .$if(to === 'disabled', (query) => query.where('status', '<>', 'disabled'))
    .orderBy('id')
    .$if(system.kind === 'postgresql', (query) => query.forUpdate())
    .execute()
  const ids = found.map((row) => row.id)
  if (ids.length === 0) return 0
  const barred = to === 'barred' ? sql`, disabled_by = 'operator'` : sql``
  const change =
    to === 'deleted'
      ? sql`delete from waypost_subscription`
      : sql`update waypost_subscription set status = 'disabled' ${barred}`
  await sql`${change} where ${isOneOf(system, sql`id`, ids)}`.execute(trx)
  await cancelDeliveries(system, trx, { subscriptions: found, limit: maxCancelled })
  return ids.length
}

/**
 * Cancels pending deliveries. Those that are under way become delivered if their POST succeeds.
 * @returns the number of cancelled deliveries
 */
export async function cancelDeliveries(
  system: System,
  db: Kysely<SystemTables>,
  { subscriptions, limit }: { subscriptions: readonly { readonly id: string; readonly lane: number }[]; limit: number },
): Promise<number> {
  if (subscriptions.length === 0) return 0
  const ids = subscriptions.map(({ id }) => id)
  const lanes = sql.join([...new Set(subscriptions.map(({ lane }) => lane))].map((lane) => sql.lit(lane)))
  const lock = system.kind === 'postgresql' ? sql`for update skip locked` : sql``
  let count = 0
  // Each finds its rows in one of the indexes of pending deliveries.
  for (const isWaiting of [sql`due_at = 0`, sql`due_at > 0`]) {
    const { numAffectedRows = 0n } = await sql`
      with chosen as materialized (
        select id from waypost_delivery
        where status = 'pending' and ${isWaiting} and lane in (${lanes}) and ${isOneOf(system, sql`subscription_id`, ids)}
        limit ${limit - count} ${lock}
      )
      update waypost_delivery set status = 'cancelled', finished_at = ${system.now()}
      where id in (select id from chosen) and status = 'pending'`.execute(db)
    count += Number(numAffectedRows)
    if (count >= limit) break
  }
  return count
}
