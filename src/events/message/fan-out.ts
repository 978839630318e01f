import { sql, type RawBuilder, type Selectable, type Transaction } from 'kysely'
import { makeSortedId } from '../../kit/index.ts'
import { followIndexes, jsonRows, jsonStrings, nowOnce, type System, type SystemTables } from '../../store/index.ts'
import type { EventCatalog } from './catalog.ts'
import { isDelayedDue } from './delayed.ts'
import { eventTerms, isRecipientAllowed } from '../expressions.ts'

/** The most deliveries that one transaction creates. */
const chunkSize = 1000
/**
 * Smaller for messages with many subscribers, so that messages dispatched meanwhile do not wait behind many deliveries.
 */
const begunChunkSize = 500
const maxMessages = 500

/** How many of the oldest messages are searched for begun ones, which are among the oldest. */
const maxMessagesScanned = 500

/**
 * Whether there are messages whose fan-out has not begun, messages whose fan-out is partly done, and delayed events that are
 * due. Ignores events that the active release does not declare, because their scopes and listeners are unknown.
 */
export async function findMessages(
  system: System,
  catalog: EventCatalog,
): Promise<{ readonly fresh: boolean; readonly begun: boolean; readonly delayed: boolean }> {
  const waiting = sql`waypost_message where fanned_out_at is null and event in ${eventsOf(system, catalog)}`
  const { rows } = await sql<{ fresh: number; begun: number; delayed: number }>`
    select case when exists (select 1 from ${waiting} and fan_cursor is null) then 1 else 0 end as fresh,
      case when exists (
        select 1 from (
          select fan_cursor from ${waiting} order by fanned_out_at, created_at limit ${maxMessagesScanned}
        ) oldest
        where oldest.fan_cursor is not null
      ) then 1 else 0 end as begun,
      case when ${isDelayedDue(system, catalog)} then 1 else 0 end as delayed`.execute(system.db)
  return { fresh: rows[0]?.fresh === 1, begun: rows[0]?.begun === 1, delayed: rows[0]?.delayed === 1 }
}

function eventsOf(system: System, catalog: EventCatalog): RawBuilder<string> {
  return jsonStrings(system, JSON.stringify(Object.keys(catalog)))
}

/**
 * A message that fan-out reads. `users`: JSON array of the ids of the users who receive it; null means all. `fan_cursor`:
 * id of the last subscription that was processed. `now`: the database's time.
 */
type PendingMessage = Pick<
  Selectable<SystemTables['waypost_message']>,
  'id' | 'event' | 'users' | 'created_at' | 'fan_cursor'
> & { readonly now: number }

/** A part of the subscriptions of an event, in order of their ids. */
interface SubscriberPage {
  /** Those that may receive it: they are active, or were when it was dispatched, and so are their users and clients. */
  readonly rows: readonly Pick<
    Selectable<SystemTables['waypost_subscription']>,
    'id' | 'lane' | 'created_at' | 'paused_at'
  >[]
  /** The id after which the next page begins; undefined if this is the last one. */
  readonly next: string | undefined
}

/** Which messages: those whose fan-out has not begun, those whose fan-out is partly done, or both. */
export type FanOutPart = 'fresh' | 'begun' | 'all'

/**
 * Creates the deliveries of the oldest messages, one chunk in one transaction. The cursor of a message that has more
 * subscribers than fit is stored, so that any worker can continue.
 * @returns whether there was a message that no other worker had locked
 */
export async function fanOutChunk(system: System, catalog: EventCatalog, part: FanOutPart = 'all'): Promise<boolean> {
  return system.transaction(async (trx) => {
    await followIndexes(system, trx)
    const messages = await selectMessages(system, trx, { catalog, part })
    const pages = new Map<string, SubscriberPage>()
    const deliveries: (readonly [id: string, message: string, subscription: string, lane: number])[] = []
    const done: string[] = []
    for (const message of messages) {
      const room = (part === 'begun' ? begunChunkSize : chunkSize) - deliveries.length
      if (room === 0) break
      const known = isForAll(message) ? pages.get(message.event) : undefined
      const page = known ?? (await loadSubscribers(system, trx, { message, catalog, limit: room }))
      if (page.next === undefined && isForAll(message)) pages.set(message.event, page)
      const { subscriptions, cursor } = chooseSubscriptions(page, message, room)
      for (const { id, lane } of subscriptions) {
        deliveries.push([makeSortedId('dlv_', message.created_at), message.id, id, lane])
      }
      if (cursor === undefined) done.push(message.id)
      else await trx.updateTable('waypost_message').set({ fan_cursor: cursor }).where('id', '=', message.id).execute()
    }
    if (deliveries.length > 0) {
      const now = nowOnce(system)
      // One JSON text for any number of rows: a query builder would create a parameter and a node for each value.
      await sql`insert into waypost_delivery
        (id, message_id, subscription_id, lane, status, due_at, scheduled_at, failures, lost, created_at)
        select value ->> 0, value ->> 1, value ->> 2, cast(value ->> 3 as int), 'pending', 0, ${now}, 0, 0, ${now}
        from ${jsonRows(system, deliveries)} where true
        on conflict (message_id, subscription_id) do nothing`.execute(trx)
    }
    if (done.length > 0) {
      await trx.updateTable('waypost_message').set({ fanned_out_at: system.now() }).where('id', 'in', done).execute()
    }
    return messages.length > 0
  })
}

