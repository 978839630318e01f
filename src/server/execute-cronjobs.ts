import { makeConnectionRegistry } from '../connection/index.ts'
import { loadPlugins, makeConfigPreparer } from '../plugin/index.ts'
import { loadActiveRelease, type StoredRelease } from '../release/index.ts'
import type { Logger } from '../runtime/index.ts'
import { dueSlot, isClaimed, keepLedger, loadLedger, type Ledger } from './cron/ledger.ts'
import { openCronjobs, type CronjobSet } from './cron/open-cronjobs.ts'
import { planCronjobs, type Plan } from './cron/plan-cronjobs.ts'
import type { CronjobReport } from './cron/run-slot.ts'
import { CronRunner } from './cron/runner.ts'
import { leaseMs } from './cron/serve-cronjobs.ts'
import { errors } from './errors.ts'
import type { Host } from './host.ts'
import { makeLogger } from './make-logger.ts'
import { readLogLevel } from './read-variables.ts'
import { systemConnection } from './system-connection.ts'

export interface CronjobRequest {
  /** Only this one, and whether it is due or not. */
  readonly name?: string | undefined
  /** Told to stop, it starts nothing any more and waits 10 s for what runs. */
  readonly signal?: AbortSignal | undefined
  /** For what actions log; stderr from the level `warn` up by default. */
  readonly logger?: Logger | undefined
}

/** What a run of all that is due came to. */
export interface CronExecution {
  readonly reports: readonly CronjobReport[]
  /** Which cronjob is due next, and when, in milliseconds since 1970. */
  readonly next: { readonly name: string; readonly at: number } | undefined
}

/**
 * Runs the cronjobs of the active release that are due, each once, beside whatever else runs cronjobs.
 * @throws WP_SERVER_CRONJOB, WP_SERVER_CRONJOB_UNKNOWN, WP_SERVER_CRONJOB_BUSY, or what keeps code from being loaded
 */
export async function executeHostCronjobs(host: Host, request: CronjobRequest): Promise<CronExecution> {
  const release = await loadActiveRelease(host.system)
  const plan: Plan = release === undefined ? new Map() : planCronjobs(release, host.variables)
  const { name } = request
  if (name !== undefined && !plan.has(name)) {
    throw errors.WP_SERVER_CRONJOB_UNKNOWN({ name, known: [...plan.keys()].join(', ') || 'none' })
  }
  if (release === undefined) return { reports: [], next: undefined }
  const seen = await loadLedger(host.system)
  const ledger = await keepLedger(host.system, seen, { releaseId: release.id, plan, fromNow: false })
  const slots = name === undefined ? findDue(plan, ledger) : [{ name, slot: findSlot(plan, ledger, name) }]
  // Whoever has nothing to do loads no code and opens no connection: cron starts this each minute.
  const reports = slots.length === 0 ? [] : await runSlots(host, request, { release, ledger, slots })
  if (name !== undefined && reports.length === 0 && !request.signal?.aborted) {
    throw errors.WP_SERVER_CRONJOB_BUSY({ name, server: 'another server' }) // it was faster
  }
  return { reports, next: findNext(plan, ledger) }
}

interface Slot {
  readonly name: string
  readonly slot: number
}

function findDue(plan: Plan, { rows, now }: Ledger): Slot[] {
  return [...plan.values()].flatMap((job) => {
    const row = rows.get(job.name)
    const slot = row === undefined || isClaimed(row, now) ? undefined : dueSlot(job, row, now)
    return slot === undefined ? [] : [{ name: job.name, slot }]
  })
}

/** The slot that is due, or this moment. */
function findSlot(plan: Plan, { rows, now }: Ledger, name: string): number {
  const row = rows.get(name)
  if (row === undefined) return now
  if (isClaimed(row, now)) throw errors.WP_SERVER_CRONJOB_BUSY({ name, server: row.server ?? 'another server' })
  return dueSlot(plan.get(name)!, row, now) ?? now
}

interface ToRun {
  readonly release: StoredRelease
  readonly ledger: Ledger
  readonly slots: readonly Slot[]
}

async function runSlots(host: Host, request: CronjobRequest, { release, ledger, slots }: ToRun) {
  const { signal, logger = makeLogger(readLogLevel(host.variables, 'warn'), 'stderr') } = request
  const reports: CronjobReport[] = []
  const onRan = (report: CronjobReport) => void reports.push(report)
  const runner = new CronRunner({ system: host.system, clock: host.clock, logger, leaseMs, onRan })
  const stop = () => void runner.stop()
  const { set, close } = await openAlone(host, release, logger)
  try {
    signal?.addEventListener('abort', stop)
    for (const { name, slot } of slots) if (!signal?.aborted) await runner.start(set, { ledger, name, slot })
    await runner.idle()
  } finally {
    signal?.removeEventListener('abort', stop)
    await close()
  }
  return reports
}

/** The cronjobs of a release, with connections of their own. */
async function openAlone(
  host: Host,
  release: StoredRelease,
  log: Logger,
): Promise<{ set: CronjobSet; close(): Promise<void> }> {
  const { variables, folder, system } = host
  const plugins = await loadPlugins(folder)
  const builtIn = { System: systemConnection(system) }
  const registry = makeConnectionRegistry({ classes: plugins.connections, variables, folder, log, builtIn })
  const prepareConfig = makeConfigPreparer(variables)
  try {
    const set = await openCronjobs({ host, plugins, prepareConfig, registry }, { release })
    const close = async () => {
      await set.close()
      await registry.close()
    }
    return { set, close }
  } catch (error) {
    await registry.close()
    throw error
  }
}

function findNext(plan: Plan, { now }: Ledger): CronExecution['next'] {
  const slots = [...plan.values()].flatMap(({ name, timetable }) => {
    const at = timetable.next(now)
    return at === undefined ? [] : [{ name, at }]
  })
  return slots.toSorted((a, b) => a.at - b.at)[0]
}
