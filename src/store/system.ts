import type { DatabaseKind } from '../contract/index.ts'
import { Kysely, sql, type KyselyConfig, type RawBuilder, type Transaction } from 'kysely'
import type { Clock } from '../kit/index.ts'
import { errors } from './errors.ts'
import { errors as sqlErrors } from './sql/errors.ts'
import { withSearchPathOf } from './sql/postgres-address.ts'
import { openPostgres, redactUrl, type PostgresDatabase } from './sql/postgres-dialect.ts'
import { openSqlite, type SqliteDatabase } from './sql/sqlite-dialect.ts'
import type { SystemTables } from './tables.ts'

/** The kind of object that changed. The subject is its id. */
export type ChangeKind = 'user' | 'client' | 'token' | 'family' | 'key' | 'activation' | 'variable'

export interface Change {
  readonly kind: ChangeKind
  readonly subject: string
}

/** The open System database: Waypost's own tables and, by default, the application's. */
export interface System {
  readonly kind: DatabaseKind
  /** The address without password, for messages. */
  readonly target: string
  /** The pool that actions and endpoints share. */
  readonly db: Kysely<SystemTables>
  /** Separate connections for the guard, which never wait for an action's transaction. */
  readonly guardDb: Kysely<SystemTables>
  readonly database: SqliteDatabase | PostgresDatabase
  /** Whether the data is not needed after the process ends, as in tests. Always false on a server. */
  readonly isDisposable: boolean
  /** Returns the database's time in milliseconds since 1970, as an SQL expression. */
  now(): RawBuilder<number>
  /**
   * Runs Waypost's own work in one transaction; on SQLite a write transaction from its first statement. PostgreSQL ends
   * a transaction that waits 5 s for this process, so that a frozen process holds no lock that others need.
   * Transactions of actions use `db`, because they may wait for anything.
   */
  transaction<Value>(work: (transaction: Transaction<SystemTables>) => Promise<Value>): Promise<Value>
  /**
   * Checks that the database responds and takes changes.
   * @throws WP_STORE_UNREACHABLE, WP_STORE_READ_ONLY
   */
  check(): Promise<void>
  /** Inside `inOneTransaction`: the changes to write to the feed at its end. */
  readonly deferred?: Change[]
  close(): Promise<void>
}

export interface OpenSystemOptions {
  /** `sqlite:FILE` or `postgresql://…`. */
  readonly url: string
  /** PostgreSQL without the pooler of `url`: for LISTEN and the migration lock. */
  readonly directUrl?: string | undefined
  /** Bypass the pooler, for migrations. */
  readonly isDirect?: boolean
  /** Create the SQLite file if it does not exist. */
  readonly create?: boolean
  /** The maximum number of PostgreSQL connections for actions and endpoints. */
  readonly poolSize?: number
  /** Called after each statement. */
  readonly onStatement?: TraceStatement | undefined
  /** Replaces the database's clock in tests. */
  readonly clock?: Clock
  /** For tests: trade durability and the strength of password hashes for speed. */
  readonly disposable?: boolean
}

/** Receives a statement: its text, which contains no values, and its duration. */
export type TraceStatement = (statement: {
  readonly system: DatabaseKind
  readonly text: string
  readonly ms: number
  readonly error: unknown
}) => void

const guardTimeoutMs = 3000
/**
 * The share of the pool for Waypost's own transactions. They may wait for a lock of a frozen process, while other
 * requests must still be served.
 */
const internalShare = 0.6
/** How long PostgreSQL lets one of Waypost's own transactions wait for its process. */
export const idleLimitMs = 5000

/**
 * Opens System.
 * @throws WP_STORE_URL, WP_STORE_MISSING, WP_STORE_UNREACHABLE
 */
