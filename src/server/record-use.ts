import { watchOutage } from '../kit/index.ts'
import { type Guard, recordUses } from '../auth/index.ts'
import { recordStatistics } from '../operate/index.ts'
import type { RouteStatistics } from '../runtime/index.ts'
import { loadDatabaseTime, type System } from '../store/index.ts'

/** Writes what a server counts to System, periodically and when stopped. */
export interface Recorder {
  write(): Promise<void>
  stop(): Promise<void>
}

export interface UsesOptions {
  readonly guard: Pick<Guard, 'drainUses'>
  readonly system: System
  /** Called when uses cannot be written; once until writing succeeds again. */
  onError(error: unknown): void
}

/** Maximum number of tokens whose use waits to be written while System is not available. */
const maxPendingUses = 50_000

/** Records which tokens were used. Times of use that users see are up to 10 s old. */
export function recordTokenUses({ guard, system, onError }: UsesOptions): Recorder {
  const pending = new Map<string, number>()
  const outage = watchOutage({ onFailed: onError })
  return startRecorder(10_000, async () => {
    for (const [jti, at] of guard.drainUses()) {
      if (pending.has(jti) || pending.size < maxPendingUses) pending.set(jti, at)
    }
    const uses = new Map(pending)
    try {
      await recordUses(system, uses)
      for (const [jti, at] of uses) if (pending.get(jti) === at) pending.delete(jti)
      outage.succeeded()
    } catch (error) {
      outage.failed(error)
    }
  })
}

const statisticsIntervalMs = 60_000

/**
 * Records the counted responses of routes once a minute.
 * @param onError called for the first of the counts that cannot be stored, and are lost
 */
export function recordRouteStatistics(
  system: System,
  statistics: RouteStatistics,
  onError: (error: unknown) => void,
): Recorder {
  const outage = watchOutage({ onFailed: onError })
  return startRecorder(statisticsIntervalMs, async () => {
    const counts = statistics.drain()
    if (counts.length === 0) return
    try {
      // Most of the counted minute lies before now.
      await recordStatistics(system, counts, (await loadDatabaseTime(system)) - statisticsIntervalMs / 2)
      outage.succeeded()
    } catch (error) {
      outage.failed(error)
    }
  })
}

function startRecorder(intervalMs: number, writeAll: () => Promise<void>): Recorder {
  let running: Promise<void> | undefined
  const write = () => (running ??= writeAll().finally(() => (running = undefined)))
  const timer = setInterval(() => void write(), intervalMs).unref()
  return {
    write,
    async stop() {
      clearInterval(timer)
      await running
      await write()
    },
  }
}
