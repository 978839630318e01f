import type { Transaction } from 'kysely'
import type { System, SystemTables } from '../../store/index.ts'
import type { Plan, PlannedCronjob } from './plan-cronjobs.ts'

/** What System knows of a cronjob. */
export interface LedgerRow {
  readonly name: string
  readonly schedule: string
  readonly timezone: string
  /** The last slot that was taken. */
  readonly slotAt: number
  /** Who runs it; stays behind when its server is lost. */
  readonly claimId: string | null
  readonly leaseUntil: number | null
  readonly server: string | null
  readonly failures: number
}

/** What System knows at one moment of all cronjobs. */
export interface Ledger {
  /** The database's time, which is the same for all servers. */
  readonly now: number
  /** The active release: who serves another one runs nothing. */
  readonly releaseId: string | null
  readonly rows: ReadonlyMap<string, LedgerRow>
}

/** How long a run counts as under way after its process was last heard of. */
export const leaseMs = 60_000
/** A slot that lies so far ahead was taken while the database's clock was wrong. */
const farAheadMs = 3_600_000
/** So does a lease that ends so far ahead. */
const farLeaseMs = 2 * leaseMs

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

/** Whether a run is under way, as far as System knows. */
export function isClaimed({ leaseUntil }: LedgerRow, now: number): boolean {
  return leaseUntil !== null && leaseUntil > now
}

/** The slot for which a cronjob has to run: the last one, if it was not taken. Those before it are not made up for. */
export function dueSlot({ timetable }: PlannedCronjob, { slotAt }: LedgerRow, now: number): number | undefined {
  const latest = timetable.latest(now)
  return latest !== undefined && latest > slotAt ? latest : undefined
}

export interface Upkeep {
  readonly releaseId: string
  readonly plan: Plan
  /** Forget slots that came while nothing ran. */
  readonly fromNow: boolean
}

/**
 * Makes the ledger fit the active release: slots of a cronjob that is new, or has another schedule, count from now on;
 * one that is gone is forgotten once it does not run; times that lie too far ahead are mended. Does nothing when another
 * release is active.
 *
 * @returns the ledger as it stands then
 */
export async function keepLedger(system: System, ledger: Ledger, upkeep: Upkeep): Promise<Ledger> {
  const { plan, releaseId, fromNow } = upkeep
  const misfits = [...plan.values()].filter((job) => fromNow || !fits(ledger, job))
  const gone = [...ledger.rows.values()].filter(({ name }) => !plan.has(name))
  const ended = gone.filter((row) => !isClaimed(row, ledger.now)).map(({ name }) => name)
  const isStuck = [...ledger.rows.values()].some(({ leaseUntil }) => (leaseUntil ?? 0) > ledger.now + farLeaseMs)
  if (ledger.releaseId !== releaseId || (misfits.length + ended.length === 0 && !isStuck)) return ledger
  await system.transaction(async (trx) => {
    const active = await trx
      .selectFrom('waypost_active')
      .select('release_id')
      .$if(system.kind === 'postgresql', (query) => query.forShare()) // whoever activates waits
      .executeTakeFirst()
    if (active?.release_id !== releaseId) return
    for (const job of misfits) await countFromNow(system, trx, { job, fromNow })
    if (ended.length > 0) await forget(system, trx, ended)
    if (isStuck) await shortenLeases(system, trx)
  })
  return loadLedger(system)
}

/** Does nothing where another process was faster. */
async function countFromNow(
  system: System,
  trx: Transaction<SystemTables>,
  { job: { name, schedule, timezone }, fromNow }: { job: PlannedCronjob; fromNow: boolean },
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
            row('waypost_cronjob.slot_at', '>', row(now, '+', farAheadMs)),
          ]),
        ),
    )
    .execute()
}

/** The server of such a run may still be there: then it prolongs its lease from now on, else that is over soon. */
async function shortenLeases(system: System, trx: Transaction<SystemTables>): Promise<void> {
  const now = system.now()
  await trx
    .updateTable('waypost_cronjob')
    .set((row) => ({ lease_until: row(now, '+', leaseMs) }))
    .where((row) => row('lease_until', '>', row(now, '+', farLeaseMs)))
    .execute()
}

/** Forgets those that do not run. */
async function forget(system: System, trx: Transaction<SystemTables>, names: readonly string[]): Promise<void> {
  await trx
    .deleteFrom('waypost_cronjob')
    .where('name', 'in', names)
    .where((row) => row.or([row('lease_until', 'is', null), row('lease_until', '<=', system.now())]))
    .execute()
}

function fits({ rows, now }: Ledger, { name, schedule, timezone }: PlannedCronjob): boolean {
  const row = rows.get(name)
  return row?.schedule === schedule && row.timezone === timezone && row.slotAt <= now + farAheadMs
}
