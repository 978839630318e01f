import { measureEvents } from '../../events/index.ts'
import type { Logger } from '../../runtime/index.ts'
import { loadFacts, loadDatabaseTime } from '../../store/index.ts'
import { describeWaiting, maxSilenceMs } from '../../operate/index.ts'
import type { WaypostServer } from '../start-server.ts'

export interface WarnOptions {
  readonly server: Pick<WaypostServer, 'host' | 'terms'>
  readonly logger: Pick<Logger, 'warn'>
  readonly intervalMs?: number | undefined
}

/** Warns every minute while deliveries are due and no process delivers. @returns a function that stops */
export function warnUndelivered({ server, logger, intervalMs = 60_000 }: WarnOptions): () => Promise<void> {
  let running: Promise<void> = Promise.resolve()

  async function check(): Promise<void> {
    const { system } = server.host
    const [now, { last_execute: last }] = await Promise.all([loadDatabaseTime(system), loadFacts(system)])
    if (last !== undefined && Math.abs(now - Number(last)) < maxSilenceMs) return
    const { due } = (await measureEvents(system, server.terms())).deliveries
    if (due === 0) return
    const since = last === undefined ? null : new Date(Number(last)).toISOString()
    logger.warn(
      { due, lastExecuted: since },
      `${describeWaiting(due)}, but no worker is running: run waypost event:execute from cron, or serve with --cron`,
    )
  }

  const timer = setInterval(() => {
    running = check().catch(() => undefined) // database outages are reported elsewhere
  }, intervalMs).unref()
  return async () => {
    clearInterval(timer)
    await running
  }
}
