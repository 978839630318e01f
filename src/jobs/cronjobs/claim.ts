import { hostname } from 'node:os'
import type { Kysely, Transaction, UpdateObject } from 'kysely'
import { makeId, safeMessageOf, toStorable } from '../../kit/index.ts'
import type { System, SystemTables } from '../../store/index.ts'
import type { LedgerRow } from '../../host/index.ts'

/** A slot of a cronjob that only this process may run. */
export interface Claim {
  readonly id: string
  readonly name: string
  readonly slot: number
}

export interface ClaimRequest {
  readonly releaseId: string
  /** The row as it was read. */
  readonly row: LedgerRow
  readonly slot: number
  readonly leaseMs: number
}

const maxErrorLength = 1000

/**
 * Claims a slot under a lease, unless another process changed the row since it was read or the release is no longer
 * active. A run that its server abandoned counts as failed.
 */
export async function claimSlot(system: System, request: ClaimRequest): Promise<Claim | undefined> {
  const id = makeId('run_', 12)
  return system.transaction(async (trx) => {
    if (!(await claimRow(system, trx, { ...request, id }))) return undefined
    const { row, slot } = request
    if (row.claimId !== null) await changeRun(trx, row.claimId, { outcome: 'failed', error: lostError(row) })
    const run = { id, cronjob: row.name, slot_at: slot, started_at: system.now(), server: hostname() }
    await trx.insertInto('waypost_cronjob_run').values(run).execute()
    return { id, name: row.name, slot }
  })
}

async function claimRow(
  system: System,
  trx: Transaction<SystemTables>,
  { id, row, slot, releaseId, leaseMs }: ClaimRequest & { readonly id: string },
): Promise<boolean> {
  const now = system.now()
  const { numUpdatedRows } = await trx
    .updateTable('waypost_cronjob')
    .set((column) => ({
      slot_at: slot,
      claim_id: id,
      lease_until: column(now, '+', leaseMs),
      server: hostname(),
      started_at: now,
      ...(row.claimId === null ? {} : { failures: row.failures + 1, outcome: 'failed', error: lostError(row) }),
    }))
    .where('name', '=', row.name)
    .where('slot_at', '=', row.slotAt)
    .where('schedule', '=', row.schedule)
    .where('timezone', '=', row.timezone)
    .where('claim_id', row.claimId === null ? 'is' : '=', row.claimId)
    .where((column) => column.or([column('lease_until', 'is', null), column('lease_until', '<=', now)]))
    .where((column) =>
      column.exists(column.selectFrom('waypost_active').select('id').where('release_id', '=', releaseId)),
    )
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Changes a run that has not ended. */
async function changeRun(
  db: Kysely<SystemTables>,
  id: string,
  change: UpdateObject<SystemTables, 'waypost_cronjob_run'>,
): Promise<void> {
  await db.updateTable('waypost_cronjob_run').set(change).where('id', '=', id).where('outcome', 'is', null).execute()
}

function lostError({ server }: LedgerRow): string {
  return `The server ${server} was lost during the run`
}

interface Renewal {
  readonly leaseMs: number
  /** What has been logged so far. */
  readonly log: string | null
}

/**
 * Renews the lease.
 * @returns whether the claim is still valid
 */
export async function renewClaim(system: System, { id, name }: Claim, { leaseMs, log }: Renewal): Promise<boolean> {
  const { numUpdatedRows } = await system.db
    .updateTable('waypost_cronjob')
    .set((column) => ({ lease_until: column(system.now(), '+', leaseMs) }))
    .where('name', '=', name)
    .where('claim_id', '=', id)
    .executeTakeFirstOrThrow()
  if (log !== null && numUpdatedRows > 0n) await changeRun(system.db, id, { log: toStorable(log) })
  return numUpdatedRows > 0n
}

/**
 * Records the end of a run. Does not change the cronjob if another process took over the claim or the cronjob was
 * removed.
 */
export async function endClaim(
  system: System,
  { id, name }: Claim,
  { failure, log }: { readonly failure: { readonly error: unknown } | undefined; readonly log: string | null },
): Promise<void> {
  const end = {
    finished_at: system.now(),
    outcome: failure === undefined ? ('done' as const) : ('failed' as const),
    error: failure === undefined ? null : toStorable(safeMessageOf(failure.error)).slice(0, maxErrorLength),
  }
  await system.transaction(async (trx) => {
    await trx
      .updateTable('waypost_cronjob')
      .set((column) => ({
        ...end,
        claim_id: null,
        lease_until: null,
        failures: failure === undefined ? 0 : column('failures', '+', 1),
      }))
      .where('name', '=', name)
      .where('claim_id', '=', id)
      .execute()
    await changeRun(trx, id, { ...end, log: log === null ? null : toStorable(log) })
  })
}
