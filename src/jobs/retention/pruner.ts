import { watchOutage, type Settings } from '../../kit/index.ts'
import { exchangeFact, loadFacts, replaceFact, loadDatabaseTime } from '../../store/index.ts'
import type { Host } from '../../host/index.ts'
import { pruneSystem, type Pruned } from './prune.ts'

const pruneIntervalMs = 3_600_000
const checkIntervalMs = 60_000
const defaultCloseLimitMs = 10_000

export interface PrunerOptions {
  settings(): Settings
  /** Called with what was deleted, or with the first error that prevented it. An error is retried within the hour. */
  onPruned?(pruned: Pruned): void
  onError?(error: unknown): void
}

/** Prunes System in the background, once an hour across all processes. */
export interface Pruner {
  /** Checks whether it is time, at most once a minute. Does not wait for the result. */
  runIfDue(): void
  /** Waits for the current pruning, by default at most 10 s. The next pruning continues what is left. */
  close(limitMs?: number): Promise<void>
}

export function openPruner({ system, clock }: Pick<Host, 'system' | 'clock'>, options: PrunerOptions): Pruner {
  const stop = new AbortController()
  const outage = watchOutage({ onFailed: (error) => options.onError?.(error) })
  let next = clock.monotonic()
  let running: Promise<void> = Promise.resolve()

  async function prune(): Promise<void> {
    const [now, { last_prune: last }] = await Promise.all([loadDatabaseTime(system), loadFacts(system)])
    // A process whose clock was wrong may have recorded a time in the future.
    if (last !== undefined && Math.abs(now - Number(last)) < pruneIntervalMs) return
    if (!(await exchangeFact(system, 'last_prune', { from: last, to: String(now) }))) return // another process was faster
    const pruned = await pruneSystem(system, { settings: options.settings(), signal: stop.signal })
    if (stop.signal.aborted) await replaceFact(system, 'last_prune', '0')
    options.onPruned?.(pruned)
  }

  return {
    runIfDue() {
      if (stop.signal.aborted || clock.monotonic() < next) return
      next = clock.monotonic() + checkIntervalMs
      running = running.then(prune).then(outage.succeeded).catch(outage.failed)
    },
    async close(limitMs = defaultCloseLimitMs) {
      const timer = setTimeout(() => stop.abort(), limitMs)
      await running
      clearTimeout(timer)
      stop.abort()
    },
  }
}

const backgroundIntervalMs = 10 * 60_000

/**
 * Checks periodically whether it is time to prune.
 * @returns a function that stops it
 */
export function startPruning(pruner: Pruner): () => Promise<void> {
  pruner.runIfDue()
  const timer = setInterval(() => pruner.runIfDue(), backgroundIntervalMs).unref()
  return async () => {
    clearInterval(timer)
    await pruner.close(0)
  }
}
