import { Kysely, sql, type KyselyConfig, type RawBuilder, type Transaction } from 'kysely'
import type { Clock } from '../kit/index.ts'
import { errors } from './errors.ts'
import { openPostgres, redactUrl, type PostgresDatabase } from './sql/postgres-dialect.ts'
import { openSqlite, type SqliteDatabase } from './sql/sqlite-dialect.ts'
import type { SystemTables } from './tables.ts'

export type SystemKind = 'sqlite' | 'postgresql'

/** The System database, opened: Waypost's own tables and, by default, the application's. */
export interface System {
  readonly kind: SystemKind
  /** The address without its password, for messages. */
  readonly target: string
  /** The pool that actions and endpoints share. */
  readonly db: Kysely<SystemTables>
  /** Connections of their own for the guard, which never wait behind an action's transaction. */
  readonly guardDb: Kysely<SystemTables>
  readonly database: SqliteDatabase | PostgresDatabase
  /** Whether nobody needs its data after the process that opened it, as in tests; never so where a server serves. */
  readonly isDisposable: boolean
  /** The database's time in milliseconds since 1970, as an expression. */
  now(): RawBuilder<number>
  /**
   * Runs Waypost's own work in one transaction; a writing one from its first statement on SQLite. PostgreSQL ends one
   * that waits for this process for 5 s, so that a frozen process keeps no lock that others need. Transactions of
   * actions, which may wait for anything, are those of `db`.
   */
  transaction<Value>(work: (transaction: Transaction<SystemTables>) => Promise<Value>): Promise<Value>
  close(): Promise<void>
}

export interface OpenSystemOptions {
  /** `sqlite:FILE` or `postgresql://…`. */
  readonly url: string
  /** PostgreSQL without the pooler that `url` leads to: for LISTEN and for the lock of migrations. */
  readonly directUrl?: string | undefined
  /** Make the SQLite file where there is none. */
  readonly create?: boolean
  /** Connections at most to PostgreSQL for actions and endpoints. */
  readonly poolSize?: number
  /** Told of each statement that has ended. */
  readonly onStatement?: TraceStatement | undefined
  /** Stands for the database's clock in tests. */
  readonly clock?: Clock
  /** Give up durability and the strength of password hashes for speed: a test's database that nobody needs later. */
  readonly disposable?: boolean
}

/** Hears of a statement: its text, which holds no values, and how long it took. */
export type TraceStatement = (statement: {
  readonly system: SystemKind
  readonly text: string
  readonly ms: number
  readonly error: unknown
}) => void

const guardTimeoutMs = 3000
/**
 * The part of the pool for transactions of Waypost's own. They may wait for a lock that a process holds which is frozen,
 * and what needs no such lock has to be answered meanwhile.
 */
const ownShare = 0.6
/** How long PostgreSQL lets a transaction of Waypost's own wait for its process. */
export const idleLimitMs = 5000

/** Opens System. @throws WP_STORE_URL, WP_STORE_MISSING, WP_STORE_UNREACHABLE */
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
    guardDb: db, // its readers are handles of their own already
    database,
    isDisposable: options.disposable ?? false,
    now: () =>
      options.clock === undefined ? sql<number>`cast(unixepoch('subsec') * 1000 as integer)` : fixed(options.clock),
    transaction: (work) => db.transaction().execute(work),
    close: async () => {
      await db.destroy()
      await database.close()
    },
  }
}

async function openPostgresSystem(options: OpenSystemOptions): Promise<System> {
  const { url, directUrl, poolSize = 10 } = options
  const database = openPostgres({ url, directUrl, max: poolSize, applicationName: 'waypost' })
  const guard = openPostgres({
    url,
    max: 2,
    applicationName: 'waypost guard',
    queryTimeoutMs: guardTimeoutMs, // over a line that is half open it would wait for as long as TCP tries
  })
  const log = logTo(options, 'postgresql')
  const db = new Kysely<SystemTables>({ dialect: database.dialect(), ...log })
  const ownDb = new Kysely<SystemTables>({
    dialect: database.dialect({ idleLimitMs, share: Math.ceil(poolSize * ownShare) }),
    ...log,
  })
  const guardDb = new Kysely<SystemTables>({ dialect: guard.dialect(), ...log })
  const close = async () => {
    await Promise.all([db.destroy(), ownDb.destroy(), guardDb.destroy()])
    await Promise.all([database.close(), guard.close()])
  }
  try {
    await sql`select 1`.execute(db)
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
        : fixed(options.clock),
    transaction: (work) => ownDb.transaction().execute(work),
    close,
  }
}

function logTo({ onStatement }: OpenSystemOptions, system: SystemKind): Pick<KyselyConfig, 'log'> {
  if (onStatement === undefined) return {}
  return {
    log({ query, queryDurationMillis: ms, ...ended }) {
      onStatement({ system, text: query.sql, ms, error: 'error' in ended ? ended.error : undefined })
    },
  }
}

function fixed(clock: Clock): RawBuilder<number> {
  return sql<number>`cast(${Math.floor(clock.now())} as bigint)`
}
