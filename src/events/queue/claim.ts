import type { Transaction } from 'kysely'
import { makeId, makeSortedId, type Clock } from '../../kit/index.ts'
import type { System, SystemTables } from '../../store/index.ts'
import { admitByBreaker, failuresToOpen } from './breaker.ts'
import type { Capacity } from './candidates.ts'
import { sortClaims, type ClaimedRow, type LoadedRow } from './sort-claims.ts'
import { maxLost } from '../expressions.ts'
import { claimRows } from './claim-rows.ts'

/** A delivery that only this worker may post. */
export interface ClaimedDelivery extends ClaimedRow {
  readonly claimId: string
  /** The worker's monotonic time just before the claim, when the lease starts. Milliseconds. */
  readonly claimedMonotonic: number
  readonly leaseMs: number
}

export interface Claims {
  readonly deliveries: readonly ClaimedDelivery[]
  /** Deliveries that became dead because they lost too many workers. */
  readonly lost: readonly ClaimedRow[]
  /** Ids of all claimed deliveries, including those that were released or ended. */
  readonly taken: ReadonlySet<string>
  /** The number of deliveries that were released because they may not be posted now. */
  readonly released: number
}

/** Claims the deliveries that are still due, under a lease. */
export async function claimDeliveries(
  system: System,
  { due, capacity, clock }: { due: readonly string[]; capacity: Capacity; clock: Clock },
): Promise<Claims> {
  const { settings } = capacity
  const claim = {
    claimId: makeId('clm_', 16),
    claimedMonotonic: clock.monotonic(),
    leaseMs: settings.delivery_lease,
  }
  const rows = await claimRows(system, { ...claim, due, capacity })
  const { toPost, lost, released } = await endOrReleaseRows(system, { rows, capacity, claimId: claim.claimId })
  return { deliveries: toPost.map((row) => ({ ...row, ...claim })), lost, released, taken: new Set(idsOf(rows)) }
}

/** Ends or releases the deliveries that may not be posted now. Most claims have none and need no transaction. */
async function endOrReleaseRows(
  system: System,
  { rows, capacity, claimId }: { rows: readonly LoadedRow[]; capacity: Capacity; claimId: string },
): Promise<{ toPost: readonly ClaimedRow[]; lost: readonly ClaimedRow[]; released: number }> {
  const { settings, catalog } = capacity
  const { toPost: allowed, toRelease, toCancel } = await sortClaims(system, rows, catalog)
  const isPlain = (row: ClaimedRow) => row.lost < maxLost && row.subscriptionFailures < failuresToOpen
  if (allowed.length === rows.length && allowed.every(isPlain)) return { toPost: allowed, lost: [], released: 0 }
  return system.transaction(async (trx) => {
    const admitted = await admitByBreaker(system, trx, { rows: allowed, settings })
    const lost = admitted.filter((row) => row.lost >= maxLost)
    const kept = [...toRelease, ...allowed.filter((row) => !admitted.includes(row))]
    await releaseRows(trx, claimId, kept)
    await finishRows(system, trx, { claimId, rows: toCancel, status: 'cancelled' })
    await finishRows(system, trx, { claimId, rows: lost, status: 'dead' })
    await logLost(trx, lost)
    return { toPost: admitted.filter((row) => row.lost < maxLost), lost, released: kept.length }
  })
}

/** Releases a claim before anything was posted. */
export async function releaseDelivery(system: System, { id, claimId }: ClaimedDelivery): Promise<void> {
  await system.db
    .updateTable('waypost_delivery')
    .set({ claim_id: null, lease_until: null })
    .where('id', '=', id)
    .where('claim_id', '=', claimId)
    .execute()
}

async function releaseRows(
  trx: Transaction<SystemTables>,
  claimId: string,
  rows: readonly ClaimedRow[],
): Promise<void> {
  if (rows.length === 0) return
  await trx
    .updateTable('waypost_delivery')
    .set({ claim_id: null, lease_until: null })
    .where('id', 'in', idsOf(rows))
    .where('claim_id', '=', claimId)
    .execute()
}

async function finishRows(
  system: System,
  trx: Transaction<SystemTables>,
  { claimId, rows, status }: { claimId: string; rows: readonly ClaimedRow[]; status: 'cancelled' | 'dead' },
): Promise<void> {
  if (rows.length === 0) return
  await trx
    .updateTable('waypost_delivery')
    .set({ status, claim_id: null, lease_until: null, finished_at: system.now() })
    .where('id', 'in', idsOf(rows))
    .where('claim_id', '=', claimId)
    .execute()
}

/** Logs an attempt for each delivery that lost five workers without a recorded outcome and probably crashes them. */
async function logLost(trx: Transaction<SystemTables>, rows: readonly ClaimedRow[]): Promise<void> {
  if (rows.length === 0) return
  await trx
    .insertInto('waypost_attempt')
    .values(
      rows.map(({ id, claimedAt }) => ({
        id: makeSortedId('att_', claimedAt),
        delivery_id: id,
        started_at: claimedAt,
        latency_ms: 0,
        status: null,
        outcome: 'lost',
        answer: null,
        headers: null,
        hidden: 0 as const,
      })),
    )
    .execute()
}

function idsOf(rows: readonly ClaimedRow[]): string[] {
  return rows.map((row) => row.id)
}
