import { sql, type RawBuilder } from 'kysely'
import type { Settings } from '../../kit/index.ts'
import { nowOnce, type System } from '../../store/index.ts'

/**
 * Number of consecutive failures that opens the breaker: nothing is posted for a while, then one delivery at a time.
 */
export const failuresToOpen = 10
const maxOpenMs = 600_000
const maxDoublings = 20
/** Longer than any `Retry-After`, which ordered subscriptions wait for. */
const maxOrderedMs = 2 * 86_400_000

/** What a subscription stores about its failures. Times are the database's. */
export interface Breaker {
  /** Consecutive failures. */
  readonly failures: number
  /** Nothing is posted before this time. Also set by a failed delivery of an ordered subscription. */
  readonly openUntil: number | null
  /** When the current series of failures opened the breaker; null while it is closed. */
  readonly failingSince: number | null
}

export function isOpen({ openUntil }: Breaker, now: number): boolean {
  return openUntil !== null && openUntil > now
}

/** Whether only one delivery may be in flight, as a probe. */
export function isHalfOpen({ failures }: Breaker): boolean {
  return failures >= failuresToOpen
}

/** Counts an outcome. `wasProbe`: whether it was posted while the breaker was half open. */
export function countOutcome(
  breaker: Breaker,
  { isSuccess, wasProbe, now }: { isSuccess: boolean; wasProbe: boolean; now: number },
  settings: Settings,
): Breaker {
  const isClosed = breaker.failures === 0 && breaker.openUntil === null && breaker.failingSince === null
  if (isSuccess) return isClosed ? breaker : { failures: 0, openUntil: null, failingSince: null }
  if (isHalfOpen(breaker) && !wasProbe) return breaker // posted before the breaker opened
  const failures = breaker.failures + 1
  if (failures < failuresToOpen) return { ...breaker, failures }
  const [delayMs = 0] = settings.delivery_delays
  const doubled = delayMs * 2 ** Math.min(failures - failuresToOpen, maxDoublings)
  const openMs = Math.min(doubled, maxOpenMsOf(settings)) * (0.8 + 0.4 * Math.random())
  return { failures, openUntil: Math.ceil(now + openMs), failingSince: breaker.failingSince ?? now }
}

function maxOpenMsOf({ delivery_delays: [delayMs = 0] }: Settings): number {
  return Math.max(maxOpenMs, delayMs)
}

/**
 * Whether the breaker of the subscription `s` is closed, has been open for long enough, or has a time so far ahead that
 * it was written while the database's clock was wrong.
 */
export function isPostable(system: System, settings: Settings): RawBuilder<boolean> {
  const now = nowOnce(system)
  const maxMs = sql`case when s.ordered = 1 then ${sql.lit(maxOrderedMs)} else ${sql.lit(2 * maxOpenMsOf(settings))} end`
  return sql<boolean>`(s.open_until is null or s.open_until <= ${now} or s.open_until > ${now} + ${maxMs})`
}

/** Which dead deliveries. */
export interface DeadFilter {
  /** Only deliveries that died at or after this time: milliseconds since 1970 by the database's clock. */
  readonly since: number
  readonly event?: string | undefined
  /** Id of a subscription. */
  readonly subscription?: string | undefined
}

/**
 * Closes the breakers of subscriptions, with `since` of those that have such deliveries: a user who requests a new delivery
 * expects the endpoint to work again.
 */
export async function closeBreakers(
  system: System,
  { since, event, subscription }: Partial<DeadFilter>,
): Promise<void> {
  const hasDied = sql`exists (select 1 from waypost_delivery d
    where d.subscription_id = waypost_subscription.id and d.status = 'dead' and d.finished_at >= ${since})`
  await sql`update waypost_subscription set failures = 0, open_until = null, failing_since = null
    where (failures > 0 or open_until is not null)
      ${event === undefined ? sql`` : sql`and event = ${event}`}
      ${subscription === undefined ? sql`` : sql`and id = ${subscription}`}
      ${since === undefined ? sql`` : sql`and ${hasDied}`}`.execute(system.db)
}
