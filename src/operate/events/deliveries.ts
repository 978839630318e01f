import { isStorable, sortedIdPrefix, userAgent, type Since } from '../../kit/index.ts'
import { sql } from 'kysely'
import {
  makeCursor,
  makePage,
  whereAfter,
  type Page,
  type Sort,
  type System,
  type SystemTables,
} from '../../store/index.ts'
import type { Host } from '../../host/index.ts'
import { changeSystem, type ActingHost } from '../change-system.ts'
import {
  idsPerStatement,
  loadAttempts,
  type ListedAttempt,
  loadAnswers,
  type AttemptWithAnswer,
} from './load-attempts.ts'
import { loadMessage, resolveSince, type MessageDetails } from './messages.ts'
import { eventErrors, countDead, replayDead, replayDelivery, type Replayed } from '../../events/index.ts'

export type DeliveryState = SystemTables['waypost_delivery']['status']

export interface DeliveryFilter {
  readonly event?: string | undefined
  /** Id of a subscription. */
  readonly subscription?: string | undefined
  readonly state?: DeliveryState | undefined
  /** Only messages dispatched since then. */
  readonly since?: Since | undefined
  readonly cursor?: string | undefined
  readonly limit: number
}

export interface ListedDelivery {
  readonly id: string
  /** Undefined if its message has been deleted. */
  readonly event: string | undefined
  readonly state: DeliveryState
  readonly subscription: string
  /** Undefined if the subscription was deleted. */
  readonly endpoint: string | undefined
  readonly user: string | undefined
  /** POSTs so far, including those before a replay. */
  readonly attempts: number
  readonly last: ListedAttempt | undefined
  /** When the next attempt is due, in milliseconds since 1970; undefined if finished. */
  readonly dueAt: number | undefined
  readonly createdAt: number
  readonly finishedAt: number | undefined
}

/**
 * Lists deliveries of all users: newest first, pending ones in the order in which they are due, dead ones by when they
 * died. With `event`, a page may have fewer entries than its limit, or none, although `next` is present.
 * @throws WP_STORE_CURSOR
 */
export async function listHostDeliveries(
  { system }: Pick<Host, 'system'>,
  filter: DeliveryFilter,
): Promise<Page<ListedDelivery>> {
  const { entry, next } = await selectPage(system, filter)
  return { entry: await describe(system, entry), next }
}

type DeliveryRow = Pick<
  SystemTables['waypost_delivery'],
  'id' | 'message_id' | 'subscription_id' | 'status' | 'due_at' | 'created_at' | 'finished_at'
>

async function describe(system: System, rows: readonly DeliveryRow[]): Promise<readonly ListedDelivery[]> {
  const ids = rows.map(({ id }) => id)
  const [attempts, others] = await Promise.all([loadAttempts(system, ids), loadOthers(system, rows)])
  return rows.map((row) => {
    const made = attempts.get(row.id) ?? []
    const { event, endpoint, user } = others(row)
    return {
      id: row.id,
      event,
      state: row.status,
      subscription: row.subscription_id,
      endpoint,
      user,
      attempts: made.length,
      last: made.at(-1),
      dueAt: row.status === 'pending' ? row.due_at : undefined,
      createdAt: row.created_at,
      finishedAt: row.finished_at ?? undefined,
    }
  })
}

/** Loads messages and subscriptions of deliveries. Joined, the database might read and sort all of them. */
async function loadOthers({ db }: System, rows: readonly DeliveryRow[]) {
  const events = new Map<string, string>()
  const subscriptions = new Map<string, { endpoint: string; user: string | undefined }>()
  for (let start = 0; start < rows.length; start += idsPerStatement) {
    const some = rows.slice(start, start + idsPerStatement)
    const messages = [...new Set(some.map((row) => row.message_id))]
    for (const { id, event } of await db
      .selectFrom('waypost_message')
      .select(['id', 'event'])
      .where('id', 'in', messages)
      .execute()) {
      events.set(id, event)
    }
    const found = await db
      .selectFrom('waypost_subscription as subscription')
      .leftJoin('waypost_user as user', 'user.id', 'subscription.user_id')
      .select(['subscription.id', 'subscription.endpoint', 'user.name as user'])
      .where('subscription.id', 'in', [...new Set(some.map((row) => row.subscription_id))])
      .execute()
    for (const { id, endpoint, user } of found) subscriptions.set(id, { endpoint, user: user ?? undefined })
  }
  return (row: DeliveryRow) => {
    const { endpoint, user } = subscriptions.get(row.subscription_id) ?? { endpoint: undefined, user: undefined }
    return { event: events.get(row.message_id), endpoint, user }
  }
}

/** How many deliveries a page reads to find those of one event, which have no index. */
const maxScanned = 5000