export async function openSystem(options: OpenSystemOptions): Promise<System> {
  if (options.url.startsWith('sqlite:')) return openSqliteSystem(options)
  if (/^postgres(ql)?:\/\//.test(options.url)) return openPostgresSystem(options)
  throw errors.WP_STORE_URL({ url: redactUrl(options.url) })
}

async function openSqliteSystem(options: OpenSystemOptions): Promise<System> {
  const file = options.url.slice('sqlite:'.length)
  const database = openSqlite({
    file,
    create: options.create ?? false,
    synchronous: options.disposable ? 'OFF' : 'FULL',
  })
  const db = new Kysely<SystemTables>({ dialect: database.dialect(), ...logTo(options, 'sqlite') })
  return {
    kind: 'sqlite',
    target: file,
    db,
    guardDb: db, // its readers already have separate handles
    database,
    isDisposable: options.disposable ?? false,
    now: () =>
      options.clock === undefined
        ? sql<number>`cast(unixepoch('subsec') * 1000 as integer)`
        : constantTime(options.clock),
    transaction: (work) => db.transaction().execute(work),
    check: async () => {
      database.assertSame()
      await sql`select 1`.execute(db)
    },
    close: async () => {
      await db.destroy()
      await database.close()
    },
  }
}

async function openPostgresSystem(options: OpenSystemOptions): Promise<System> {
  const { poolSize = 10 } = options
  const directUrl = options.directUrl === undefined ? undefined : withSearchPathOf(options.directUrl, options.url)
  const url = (options.isDirect ? directUrl : undefined) ?? options.url
  const prepare = directUrl === undefined // otherwise `url` is that of a pooler
  const database = openPostgres({ url, directUrl, max: poolSize, applicationName: 'waypost', prepare, isSystem: true })
  const guard = openPostgres({
    url,
    max: 2,
    applicationName: 'waypost guard',
    isSystem: true,
    queryTimeoutMs: guardTimeoutMs, // on a half-open connection it would wait until TCP gives up
    staleness: database.staleness,
  })
  const log = logTo(options, 'postgresql')
  const db = new Kysely<SystemTables>({ dialect: database.dialect(), ...log })
  const internalDb = new Kysely<SystemTables>({
    dialect: database.dialect({ idleLimitMs, maxConnections: Math.ceil(poolSize * internalShare) }),
    ...log,
  })
  const guardDb = new Kysely<SystemTables>({ dialect: guard.dialect(), ...log })
  const close = async () => {
    await Promise.all([db.destroy(), internalDb.destroy(), guardDb.destroy()])
    await Promise.all([database.close(), guard.close()])
  }
  try {
    await assertWritable(db, database)
  } catch (error) {
    await close()
    throw error
  }
  return {
    kind: 'postgresql',
    target: redactUrl(url),
    db,
    guardDb,
    database,
    isDisposable: options.disposable ?? false,
    now: () =>
      options.clock === undefined
        ? sql<number>`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`
        : constantTime(options.clock),
    transaction: (work) => internalDb.transaction().execute(work),
    check: () => assertWritable(guardDb, guard),
    close,
  }
}

/**
 * Checks that PostgreSQL takes changes: that it is not a standby, and that the role may write.
 * @throws WP_STORE_READ_ONLY
 */
async function assertWritable(db: Kysely<SystemTables>, { target, staleness }: PostgresDatabase): Promise<void> {
  const query = sql<{ value: string }>`select current_setting('transaction_read_only') as value`
  const isReadOnly = (await query.execute(db)).rows[0]?.value === 'on'
  if (!isReadOnly) return
  staleness.foundReadOnly()
  throw sqlErrors.WP_STORE_READ_ONLY({ ...target }, { retryAfterSeconds: 1 })
}

function logTo({ onStatement }: OpenSystemOptions, system: DatabaseKind): Pick<KyselyConfig, 'log'> {
  if (onStatement === undefined) return {}
  return {
    log({ query, queryDurationMillis: ms, ...ended }) {
      onStatement({ system, text: query.sql, ms, error: 'error' in ended ? ended.error : undefined })
    },
  }
}

function constantTime(clock: Clock): RawBuilder<number> {
  return sql<number>`cast(${Math.floor(clock.now())} as bigint)`
}
