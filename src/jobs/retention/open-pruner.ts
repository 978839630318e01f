import type { Settings } from '../../kit/index.ts'
import { exchangeFact, loadFacts, replaceFact, loadDatabaseTime } from '../../store/index.ts'
import type { Host } from '../../host/index.ts'
import { pruneSystem, type Pruned } from './prune.ts'

const everyMs = 3_600_000
const lookEveryMs = 60_000
const endLimitMs = 10_000

export interface PrunerOptions {
  settings(): Settings
  /** Told what went, and what kept it from going, which is tried again within the hour. */
  onPruned?(pruned: Pruned): void
  onError?(error: unknown): void
}

/** Prunes System in the background, once an hour whoever else does. */
export interface Pruner {
  /** Looks whether it is time, at most once a minute, and does not wait for the answer. */
  touch(): void
  /** Waits for what is being pruned, 10 s at most by default; what takes longer is left to the next one. */
  close(limitMs?: number): Promise<void>
}

export function openPruner({ system, clock }: Pick<Host, 'system' | 'clock'>, options: PrunerOptions): Pruner {
  const stop = new AbortController()
  let next = clock.monotonic()
  let running: Promise<void> = Promise.resolve()

  async function prune(): Promise<void> {
    const [now, { last_prune: last }] = await Promise.all([loadDatabaseTime(system), loadFacts(system)])
    // Whoever's clock was ahead may have noted a time that is still to come.
    if (last !== undefined && Math.abs(now - Number(last)) < everyMs) return
    if (!(await exchangeFact(system, 'last_prune', { from: last, to: String(now) }))) return // somebody was faster
    const pruned = await pruneSystem(system, { settings: options.settings(), signal: stop.signal })
    if (stop.signal.aborted) await replaceFact(system, 'last_prune', '0')
    options.onPruned?.(pruned)
  }

  return {
    touch() {
      if (stop.signal.aborted || clock.monotonic() < next) return
      next = clock.monotonic() + lookEveryMs
      running = running.then(prune).catch((error: unknown) => options.onError?.(error))
    },
    async close(limitMs = endLimitMs) {
      const timer = setTimeout(() => stop.abort(), limitMs)
      await running
      clearTimeout(timer)
      stop.abort()
    },
  }
}

const pruneLookMs = 10 * 60_000

/** Looks now and then whether it is time to prune. @returns the way to stop */
export function keepPruning(pruner: Pruner): () => Promise<void> {
  pruner.touch()
  const timer = setInterval(() => pruner.touch(), pruneLookMs).unref()
  return async () => {
    clearInterval(timer)
    await pruner.close(0)
  }
}
