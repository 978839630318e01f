import { sql } from 'kysely'
import type { System } from '../../store/index.ts'
import type { Outcome } from './outcome.ts'

/** Upper bounds of the latencies that are counted together, in milliseconds; what took longer comes behind them. */
export const latencyBounds = [10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000] as const

/** Attempts of one outcome and about one latency, counted over all workers since there are any. */
export interface AttemptTotal {
  readonly outcome: Outcome
  /** Which of the bounds, from 0. */
  readonly bucket: number
  readonly count: number
  readonly sum_ms: number
}

/** Counts attempts in System. Writes at most once a second, so that nobody waits for the others who count. */
export interface AttemptCounter {
  count(outcome: Outcome, latencyMs: number): void
  /** Writes what was counted, if it is time. What cannot be written is tried again with what comes. */
  touch(): Promise<void>
  /** Writes what is left. */
  close(): Promise<void>
}

const everyMs = 1000

export function makeAttemptCounter(system: System): AttemptCounter {
  let counted = new Map<string, AttemptTotal>()
  let next = 0

  async function write(): Promise<void> {
    if (counted.size === 0) return
    const totals = counted
    counted = new Map()
    next = performance.now() + everyMs
    try {
      await addTotals(system, [...totals.values()])
    } catch {
      for (const total of totals.values()) add(total) // numbers must not keep events from being delivered
    }
  }

  function add({ outcome, bucket, count, sum_ms: sum }: AttemptTotal): void {
    const key = `${outcome} ${bucket}`
    const known = counted.get(key)
    counted.set(key, { outcome, bucket, count: (known?.count ?? 0) + count, sum_ms: (known?.sum_ms ?? 0) + sum })
  }

  return {
    count(outcome, latencyMs) {
      const found = latencyBounds.findIndex((bound) => latencyMs <= bound)
      add({ outcome, bucket: found < 0 ? latencyBounds.length : found, count: 1, sum_ms: latencyMs })
    },
    async touch() {
      if (performance.now() >= next) await write()
    },
    close: write,
  }
}

/** In one order, so that two who count at once do not wait for each other. */
async function addTotals(system: System, totals: readonly AttemptTotal[]): Promise<void> {
  await system.db
    .insertInto('waypost_attempt_total')
    .values(totals.toSorted((a, b) => a.outcome.localeCompare(b.outcome) || a.bucket - b.bucket))
    .onConflict((on) =>
      on.columns(['outcome', 'bucket']).doUpdateSet({
        count: sql`waypost_attempt_total.count + excluded.count`,
        sum_ms: sql`waypost_attempt_total.sum_ms + excluded.sum_ms`,
      }),
    )
    .execute()
}
