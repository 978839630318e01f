import { isClaimed, leaseMs, loadLedger, resolveCronjobs, type Host } from '../host/index.ts'
import { isStorable } from '../kit/index.ts'
import { loadActiveRelease } from '../release/index.ts'
import type { System } from '../store/index.ts'
import { changeSystem, type ActingHost } from './change-system.ts'
import { errors } from './errors.ts'

/** A cronjob of the active release. Times are in milliseconds since 1970 by the database's clock. */
export interface ListedCronjob {
  readonly name: string
  readonly schedule: string
  readonly timezone: string
  readonly timeoutMs: number
  /** Undefined if the schedule has no future time. */
  readonly nextAt: number | undefined
  readonly isRunning: boolean
  /** Whether the next run is overdue, because no process runs cronjobs. */
  readonly isLate: boolean
  /** The current or last run. */
  readonly last:
    | {
        readonly startedAt: number
        /** Undefined while it is running, or if its server was lost. */
        readonly finishedAt: number | undefined
        /** The result of the last finished run. */
        readonly outcome: 'done' | 'failed' | undefined
        readonly error: string | undefined
        readonly server: string | undefined
      }
    | undefined
  /** Consecutive failed runs. */
  readonly failures: number
}

/** Lists the cronjobs of the active release by name. @throws WP_SERVER_VARIABLE, WP_SERVER_CRONJOB */
export async function listHostCronjobs({ system, variables }: Host): Promise<readonly ListedCronjob[]> {
  const release = await loadActiveRelease(system)
  if (release === undefined) return []
  const cronjobs = resolveCronjobs(release, variables)
  const ledger = await loadLedger(system)
  const runs = await system.db.selectFrom('waypost_cronjob').selectAll().execute()
  const runOf = new Map(runs.map((run) => [run.name, run]))
  return [...cronjobs.values()]
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, schedule, timezone, timeoutMs, timetable }) => {
      const run = runOf.get(name)
      const row = ledger.rows.get(name)
      const isRunning = row !== undefined && isClaimed(row, ledger.now)
      const due = row === undefined || isRunning ? undefined : timetable.next(row.slotAt)
      return {
        name,
        schedule,
        timezone,
        timeoutMs,
        nextAt: timetable.next(ledger.now),
        isRunning,
        isLate: due !== undefined && due < ledger.now - 3 * leaseMs,
        last: run === undefined || run.started_at === null ? undefined : describeRun(run, isRunning),
        failures: run?.failures ?? 0,
      }
    })
}

interface Run {
  readonly started_at: number | null
  readonly finished_at: number | null
  readonly outcome: 'done' | 'failed' | null
  readonly error: string | null
  readonly server: string | null
}

function describeRun({ outcome, error, server, ...run }: Run, isRunning: boolean) {
  const startedAt = run.started_at ?? 0
  const finishedAt = run.finished_at ?? 0
  return {
    startedAt,
    finishedAt: isRunning || finishedAt < startedAt ? undefined : finishedAt,
    outcome: outcome ?? undefined,
    error: error ?? undefined,
    server: server ?? undefined,
  }
}

/** A run of a cronjob. Times are in milliseconds since 1970 by the database's clock. */
export interface CronjobRun {
  readonly id: string
  /** The scheduled time, or when it was started by hand. */
  readonly slotAt: number
  readonly startedAt: number
  /** Undefined while it is running, or if its server was lost. */
  readonly finishedAt: number | undefined
  readonly state: 'running' | 'done' | 'failed' | 'lost'
  readonly error: string | undefined
  readonly server: string
}

/** How many runs of each cronjob are kept. */
const maxRuns = 100

/** Lists the last 100 runs of a cronjob, newest first. Empty for an unknown cronjob. */
export async function listHostCronjobRuns(
  { system }: Pick<Host, 'system'>,
  name: string,
): Promise<readonly CronjobRun[]> {
  const current = await findCurrentRun(system, name)
  const runs = await selectRuns(system)
    .where('cronjob', '=', name)
    .orderBy('started_at', 'desc')
    .limit(maxRuns)
    .execute()
  return runs.map((run) => describeListed(run, current))
}

/** Finds a run of a cronjob with its log, lines of JSON. @throws WP_SERVER_CRONJOB_RUN_UNKNOWN */
export async function findHostCronjobRun(
  { system }: Pick<Host, 'system'>,
  { name, id }: { readonly name: string; readonly id: string },
): Promise<{ readonly run: CronjobRun; readonly log: string | undefined }> {
  const run =
    isStorable(name) && isStorable(id)
      ? await selectRuns(system).select('log').where('cronjob', '=', name).where('id', '=', id).executeTakeFirst()
      : undefined
  if (run === undefined) throw errors.WP_SERVER_CRONJOB_RUN_UNKNOWN({ name, id: id.slice(0, 64) })
  return { run: describeListed(run, await findCurrentRun(system, name)), log: run.log ?? undefined }
}

function selectRuns({ db }: System) {
  return db
    .selectFrom('waypost_cronjob_run')
    .select(['id', 'slot_at', 'started_at', 'finished_at', 'outcome', 'error', 'server'])
}

type RunRow = Awaited<ReturnType<ReturnType<typeof selectRuns>['executeTakeFirstOrThrow']>>

/** The id of the run that is under way. */
async function findCurrentRun(system: System, name: string): Promise<string | null> {
  const { rows, now } = await loadLedger(system)
  const job = rows.get(name)
  return job !== undefined && isClaimed(job, now) ? job.claimId : null
}

function describeListed(
  { id, slot_at: slotAt, started_at: startedAt, finished_at: finishedAt, outcome, error, server }: RunRow,
  current: string | null,
): CronjobRun {
  return {
    id,
    slotAt,
    startedAt,
    finishedAt: finishedAt ?? undefined,
    state: id === current ? 'running' : finishedAt === null ? 'lost' : (outcome ?? 'lost'),
    error: error ?? undefined,
    server,
  }
}

/**
 * Runs a cronjob now and records who started it.
 * @param start resolves when the run has begun
 */
export async function runHostCronjob(
  host: ActingHost,
  name: string,
  start: (name: string) => Promise<void>,
): Promise<void> {
  await start(name)
  await recordCronjobRun(host, name)
}

/** Records who started a cronjob. */
export async function recordCronjobRun(host: ActingHost, name: string): Promise<void> {
  await changeSystem(host, (_, audit) => audit({ action: 'cronjob.run', subject: { name } }))
}
