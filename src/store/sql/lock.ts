import { createHash } from 'node:crypto'
import { closeSync, existsSync, fchmodSync, fchownSync, openSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { errors } from './errors.ts'
import { isBusy, makeFileError } from './sqlite-handle.ts'
import type { PostgresDatabase } from './postgres-dialect.ts'
import type { SqliteDatabase } from './sqlite-dialect.ts'
import { retry } from './retry.ts'

export interface LockOptions {
  /** How long to wait for the lock; 5 minutes by default. */
  readonly limitMs?: number
  /** Called once if another process holds the lock. */
  readonly onWait?: () => void
  /** Ends the wait: throws its reason. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Runs work while no other process, on any host, runs work under the same name on the same database. The lock ends with
 * the process that holds it, even after a crash. It is not reentrant.
 *
 * @throws WP_STORE_LOCKED if it was not available in time
 */
export type WithLock = <Value>(name: string, work: () => Promise<Value>, options?: LockOptions) => Promise<Value>

/** Tries to acquire the lock. Returns a function that releases it, or undefined if another process holds it. */
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

/** Locks a file beside the database with an exclusive transaction, so that the database itself stays usable. */
async function lockFile(file: string, name: string, options: LockOptions): Promise<() => Promise<void>> {
  const lockedFile = `${file}.${name.replaceAll(/[^\w-]/g, '_')}.lock`
  const handle = openLockFile(lockedFile, file)
  const release = async () => handle.close()
  const tryLock = async () => {
    try {
      handle.exec('begin exclusive')
      return release
    } catch (error) {
      if (isBusy(error)) return undefined
      throw error
    }
  }
  return waitFor(tryLock, { ...options, name, database: file }).catch((error: unknown) => {
    handle.close()
    throw error
  })
}

function openLockFile(file: string, database: string): DatabaseSync {
  try {
    if (!existsSync(file)) createLockFile(file, database)
    return new DatabaseSync(file, { timeout: 0 })
  } catch (error) {
    throw makeFileError(file, error)
  }
}

/** Only creates it: closing a file that this process has locked would free the lock. */
function createLockFile(file: string, database: string): void {
  const descriptor = openSync(file, 'a', 0o600)
  try {
    giveToOwner(descriptor, database)
  } finally {
    closeSync(descriptor)
  }
}

/** After `sudo waypost migrate`, the user who owns the database must still be able to lock it, as with SQLite's files. */
function giveToOwner(descriptor: number, database: string): void {
  const owner = statSync(database, { throwIfNoEntry: false })
  if (process.getuid?.() !== 0 || owner === undefined) return
  fchownSync(descriptor, owner.uid, owner.gid)
  fchmodSync(descriptor, owner.mode & 0o777)
}

/** By name, because older versions of PostgreSQL lack some of these settings. */
const withoutLimits = `select set_config(name, '0', true) from pg_settings
  where name in ('idle_in_transaction_session_timeout', 'transaction_timeout')`

/**
 * Held by a transaction, not by the session: a pooler in transaction mode would pass the session, and with it the lock,
 * to another client. Polled, because a waiting statement would block every concurrent index build.
 */
async function lockAdvisory(
  database: PostgresDatabase,
  name: string,
  options: LockOptions,
): Promise<() => Promise<void>> {
  const client = await database.openClient()
  const key = createHash('sha256').update(`waypost ${name}`).digest().readBigInt64BE().toString()
  const release = async () => {
    await client.query('rollback').catch(() => undefined) // without its connection the lock is released anyway
    await client.end()
  }
  const tryLock = async () => {
    await client.query('begin isolation level read committed') // any other keeps its snapshot
    await client.query(withoutLimits)
    // No parameters: a statement with parameters keeps its snapshot until the next one, which would also block index
    // builds.
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
  { limitMs = 300_000, onWait, signal, name, database }: LockOptions & { name: string; database: string },
): Promise<() => Promise<void>> {
  const held = new Error('The lock is held')
  let hasWaited = false
  return retry({
    deadline: performance.now() + limitMs,
    isRetryable: (error) => error === held,
    onTimeout: () => errors.WP_STORE_LOCKED({ name, database, seconds: limitMs / 1000 }, { retryAfterSeconds: 5 }),
    maxPauseMs: 100,
    attempt: async () => {
      signal?.throwIfAborted()
      const release = await tryLock()
      if (release !== undefined) return release
      if (!hasWaited) onWait?.()
      hasWaited = true
      throw held
    },
  })
}
