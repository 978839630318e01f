import type { System } from '../../store/index.ts'
import { errors } from '../errors.ts'

/**
 * Waits for an answer of System, but not for ever: a connection may be dead and nobody be told.
 * @throws WP_SERVER_SYSTEM_SILENT
 */
export async function within<Value>(system: System, work: Promise<Value>, ms: number): Promise<Value> {
  const { promise: silence, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => reject(errors.WP_SERVER_SYSTEM_SILENT({ target: system.target, seconds: ms / 1000 })),
    ms,
  )
  try {
    return await Promise.race([work, silence])
  } finally {
    clearTimeout(timer)
    work.catch(() => undefined) // nobody waits for it any more
  }
}
