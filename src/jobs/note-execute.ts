import { loadFacts, replaceFact, loadDatabaseTime } from '../store/index.ts'
import type { Host } from '../host/index.ts'

const everyMs = 60_000

/** Notes in System that a worker is at work, so that `doctor` can tell whether cron starts one. */
export interface ExecuteNote {
  /** Notes it at most once a minute, in the background: who delivers does not wait for it. */
  touch(): void
  /** Waits for what is being written. */
  close(): Promise<void>
}

export function openExecuteNote({ system, clock }: Pick<Host, 'system' | 'clock'>): ExecuteNote {
  let next = clock.monotonic()
  let writing: Promise<void> = Promise.resolve()

  async function write(): Promise<void> {
    const [now, { last_execute: last }] = await Promise.all([loadDatabaseTime(system), loadFacts(system)])
    // Another worker may have noted it just now; one whose clock was ahead noted a time that is still to come.
    if (last === undefined || Math.abs(now - Number(last)) >= everyMs)
      await replaceFact(system, 'last_execute', String(now))
  }

  return {
    touch() {
      if (clock.monotonic() < next) return
      next = clock.monotonic() + everyMs
      writing = write().catch(() => undefined) // a note that is missing must not keep events from being delivered
    },
    close: () => writing,
  }
}
