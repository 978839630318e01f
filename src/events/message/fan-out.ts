import { sql, type Transaction } from 'kysely'
import { makeSortedId } from '../../kit/index.ts'
import type { System, SystemTables } from '../../store/index.ts'
import type { EventCatalog } from './catalog.ts'
import { loadSubscribers, type FannedMessage, type SubscriberPage } from './subscribers.ts'
import { nowOnce, texts } from '../expressions.ts'

/** Deliveries at most that one transaction makes. */
const chunkSize = 1000
/** Fewer of a message for very many, so that what others dispatch meanwhile is never behind many of its deliveries. */
const chunkOfBegun = 250
const mostMessages = 500

/** Which messages: those that nobody has begun, those of which a part is done, or both. */
export type FanOutPart = 'fresh' | 'begun' | 'all'

/**
 * Turns the oldest messages into deliveries, a chunk in one transaction; what is left of a message goes on behind the
 * last subscription of the chunk, whoever does it.
 * @returns whether there was anything to do that nobody else has in hand
 */
export async function fanOutChunk(system: System, catalog: EventCatalog, part: FanOutPart = 'all'): Promise<boolean> {
  return system.transaction(async (trx) => {
    const messages = await selectMessages(system, trx, { catalog, part })
    const pages = new Map<string, SubscriberPage>()
    const deliveries: NewDelivery[] = []
    const done: string[] = []
    for (const message of messages) {
      const room = (part === 'begun' ? chunkOfBegun : chunkSize) - deliveries.length
      if (room === 0) break
      const known = isForAll(message) ? pages.get(message.event) : undefined
      const page = known ?? (await loadSubscribers(system, trx, { message, catalog, limit: room }))
      if (page.isLast && isForAll(message)) pages.set(message.event, page)
      const { subscriptions, cursor } = choose(page, message, room)
      for (const subscription of subscriptions) deliveries.push({ message, subscription })
      if (cursor === undefined) done.push(message.id)
      else await keepCursor(trx, message, cursor)
    }
    await insertDeliveries(system, trx, deliveries)
    await markFanned(system, trx, done)
    return messages.length > 0
  })
}

/** Whether it begins with the first of all subscribers, so that other such messages of its event have the same ones. */
function isForAll({ users, fan_cursor: cursor }: FannedMessage): boolean {
  return users === null && cursor === null
}

interface NewDelivery {
  readonly message: FannedMessage
  readonly subscription: string
}

function selectMessages(
  system: System,
  trx: Transaction<SystemTables>,
  { catalog, part }: { catalog: EventCatalog; part: FanOutPart },
): Promise<readonly (FannedMessage & { readonly now: number })[]> {
  return trx
    .selectFrom('waypost_message')
    .select(['id', 'event', 'users', 'created_at', 'fan_cursor', system.now().as('now')])
    .where('fanned_out_at', 'is', null)
    .where('event', 'in', texts(system, JSON.stringify(Object.keys(catalog))))
    .$if(part === 'fresh', (query) => query.where('fan_cursor', 'is', null))
    .$if(part === 'begun', (query) => query.where('fan_cursor', 'is not', null))
    .orderBy('created_at')
    .orderBy('id')
    .limit(mostMessages)
    .$if(system.kind === 'postgresql', (query) => query.forUpdate().skipLocked())
    .execute()
}

/**
 * Those of a page that are older than the message, and were not paused then, as far as there is room, and where to go on if that is not all. One
 * that seems to be made in times to come is older: the database's clock was set back since then.
 */
function choose(
  { rows, isLast }: SubscriberPage,
  message: FannedMessage & { readonly now: number },
  room: number,
): { subscriptions: readonly string[]; cursor: string | undefined } {
  const isOlder = (made: number) => made <= message.created_at || made > message.now
  const wasActive = (pausedAt: number | null) => pausedAt === null || pausedAt >= message.created_at
  const meant = rows.filter((row) => isOlder(row.created_at) && wasActive(row.paused_at))
  const older = meant.map((row) => row.id)
  if (older.length > room) return { subscriptions: older.slice(0, room), cursor: older[room - 1] }
  return { subscriptions: older, cursor: isLast ? undefined : rows.at(-1)?.id }
}

async function keepCursor(trx: Transaction<SystemTables>, { id }: FannedMessage, cursor: string): Promise<void> {
  await trx.updateTable('waypost_message').set({ fan_cursor: cursor }).where('id', '=', id).execute()
}

async function markFanned(system: System, trx: Transaction<SystemTables>, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await trx.updateTable('waypost_message').set({ fanned_out_at: system.now() }).where('id', 'in', ids).execute()
}

async function insertDeliveries(
  system: System,
  trx: Transaction<SystemTables>,
  deliveries: readonly NewDelivery[],
): Promise<void> {
  if (deliveries.length === 0) return
  const json = JSON.stringify(
    deliveries.map(({ message, subscription }) => [makeSortedId('dlv_', message.created_at), message.id, subscription]),
  )
  // One text for any number of rows, so that a chunk costs neither a parameter nor a node of a query for each value.
  const rows =
    system.kind === 'postgresql'
      ? sql`json_array_elements(cast(${json} as json)) as entry(value)`
      : sql`json_each(${json}) as entry`
  const now = nowOnce(system)
  await sql`insert into waypost_delivery
    (id, message_id, subscription_id, status, due_at, scheduled_at, failures, lost, created_at)
    select value ->> 0, value ->> 1, value ->> 2, 'pending', ${now}, ${now}, 0, 0, ${now} from ${rows} where true
    on conflict (message_id, subscription_id) do nothing`.execute(trx)
}
