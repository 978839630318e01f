import type { Logger } from '../../runtime/index.ts'
import type { CronjobReport } from './run-slot.ts'

/** One line for each run. */
export function logReport(logger: Logger, { name, slot, outcome, ms, error }: CronjobReport): void {
  const line = { cronjob: name, slot: new Date(slot).toISOString(), ms: Math.round(ms) }
  if (outcome === 'done') logger.info(line, 'a cronjob ran')
  else logger.error({ ...line, err: error }, 'a cronjob failed')
}
