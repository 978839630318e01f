import { sql, type Transaction } from 'kysely'
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

/** A part of the subscriptions of an event, in order of their ids. */
export interface SubscriberPage {
  /** Those that may receive it: they are active, or were when it was dispatched, and so are their users and clients. */
  readonly rows: readonly {
    readonly id: string
    readonly lane: number
    readonly created_at: number
    readonly paused_at: number | null
  }[]
  /** The id after which the next page begins; undefined if this is the last one. */
  readonly next: string | undefined
}

export async function loadSubscribers(
  system: System,
  trx: Transaction<SystemTables>,
  { message, catalog, limit }: { message: PendingMessage; catalog: EventCatalog; limit: number },
): Promise<SubscriberPage> {
  const scopes = scopesOf(findEvent(catalog, message.event) ?? {})
  const isActive = sql<boolean>`(s.status = 'active' or (s.status = 'paused' and s.paused_at >= ${message.created_at}))`
  const isGranted =
    scopes.length === 0
      ? sql<boolean>`true`
      : sql<boolean>`exists (
          select 1 from waypost_user_scope granted where granted.user_id = u.id
            and granted.scope in ${jsonStrings(system, JSON.stringify(scopes))} and ${isScopeEffective(system)})`
  const isNext = message.fan_cursor === null ? sql`true` : sql`id > ${message.fan_cursor}`
  const isFor = message.users === null ? sql`true` : sql`user_id in ${jsonStrings(system, message.users)}`
  // The page first, so that no join changes the order in which subscriptions are read.
  const { rows } = await sql<SubscriberPage['rows'][number] & { readonly receives: number }>`
    with s as materialized (
      select * from waypost_subscription where event = ${message.event} and ${isNext} and ${isFor}
      order by event, id limit ${limit}
    )
    select s.id, s.lane, s.created_at, s.paused_at,
      case when ${isActive} and u.status = 'active' and ${isCreatorActive} and ${isGranted} then 1 else 0 end as receives
    from s left join waypost_user u on u.id = s.user_id left join waypost_client creator on creator.id = s.client_id
    order by s.id`.execute(trx)
  const next = rows.length < limit ? undefined : rows.at(-1)!.id
  return { rows: rows.filter(({ receives }) => receives === 1), next }
}
