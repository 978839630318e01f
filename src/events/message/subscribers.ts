import type { Transaction } from 'kysely'
import type { System, SystemTables } from '../../store/index.ts'
import { findEvent, scopesOf, type EventCatalog } from './catalog.ts'
import { isMakerActive, isPassedOn, texts } from '../expressions.ts'

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
 * Subscriptions of active users and clients that may receive a message, in order of their ids: those that are active, or
 * were when it was dispatched.
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
    .selectFrom('waypost_subscription as s')
    .innerJoin('waypost_user as user', 'user.id', 's.user_id')
    .leftJoin('waypost_client as maker', 'maker.id', 's.client_id')
    .select(['s.id', 's.created_at', 's.paused_at'])
    .where('s.event', '=', message.event)
    .where((where) =>
      where.or([
        where('s.status', '=', 'active'),
        where('s.status', '=', 'paused').and('s.paused_at', '>=', message.created_at),
      ]),
    )
    .where('user.status', '=', 'active')
    .where(isMakerActive)
    .orderBy('s.id')
    .limit(limit)
  if (message.fan_cursor !== null) query = query.where('s.id', '>', message.fan_cursor)
  if (message.users !== null) query = query.where('s.user_id', 'in', texts(system, message.users))
  if (scopes.length > 0) {
    query = query.where((where) =>
      where.exists(
        where
          .selectFrom('waypost_user_scope as granted')
          .select('granted.scope')
          .whereRef('granted.user_id', '=', 'user.id')
          .where('granted.scope', 'in', scopes)
          .where(isPassedOn(system)),
      ),
    )
  }
  const rows = await query.execute()
  return { rows, isLast: rows.length < limit }
}
