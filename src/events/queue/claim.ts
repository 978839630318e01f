import type { Transaction } from 'kysely'
import { makeId, makeSortedId, type Clock } from '../../kit/index.ts'
import type { System, SystemTables } from '../../store/index.ts'
import { admit, failuresToOpen } from './breaker.ts'
import type { Capacity } from './candidates.ts'
import { sortClaims, type ClaimedRow, type LoadedRow } from './claimed.ts'
import { mostLost } from '../expressions.ts'
import { claimRows } from './claim-rows.ts'

/** A delivery that this worker, and no other, posts now. */
export interface ClaimedDelivery extends ClaimedRow {
  readonly claimId: string
  /** The worker's monotonic time just before the claim: from there the lease runs. */
  readonly claimedMonotonic: number
  readonly leaseMs: number
}

export interface Claims {
  readonly deliveries: readonly ClaimedDelivery[]
  /** Deliveries that ended here, because their workers were lost too often. */
  readonly lost: readonly ClaimedRow[]
  /** Ids of what was taken, whatever became of it. */
  readonly taken: ReadonlySet<string>
  /** How many of these were given back, because they may not be posted now. */
  readonly givenBack: number
}

/** Claims deliveries that were found due, as far as they still are, under a lease. */
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
  const { toPost, lost, givenBack } = await settle(system, { rows, capacity, claimId: claim.claimId })
  return { deliveries: toPost.map((row) => ({ ...row, ...claim })), lost, givenBack, taken: new Set(idsOf(rows)) }
}

/** Ends, or gives back, what is not to be posted now. Most claims have nothing of that kind, and need no transaction. */
async function settle(
  system: System,
  { rows, capacity, claimId }: { rows: readonly LoadedRow[]; capacity: Capacity; claimId: string },
): Promise<{ toPost: readonly ClaimedRow[]; lost: readonly ClaimedRow[]; givenBack: number }> {
  const { settings, catalog } = capacity
  const { toPost: allowed, toKeep, toCancel } = await sortClaims(system, rows, catalog)
  const isPlain = (row: ClaimedRow) => row.lost < mostLost && row.subscriptionFailures < failuresToOpen
  if (allowed.length === rows.length && allowed.every(isPlain)) return { toPost: allowed, lost: [], givenBack: 0 }
  return system.transaction(async (trx) => {
    const admitted = await admit(system, trx, { rows: allowed, settings })
    const lost = admitted.filter((row) => row.lost >= mostLost)
    const kept = [...toKeep, ...allowed.filter((row) => !admitted.includes(row))]
    await giveBack(trx, claimId, kept)
    await end(system, trx, { claimId, rows: toCancel, status: 'cancelled' })
    await end(system, trx, { claimId, rows: lost, status: 'dead' })
    await logLost(trx, lost)
    return { toPost: admitted.filter((row) => row.lost < mostLost), lost, givenBack: kept.length }
  })
}

/** Gives up a claim before anything was posted. */
export async function releaseDelivery(system: System, { id, claimId }: ClaimedDelivery): Promise<void> {
  await system.db
    .updateTable('waypost_delivery')
    .set({ claim_id: null, lease_until: null })
    .where('id', '=', id)
    .where('claim_id', '=', claimId)
    .execute()
}

async function giveBack(trx: Transaction<SystemTables>, claimId: string, rows: readonly ClaimedRow[]): Promise<void> {
  if (rows.length === 0) return
  await trx
    .updateTable('waypost_delivery')
    .set({ claim_id: null, lease_until: null })
    .where('id', 'in', idsOf(rows))
    .where('claim_id', '=', claimId)
    .execute()
}

async function end(
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

/** A delivery whose workers ended five times without a word probably ends them: the log of attempts says so. */
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
        hidden: 0 as const,
      })),
    )
    .execute()
}

function idsOf(rows: readonly ClaimedRow[]): string[] {
  return rows.map((row) => row.id)
}
