import type { Since } from '../../kit/index.ts'
import { sql } from 'kysely'
import { type System, type SystemTables, loadDatabaseTime } from '../../store/index.ts'
import type { Host } from '../../host/index.ts'
import { changeSystem, type ActingHost } from '../change-system.ts'
import { loadAttempts, type ListedAttempt, loadAnswers, type AttemptWithAnswer } from './load-attempts.ts'
import { eventErrors, countDead, replayDead, replayDelivery, type Replayed } from '../../events/index.ts'

export type DeliveryState = SystemTables['waypost_delivery']['status']

export interface DeliveryFilter {
  readonly id?: string | undefined
  readonly event?: string | undefined
  /** Id of a subscription. */
  readonly subscription?: string | undefined
  readonly state?: DeliveryState | undefined
  /** Only messages dispatched since then. */
  readonly since?: Since | undefined
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

/** Lists deliveries of all users, newest first. */
export async function listHostDeliveries({ system }: Host, filter: DeliveryFilter): Promise<readonly ListedDelivery[]> {
  const rows = await selectDeliveries(system, filter)
  const attempts = await loadAttempts(
    system,
    rows.map(({ id }) => id),
  )
  return rows.map(({ event, endpoint, user, dueAt, finishedAt, ...row }) => {
    const made = attempts.get(row.id) ?? []
    return {
      ...row,
      event: event ?? undefined,
      endpoint: endpoint ?? undefined,
      user: user ?? undefined,
      attempts: made.length,
      last: made.at(-1),
      dueAt: row.state === 'pending' ? dueAt : undefined,
      finishedAt: finishedAt ?? undefined,
    }
  })
}

async function selectDeliveries(system: System, filter: DeliveryFilter) {
  const { id, event, subscription, state, since, limit } = filter
  const from = since === undefined ? undefined : await resolveSince(system, since)
  return (
    system.db
      .selectFrom('waypost_delivery as delivery')
      .leftJoin('waypost_message as message', 'message.id', 'delivery.message_id')
      .leftJoin('waypost_subscription as subscription', 'subscription.id', 'delivery.subscription_id')
      .leftJoin('waypost_user as user', 'user.id', 'subscription.user_id')
      .select(['delivery.id', 'message.event', 'delivery.status as state', 'delivery.subscription_id as subscription'])
      .select(['subscription.endpoint', 'user.name as user', 'delivery.due_at as dueAt'])
      .select(['delivery.created_at as createdAt', 'delivery.finished_at as finishedAt'])
      .$if(id !== undefined, (query) => query.where('delivery.id', '=', id!))
      .$if(event !== undefined, (query) => query.where('message.event', '=', event!))
      .$if(subscription !== undefined, (query) => query.where('delivery.subscription_id', '=', subscription!))
      .$if(state !== undefined, (query) => query.where('delivery.status', '=', sql.lit(state!)))
      .$if(from !== undefined, (query) => query.where('delivery.created_at', '>=', from!))
      // These are few and indexed. Ordered by id, SQLite would scan all deliveries.
      .$if(state === 'pending' || state === 'dead', (query) => query.orderBy('delivery.created_at', 'desc'))
      .orderBy('delivery.id', 'desc')
      .limit(limit)
      .execute()
  )
}

export interface DeliveryDetails {
  readonly delivery: ListedDelivery
  /** The newest 100 attempts, oldest first. */
  readonly attempts: readonly AttemptWithAnswer[]
}

/**
 * Finds a delivery of any user with the responses to its attempts, for operators.
 * @throws WP_EVENTS_DELIVERY_UNKNOWN
 */
export async function findHostDelivery(host: Host, id: string): Promise<DeliveryDetails> {
  const [delivery] = await listHostDeliveries(host, { id, limit: 1 })
  if (delivery === undefined) throw eventErrors.WP_EVENTS_DELIVERY_UNKNOWN({ id })
  return { delivery, attempts: await loadAnswers(host.system, id) }
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

/** Converts to milliseconds since 1970. Durations are relative to the database's clock. */
export async function resolveSince(system: System, since: Since): Promise<number> {
  return 'atMs' in since ? since.atMs : (await loadDatabaseTime(system)) - since.agoMs
}
