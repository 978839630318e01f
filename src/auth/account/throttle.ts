import { sql, type Transaction } from 'kysely'
import { formatDuration, isPrivateAddress, networkOf, type Clock } from '../../kit/index.ts'
import type { System, SystemTables } from '../../store/index.ts'
import { errors } from '../errors.ts'

export interface Attempt {
  readonly name: string
  readonly address: string
}

const windowMs = 15 * 60_000
const knownAddressMs = 30 * 86_400_000
const limits = { pair: 10, address: 100, name: 50 }

/**
 * Counts a login attempt before the password is checked, across all servers of a System: per name and address, per
 * address, and per name for addresses from which the user has not logged in within 30 days. This way, no one can lock
 * users out of the addresses that they normally use. IPv6 addresses are counted by /64.
 * @throws WP_AUTH_THROTTLED
 */
export async function countAttempt(system: System, clock: Clock, attempt: Attempt): Promise<void> {
  const now = clock.now()
  const waitMs = await system.transaction(async (trx) => {
    for (const { bucket, limit } of await bucketsOf(trx, attempt, now)) {
      const { count, expires_at: ends } = await incrementBucket(trx, bucket, { now, windowMs })
      if (count > limit) return ends - now
    }
    return 0
  })
  if (waitMs === 0) return
  const seconds = Math.max(1, Math.ceil(waitMs / 1000))
  throw errors.WP_AUTH_THROTTLED({ wait: formatDuration(seconds * 1000) }, { retryAfterSeconds: seconds })
}

/**
 * Undoes the count of an attempt that was not checked. A successful attempt also resets the count for its name and
 * address.
 */
export async function uncountAttempt(
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
      .values({ bucket: knownBucket(attempt), count: 1, expires_at: now + knownAddressMs })
      .onConflict((on) => on.column('bucket').doUpdateSet({ expires_at: now + knownAddressMs }))
      .execute()
  })
}

/** Resets all counts for a name, so that a user can log in with a new password. */
export async function resetAttempts(trx: Transaction<SystemTables>, name: string): Promise<void> {
  const pairs = `${encodeKey('pair', name).slice(0, -1)},`
  await trx
    .deleteFrom('waypost_throttle')
    .where((where) =>
      where.or([
        where('bucket', '=', encodeKey('name', name)),
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

/** The fixed order prevents deadlocks between transactions that lock several rows. */
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
    // A private address is usually a proxy that all callers share; one caller would lock out all others.
    ...(isPrivateAddress(address) ? [] : [{ bucket: encodeKey('address', net), limit: limits.address }]),
    { bucket: encodeKey('pair', name, net), limit: limits.pair, isPair: true },
    ...(known === undefined ? [{ bucket: encodeKey('name', name), limit: limits.name }] : []),
  ]
}

function knownBucket({ name, address }: Attempt): string {
  return encodeKey('known', name, networkOf(address))
}

/** JSON keeps the parts apart and escapes NUL, which PostgreSQL cannot store. */
function encodeKey(...parts: readonly string[]): string {
  return JSON.stringify(['login', ...parts.map((part) => part.slice(0, 64))])
}

/** Increments a bucket. It restarts when its window has ended. */
export async function incrementBucket(
  trx: Transaction<SystemTables>,
  bucket: string,
  { now, windowMs: length }: { now: number; windowMs: number },
) {
  const isExpired = sql<boolean>`waypost_throttle.expires_at <= ${now}`
  return trx
    .insertInto('waypost_throttle')
    .values({ bucket, count: 1, expires_at: now + length })
    .onConflict((on) =>
      on.column('bucket').doUpdateSet({
        count: sql<number>`case when ${isExpired} then 1 else waypost_throttle.count + 1 end`,
        expires_at: sql<number>`case when ${isExpired} then ${now + length} else waypost_throttle.expires_at end`,
      }),
    )
    .returning(['count', 'expires_at'])
    .executeTakeFirstOrThrow()
}

const hourMs = 3_600_000
/** Per hour. A private address is usually a proxy that all callers share. */
const hourlyLimits = { public: 10, private: 100 }

/**
 * Counts an attempt to register, including failed ones, across all servers of a System. Each costs a hash, and its
 * response reveals whether a name is taken.
 * @throws WP_AUTH_REGISTRATIONS
 */
export async function countRegistration(system: System, clock: Clock, address: string): Promise<void> {
  const waitMs = await countHourly(system, clock, { kind: 'register', address })
  if (waitMs === 0) return
  throw errors.WP_AUTH_REGISTRATIONS({ wait: formatDuration(waitMs) }, { retryAfterSeconds: waitMs / 1000 })
}

/**
 * Counts an attempt to create the first administrator, across all servers of a System.
 * @throws WP_AUTH_FIRST_RUN_RATE
 */
export async function countFirstRun(system: System, clock: Clock, address: string): Promise<void> {
  const waitMs = await countHourly(system, clock, { kind: 'first-run', address })
  if (waitMs === 0) return
  throw errors.WP_AUTH_FIRST_RUN_RATE({ wait: formatDuration(waitMs) }, { retryAfterSeconds: waitMs / 1000 })
}

const minuteMs = 60_000
const maxTryTokens = 30

/**
 * Counts the tokens for trying calls that a user requests, across all servers of a System.
 * @throws WP_AUTH_TRY_RATE
 */
export async function countTryToken(system: System, clock: Clock, userId: string): Promise<void> {
  const now = clock.now()
  const bucket = JSON.stringify(['try', userId])
  const { count, expires_at: ends } = await system.transaction((trx) =>
    incrementBucket(trx, bucket, { now, windowMs: minuteMs }),
  )
  if (count <= maxTryTokens) return
  const seconds = Math.max(1, Math.ceil((ends - now) / 1000))
  const wait = formatDuration(seconds * 1000)
  throw errors.WP_AUTH_TRY_RATE({ limit: maxTryTokens, wait }, { retryAfterSeconds: seconds })
}

/** @returns how long to wait, in whole seconds as milliseconds; 0 within the limit */
async function countHourly(
  system: System,
  clock: Clock,
  { kind, address }: { readonly kind: string; readonly address: string },
): Promise<number> {
  const now = clock.now()
  const bucket = JSON.stringify([kind, networkOf(address).slice(0, 64)])
  const { count, expires_at: ends } = await system.transaction((trx) =>
    incrementBucket(trx, bucket, { now, windowMs: hourMs }),
  )
  if (count <= (isPrivateAddress(address) ? hourlyLimits.private : hourlyLimits.public)) return 0
  return Math.max(1, Math.ceil((ends - now) / 1000)) * 1000
}
