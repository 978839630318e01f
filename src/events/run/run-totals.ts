import { sql } from 'kysely'
import { latencyBoundsMs } from '../../kit/index.ts'
import { jsonRows, nowOnce, type System } from '../../store/index.ts'
import type { RunVerdict } from './record-runs.ts'

const hourMs = 3_600_000

/** Runs that ended with one outcome in one latency bucket. */
export interface RunTotal {
  readonly listener: string
  readonly outcome: 'done' | 'retrying' | 'dead' | 'discarded'
  /** Index into `latencyBoundsMs`, from 0. */
  readonly bucket: number
  readonly count: number
  readonly sum_ms: number
}

/** Counts the runs of a worker, and adds them to those of all workers from time to time. */
export class RunCounter {
  #counts = new Map<string, { count: number; sumMs: number }>()

  add(listener: string, outcome: RunVerdict, latencyMs: number): void {
    if (outcome === 'repeated' || outcome === 'lost' || outcome === 'postponed') return // no end of a run
    const found = latencyBoundsMs.findIndex((bound) => latencyMs <= bound)
    const bucket = found === -1 ? latencyBoundsMs.length : found
    const key = JSON.stringify([listener, outcome, bucket])
    const counted = this.#counts.get(key) ?? { count: 0, sumMs: 0 }
    this.#counts.set(key, { count: counted.count + 1, sumMs: counted.sumMs + latencyMs })
  }

  /** What cannot be written is added to what is written next. */
  async save(system: System): Promise<void> {
    const counts = this.#counts
    if (counts.size === 0) return
    this.#counts = new Map()
    try {
      await addTotals(system, counts)
    } catch (error) {
      for (const [key, { count, sumMs }] of counts) {
        const counted = this.#counts.get(key) ?? { count: 0, sumMs: 0 }
        this.#counts.set(key, { count: counted.count + count, sumMs: counted.sumMs + sumMs })
      }
      throw error
    }
  }
}

/** Adds to the current hour, and to all time in the hour 0, in a fixed order: concurrent statements do not deadlock. */
async function addTotals(
  system: System,
  counts: ReadonlyMap<string, { readonly count: number; readonly sumMs: number }>,
): Promise<void> {
  const rows = [...counts].map(([key, { count, sumMs }]) => {
    return [...(JSON.parse(key) as [string, string, number]), count, Math.round(sumMs)]
  })
  const now = nowOnce(system)
  await sql`insert into waypost_run_total (listener, hour, outcome, bucket, count, sum_ms)
    select value ->> 0, hour, value ->> 1, cast(value ->> 2 as int), cast(value ->> 3 as bigint), cast(value ->> 4 as bigint)
    from ${jsonRows(system, rows)} cross join (select 0 as hour union all select ${now} - ${now} % ${sql.lit(hourMs)}) as hours
    where true order by 1, 2, 3, 4
    on conflict (listener, hour, outcome, bucket) do update set
      count = waypost_run_total.count + excluded.count, sum_ms = waypost_run_total.sum_ms + excluded.sum_ms`.execute(
    system.db,
  )
}

/** Returns all runs so far that ended, or those of the last hours. */
export async function loadRunTotals(system: System, hours?: number): Promise<readonly RunTotal[]> {
  const now = nowOnce(system)
  const isChosen = hours === undefined ? sql`hour = 0` : sql`hour > ${now} - ${sql.lit(hours * hourMs)}`
  const { rows } = await sql<RunTotal>`
    select listener, outcome, bucket, cast(sum(count) as bigint) as count, cast(sum(sum_ms) as bigint) as sum_ms
    from waypost_run_total where ${isChosen} group by listener, outcome, bucket
    order by listener, outcome, bucket`.execute(system.db)
  return rows
}
