import { sql } from 'kysely'
import type { System } from '../../store/index.ts'
import { failuresToOpen } from './breaker.ts'
import { type Capacity, isOpen, type Candidate } from './candidates.ts'
import { isDue, isLastChance, readInOrder } from '../expressions.ts'

/** One of the oldest that are due. */
export interface OldDelivery extends Candidate {
  readonly subscription: string
  /** What the breaker of the subscription counts. */
  readonly failures: number
}

/** The oldest that are due, as far as they may be started at all. */
export interface Oldest {
  readonly found: readonly OldDelivery[]
  /** Whether there may be more behind them. */
  readonly isFull: boolean
  /** Whether nothing is due. */
  readonly isEmpty: boolean
}

/** How many of the oldest are looked at for each that can be taken: for others too, and for the next looks. */
const lookAhead = 8
const leastLookAhead = 100

/**
 * Finds the oldest that are due. However many wait behind them costs nothing, and so does not look past those that nobody
 * may start now: of paused subscriptions, or behind an open breaker.
 */
export async function findOldest(system: System, capacity: Capacity): Promise<Oldest> {
  const limit = Math.max(leastLookAhead, capacity.free * lookAhead)
  const { rows } = await readInOrder(system, (db) =>
    sql<OldDelivery & { open: number }>`
    with seen as materialized (
      select d.id, d.subscription_id, d.due_at from waypost_delivery d
      where ${isDue(system, capacity.settings)} and not (${isLastChance})
      order by d.due_at, d.id limit ${limit}
    )
    select seen.id, seen.subscription_id as subscription, coalesce(s.endpoint, '') as endpoint,
      coalesce(s.failures, 0) as failures, case when ${isOpen(system, capacity)} then 1 else 0 end as open
    from seen left join waypost_subscription s on s.id = seen.subscription_id
    order by seen.due_at, seen.id`.execute(db),
  )
  return { found: rows.filter(({ open }) => open === 1), isFull: rows.length === limit, isEmpty: rows.length === 0 }
}

/**
 * Of the oldest those that can be started: no more for one endpoint than it may have under way, and for one host, and of a
 * subscription that fails one alone.
 */
export function chooseStartable(
  oldest: readonly OldDelivery[],
  capacity: Capacity,
  hosts = capacity.countHosts?.(),
): readonly OldDelivery[] {
  const { delivery_concurrency_per_endpoint: perEndpoint } = capacity.settings
  const underWay = new Map(capacity.underWay)
  const alone = new Set<string>()
  return oldest.filter(({ endpoint, subscription, failures }) => {
    const busy = underWay.get(endpoint) ?? 0
    if (busy >= perEndpoint || alone.has(subscription)) return false
    if (hosts?.take(endpoint) === false) return false
    if (failures >= failuresToOpen) alone.add(subscription)
    underWay.set(endpoint, busy + 1)
    return true
  })
}
