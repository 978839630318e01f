import { sql, type RawBuilder, type Transaction } from 'kysely'
import type { Settings } from '../../kit/index.ts'
import type { System, SystemTables } from '../../store/index.ts'
import type { ClaimedRow } from './sort-claims.ts'
import { nowOnce, jsonStrings } from '../expressions.ts'

/**
 * Number of consecutive failures that opens the breaker: nothing is posted for a while, then one delivery at a time.
 */
export const failuresToOpen = 10
const maxOpenMs = 600_000
const maxDoublings = 20

/** Whether the breaker of the subscription `s` is closed, has been open for long enough, or has an impossible time. */
export function isPostable(system: System, settings: Settings): RawBuilder<boolean> {
  const now = nowOnce(system)
  const maxMs = Math.max(2 * maxOpenMsOf(settings), settings.delivery_lease)
  return sql<boolean>`(s.open_until is null or s.open_until <= ${now} or s.open_until > ${now} + ${sql.lit(maxMs)})`
}

/**
 * How long the breaker stays open: the first retry delay, doubled with each failed attempt, at most ten minutes or that
 * delay, whichever is longer.
 * @param doublings an integer expression, 0 or more
 */
export function openMs(system: System, settings: Settings, doublings: RawBuilder<number>): RawBuilder<number> {
  const [delayMs = 0] = settings.delivery_delays
  const doubled = sql`(cast(${sql.lit(delayMs)} as bigint) << ${leastFunction(system)}(${doublings}, ${sql.lit(maxDoublings)}))`
  return sql<number>`${leastFunction(system)}(${doubled}, ${sql.lit(maxOpenMsOf(settings))})`
}

function maxOpenMsOf({ delivery_delays: [delayMs = 0] }: Settings): number {
  return Math.max(maxOpenMs, delayMs)
}

/** The SQL function that returns the smallest of its arguments. */
export function leastFunction({ kind }: System): RawBuilder<unknown> {
  return kind === 'sqlite' ? sql`min` : sql`least`
}

/**
 * Filters claimed deliveries by the breakers of their subscriptions. A half-open breaker admits one delivery and no
 * other until its outcome is recorded or its worker is lost.
 */
export async function admitByBreaker(
  system: System,
  trx: Transaction<SystemTables>,
  { rows, settings }: { rows: readonly ClaimedRow[]; settings: Settings },
): Promise<readonly ClaimedRow[]> {
  const failing = rows.filter((row) => row.subscriptionFailures >= failuresToOpen)
  if (failing.length === 0) return rows
  const ids = jsonStrings(system, JSON.stringify([...new Set(failing.map((row) => row.subscriptionId))]))
  // Skip locked rows: the other transaction is opening this breaker, changing the subscription, or waiting for a row
  // that is locked here.
  const lock = system.kind === 'postgresql' ? sql`for update skip locked` : sql``
  const { rows: opened } = await sql<{ id: string }>`
    with chosen as materialized (
      select s.id from waypost_subscription s
      where s.id in ${ids} and s.failures >= ${failuresToOpen} and ${isPostable(system, settings)} ${lock}
    )
    update waypost_subscription set open_until = ${system.now()} + ${sql.lit(settings.delivery_lease)}
    where id in (select id from chosen) returning id`.execute(trx)
  const alone = new Set(opened.map((row) => row.id))
  return rows.filter((row) => row.subscriptionFailures < failuresToOpen || alone.delete(row.subscriptionId))
}

/** Which subscriptions. */
export interface BreakerFilter {
  readonly subscription?: string | undefined
  readonly event?: string | undefined
  /** Only subscriptions with a delivery that died at or after this time. */
  readonly since?: number | undefined
}

/** Closes breakers: a user who requests a new delivery expects the endpoint to work again. */
export async function closeBreakers(system: System, filter: BreakerFilter): Promise<void> {
  const { since, event, subscription } = filter
  await system.db
    .updateTable('waypost_subscription')
    .set({ failures: 0, open_until: null, failing_since: null })
    .where((where) => where.or([where('failures', '>', 0), where('open_until', 'is not', null)]))
    .$if(event !== undefined, (query) => query.where('event', '=', event!))
    .$if(subscription !== undefined, (query) => query.where('id', '=', subscription!))
    .$if(since !== undefined, (query) =>
      query.where((where) =>
        where.exists(
          where
            .selectFrom('waypost_delivery as delivery')
            .select('delivery.id')
            .whereRef('delivery.subscription_id', '=', 'waypost_subscription.id')
            .where('delivery.status', '=', sql.lit('dead' as const))
            .where('delivery.finished_at', '>=', since!),
        ),
      ),
    )
    .execute()
}
