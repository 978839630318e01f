import { sql } from 'kysely'
import type { System } from '../../store/index.ts'
import { nowOnce, readInOrder } from '../expressions.ts'

/** Looks that are left out at most after one that found nothing: two seconds of a worker that waits. */
const mostSkipped = 8
/** Looks that are left out for each millisecond that one took: looking takes a tenth of the time at most. */
const skippedPerMs = 1 / 25
/** However long a look took, a minute of a worker that waits. */
const mostSkippedEver = 240

/**
 * Keeps a worker from looking again and again through what nobody may start now, however much that is: a look that found
 * nothing is made again when something became due since then, and else only from time to time, since what is held back
 * may be let go.
 */
export class LookBackoff {
  #newest: string | undefined
  #skipped = 0
  #limit = 0
  #looks = 0
  #costMs = 0

  /** Something was found, or has ended. */
  end(): void {
    this.#newest = undefined
    this.#looks = 0
    this.#costMs = 0
  }

  /** Asks whether to look. A worker that has just found something looks without being asked. */
  async isTime(system: System): Promise<boolean> {
    if (this.#looks === 0) return true
    const newest = await findNewest(system)
    if (newest === this.#newest && this.#skipped < this.#limit) {
      this.#skipped++
      return false
    }
    this.#newest = newest
    return true
  }

  /** A look, or a part of one, found nothing that may be started, though something is due. */
  foundNothing({ isPartial, ms }: { isPartial: boolean; ms: number }): void {
    this.#costMs += ms
    this.#skipped = isPartial ? Infinity : 0
    if (isPartial) return
    const usual = Math.min(2 ** this.#looks, mostSkipped)
    this.#limit = Math.min(Math.max(usual, Math.ceil(this.#costMs * skippedPerMs)), mostSkippedEver)
    this.#looks++
    this.#costMs = 0
  }
}

/** Which delivery became due last: an index tells at once. */
async function findNewest(system: System): Promise<string> {
  const { rows } = await readInOrder(system, (db) =>
    sql<{ id: string; due: number }>`
    select id, due_at as due from waypost_delivery
    where status = 'pending' and due_at <= ${nowOnce(system)} order by due_at desc, id desc limit 1`.execute(db),
  )
  return rows.map(({ id, due }) => `${due} ${id}`).join('')
}
