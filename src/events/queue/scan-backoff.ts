import { sql } from 'kysely'
import type { System } from '../../store/index.ts'
import { nowOnce, readInIndexOrder } from '../expressions.ts'

/** The most scans that are skipped after empty ones: two seconds of a waiting worker. */
const maxSkipped = 8
/** Scans that are skipped for each millisecond of a scan, so that scanning takes at most a tenth of the time. */
const skippedPerMs = 1 / 25
/** The limit for slow scans: one minute of a waiting worker. */
const maxSkippedSlow = 240

/**
 * Prevents a worker from repeatedly scanning deliveries that cannot be started. After an empty scan, the next one runs
 * when another delivery has become due, or after a number of skipped scans, because held deliveries may become
 * startable.
 */
export class ScanBackoff {
  #newest: string | undefined
  #skipped = 0
  #limit = 0
  #emptyScans = 0
  #costMs = 0

  /** Resets the backoff because a scan found something or a delivery has finished. */
  reset(): void {
    this.#newest = undefined
    this.#emptyScans = 0
    this.#costMs = 0
  }

  /** Whether to scan. Always true after a scan that found something. */
  async isTime(system: System): Promise<boolean> {
    if (this.#emptyScans === 0) return true
    const newest = await findNewest(system)
    if (newest === this.#newest && this.#skipped < this.#limit) {
      this.#skipped++
      return false
    }
    this.#newest = newest
    return true
  }

  /** Records that a scan, or a part of one, found nothing that can be started although deliveries are due. */
  recordEmptyScan({ isPartial, ms }: { isPartial: boolean; ms: number }): void {
    this.#costMs += ms
    this.#skipped = isPartial ? Infinity : 0
    if (isPartial) return
    const backoff = Math.min(2 ** this.#emptyScans, maxSkipped)
    this.#limit = Math.min(Math.max(backoff, Math.ceil(this.#costMs * skippedPerMs)), maxSkippedSlow)
    this.#emptyScans++
    this.#costMs = 0
  }
}

/** Identifies the delivery that became due last. An index answers this immediately. */
async function findNewest(system: System): Promise<string> {
  const { rows } = await readInIndexOrder(system, (db) =>
    sql<{ id: string; due: number }>`
    select id, due_at as due from waypost_delivery
    where status = 'pending' and due_at <= ${nowOnce(system)} order by due_at desc, id desc limit 1`.execute(db),
  )
  return rows.map(({ id, due }) => `${due} ${id}`).join('')
}
