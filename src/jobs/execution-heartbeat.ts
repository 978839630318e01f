import { loadFacts, replaceFact, loadDatabaseTime } from '../store/index.ts'
import type { Host } from '../host/index.ts'

const intervalMs = 60_000

/** Records in System that a worker is active, so that `doctor` can check whether cron starts one. */
export interface ExecutionHeartbeat {
  /** Records it at most once a minute, in the background, so that deliveries do not wait. */
  beat(): void
  /** Waits for the current write. */
  close(): Promise<void>
}

export function openExecutionHeartbeat({ system, clock }: Pick<Host, 'system' | 'clock'>): ExecutionHeartbeat {
  let nextAt = clock.monotonic()
  let writing: Promise<void> = Promise.resolve()

  async function write(): Promise<void> {
    const [now, { last_execute: last }] = await Promise.all([loadDatabaseTime(system), loadFacts(system)])
    // Another worker may just have recorded it. A time in the future comes from a clock that was wrong.
    if (last === undefined || Math.abs(now - Number(last)) >= intervalMs)
      await replaceFact(system, 'last_execute', String(now))
  }

  return {
    beat() {
      if (clock.monotonic() < nextAt) return
      nextAt = clock.monotonic() + intervalMs
      writing = write().catch(() => undefined) // a missing record must not prevent deliveries
    },
    close: () => writing,
  }
}
