// jobs: work that runs without a request: cronjobs, event execution, retention.
// May import host and every room below it, but neither operate nor server. Code that runs actions is loaded on demand,
// so that `event:execute` starts quickly when cron runs it.
export type { RunReport } from '../events/index.ts'
import type { Host } from '../host/index.ts'
import type { ManualRuns, ManualRunsOptions } from './cronjobs/manual-runs.ts'
import type { CronExecution, CronjobRequest } from './execute-cronjobs.ts'
import type { Execution, ExecuteRequest } from './execute-events.ts'
import type { RunDueRequest } from './listeners/run-due-listeners.ts'
import type { ServeCronjobsOptions, CronjobService } from './cronjobs/serve-cronjobs.ts'

export type { CronjobReport } from './cronjobs/run-slot.ts'
export type { CronOptions, CronjobService } from './cronjobs/serve-cronjobs.ts'
export type { ManualRuns, ManualRunsOptions } from './cronjobs/manual-runs.ts'
export { startDelivering, type DeliveryOptions } from './deliver.ts'
export type { CronExecution, CronjobRequest } from './execute-cronjobs.ts'
export type { Execution, ExecuteRequest } from './execute-events.ts'
export type { RunDueRequest } from './listeners/run-due-listeners.ts'
export { startPruning } from './retention/pruner.ts'
export { openPruner } from './retention/pruner.ts'

export async function executeHostEvents(host: Host, request?: ExecuteRequest): Promise<Execution> {
  return (await import('./execute-events.ts')).executeHostEvents(host, request)
}

export async function executeHostCronjobs(host: Host, request: CronjobRequest): Promise<CronExecution> {
  return (await import('./execute-cronjobs.ts')).executeHostCronjobs(host, request)
}

export async function serveCronjobs(serving: ServeCronjobsOptions): Promise<CronjobService> {
  return (await import('./cronjobs/serve-cronjobs.ts')).serveCronjobs(serving)
}

export async function openManualRuns(options: ManualRunsOptions): Promise<ManualRuns> {
  return (await import('./cronjobs/manual-runs.ts')).openManualRuns(options)
}

export async function runDueListeners(host: Host, request: RunDueRequest): Promise<void> {
  return (await import('./listeners/run-due-listeners.ts')).runDueListeners(host, request)
}
