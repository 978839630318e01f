import { isStorable, makeSortedId, formatDuration } from '../../kit/index.ts'
import { closeBreakers } from '../lanes/breaker.ts'
import { findEvent, hintForEvent, type EventCatalog } from '../message/catalog.ts'
import { errors } from '../errors.ts'
import type { SubscriptionRow } from './subscription-row.ts'
import { sql } from 'kysely'
import type { System } from '../../store/index.ts'

/** The event of test deliveries. Projects cannot declare events that begin with `waypost.`. */
export const testEvent = 'waypost.test'

/**
 * Sends a test event to any subscription, for operators.
 * @returns the delivery's id
 * @throws WP_EVENTS_SUBSCRIPTION_UNKNOWN, WP_EVENTS_SUBSCRIPTION_STOPPED, WP_EVENTS_UNKNOWN
 */
export async function sendOperatorTest(
  system: System,
  { catalog, sample }: { readonly catalog: EventCatalog; sample(event: string): unknown },
  id: string,
): Promise<string> {
  const select = sql<Pick<SubscriptionRow, 'id' | 'event' | 'status' | 'lane' | 'now'>>`
    select id, event, status, lane, ${system.now()} as now from waypost_subscription where id = ${id}`
  const [row] = isStorable(id) ? (await select.execute(system.db)).rows : []
  if (row === undefined) throw errors.WP_EVENTS_SUBSCRIPTION_UNKNOWN({ id })
  assertIsActive(row)
  const { event } = row
  if (findEvent(catalog, event) === undefined) {
    throw errors.WP_EVENTS_UNKNOWN({ event, hint: hintForEvent(catalog, event) })
  }
  return insertTestEvent(system, row, sample(event))
}

/** @throws WP_EVENTS_SUBSCRIPTION_STOPPED */
export function assertIsActive({ id, status }: Pick<SubscriptionRow, 'id' | 'status'>): void {
  if (status !== 'active') throw errors.WP_EVENTS_SUBSCRIPTION_STOPPED({ id, status })
}

/**
 * Queues a test event for an active subscription.
 * @param sample what the subscribed event could contain; undefined if that is not known
 * @returns the delivery's id
 */
export async function insertTestEvent(
  system: System,
  { id, event, lane, now }: Pick<SubscriptionRow, 'id' | 'event' | 'lane' | 'now'>,
  sample: unknown,
): Promise<string> {
  await closeBreakers(system, { subscription: id })
  const [message, delivery] = [makeSortedId('msg_', now), makeSortedId('dlv_', now)]
  const data = JSON.stringify({ subscription: id, event, sent: new Date(now).toISOString(), data: sample })
  const state = { status: 'pending', failures: 0, lost: 0, lane } as const
  const times = { created_at: now, due_at: now, scheduled_at: now }
  await system.transaction(async (trx) => {
    const row = { id: message, event: testEvent, data, created_at: now, fanned_out_at: now }
    await trx.insertInto('waypost_message').values(row).execute()
    const pending = { ...state, ...times, id: delivery, message_id: message, subscription_id: id }
    await trx.insertInto('waypost_delivery').values(pending).execute()
  })
  return delivery
}

const windowMs = 60_000
const maxSends = 30

/**
 * Counts the test events and replays of a user across all servers of a System. Without this limit, subscribers could
 * flood any address.
 * @throws WP_EVENTS_SENDS
 */
export async function countSend(system: System, userId: string): Promise<void> {
  const now = system.now()
  const isExpired = sql`waypost_throttle.expires_at <= ${now} or waypost_throttle.expires_at > ${now} + ${windowMs}`
  const { rows } = await sql<{ count: number; left_ms: number }>`
    insert into waypost_throttle (bucket, count, expires_at)
    values (${JSON.stringify(['send', userId])}, 1, ${now} + ${windowMs})
    on conflict (bucket) do update set
      count = case when ${isExpired} then 1 else waypost_throttle.count + 1 end,
      expires_at = case when ${isExpired} then ${now} + ${windowMs} else waypost_throttle.expires_at end
    returning count, expires_at - ${now} as left_ms`.execute(system.db)
  const { count, left_ms: leftMs } = rows[0]!
  if (count <= maxSends) return
  const seconds = Math.max(1, Math.ceil(leftMs / 1000))
  const wait = formatDuration(seconds * 1000)
  throw errors.WP_EVENTS_SENDS({ limit: maxSends, wait }, { retryAfterSeconds: seconds })
}
