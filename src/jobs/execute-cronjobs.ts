import { assertServable, loadActiveRelease } from '../release/index.ts'
import {
  dueSlot,
  isClaimed,
  updateLedger,
  loadLedger,
  type Ledger,
  resolveCronjobs,
  type ResolvedCronjobs,
  type Host,
  withSystemVariables,
} from '../host/index.ts'
import type { StandaloneOptions, Slot, SlotsToRun } from './cronjobs/run-standalone.ts'
import type { CronjobReport } from './cronjobs/run-slot.ts'
import { errors } from './errors.ts'

export interface CronjobRequest extends StandaloneOptions {
  /** Run only this cronjob, even if it is not due. */
  readonly name?: string | undefined
}

/** The result of running all due cronjobs. */
export interface CronExecution {
  readonly reports: readonly CronjobReport[]
  /** The next due cronjob and its time, in milliseconds since 1970. */
  readonly next: { readonly name: string; readonly at: number } | undefined
}

/**
 * Runs the due cronjobs of the active release, each once. Other processes may run cronjobs at the same time.
 * @throws WP_SERVER_CRONJOB, WP_SERVER_CRONJOB_UNKNOWN, WP_SERVER_CRONJOB_BUSY, or the error of code that cannot be
 * loaded
 */
export async function executeHostCronjobs(opened: Host, request: CronjobRequest): Promise<CronExecution> {
  const release = await loadActiveRelease(opened.system)
  if (release !== undefined) assertServable(release.manifest)
  const host = await withSystemVariables(opened, Object.keys(release?.manifest.variables ?? {}))
  const cronjobs: ResolvedCronjobs = release === undefined ? new Map() : resolveCronjobs(release, host.variables)
  const { name } = request
  if (name !== undefined && !cronjobs.has(name)) {
    throw errors.WP_SERVER_CRONJOB_UNKNOWN({ name, known: [...cronjobs.keys()].join(', ') || 'none' })
  }
  if (release === undefined) return { reports: [], next: undefined }
  const seen = await loadLedger(host.system)
  const ledger = await updateLedger(host.system, seen, { releaseId: release.id, cronjobs, fromNow: false })
  const slots = name === undefined ? findDue(cronjobs, ledger) : [{ name, slot: findSlot(cronjobs, ledger, name) }]
  // Load code and open connections only if there is something to run: cron starts this every minute.
  const reports = slots.length === 0 ? [] : await runSlots(host, request, { release, ledger, slots })
  if (name !== undefined && reports.length === 0 && !request.signal?.aborted) {
    throw errors.WP_SERVER_CRONJOB_BUSY({ name, server: 'another server' }) // another server claimed it first
  }
  return { reports, next: findNext(cronjobs, ledger) }
}

function findDue(cronjobs: ResolvedCronjobs, { rows, now }: Ledger): Slot[] {
  return [...cronjobs.values()].flatMap((job) => {
    const row = rows.get(job.name)
    const slot = row === undefined || isClaimed(row, now) ? undefined : dueSlot(job, row, now)
    return slot === undefined ? [] : [{ name: job.name, slot }]
  })
}

/** Returns the due slot, or the current time if none is due. */
function findSlot(cronjobs: ResolvedCronjobs, { rows, now }: Ledger, name: string): number {
  const row = rows.get(name)
  if (row === undefined) return now
  if (isClaimed(row, now)) throw errors.WP_SERVER_CRONJOB_BUSY({ name, server: row.server ?? 'another server' })
  return dueSlot(cronjobs.get(name)!, row, now) ?? now
}

async function runSlots(host: Host, request: CronjobRequest, toRun: SlotsToRun): Promise<CronjobReport[]> {
  const { runStandalone } = await import('./cronjobs/run-standalone.ts')
  return runStandalone(host, toRun, request)
}

function findNext(cronjobs: ResolvedCronjobs, { now }: Ledger): CronExecution['next'] {
  const slots = [...cronjobs.values()].flatMap(({ name, timetable }) => {
    const at = timetable.next(now)
    return at === undefined ? [] : [{ name, at }]
  })
  return slots.toSorted((a, b) => a.at - b.at)[0]
}
