import { sql, type RawBuilder } from 'kysely'
import { makeSortedId } from '../../kit/index.ts'
import { cancelDeliveries, isOneOf, jsonRows, type System } from '../../store/index.ts'

// Deliveries that end without a POST.

const cancelChunk = 1000
const maxCancelChunks = 50

/**
 * Cancels the pending deliveries of a subscription that ended. Beyond 50,000, workers cancel the rest when they read it.
 */
export async function cancelOf(
  system: System,
  subscription: { readonly id: string; readonly lane: number },
): Promise<void> {
  for (let count = 0; count < maxCancelChunks; count++) {
    const of = { subscriptions: [subscription], limit: cancelChunk }
    if ((await cancelDeliveries(system, system.db, of)) < cancelChunk) return
  }
}

/**
 * Cancels all that waits, also delayed events and messages that have not become deliveries yet. Hold deliveries and end the workers first.
 * @returns the number of cancelled deliveries
 */
export async function cancelAllPending(system: System): Promise<number> {
  await sql`delete from waypost_delayed`.execute(system.db)
  await cancelAllRuns(system)
  await sql`update waypost_message set fanned_out_at = ${system.now()} where fanned_out_at is null`.execute(system.db)
  let cancelled = 0
  // Each condition is that of an index of pending deliveries.
  for (const isWaiting of [sql`due_at = 0`, sql`due_at > 0`])
    for (;;) {
      const { rows } = await sql<{ id: string }>`
        select id from waypost_delivery where status = 'pending' and ${isWaiting} limit ${sql.lit(cancelChunk)}`.execute(
        system.db,
      )
      if (rows.length === 0) break
      // Others may end some of them at the same time, so the number of changed rows does not tell whether more wait.
      const ids = rows.map(({ id }) => id)
      const { numAffectedRows = 0n } = await sql`
        update waypost_delivery set status = 'cancelled', finished_at = ${system.now()}, turn = turn + 1
        where ${isOneOf(system, sql`id`, ids)} and status || '' = 'pending'`.execute(system.db)
      cancelled += Number(numAffectedRows)
    }
  return cancelled
}

/** In chunks, so that other changes do not wait for all of them. Each condition is that of an index. */
async function cancelAllRuns(system: System): Promise<void> {
  const pending = [sql`exclusive_key is null`, sql`exclusive_key is not null`]
  for (const isChosen of [...pending.map((key) => sql`status = 'pending' and ${key}`), sql`status = 'running'`])
    for (;;) {
      const { rows } = await sql<{ id: string }>`
        select id from waypost_run where ${isChosen} limit ${sql.lit(cancelChunk)}`.execute(system.db)
      if (rows.length === 0) break
      const ids = rows.map(({ id }) => id)
      await sql`update waypost_run set status = 'cancelled', finished_at = ${system.now()}, turn = turn + 1
        where ${isOneOf(system, sql`id`, ids)} and status in ('pending', 'running')`.execute(system.db)
    }
}

/** Cancels deliveries whose message was deleted. */
export async function cancelOrphans(system: System, deliveries: readonly { readonly id: string }[]): Promise<void> {
  const ids = deliveries.map(({ id }) => id)
  await sql`update waypost_delivery set status = 'cancelled', finished_at = ${system.now()}
    where ${isOneOf(system, sql`id`, ids)} and status || '' = 'pending'`.execute(system.db)
}

/** How long a delivery may stay due behind a breaker that does not close. */
export const maxHeldMs = 3 * 86_400_000

/** How many workers may be lost with a delivery. After that it is dead, because it probably crashes them. */
export const maxLost = 5

/** The next failure expires more. */
const maxExpired = 500

export interface EndedDelivery {
  readonly id: string
  readonly failures: number
  readonly event: string
}

/** Ends deliveries with which too many workers were lost without a recorded outcome. They probably crash them. */
export function endLost(
  system: System,
  deliveries: readonly { readonly id: string; readonly turn: number }[],
): Promise<readonly EndedDelivery[]> {
  const rows = deliveries.map(({ id, turn }) => [id, turn])
  const ids = deliveries.map(({ id }) => id)
  const isLost = sql<boolean>`${isOneOf(system, sql`d.id`, ids)} and exists (
    select 1 from ${jsonRows(system, rows)} where value ->> 0 = d.id and cast(value ->> 1 as int) = d.turn)`
  return end(system, 'lost', isLost)
}

/** The outcome in the attempt log of a delivery that expired. */
export const expiredOutcome = 'held back for 3 days'

/**
 * Ends deliveries that have been due for days to a subscription whose endpoint has failed throughout and has just failed
 * again. Deliveries that are overdue for another reason, such as a pause or missing workers, stay pending.
 */
export function endOverdue(system: System, subscriptionId: string): Promise<readonly EndedDelivery[]> {
  const before = sql`(select ${system.now()} - ${sql.lit(maxHeldMs)})`
  const isOverdue = sql<boolean>`d.subscription_id = ${subscriptionId}
    and case when d.due_at = 0 then d.created_at else d.due_at end < ${before}
    and exists (select 1 from waypost_subscription s where s.id = d.subscription_id and s.failing_since < ${before})`
  return end(system, expiredOutcome, isOverdue)
}

async function end(system: System, outcome: string, isChosen: RawBuilder<boolean>): Promise<readonly EndedDelivery[]> {
  return system.transaction(async (trx) => {
    const lock = system.kind === 'postgresql' ? sql`for update of d skip locked` : sql``
    const { rows } = await sql<EndedDelivery & { readonly now: number }>`
      select d.id, d.failures, coalesce(m.event, '') as event, ${system.now()} as now
      from waypost_delivery d left join waypost_message m on m.id = d.message_id
      where ${isChosen} and d.status || '' = 'pending'
      order by d.message_id limit ${sql.lit(maxExpired)} ${lock}`.execute(trx)
    if (rows.length === 0) return rows
    const ids = rows.map(({ id }) => id)
    await sql`update waypost_delivery set status = 'dead', finished_at = ${system.now()}, turn = turn + 1
      where ${isOneOf(system, sql`id`, ids)}`.execute(trx)
    const attempt = { latency_ms: 0, status: null, outcome, answer: null, headers: null, hidden: 0 as const }
    const attempts = rows.map(({ id, now }) => {
      return { ...attempt, id: makeSortedId('att_', now), delivery_id: id, started_at: now }
    })
    await trx.insertInto('waypost_attempt').values(attempts).execute()
    return rows
  })
}