/**
 * Whether the message goes to all subscribers from the first one on, so that messages of the same event share a page.
 */
function isForAll({ users, fan_cursor: cursor }: PendingMessage): boolean {
  return users === null && cursor === null
}

function selectMessages(
  system: System,
  trx: Transaction<SystemTables>,
  { catalog, part }: { catalog: EventCatalog; part: FanOutPart },
): Promise<readonly PendingMessage[]> {
  return trx
    .selectFrom('waypost_message')
    .select(['id', 'event', 'users', 'created_at', 'fan_cursor', system.now().as('now')])
    .where('fanned_out_at', 'is', null)
    .where('event', 'in', eventsOf(system, catalog))
    .$if(part === 'fresh', (query) => query.where('fan_cursor', 'is', null))
    .$if(part === 'begun', (query) => query.where('fan_cursor', 'is not', null))
    .orderBy('fanned_out_at') // all are null, but PostgreSQL would sort all that wait
    .orderBy('created_at')
    .orderBy('id')
    .limit(maxMessages)
    .$if(system.kind === 'postgresql', (query) => query.forUpdate().skipLocked())
    .execute()
}

async function loadSubscribers(
  system: System,
  trx: Transaction<SystemTables>,
  { message, catalog, limit }: { message: PendingMessage; catalog: EventCatalog; limit: number },
): Promise<SubscriberPage> {
  const { created_at: dispatchedAt, event } = message
  const isActive = sql<boolean>`(s.status = 'active' or (s.status = 'paused' and s.paused_at >= ${dispatchedAt}))`
  const isNext = message.fan_cursor === null ? sql`true` : sql`id > ${message.fan_cursor}`
  const isFor = message.users === null ? sql`true` : sql`user_id in ${jsonStrings(system, message.users)}`
  // The page first, so that no join changes the order in which subscriptions are read.
  const { rows } = await sql<SubscriberPage['rows'][number] & { readonly receives: number }>`
    with ${eventTerms(system, { [event]: catalog[event]! })}, s as materialized (
      select * from waypost_subscription where event = ${event} and ${isNext} and ${isFor}
      order by event, id limit ${limit}
    )
    select s.id, s.lane, s.created_at, s.paused_at,
      case when ${isActive} and ${isRecipientAllowed(system)} then 1 else 0 end as receives
    from s left join waypost_user u on u.id = s.user_id left join waypost_client creator on creator.id = s.client_id
    order by s.id`.execute(trx)
  const next = rows.length < limit ? undefined : rows.at(-1)!.id
  return { rows: rows.filter(({ receives }) => receives === 1), next }
}

/**
 * Chooses the subscriptions of a page that are older than the message and were not paused when it was dispatched, as
 * far as they fit, and the cursor if more follow. A subscription whose creation time is in the future counts as older,
 * because the database's clock was set back.
 */
function chooseSubscriptions(
  { rows, next }: SubscriberPage,
  message: PendingMessage,
  room: number,
): { subscriptions: SubscriberPage['rows']; cursor: string | undefined } {
  const isOlder = (made: number) => made <= message.created_at || made > message.now
  const wasActive = (pausedAt: number | null) => pausedAt === null || pausedAt >= message.created_at
  const older = rows.filter((row) => isOlder(row.created_at) && wasActive(row.paused_at))
  if (older.length > room) return { subscriptions: older.slice(0, room), cursor: older[room - 1]!.id }
  return { subscriptions: older, cursor: next }
}
