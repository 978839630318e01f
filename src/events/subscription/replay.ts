import { isStorable } from '../../kit/index.ts'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { inOneTransaction, isOneOf, readInIndexOrder, type System, type SystemTables } from '../../store/index.ts'
import { moveSuccess } from '../attempts.ts'
import { closeBreakers, type DeadFilter } from '../lanes/breaker.ts'
import { errors } from '../errors.ts'
import { testEvent } from './test-event.ts'

export interface Replayed {
  readonly replayed: number
  /** Whether more are left; call again to continue. */
  readonly more: boolean
}

const chunk = 500

/**
 * Redelivers one finished delivery under the same id, with four new attempts.
 * @param which with `subscription`, only a delivery of that subscription
 * @throws WP_EVENTS_DELIVERY_UNKNOWN, WP_EVENTS_DELIVERY_PENDING, WP_EVENTS_REPLAY_STOPPED, WP_EVENTS_REPLAY_PRUNED
 */
export async function replayDelivery(
  system: System,
  which: { delivery: string; subscription?: string | undefined },
): Promise<void> {
  const { delivery: id, subscription } = which
  const found = await findDelivery(system, id)
  if (found === undefined || found.of !== (subscription ?? found.of)) throw errors.WP_EVENTS_DELIVERY_UNKNOWN({ id })
  if (found.status === 'pending') throw errors.WP_EVENTS_DELIVERY_PENDING({ id })
  if (found.state === null || found.state === 'disabled') {
    throw errors.WP_EVENTS_REPLAY_STOPPED({ id, state: found.state ?? 'deleted' })
  }
  if (found.event === null) throw errors.WP_EVENTS_REPLAY_PRUNED({ id })
  await closeBreakers(system, { subscription: found.of })
  const replayed = await system.transaction(async (trx) => {
    const lock = system.kind === 'postgresql' ? sql`for update` : sql``
    const { rows } =
      await sql`select id from waypost_delivery where id = ${id} and status <> 'pending' ${lock}`.execute(trx)
    if (rows.length > 0) await moveSuccess(trx, id)
    return replayRows(system, trx, sql`select cast(${id} as text) as id`)
  })
  if (replayed === 0) throw errors.WP_EVENTS_DELIVERY_PENDING({ id }) // another process replayed it first
}

/**
 * Makes the next attempt of a pending delivery due now. The number of attempts that are left stays the same.
 * @throws WP_EVENTS_DELIVERY_UNKNOWN, WP_EVENTS_DELIVERY_FINISHED, WP_EVENTS_DELIVERY_SENDING, WP_EVENTS_RETRY_STOPPED
 */
export async function retryDelivery(system: System, id: string): Promise<void> {
  const found = await findDelivery(system, id)
  if (found === undefined) throw errors.WP_EVENTS_DELIVERY_UNKNOWN({ id })
  if (found.status !== 'pending') throw errors.WP_EVENTS_DELIVERY_FINISHED({ id, status: found.status })
  if (found.state !== 'active') throw errors.WP_EVENTS_RETRY_STOPPED({ id, state: found.state ?? 'deleted' })
  await closeBreakers(system, { subscription: found.of })
  const now = system.now()
  // A fresh one is due already. What a worker noted is, or will soon be, under way.
  const { numAffectedRows = 0n } = await sql`
    update waypost_delivery set due_at = case when due_at = 0 then 0 else ${now} end, scheduled_at = ${now}
    where id = ${id} and status || '' = 'pending' and not exists (
      select 1 from waypost_worker where note like ${`%"${id}"%`})`.execute(system.db)
  if (numAffectedRows > 0n) return
  const status = (await findDelivery(system, id))?.status ?? 'deleted' // a worker was faster
  throw status === 'pending'
    ? errors.WP_EVENTS_DELIVERY_SENDING({ id })
    : errors.WP_EVENTS_DELIVERY_FINISHED({ id, status })
}

async function findDelivery({ db }: System, id: string) {
  if (!isStorable(id)) return undefined
  return db
    .selectFrom('waypost_delivery as delivery')
    .leftJoin('waypost_message as message', 'message.id', 'delivery.message_id')
    .leftJoin('waypost_subscription as subscription', 'subscription.id', 'delivery.subscription_id')
    .select(['delivery.status', 'delivery.subscription_id as of', 'subscription.status as state', 'message.event'])
    .where('delivery.id', '=', id)
    .executeTakeFirst()
}

/**
 * Redelivers dead deliveries whose data is still stored and whose subscription exists and is not disabled, in the order
 * in which they died, in chunks.
 * @param runChunk runs the change of a chunk in a transaction
 */
