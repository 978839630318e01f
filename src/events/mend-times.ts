import { sql } from 'kysely'
import type { Clock } from '../kit/index.ts'
import type { System } from '../store/index.ts'
import { nowOnce } from './expressions.ts'

const everyMs = 60_000
/** What was written by transactions that took a moment is no sign of a wrong clock. */
const toleranceMs = 1000

/**
 * Makes deliveries due that were scheduled in times to come: the database's clock was set back since then, and they would
 * wait for as much longer. From now on they wait for what they were to wait then.
 * @returns how many there were
 */
export async function mendTimes(system: System): Promise<number> {
  const now = nowOnce(system)
  const { rows } = await sql<{ id: string }>`
    select id from waypost_delivery
    where status = 'pending' and due_at > ${now} + ${sql.lit(toleranceMs)}
      and scheduled_at > ${now} + ${sql.lit(toleranceMs)}
    limit 1`.execute(system.db)
  if (rows.length === 0) return 0 // so that nothing is written where all is well
  const { numAffectedRows = 0n } = await sql`
    update waypost_delivery set due_at = ${now} + (due_at - scheduled_at), scheduled_at = ${now}
    where status = 'pending' and due_at > ${now} + ${sql.lit(toleranceMs)}
      and scheduled_at > ${now} + ${sql.lit(toleranceMs)}`.execute(system.db)
  return Number(numAffectedRows)
}

/** Mends times at the first touch, and then once a minute. */
export function makeMender(system: System, clock: Clock): { touch(): Promise<void> } {
  let next = -Infinity
  return {
    async touch() {
      if (clock.monotonic() < next) return
      next = clock.monotonic() + everyMs
      await mendTimes(system)
    },
  }
}
