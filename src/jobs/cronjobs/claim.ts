import { hostname } from 'node:os'
import { makeId, messageOf } from '../../kit/index.ts'
import type { System } from '../../store/index.ts'
import type { LedgerRow } from '../../host/index.ts'

/** A slot of a cronjob that this process, and no other, runs now. */
export interface Claim {
  readonly id: string
  readonly name: string
  readonly slot: number
}

export interface Claiming {
  readonly releaseId: string
  /** The row as it was seen. */
  readonly row: LedgerRow
  readonly slot: number
  readonly leaseMs: number
}

const longestError = 1000

/**
 * Takes a slot under a lease, if nobody did since the row was seen, and the release still is the active one. A run that
 * its server left behind counts as failed.
 */
export async function claimSlot(system: System, claiming: Claiming): Promise<Claim | undefined> {
  const { row, slot, releaseId } = claiming
  const now = system.now()
  const id = makeId('run_', 12)
  const { numUpdatedRows } = await system.db
    .updateTable('waypost_cronjob')
    .set((column) => ({
      slot_at: slot,
      claim_id: id,
      lease_until: column(now, '+', claiming.leaseMs),
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
  return numUpdatedRows > 0n ? { id, name: row.name, slot } : undefined
}

function lostError({ server }: LedgerRow): string {
  return `The server ${server} was lost during the run`
}

/** Prolongs the lease. @returns whether the claim still holds */
export async function prolongClaim(system: System, { id, name }: Claim, leaseMs: number): Promise<boolean> {
  const { numUpdatedRows } = await system.db
    .updateTable('waypost_cronjob')
    .set((column) => ({ lease_until: column(system.now(), '+', leaseMs) }))
    .where('name', '=', name)
    .where('claim_id', '=', id)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Ends a run. Says nothing where the claim was taken over, or the cronjob is gone. */
export async function endClaim(
  system: System,
  { id, name }: Claim,
  failure: { readonly error: unknown } | undefined,
): Promise<void> {
  await system.db
    .updateTable('waypost_cronjob')
    .set((column) => ({
      claim_id: null,
      lease_until: null,
      finished_at: system.now(),
      outcome: failure === undefined ? 'done' : 'failed',
      error: failure === undefined ? null : messageOf(failure.error).slice(0, longestError),
      failures: failure === undefined ? 0 : column('failures', '+', 1),
    }))
    .where('name', '=', name)
    .where('claim_id', '=', id)
    .execute()
}
