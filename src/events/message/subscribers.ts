import type { Transaction } from 'kysely'
import type { System, SystemTables } from '../../store/index.ts'
import { findEvent, scopesOf, type EventCatalog } from './catalog.ts'
import { isCreatorActive, isScopeEffective, jsonStrings } from '../expressions.ts'

/** A message that fan-out reads. */
export interface PendingMessage {
  readonly id: string
  readonly event: string
  /** JSON array of the ids of the users who receive it; null means all. */
  readonly users: string | null
  readonly created_at: number
  /** Id of the last subscription that was processed. */
  readonly fan_cursor: string | null
}

/**
 * Subscriptions that may receive a message, ordered by id: they are active, or were when it was dispatched, and so are
 * their users and clients.
 */
export interface SubscriberPage {
  readonly rows: readonly {
    readonly id: string
    readonly lane: number
    readonly created_at: number
    readonly paused_at: number | null
  }[]
  /** Whether this is the last page. */
  readonly isLast: boolean
}

export async function loadSubscribers(
  system: System,
  trx: Transaction<SystemTables>,
  { message, catalog, limit }: { message: PendingMessage; catalog: EventCatalog; limit: number },
): Promise<SubscriberPage> {
  const scopes = scopesOf(findEvent(catalog, message.event) ?? {})
  let query = trx
    .selectFrom('waypost_subscription as s')
    .innerJoin('waypost_user as user', 'user.id', 's.user_id')
    .leftJoin('waypost_client as creator', 'creator.id', 's.client_id')
    .select(['s.id', 's.lane', 's.created_at', 's.paused_at'])
    .where('s.event', '=', message.event)
    .where((where) =>
      where.or([
        where('s.status', '=', 'active'),
        where('s.status', '=', 'paused').and('s.paused_at', '>=', message.created_at),
      ]),
    )
    .where('user.status', '=', 'active')
    .where(isCreatorActive)
    .orderBy('s.id')
    .limit(limit)
  if (message.fan_cursor !== null) query = query.where('s.id', '>', message.fan_cursor)
  if (message.users !== null) query = query.where('s.user_id', 'in', jsonStrings(system, message.users))
  if (scopes.length > 0) {
    query = query.where((where) =>
      where.exists(
        where
          .selectFrom('waypost_user_scope as granted')
          .select('granted.scope')
          .whereRef('granted.user_id', '=', 'user.id')
          .where('granted.scope', 'in', scopes)
          .where(isScopeEffective(system)),
      ),
    )
  }
  const rows = await query.execute()
  return { rows, isLast: rows.length < limit }
}
