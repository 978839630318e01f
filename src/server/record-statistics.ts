import { recordStatistics } from '../operate/index.ts'
import type { RouteStatistics } from '../runtime/index.ts'
import { loadDatabaseTime, type System } from '../store/index.ts'

const intervalMs = 60_000

/**
 * Stores the counted answers once a minute and when stopped.
 * @param onError called when counts cannot be stored, and are lost
 */
export function startRecordingStatistics(
  system: System,
  statistics: RouteStatistics,
  onError: (error: unknown) => void,
): { write(): Promise<void>; stop(): Promise<void> } {
  let running: Promise<void> | undefined

  async function writeAll(): Promise<void> {
    const counts = statistics.drain()
    if (counts.length === 0) return
    try {
      // Most of the counted minute lies before now.
      await recordStatistics(system, counts, (await loadDatabaseTime(system)) - intervalMs / 2)
    } catch (error) {
      onError(error)
    }
  }

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
