import { createHash } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { messageOf } from '../../kit/index.ts'
import { errors } from './errors.ts'
import type { PostgresDatabase } from './postgres-dialect.ts'
import type { SqliteDatabase } from './sqlite-dialect.ts'
import { untilDone } from './wait.ts'

export interface LockOptions {
  /** How long it is waited for; 5 minutes by default. */
  readonly limitMs?: number
  /** Called once when somebody else holds the lock. */
  readonly onWait?: () => void
}

/**
 * Runs work while no other process, on any host, runs work under the same name on the same database. The lock ends with
 * the process that holds it, whatever way that ends; it cannot be taken a second time from within.
 *
 * @throws WP_STORE_LOCKED when it did not come free in time
 */
export type WithLock = <Value>(name: string, work: () => Promise<Value>, options?: LockOptions) => Promise<Value>

/** Tries to take the lock: the way to give it back, or undefined when another holds it. */
type TryLock = () => Promise<(() => Promise<void>) | undefined>

/** Makes the lock of a database. */
export function makeLock(database: SqliteDatabase | PostgresDatabase): WithLock {
  return async (name, work, options = {}) => {
    const release =
      database.kind === 'sqlite'
        ? await lockFile(database.file, name, options)
        : await lockAdvisory(database, name, options)
    try {
      return await work()
    } finally {
      await release()
    }
  }
}

/** A file beside the database, held by an exclusive transaction in it: the database itself stays free. */
async function lockFile(file: string, name: string, options: LockOptions): Promise<() => Promise<void>> {
  const lockedFile = `${file}.${name.replaceAll(/[^\w-]/g, '_')}.lock`
  const handle = openLockFile(lockedFile)
  const release = async () => handle.close()
  const tryLock = async () => {
    try {
      handle.exec('begin exclusive')
      return release
    } catch (error) {
      if (((error as { errcode?: number }).errcode ?? 0) % 256 === 5) return undefined // SQLITE_BUSY
      throw error
    }
  }
  return waitFor(tryLock, { ...options, name, database: file }).catch((error: unknown) => {
    handle.close()
    throw error
  })
}

function openLockFile(file: string): DatabaseSync {
  try {
    closeSync(openSync(file, 'a', 0o600))
    return new DatabaseSync(file, { timeout: 0 })
  } catch (error) {
    throw errors.WP_STORE_FILE({ file, reason: messageOf(error) }, { cause: error })
  }
}

/** By name, since older PostgreSQLs do not know each of them. */
const withoutLimits = `select set_config(name, '0', true) from pg_settings
  where name in ('idle_in_transaction_session_timeout', 'transaction_timeout')`

/**
 * Held by a transaction, not by the session: a pooler in transaction mode would give the session to somebody else, and
 * with it the lock. Asked for again and again, since a statement that waits would hold back every concurrent index build.
 */
async function lockAdvisory(
  database: PostgresDatabase,
  name: string,
  options: LockOptions,
): Promise<() => Promise<void>> {
  const client = await database.openClient()
  const key = createHash('sha256').update(`waypost ${name}`).digest().readBigInt64BE().toString()
  const release = async () => {
    await client.query('rollback').catch(() => undefined) // without its connection there is no lock either
    await client.end()
  }
  const tryLock = async () => {
    await client.query('begin')
    await client.query(withoutLimits)
    // Without parameters: a statement that has some keeps its snapshot until the next one, which would hold back builds too.
    const { rows } = await client.query<{ locked: boolean }>(`select pg_try_advisory_xact_lock('${key}') as locked`)
    if (rows[0]?.locked === true) return release
    await client.query('rollback')
    return undefined
  }
  return waitFor(tryLock, { ...options, name, database: database.target.database }).catch(async (error: unknown) => {
    await client.end()
    throw error
  })
}

async function waitFor(
  tryLock: TryLock,
  { limitMs = 300_000, onWait, name, database }: LockOptions & { name: string; database: string },
): Promise<() => Promise<void>> {
  const held = new Error('The lock is held')
  let hasWaited = false
  return untilDone({
    deadline: performance.now() + limitMs,
    isNotYet: (error) => error === held,
    tooLate: () => errors.WP_STORE_LOCKED({ name, database, seconds: limitMs / 1000 }, { retryAfterSeconds: 5 }),
    longestPauseMs: 100,
    attempt: async () => {
      const release = await tryLock()
      if (release !== undefined) return release
      if (!hasWaited) onWait?.()
      hasWaited = true
      throw held
    },
  })
}
