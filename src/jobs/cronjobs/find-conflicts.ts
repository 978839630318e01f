import type { Ledger, LedgerRow } from '../../host/index.ts'
import type { CronjobSet } from './open-cronjobs.ts'

/** A cronjob for which this server and another one compute different schedules from the same release. */
export interface Conflict {
  readonly cronjob: string
  readonly here: string
  readonly there: string
}

/** After a change of the release or of a variable, a schedule differs once, or twice while servers are replaced. */
const conflictThreshold = 3

/**
 * Detects servers whose variables produce different schedules. Each resets the row that the other one wrote, so that no
 * slot becomes due.
 */
export class ConflictFinder {
  readonly #changes = new Map<string, number>()
  #set: CronjobSet | undefined

  /**
   * Compares the cronjobs with the rows that were in System before each update.
   * @returns each conflict once
   */
  find(set: CronjobSet, { rows }: Ledger): readonly Conflict[] {
    if (set !== this.#set) this.#changes.clear()
    this.#set = set
    return [...set.cronjobs.values()].flatMap((job) => {
      const row = rows.get(job.name)
      const [here, there] = [describe(job), row && describe(row)]
      if (there === undefined || there === here) return []
      const changes = (this.#changes.get(job.name) ?? 0) + 1
      this.#changes.set(job.name, changes)
      return changes === conflictThreshold ? [{ cronjob: job.name, here, there }] : []
    })
  }
}

function describe({ schedule, timezone }: Pick<LedgerRow, 'schedule' | 'timezone'>): string {
  return `${schedule} (${timezone})`
}
