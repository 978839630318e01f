import { sql } from 'kysely'
import { formatWait } from '../../kit/index.ts'
import type { System } from '../../store/index.ts'
import { errors } from '../errors.ts'

const windowMs = 60_000
const mostSends = 30

/**
 * Counts what a user has sent beside the events: test events and replays, over all servers of one System. Without, who
 * may subscribe could have any address flooded.
 * @throws WP_EVENTS_SENDS
 */
export async function countSend(system: System, userId: string): Promise<void> {
  const now = system.now()
  const isOver = sql`waypost_throttle.expires_at <= ${now} or waypost_throttle.expires_at > ${now} + ${windowMs}`
  const { rows } = await sql<{ count: number; left_ms: number }>`
    insert into waypost_throttle (bucket, count, expires_at)
    values (${JSON.stringify(['send', userId])}, 1, ${now} + ${windowMs})
    on conflict (bucket) do update set
      count = case when ${isOver} then 1 else waypost_throttle.count + 1 end,
      expires_at = case when ${isOver} then ${now} + ${windowMs} else waypost_throttle.expires_at end
    returning count, expires_at - ${now} as left_ms`.execute(system.db)
  const { count, left_ms: leftMs } = rows[0]!
  if (count <= mostSends) return
  const seconds = Math.max(1, Math.ceil(leftMs / 1000))
  throw errors.WP_EVENTS_SENDS({ limit: mostSends, wait: formatWait(seconds) }, { retryAfterSeconds: seconds })
}
