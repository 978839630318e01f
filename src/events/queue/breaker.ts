import { sql, type RawBuilder, type Transaction } from 'kysely'
import type { Settings } from '../../kit/index.ts'
import type { System, SystemTables } from '../../store/index.ts'
import type { ClaimedRow } from './claimed.ts'
import { nowOnce, texts } from '../expressions.ts'

/** Failures in a row, of any delivery, from which on nothing is posted for a while, and then one delivery at a time. */
export const failuresToOpen = 10
const longestOpenMs = 600_000
const mostDoublings = 20

/** Whether the breaker of the subscription `s` is closed, or open for long enough, or for longer than it can be. */
export function isPostable(system: System, settings: Settings): RawBuilder<boolean> {
  const now = nowOnce(system)
  const longest = Math.max(2 * longestOpenOf(settings), settings.delivery_lease)
  return sql<boolean>`(s.open_until is null or s.open_until <= ${now} or s.open_until > ${now} + ${sql.lit(longest)})`
}

/**
 * How long it stays open: the first delay of a resend, doubled by each attempt that fails, at most ten minutes or that
 * delay.
 * @param doublings an integer expression, 0 or more
 */
export function openMs(system: System, settings: Settings, doublings: RawBuilder<number>): RawBuilder<number> {
  const [delayMs = 0] = settings.delivery_delays
  const doubled = sql`(cast(${sql.lit(delayMs)} as bigint) << ${least(system)}(${doublings}, ${sql.lit(mostDoublings)}))`
  return sql<number>`${least(system)}(${doubled}, ${sql.lit(longestOpenOf(settings))})`
}

function longestOpenOf({ delivery_delays: [delayMs = 0] }: Settings): number {
  return Math.max(longestOpenMs, delayMs)
}

/** The function that gives the least of its arguments. */
export function least({ kind }: System): RawBuilder<unknown> {
  return kind === 'sqlite' ? sql`min` : sql`least`
}

/**
 * Of claimed deliveries those that may be posted: to an endpoint that failed so often one goes alone, and nothing else
 * until it came to something, or its worker is lost.
 */
export async function admit(
  system: System,
  trx: Transaction<SystemTables>,
  { rows, settings }: { rows: readonly ClaimedRow[]; settings: Settings },
): Promise<readonly ClaimedRow[]> {
  const doubtful = rows.filter((row) => row.subscriptionFailures >= failuresToOpen)
  if (doubtful.length === 0) return rows
  const ids = texts(system, JSON.stringify([...new Set(doubtful.map((row) => row.subscriptionId))]))
  // Who finds one locked leaves it: whoever has it holds it back, changes it, or waits for what is locked here.
  const lock = system.kind === 'postgresql' ? sql`for update skip locked` : sql``
  const { rows: taken } = await sql<{ id: string }>`
    with chosen as materialized (
      select s.id from waypost_subscription s
      where s.id in ${ids} and s.failures >= ${failuresToOpen} and ${isPostable(system, settings)} ${lock}
    )
    update waypost_subscription set open_until = ${system.now()} + ${sql.lit(settings.delivery_lease)}
    where id in (select id from chosen) returning id`.execute(trx)
  const alone = new Set(taken.map((row) => row.id))
  return rows.filter((row) => row.subscriptionFailures < failuresToOpen || alone.delete(row.subscriptionId))
}

/** Of which subscriptions. */
export interface BreakerFilter {
  readonly subscription?: string | undefined
  readonly event?: string | undefined
  /** Only of those to which something died then or later. */
  readonly since?: number | undefined
}

/** Whoever has something sent anew says that the endpoint is well again. */
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
