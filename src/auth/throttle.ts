import { sql } from 'kysely'
import type { Clock } from '../kit/index.ts'
import type { System } from '../store/index.ts'
import { errors } from './errors.ts'

const windowMs = 15 * 60_000
const limits = { pair: 10, address: 100 }

/**
 * Counts an attempt to log in before its password is looked at, per (name, address) and per address, over all servers
 * of one System. IPv6 addresses count by /64.
 * @throws WP_AUTH_THROTTLED
 */
export async function countAttempt(system: System, clock: Clock, attempt: { name: string; address: string }): Promise<void> {
  const address = network(attempt.address)
  await hit(system, clock, { bucket: `login ${attempt.name.slice(0, 64)} ${address}`, limit: limits.pair })
  await hit(system, clock, { bucket: `login ${address}`, limit: limits.address })
}

/** Forgets the attempts of a name from an address that turned out to be the right one. */
export async function forgetAttempts(system: System, attempt: { name: string; address: string }): Promise<void> {
  await system.db
    .deleteFrom('waypost_throttle')
    .where('bucket', '=', `login ${attempt.name.slice(0, 64)} ${network(attempt.address)}`)
    .execute()
}

async function hit(system: System, clock: Clock, { bucket, limit }: { bucket: string; limit: number }): Promise<void> {
  const now = clock.now()
  const over = sql<boolean>`waypost_throttle.expires_at <= ${now}`
  const { count, expires_at } = await system.db
    .insertInto('waypost_throttle')
    .values({ bucket, count: 1, expires_at: now + windowMs })
    .onConflict((on) =>
      on.column('bucket').doUpdateSet({
        count: sql<number>`case when ${over} then 1 else waypost_throttle.count + 1 end`,
        expires_at: sql<number>`case when ${over} then ${now + windowMs} else waypost_throttle.expires_at end`,
      }),
    )
    .returning(['count', 'expires_at'])
    .executeTakeFirstOrThrow()
  if (count <= limit) return
  const seconds = Math.max(1, Math.ceil((expires_at - now) / 1000))
  throw errors.WP_AUTH_THROTTLED({ seconds }, { retryAfterSeconds: seconds })
}

function network(address: string): string {
  if (!address.includes(':')) return address
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped !== null) return mapped[1]!
  const [head = '', tail = ''] = address.split('::')
  const groups = head.split(':').filter(Boolean)
  const rest = tail.split(':').filter(Boolean)
  if (address.includes('::')) groups.push(...Array<string>(Math.max(0, 8 - groups.length - rest.length)).fill('0'), ...rest)
  return groups.slice(0, 4).join(':')
}
