import { sql, type Transaction } from 'kysely'
import { makeId, makeSortedId, type Clock } from '../kit/index.ts'
import type { System, SystemTables } from '../store/index.ts'
import { admit } from './breaker.ts'
import type { Capacity } from './capacity.ts'
import { loadClaimed, type ClaimedRow, type TakenRow } from './claimed.ts'
import { isDue, isTooLong, mostLost, texts } from './expressions.ts'

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
  /** How many rows were taken, whatever became of them. */
  readonly taken: number
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
  return system.transaction(async (trx) => {
    const taken = await takeRows(system, trx, { ...claim, due, capacity })
    if (taken.length === 0) return { deliveries: [], lost: [], taken: 0 }
    const { toPost: allowed, toKeep, toCancel } = await loadClaimed(trx, taken, capacity.catalog)
    const toPost = await admit(system, trx, { rows: allowed, settings })
    const lost = toPost.filter((row) => row.lost >= mostLost)
    await giveBack(trx, [...toKeep, ...allowed.filter((row) => !toPost.includes(row))])
    await end(system, trx, { rows: toCancel, status: 'cancelled' })
    await end(system, trx, { rows: lost, status: 'dead' })
    await logLost(trx, lost)
    const deliveries = toPost.filter((row) => row.lost < mostLost).map((row) => ({ ...row, ...claim }))
    return { deliveries, lost, taken: taken.length }
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

interface Taking {
  readonly due: readonly string[]
  readonly capacity: Capacity
  readonly claimId: string
  readonly leaseMs: number
}

/** Whether a row still is due is asked again once it is locked. */
async function takeRows(
  system: System,
  trx: Transaction<SystemTables>,
  { due, capacity, claimId, leaseMs }: Taking,
): Promise<readonly TakenRow[]> {
  const { settings, free } = capacity
  const lock = system.kind === 'postgresql' ? sql`for update skip locked` : sql``
  const isWrong = isTooLong(system, settings)
  // Materialised, or a planner may choose again while it updates.
  const { rows } = await sql<TakenRow & { claim_id: string }>`
    with picked as materialized (
      select d.id from waypost_delivery d
      where d.id in ${texts(system, JSON.stringify(due))} and ${isDue(system, settings)}
      order by d.due_at, d.id limit ${free} ${lock}
    )
    update waypost_delivery set
      lost = case when claim_id is null or ${isWrong} then lost else lost + 1 end,
      claim_id = case when ${isWrong} then claim_id else ${claimId} end,
      lease_until = ${system.now()} + ${sql.lit(leaseMs)}
    where id in (select id from picked)
    returning id, claim_id, ${system.now()} as claimed_at`.execute(trx)
  return rows.filter((row) => row.claim_id === claimId)
}

async function giveBack(trx: Transaction<SystemTables>, rows: readonly ClaimedRow[]): Promise<void> {
  if (rows.length === 0) return
  await trx
    .updateTable('waypost_delivery')
    .set({ claim_id: null, lease_until: null })
    .where('id', 'in', idsOf(rows))
    .execute()
}

async function end(
  system: System,
  trx: Transaction<SystemTables>,
  { rows, status }: { rows: readonly ClaimedRow[]; status: 'cancelled' | 'dead' },
): Promise<void> {
  if (rows.length === 0) return
  await trx
    .updateTable('waypost_delivery')
    .set({ status, claim_id: null, lease_until: null, finished_at: system.now() })
    .where('id', 'in', idsOf(rows))
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
