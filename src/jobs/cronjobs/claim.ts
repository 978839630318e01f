import { hostname } from 'node:os'
import { makeId, messageOf } from '../../kit/index.ts'
import type { System } from '../../store/index.ts'
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
  const { row, slot, releaseId } = request
  const now = system.now()
  const id = makeId('run_', 12)
  const { numUpdatedRows } = await system.db
    .updateTable('waypost_cronjob')
    .set((column) => ({
      slot_at: slot,
      claim_id: id,
      lease_until: column(now, '+', request.leaseMs),
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

/**
 * Renews the lease.
 * @returns whether the claim is still valid
 */
export async function renewClaim(system: System, { id, name }: Claim, leaseMs: number): Promise<boolean> {
  const { numUpdatedRows } = await system.db
    .updateTable('waypost_cronjob')
    .set((column) => ({ lease_until: column(system.now(), '+', leaseMs) }))
    .where('name', '=', name)
    .where('claim_id', '=', id)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Records the end of a run. Changes nothing if another process took over the claim or the cronjob was removed. */
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
      error: failure === undefined ? null : messageOf(failure.error).slice(0, maxErrorLength),
      failures: failure === undefined ? 0 : column('failures', '+', 1),
    }))
    .where('name', '=', name)
    .where('claim_id', '=', id)
    .execute()
}
