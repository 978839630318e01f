import { type Guard, recordUses } from '../auth/index.ts'
import type { System } from '../store/index.ts'

const intervalMs = 10_000
/** Maximum number of tokens whose use waits to be written while System is not available. */
const limit = 50_000

export interface UsesOptions {
  readonly guard: Pick<Guard, 'drainUses'>
  readonly system: System
  /** Called when uses cannot be written; once until writing succeeds again. */
  onError(error: unknown): void
}

/** Records which tokens were used, periodically and when stopped. Times of use that users see are up to 10 s old. */
export function recordTokenUses({ guard, system, onError }: UsesOptions): {
  write(): Promise<void>
  stop(): Promise<void>
} {
  const pending = new Map<string, number>()
  let running: Promise<void> | undefined
  let isFailing = false

  async function writeAll(): Promise<void> {
    for (const [jti, at] of guard.drainUses()) if (pending.has(jti) || pending.size < limit) pending.set(jti, at)
    const uses = new Map(pending)
    try {
      await recordUses(system, uses)
      for (const [jti, at] of uses) if (pending.get(jti) === at) pending.delete(jti)
      isFailing = false
    } catch (error) {
      if (!isFailing) onError(error)
      isFailing = true
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