async function selectPage(system: System, filter: DeliveryFilter): Promise<Page<DeliveryRow>> {
  const { event, subscription, state, since, cursor, limit } = filter
  const from = since === undefined ? undefined : await resolveSince(system, since)
  const sort = sortOf(filter)
  const scanned = system.db
    .selectFrom('waypost_delivery')
    .select(['id', 'message_id', 'subscription_id', 'status', 'due_at', 'created_at', 'finished_at'])
    .$if(subscription !== undefined, (query) => query.where('subscription_id', '=', subscription!))
    // A literal, so that partial indexes apply.
    .$if(state !== undefined, (query) => query.where('status', '=', sql.lit(state!)))
    // Ids begin with the time of the dispatch.
    .$if(from !== undefined, (query) =>
      query.where('id', '>=', sortedIdPrefix('dlv_', from!)).where('created_at', '>=', from!),
    )
    .where(whereAfter({ sort, cursor }))
    .orderBy(sql.join(sort.map(([column, direction]) => sql`${sql.ref(column)} ${sql.raw(direction)}`)))
  if (event === undefined) return makePage(await scanned.limit(limit + 1).execute(), { sort, limit })
  const rows = await scanned.limit(maxScanned).execute()
  const events = await findMessages(system, { event, rows })
  const page = makePage(
    rows.filter((row) => events.has(row.message_id)),
    { sort, limit },
  )
  if (page.next !== undefined || rows.length < maxScanned) return page
  return { ...page, next: makeCursor(sort, rows.at(-1)!) }
}

/** Orders for which there is an index. */
function sortOf({ state, subscription }: DeliveryFilter): Sort<keyof DeliveryRow> {
  if (state === 'pending')
    return [
      ['due_at', 'asc'],
      ['id', 'asc'],
    ]
  if (subscription !== undefined) return [['message_id', 'desc']]
  if (state === 'dead')
    return [
      ['finished_at', 'desc'],
      ['id', 'desc'],
    ]
  return [['id', 'desc']]
}

/** Returns the messages of an event among those of deliveries. */
async function findMessages(
  { db }: System,
  { event, rows }: { event: string; rows: readonly DeliveryRow[] },
): Promise<ReadonlySet<string>> {
  const ids = [...new Set(rows.map((row) => row.message_id))]
  const found = new Set<string>()
  for (let start = 0; start < ids.length; start += idsPerStatement) {
    const some = db
      .selectFrom('waypost_message')
      .select('id')
      .where('id', 'in', ids.slice(start, start + idsPerStatement))
    for (const { id } of await some.where('event', '=', event).execute()) found.add(id)
  }
  return found
}

export interface DeliveryDetails {
  readonly delivery: ListedDelivery
  /** What is posted; undefined if the message was deleted. */
  readonly message: MessageDetails | undefined
  /** The headers of each POST, besides `webhook-timestamp` and `webhook-signature`. */
  readonly headers: Readonly<Record<string, string>>
  /** The newest 100 attempts, oldest first. */
  readonly attempts: readonly AttemptWithAnswer[]
}

/**
 * Finds a delivery of any user with its body and the responses to its attempts, for operators.
 * @throws WP_EVENTS_DELIVERY_UNKNOWN
 */
export async function findHostDelivery({ system }: Pick<Host, 'system'>, id: string): Promise<DeliveryDetails> {
  const columns = ['id', 'message_id', 'subscription_id', 'status', 'due_at', 'created_at', 'finished_at'] as const
  const row = isStorable(id)
    ? await system.db.selectFrom('waypost_delivery').select(columns).where('id', '=', id).executeTakeFirst()
    : undefined
  if (row === undefined) throw eventErrors.WP_EVENTS_DELIVERY_UNKNOWN({ id })
  const [delivery] = await describe(system, [row])
  const [message, attempts] = await Promise.all([loadMessage(system, row.message_id), loadAnswers(system, id)])
  const event = message === undefined ? {} : { 'waypost-event': message.event }
  const headers = { 'content-type': 'application/json', 'user-agent': userAgent, ...event, 'webhook-id': id }
  return { delivery: delivery!, message, headers, attempts }
}

export interface ReplayRequest {
  /** Only deliveries that died since then. */
  readonly since: Since
  readonly event?: string | undefined
  /** Id of a subscription. */
  readonly subscription?: string | undefined
  /** Maximum number of deliveries. */
  readonly limit: number
  /** Called with the number of deliveries, unless it is 0. */
  confirm(count: number): Promise<boolean>
}

/** Redelivers one finished delivery. Throws like `replayDelivery`. */
export async function replayHostDelivery(host: ActingHost, id: string): Promise<void> {
  await changeSystem(host, async (system, audit) => {
    await replayDelivery(system, { delivery: id })
    await audit({ action: 'delivery.replay', subject: { id, name: id } })
  })
}

/**
 * Replays dead deliveries after confirmation, in chunks that each have an audit row.
 * @returns undefined if not confirmed
 */
export async function replayHostDeliveries(host: ActingHost, request: ReplayRequest): Promise<Replayed | undefined> {
  const { system } = host
  const { confirm, limit, since, ...filter } = request
  const dead = { ...filter, since: await resolveSince(system, since) }
  const count = await countDead(system, dead)
  if (count === 0) return { replayed: 0, more: false }
  if (!(await confirm(count))) return undefined
  const facts = { ...filter, since: new Date(dead.since).toISOString() }
  return replayDead(system, { ...dead, limit }, (replay) =>
    changeSystem(host, async (joined, audit) => {
      const deliveries = await replay(joined)
      if (deliveries > 0) await audit({ action: 'delivery.replay', after: { ...facts, deliveries } })
      return deliveries
    }),
  )
}