export async function replayDead(
  system: System,
  filter: DeadFilter & { limit: number },
  runChunk: (change: (joined: System) => Promise<number>) => Promise<number> = (change) =>
    inOneTransaction(system, change),
): Promise<Replayed> {
  await closeBreakers(system, filter)
  const { now } = await system.db.selectNoFrom(system.now().as('now')).executeTakeFirstOrThrow()
  let replayed = 0
  let { since } = filter
  while (replayed < filter.limit) {
    const size = Math.min(chunk, filter.limit - replayed)
    const found = { ids: 0, last: since }
    const count = await runChunk(async (joined) => {
      // Exclude deliveries that die again meanwhile.
      const rows = await lockDead(joined, { ...filter, since }, { now, size })
      Object.assign(found, { ids: rows.length, last: rows.at(-1)?.finished_at ?? since })
      const ids = rows.map(({ id }) => id)
      return rows.length === 0
        ? 0
        : replayRows(joined, joined.db, sql`select id from waypost_delivery where ${isOneOf(joined, sql`id`, ids)}`)
    })
    replayed += count
    if (found.ids < size) break
    // The next chunk begins where this one ended: otherwise each would pass the dead deliveries of all other events again.
    since = found.last
  }
  // From the beginning: chunks pass over deliveries that others have locked.
  return { replayed, more: (await countDead(system, filter, { limit: 1, until: now })) > 0 }
}

/** Counts stop here by default, so that they cost little. */
export const maxCounted = 10_000

/** Returns how many dead deliveries can be replayed that died until a time; `limit` if there are more. */
export async function countDead(
  system: System,
  filter: DeadFilter,
  { limit = maxCounted, until }: { readonly limit?: number; readonly until?: number } = {},
): Promise<number> {
  const isUntil = until === undefined ? sql`` : sql`and d.finished_at <= ${until}`
  const { rows } = await readInIndexOrder(system, (db) =>
    sql<{ count: number }>`
      select count(*) as count from (select d.id ${fromDead(filter)} ${isUntil} limit ${limit}) as counted`.execute(db),
  )
  return rows[0]!.count
}

/** Selects the deliveries that died first, and locks them. */
async function lockDead(
  system: System,
  filter: DeadFilter,
  { now, size }: { now: number; size: number },
): Promise<readonly { id: string; finished_at: number }[]> {
  const lock = system.kind === 'postgresql' ? sql`for update of d skip locked` : sql``
  const { rows } = await sql<{ id: string; finished_at: number }>`
    select d.id, d.finished_at ${fromDead(filter)} and d.finished_at <= ${now}
    order by ${diedAt(filter)} limit ${size} ${lock}`.execute(system.db)
  return rows
}

/**
 * The dead deliveries of an event or a subscription are found by subscription, and all by when they died. `+` keeps the planner from
 * the other index, in which it would pass those of all others.
 */
function diedAt({ event, subscription }: DeadFilter): RawBuilder<unknown> {
  return event === undefined && subscription === undefined ? sql`d.finished_at` : sql`+d.finished_at`
}

function fromDead(filter: DeadFilter): RawBuilder<unknown> {
  const { since, event, subscription } = filter
  const [deliveries, subscriptions] = [sql`waypost_delivery d`, sql`waypost_subscription s`]
  const isByDeath = event === undefined && subscription === undefined
  // SQLite joins in this order, and PostgreSQL in its own.
  const first = isByDeath
    ? sql`${deliveries} cross join ${subscriptions}`
    : sql`${subscriptions} cross join ${deliveries}`
  return sql`from ${first} cross join waypost_message m
    where d.status = 'dead' and ${diedAt(filter)} >= ${since} and d.subscription_id = s.id and s.status <> 'disabled'
      and m.id = d.message_id
      ${event === undefined ? sql`` : sql`and m.event = ${event}`}
      ${event === undefined || event === testEvent ? sql`` : sql`and s.event = ${event}`}
      ${subscription === undefined ? sql`` : sql`and s.id = ${subscription}`}`
}

/** Resets the finished deliveries whose ids a query selects. */
async function replayRows(system: System, db: Kysely<SystemTables>, ids: RawBuilder<unknown>): Promise<number> {
  const now = system.now()
  // Materialised, because the planner may otherwise evaluate the query again while it updates.
  const { numAffectedRows = 0n } = await sql`
    with chosen as materialized (${ids})
    update waypost_delivery set status = 'pending', failures = 0, lost = 0, turn = turn + 1,
      lane = coalesce((select s.lane from waypost_subscription s where s.id = waypost_delivery.subscription_id), lane),
      due_at = ${now}, scheduled_at = ${now}, replayed_at = ${now}, finished_at = null
    where id in (select id from chosen) and status <> 'pending'`.execute(db)
  return Number(numAffectedRows)
}
