import { sql } from 'kysely'
import type { System } from '../../store/index.ts'
import { failuresToOpen } from './breaker.ts'
import { type Capacity, isClaimable, type Candidate } from './candidates.ts'
import { isDue, isLastChance, readInIndexOrder } from '../expressions.ts'

/** One of the oldest due deliveries. */
export interface OldDelivery extends Candidate {
  readonly subscription: string
  /** The consecutive failures that the breaker of the subscription has counted. */
  readonly failures: number
}

/** The oldest due deliveries that may be started. */
export interface Oldest {
  readonly found: readonly OldDelivery[]
  /** Whether more may follow. */
  readonly isFull: boolean
  /** Whether nothing is due. */
  readonly isEmpty: boolean
}

/**
 * How many of the oldest deliveries are read for each free slot: other workers take some, and the rest serves the next
 * scans.
 */
const readPerSlot = 8
const minRead = 100

/**
 * Finds the oldest due deliveries. The cost does not depend on how many wait behind them. Does not search past
 * deliveries that cannot be started now, such as those of paused subscriptions or behind an open breaker.
 */
export async function findOldest(system: System, capacity: Capacity): Promise<Oldest> {
  const limit = Math.max(minRead, capacity.free * readPerSlot)
  const { rows } = await readInIndexOrder(system, (db) =>
    sql<OldDelivery & { open: number }>`
    with seen as materialized (
      select d.id, d.subscription_id, d.due_at from waypost_delivery d
      where ${isDue(system, capacity.settings)} and not (${isLastChance})
      order by d.due_at, d.id limit ${limit}
    )
    select seen.id, seen.subscription_id as subscription, coalesce(s.endpoint, '') as endpoint,
      coalesce(s.failures, 0) as failures, case when ${isClaimable(system, capacity)} then 1 else 0 end as open
    from seen left join waypost_subscription s on s.id = seen.subscription_id
    order by seen.due_at, seen.id`.execute(db),
  )
  return { found: rows.filter(({ open }) => open === 1), isFull: rows.length === limit, isEmpty: rows.length === 0 }
}

/**
 * Chooses the deliveries that can be started within the limits per endpoint and per host, and one for each failing
 * subscription.
 */
export function chooseStartable(
  oldest: readonly OldDelivery[],
  capacity: Capacity,
  hosts = capacity.countHosts?.(),
): readonly OldDelivery[] {
  const { delivery_concurrency_per_endpoint: perEndpoint } = capacity.settings
  const inFlight = new Map(capacity.inFlight)
  const alone = new Set<string>()
  return oldest.filter(({ endpoint, subscription, failures }) => {
    const busy = inFlight.get(endpoint) ?? 0
    if (busy >= perEndpoint || alone.has(subscription)) return false
    if (hosts?.reserve(endpoint) === false) return false
    if (failures >= failuresToOpen) alone.add(subscription)
    inFlight.set(endpoint, busy + 1)
    return true
  })
}
