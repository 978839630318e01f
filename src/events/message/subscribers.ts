import type { Transaction } from 'kysely'
import type { System, SystemTables } from '../../store/index.ts'
import { findEvent, scopesOf, type EventCatalog } from './catalog.ts'
import { texts } from '../expressions.ts'

/** A message as fan-out sees it. */
export interface FannedMessage {
  readonly id: string
  readonly event: string
  /** JSON list of the only users that receive it. */
  readonly users: string | null
  readonly created_at: number
  /** The last subscription that was looked at. */
  readonly fan_cursor: string | null
}

/**
 * Subscriptions of active users who may receive a message, in order of their ids: those that are active, or were when it
 * was dispatched.
 */
export interface SubscriberPage {
  readonly rows: readonly { readonly id: string; readonly created_at: number; readonly paused_at: number | null }[]
  /** Nothing comes behind them. */
  readonly isLast: boolean
}

export async function loadSubscribers(
  system: System,
  trx: Transaction<SystemTables>,
  { message, catalog, limit }: { message: FannedMessage; catalog: EventCatalog; limit: number },
): Promise<SubscriberPage> {
  const scopes = scopesOf(findEvent(catalog, message.event) ?? {})
  let query = trx
    .selectFrom('waypost_subscription as subscription')
    .innerJoin('waypost_user as user', 'user.id', 'subscription.user_id')
    .select(['subscription.id', 'subscription.created_at', 'subscription.paused_at'])
    .where('subscription.event', '=', message.event)
    .where((where) =>
      where.or([
        where('subscription.status', '=', 'active'),
        where('subscription.status', '=', 'paused').and('subscription.paused_at', '>=', message.created_at),
      ]),
    )
    .where('user.status', '=', 'active')
    .orderBy('subscription.id')
    .limit(limit)
  if (message.fan_cursor !== null) query = query.where('subscription.id', '>', message.fan_cursor)
  if (message.users !== null) query = query.where('subscription.user_id', 'in', texts(system, message.users))
  if (scopes.length > 0) {
    query = query.where((where) =>
      where.exists(
        where
          .selectFrom('waypost_user_scope as granted')
          .select('granted.scope')
          .whereRef('granted.user_id', '=', 'user.id')
          .where('granted.scope', 'in', scopes),
      ),
    )
  }
  const rows = await query.execute()
  return { rows, isLast: rows.length < limit }
}
