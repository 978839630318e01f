import { isStorable, userAgent, type Since } from '../../kit/index.ts'
import { sql } from 'kysely'
import { loadDatabaseTime, type Page, type System } from '../../store/index.ts'
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
import {
  deliveryColumns,
  selectDeliveries,
  type DeliveryFilter,
  type DeliveryRow,
  type DeliveryState,
} from './select-deliveries.ts'
import {
  allPending,
  countDead,
  dueTimeOf,
  eventErrors,
  maxCounted,
  replayDead,
  replayDelivery,
  retryDelivery,
  type Replayed,
} from '../../events/index.ts'

export interface ListedDelivery {
  readonly id: string
  /** Undefined if its message has been deleted. */
  readonly event: string | undefined
  readonly state: DeliveryState
  /** Id of the message, which may have been deleted. */
  readonly message: string
  readonly subscription: string
  /** Undefined if the subscription was deleted. */
  readonly endpoint: string | undefined
  readonly user: string | undefined
  /** Failed attempts since it was created or replayed. */
  readonly failures: number
  /** POSTs so far, including those before a replay. */
  readonly attempts: number
  readonly last: ListedAttempt | undefined
  /** When the next attempt is due, in milliseconds since 1970; undefined if finished. */
  readonly dueAt: number | undefined
  readonly createdAt: number
  readonly finishedAt: number | undefined
}

/**
 * Lists deliveries of all users: newest first, dead ones by when they died. Of pending ones, those that were put off by
 * when they are due, then fresh ones by subscription. Filters by event, user and endpoint find deliveries of
 * subscriptions that exist.
 * @throws WP_STORE_CURSOR
 */
export async function listHostDeliveries(
  { system }: Pick<Host, 'system'>,
  filter: DeliveryFilter,
): Promise<Page<ListedDelivery>> {
  const { entry, next } = await selectDeliveries(system, filter)
  return { entry: await describe(system, entry), next }
}

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
      message: row.message_id,
      subscription: row.subscription_id,
      endpoint,
      user,
      failures: row.failures,
      attempts: made.length,
      last: made.at(-1),
      dueAt: row.status === 'pending' ? dueTimeOf(row) : undefined,
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
  const row = isStorable(id)
    ? await system.db.selectFrom('waypost_delivery').select(deliveryColumns).where('id', '=', id).executeTakeFirst()
    : undefined
  if (row === undefined) throw eventErrors.WP_EVENTS_DELIVERY_UNKNOWN({ id })
  const [delivery] = await describe(system, [row])
  const [message, attempts] = await Promise.all([loadMessage(system, row.message_id), loadAnswers(system, id)])
  const event = message === undefined ? {} : { 'waypost-event': message.event }
  const headers = { 'content-type': 'application/json', 'user-agent': userAgent, ...event, 'webhook-id': id }
  return { delivery: delivery!, message, headers, attempts }
}

/** What operators should look at. Counts end at `maxCounted`. */
export interface DeliverySummary {
  /** Deliveries that died in the last 24 hours. */
  readonly dead: number
  /** Active subscriptions that are postponed after too many consecutive failures. */
  readonly postponed: number
  /** Deliveries that wait for their next attempt. */
  readonly pending: number
}

const dayMs = 86_400_000

/** Counts what needs attention, from partial indexes. */
export async function loadDeliverySummary({ system }: Pick<Host, 'system'>): Promise<DeliverySummary> {
  const { db } = system
  const now = await loadDatabaseTime(system)
  const died = db
    .selectFrom('waypost_delivery')
    .select('id')
    .where('status', '=', sql.lit('dead'))
    .where('finished_at', '>=', now - dayMs)
    .limit(maxCounted)
  const waiting = sql<{ count: number }>`
    select count(*) as count from (select id from ${allPending} as pending limit ${maxCounted}) as counted`
  const count = (rows: typeof died) =>
    db
      .selectFrom(rows.as('counted'))
      .select((column) => column.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
  const [dead, pending, postponed] = await Promise.all([
    count(died),
    waiting.execute(db).then(({ rows }) => rows[0]!),
    db
      .selectFrom('waypost_subscription')
      .select((column) => column.fn.countAll<number>().as('count'))
      .where('status', '=', 'active')
      .where('open_until', '>', now)
      .executeTakeFirstOrThrow(),
  ])
  return { dead: dead.count, postponed: postponed.count, pending: pending.count }
}

export interface ReplayRequest {
  /** Only deliveries that died since then. */
  readonly since: Since
  readonly event?: string | undefined
  /** Id of a subscription. */
  readonly subscription?: string | undefined
  /** Maximum number of deliveries. */
  readonly limit: number
  /** Called with the number of deliveries, unless it is 0; `maxCounted` if there are more. */
  confirm(count: number): Promise<boolean>
}

/** Returns how many deliveries a replay would redeliver; `maxCounted` if there are more. */
export async function countReplayable(
  { system }: Pick<Host, 'system'>,
  { since, event, subscription }: Pick<ReplayRequest, 'since' | 'event' | 'subscription'>,
): Promise<number> {
  return countDead(system, { since: await resolveSince(system, since), event, subscription })
}

/** Redelivers one finished delivery. Throws like `replayDelivery`. */
export async function replayHostDelivery(host: ActingHost, id: string): Promise<void> {
  await changeSystem(host, async (system, audit) => {
    await replayDelivery(system, { delivery: id })
    await audit({ action: 'delivery.replay', subject: { id, name: id } })
  })
}

/** Makes the next attempt of a pending delivery due now. Throws like `retryDelivery`. */
export async function retryHostDelivery(host: ActingHost, id: string): Promise<void> {
  await changeSystem(host, async (system, audit) => {
    await retryDelivery(system, id)
    await audit({ action: 'delivery.retry', subject: { id, name: id } })
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
