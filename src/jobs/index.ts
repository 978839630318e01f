// jobs: work that runs without a request: cronjobs, event execution, retention.
// May import host, every room below it, and neither operate nor server. Code that runs actions is loaded when it is called, so that the
// cron line of event:execute stays quick.
import type { Host } from '../host/index.ts'
import type { CronExecution, CronjobRequest } from './execute-cronjobs.ts'
import type { Execution, ExecuteRequest } from './execute-events.ts'
import type { CronjobServing, ServedCronjobs } from './cronjobs/serve-cronjobs.ts'

export type { CronjobReport } from './cronjobs/run-slot.ts'
export type { CronOptions, ServedCronjobs } from './cronjobs/serve-cronjobs.ts'
export { startDelivering, type DeliveringOptions } from './deliver.ts'
export type { CronExecution, CronjobRequest } from './execute-cronjobs.ts'
export type { Execution, ExecuteRequest } from './execute-events.ts'
export { keepPruning } from './retention/open-pruner.ts'
export { openPruner } from './retention/open-pruner.ts'

export async function executeHostEvents(host: Host, request?: ExecuteRequest): Promise<Execution> {
  return (await import('./execute-events.ts')).executeHostEvents(host, request)
}

export async function executeHostCronjobs(host: Host, request: CronjobRequest): Promise<CronExecution> {
  return (await import('./execute-cronjobs.ts')).executeHostCronjobs(host, request)
}

export async function serveCronjobs(serving: CronjobServing): Promise<ServedCronjobs> {
  return (await import('./cronjobs/serve-cronjobs.ts')).serveCronjobs(serving)
}
