import { sql, type Transaction } from 'kysely'
import { makeId, makeSortedId, type Clock, type Settings } from '../kit/index.ts'
import type { System, SystemTables } from '../store/index.ts'
import { loadClaimed, type ClaimedRow, type TakenRow } from './claimed.ts'
import { dueDeliveries, isDue, type Capacity } from './work.ts'

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

export const mostLost = 5
/** How many of the oldest are looked at for each that can be taken: others may be behind many for one endpoint. */
const lookAhead = 16
const leastLookAhead = 100

/** Claims deliveries that are due, under a lease, within the capacity of the worker. */
export async function claimDeliveries(
  system: System,
  { capacity, settings, clock }: { capacity: Capacity; settings: Settings; clock: Clock },
): Promise<Claims> {
  const claim = {
    claimId: makeId('clm_', 16),
    claimedMonotonic: clock.monotonic(),
    leaseMs: settings.delivery_lease,
  }
  return system.transaction(async (trx) => {
    const taken = await takeRows(system, trx, { ...claim, capacity })
    if (taken.length === 0) return { deliveries: [], lost: [], taken: 0 }
    const { toPost, toKeep, toCancel } = await loadClaimed(trx, taken, capacity.catalog)
    const lost = toPost.filter((row) => row.lost >= mostLost)
    await giveBack(trx, toKeep)
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

async function takeRows(
  system: System,
  trx: Transaction<SystemTables>,
  { capacity, claimId, leaseMs }: { capacity: Capacity; claimId: string; leaseMs: number },
): Promise<readonly TakenRow[]> {
  const lock = system.kind === 'postgresql' ? sql`for update of d skip locked` : sql``
  // Materialised, or a planner may choose again while it updates. Ranks come from what everybody sees, locks only from
  // what is taken; whether a row still is due is asked again once it is locked.
  const { rows } = await sql<TakenRow>`
    with due as materialized (
      select d.id, d.due_at, s.endpoint, coalesce(cast(busy.value as integer), 0) as busy
      from ${dueDeliveries(system, capacity)}
      order by d.due_at limit ${Math.max(leastLookAhead, capacity.free * lookAhead)}
    ), ranked as materialized (
      select id, busy + row_number() over (partition by endpoint order by due_at, id) as place from due
    ), picked as materialized (
      select d.id from waypost_delivery d join ranked on ranked.id = d.id
      where ranked.place <= ${capacity.perEndpoint} and ${isDue(system)}
      order by d.due_at, d.id limit ${capacity.free} ${lock}
    )
    update waypost_delivery set
      lost = lost + case when claim_id is null then 0 else 1 end,
      claim_id = ${claimId},
      lease_until = ${system.now()} + ${leaseMs}
    where id in (select id from picked)
    returning id, ${system.now()} as claimed_at`.execute(trx)
  return rows
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
      })),
    )
    .execute()
}

function idsOf(rows: readonly ClaimedRow[]): string[] {
  return rows.map((row) => row.id)
}
