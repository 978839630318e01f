import { sql, type Transaction } from 'kysely'
import { formatDuration, isPrivateAddress, networkOf, type Clock } from '../../kit/index.ts'
import type { System, SystemTables } from '../../store/index.ts'
import { errors } from '../errors.ts'

export interface Attempt {
  readonly name: string
  readonly address: string
}

const windowMs = 15 * 60_000
const knownMs = 30 * 86_400_000
const limits = { pair: 10, address: 100, name: 50 }

/**
 * Counts an attempt to log in before its password is looked at, over all servers of one System: per name and address,
 * per address, and per name for addresses that it did not log in from within 30 days, so that nobody shuts a person out
 * from where he always comes from. IPv6 addresses count by /64.
 * @throws WP_AUTH_THROTTLED
 */
export async function countAttempt(system: System, clock: Clock, attempt: Attempt): Promise<void> {
  const now = clock.now()
  const waitMs = await system.transaction(async (trx) => {
    for (const { bucket, limit } of await bucketsOf(trx, attempt, now)) {
      const { count, expires_at: ends } = await hit(trx, bucket, { now, windowMs })
      if (count > limit) return ends - now
    }
    return 0
  })
  if (waitMs === 0) return
  const seconds = Math.max(1, Math.ceil(waitMs / 1000))
  throw errors.WP_AUTH_THROTTLED({ wait: formatDuration(seconds * 1000) }, { retryAfterSeconds: seconds })
}

/** Takes an attempt back that nobody looked at; one that was right also clears its name and address. */
export async function takeBackAttempt(
  system: System,
  clock: Clock,
  { wasRight, ...attempt }: Attempt & { wasRight: boolean },
): Promise<void> {
  const now = clock.now()
  await system.transaction(async (trx) => {
    for (const { bucket, isPair } of await bucketsOf(trx, attempt, now)) {
      const count = isPair && wasRight ? sql<number>`0` : sql<number>`count - 1`
      await trx
        .updateTable('waypost_throttle')
        .set({ count })
        .where('bucket', '=', bucket)
        .where('count', '>', 0)
        .execute()
    }
    if (!wasRight) return
    await trx
      .insertInto('waypost_throttle')
      .values({ bucket: knownBucket(attempt), count: 1, expires_at: now + knownMs })
      .onConflict((on) => on.column('bucket').doUpdateSet({ expires_at: now + knownMs }))
      .execute()
  })
}

/** Forgets what was counted for a name, from wherever: whoever got another password must be able to try it. */
export async function forgetAttempts(trx: Transaction<SystemTables>, name: string): Promise<void> {
  const pairs = `${write('pair', name).slice(0, -1)},`
  await trx
    .deleteFrom('waypost_throttle')
    .where((where) =>
      where.or([
        where('bucket', '=', write('name', name)),
        where(sql<string>`substr(bucket, 1, ${pairs.length})`, '=', pairs),
      ]),
    )
    .execute()
}

interface Bucket {
  readonly bucket: string
  readonly limit: number
  readonly isPair?: true
}

/** Always in this order: who locks rows in another one may wait for somebody who waits for him. */
async function bucketsOf(trx: Transaction<SystemTables>, attempt: Attempt, now: number): Promise<readonly Bucket[]> {
  const { name, address } = attempt
  const net = networkOf(address)
  const known = await trx
    .selectFrom('waypost_throttle')
    .select('bucket')
    .where('bucket', '=', knownBucket(attempt))
    .where('expires_at', '>', now)
    .executeTakeFirst()
  return [
    // A private address is most often a proxy that every caller comes through: one of them would lock out all others.
    ...(isPrivateAddress(address) ? [] : [{ bucket: write('address', net), limit: limits.address }]),
    { bucket: write('pair', name, net), limit: limits.pair, isPair: true },
    ...(known === undefined ? [{ bucket: write('name', name), limit: limits.name }] : []),
  ]
}

function knownBucket({ name, address }: Attempt): string {
  return write('known', name, networkOf(address))
}

/** As JSON, so that no name reads like two fields and none holds a zero, which PostgreSQL does not store. */
function write(...parts: readonly string[]): string {
  return JSON.stringify(['login', ...parts.map((part) => part.slice(0, 64))])
}

/** Counts in a bucket, which begins anew when its window is over. */
export async function hit(
  trx: Transaction<SystemTables>,
  bucket: string,
  { now, windowMs: length }: { now: number; windowMs: number },
) {
  const isOver = sql<boolean>`waypost_throttle.expires_at <= ${now}`
  return trx
    .insertInto('waypost_throttle')
    .values({ bucket, count: 1, expires_at: now + length })
    .onConflict((on) =>
      on.column('bucket').doUpdateSet({
        count: sql<number>`case when ${isOver} then 1 else waypost_throttle.count + 1 end`,
        expires_at: sql<number>`case when ${isOver} then ${now + length} else waypost_throttle.expires_at end`,
      }),
    )
    .returning(['count', 'expires_at'])
    .executeTakeFirstOrThrow()
}

const registrationWindowMs = 3_600_000
/** A private address is most often a proxy that everybody comes through. */
const registrationLimits = { public: 10, private: 100 }

/**
 * Counts an attempt to register, one that fails too, over all servers of one System: it costs a hash, and its answer
 * says whether a name is taken.
 * @throws WP_AUTH_REGISTRATIONS
 */
export async function countRegistration(system: System, clock: Clock, address: string): Promise<void> {
  const now = clock.now()
  const bucket = JSON.stringify(['register', networkOf(address).slice(0, 64)])
  const { count, expires_at: ends } = await system.transaction((trx) =>
    hit(trx, bucket, { now, windowMs: registrationWindowMs }),
  )
  if (count <= (isPrivateAddress(address) ? registrationLimits.private : registrationLimits.public)) return
  const seconds = Math.max(1, Math.ceil((ends - now) / 1000))
  throw errors.WP_AUTH_REGISTRATIONS({ wait: formatDuration(seconds * 1000) }, { retryAfterSeconds: seconds })
}
