import { type Guard, writeUses } from '../auth/index.ts'
import type { System } from '../store/index.ts'

const everyMs = 10_000
/** Tokens whose use waits to be written, while System cannot be written to. */
const limit = 50_000

export interface UsesOptions {
  readonly guard: Pick<Guard, 'drainUses'>
  readonly system: System
  /** Called when uses cannot be written, once until they can be written again. */
  onError(error: unknown): void
}

/** Writes now and then, and when it is stopped, which tokens were used: what a user sees of them is seconds old. */
export function keepUses({ guard, system, onError }: UsesOptions): { write(): Promise<void>; stop(): Promise<void> } {
  const waiting = new Map<string, number>()
  let running: Promise<void> | undefined
  let isFailing = false

  async function writeAll(): Promise<void> {
    for (const [jti, at] of guard.drainUses()) if (waiting.has(jti) || waiting.size < limit) waiting.set(jti, at)
    const uses = new Map(waiting)
    try {
      await writeUses(system, uses)
      for (const [jti, at] of uses) if (waiting.get(jti) === at) waiting.delete(jti)
      isFailing = false
    } catch (error) {
      if (!isFailing) onError(error)
      isFailing = true
    }
  }

  const write = () => (running ??= writeAll().finally(() => (running = undefined)))
  const timer = setInterval(() => void write(), everyMs).unref()
  return {
    write,
    async stop() {
      clearInterval(timer)
      await running
      await write()
    },
  }
}
