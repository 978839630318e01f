import type { Transaction } from 'kysely'
import type { System, SystemTables } from '../../store/index.ts'
import type { ResolvedCronjobs, ResolvedCronjob } from './resolve-cronjobs.ts'

/** The row of a cronjob in System. */
export interface LedgerRow {
  readonly name: string
  readonly schedule: string
  readonly timezone: string
  /** The last slot that was claimed. */
  readonly slotAt: number
  /** The claim of the current run. Stays set when the server of the run is lost. */
  readonly claimId: string | null
  readonly leaseUntil: number | null
  readonly server: string | null
  readonly failures: number
}

/** The rows of all cronjobs at one time. */
export interface Ledger {
  /** The database's time, which is the same for all servers. */
  readonly now: number
  /** The active release. A server that serves another release runs no cronjobs. */
  readonly releaseId: string | null
  readonly rows: ReadonlyMap<string, LedgerRow>
}

/** How long a run counts as in progress after the last heartbeat of its process. */
export const leaseMs = 60_000
/** A slot further in the future was claimed while the database's clock was wrong. */
const maxAheadMs = 3_600_000
/** A lease that ends further in the future was written while the database's clock was wrong. */
const maxLeaseMs = 2 * leaseMs

export async function loadLedger(system: System): Promise<Ledger> {
  const found = await system.db
    .selectFrom('waypost_active as active')
    .leftJoin('waypost_cronjob as job', (join) => join.onTrue())
    .select(['active.release_id as releaseId', system.now().as('now')])
    .select(['job.name', 'job.schedule', 'job.timezone', 'job.slot_at as slotAt', 'job.claim_id as claimId'])
    .select(['job.lease_until as leaseUntil', 'job.server', 'job.failures'])
    .execute()
  const rows = found.flatMap((row) => (row.name === null ? [] : [[row.name, row as LedgerRow] as const]))
  return { now: found[0]?.now ?? 0, releaseId: found[0]?.releaseId ?? null, rows: new Map(rows) }
}

/** Whether a run is in progress according to System. */
export function isClaimed({ leaseUntil }: LedgerRow, now: number): boolean {
  return leaseUntil !== null && leaseUntil > now
}

/** Returns the slot for which a cronjob must run: the latest one, if it was not claimed. Earlier slots are skipped. */
export function dueSlot({ timetable }: ResolvedCronjob, { slotAt }: LedgerRow, now: number): number | undefined {
  const latest = timetable.latest(now)
  return latest !== undefined && latest > slotAt ? latest : undefined
}

export interface LedgerUpdate {
  readonly releaseId: string
  readonly cronjobs: ResolvedCronjobs
  /** Ignore slots from before the start. */
  readonly fromNow: boolean
}

/**
 * Updates the rows to match the active release. A new cronjob, or one with another schedule, starts with its next slot.
 * The row of a removed cronjob is deleted once it is not running. Times too far in the future are corrected. Does
 * nothing if another release is active.
 *
 * @returns the ledger after the update
 */
export async function updateLedger(system: System, ledger: Ledger, update: LedgerUpdate): Promise<Ledger> {
  const { cronjobs, releaseId, fromNow } = update
  const outdated = [...cronjobs.values()].filter((job) => fromNow || !isUpToDate(ledger, job))
  const removed = [...ledger.rows.values()].filter(({ name }) => !cronjobs.has(name))
  const ended = removed.filter((row) => !isClaimed(row, ledger.now)).map(({ name }) => name)
  const isStuck = [...ledger.rows.values()].some(({ leaseUntil }) => (leaseUntil ?? 0) > ledger.now + maxLeaseMs)
  if (ledger.releaseId !== releaseId || (outdated.length + ended.length === 0 && !isStuck)) return ledger
  await system.transaction(async (trx) => {
    const active = await trx
      .selectFrom('waypost_active')
      .select('release_id')
      .$if(system.kind === 'postgresql', (query) => query.forShare()) // an activation waits for this lock
      .executeTakeFirst()
    if (active?.release_id !== releaseId) return
    for (const job of outdated) await resetSlot(system, trx, { job, fromNow })
    if (ended.length > 0) await deleteRows(system, trx, ended)
    if (isStuck) await shortenLeases(system, trx)
  })
  return loadLedger(system)
}

/** Changes nothing if another process already did. */
async function resetSlot(
  system: System,
  trx: Transaction<SystemTables>,
  { job: { name, schedule, timezone }, fromNow }: { job: ResolvedCronjob; fromNow: boolean },
): Promise<void> {
  const now = system.now()
  await trx
    .insertInto('waypost_cronjob')
    .values({ name, schedule, timezone, slot_at: now, failures: 0 })
    .onConflict((on) =>
      on
        .column('name')
        .doUpdateSet({ schedule, timezone, slot_at: now })
        .where((row) =>
          row.or([
            row.lit(fromNow),
            row('waypost_cronjob.schedule', '<>', schedule),
            row('waypost_cronjob.timezone', '<>', timezone),
            row('waypost_cronjob.slot_at', '>', row(now, '+', maxAheadMs)),
          ]),
        ),
    )
    .execute()
}

/** If the server of such a run is alive, it renews the shortened lease. Otherwise the lease expires soon. */
async function shortenLeases(system: System, trx: Transaction<SystemTables>): Promise<void> {
  const now = system.now()
  await trx
    .updateTable('waypost_cronjob')
    .set((row) => ({ lease_until: row(now, '+', leaseMs) }))
    .where((row) => row('lease_until', '>', row(now, '+', maxLeaseMs)))
    .execute()
}

/** Deletes the rows of cronjobs that are not running. */
async function deleteRows(system: System, trx: Transaction<SystemTables>, names: readonly string[]): Promise<void> {
  await trx
    .deleteFrom('waypost_cronjob')
    .where('name', 'in', names)
    .where((row) => row.or([row('lease_until', 'is', null), row('lease_until', '<=', system.now())]))
    .execute()
}

function isUpToDate({ rows, now }: Ledger, { name, schedule, timezone }: ResolvedCronjob): boolean {
  const row = rows.get(name)
  return row?.schedule === schedule && row.timezone === timezone && row.slotAt <= now + maxAheadMs
}
