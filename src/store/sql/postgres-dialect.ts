import { PostgresDialect, type Dialect, type PostgresPool } from 'kysely'
import { Client, Pool, type ClientBase, type ClientConfig, type QueryConfig } from 'pg'
import { errors } from './errors.ts'
import { BoundClient, BoundCursor } from './postgres-client.ts'
import { explainConnectError, explainQueryError, type PostgresTarget } from './postgres-errors.ts'
import { parsePostgresUrl, redactUrl } from './postgres-url.ts'
import { postgresTypes } from './postgres-values.ts'

export { redactUrl }

export interface OpenPostgresOptions {
  readonly url: string
  /** Connections at most; 10 by default. */
  readonly max?: number
  /** What `pg_stat_activity` shows. */
  readonly applicationName?: string
  /** How long a statement may go unanswered until its connection is given up; without it, as long as it takes. */
  readonly queryTimeoutMs?: number
}

/** A pool of connections to one PostgreSQL database. */
export interface PostgresDatabase {
  readonly kind: 'postgresql'
  /** For messages. */
  readonly target: PostgresTarget
  readonly pool: Pool
  /**
   * A Kysely dialect over the pool. Destroying the Kysely instance does not end the pool, so any number may share it.
   * Queries throw WP_STORE_UNREACHABLE and, when no connection of the pool came free in time, WP_STORE_BUSY.
   */
  dialect(): Dialect
  /** A connected client outside the pool, to be ended by the caller. @throws WP_STORE_UNREACHABLE */
  openClient(): Promise<Client>
  /** Waits for 5 s at most: over a line that is half open nobody answers a goodbye. */
  close(): Promise<void>
}

const connectLimitMs = 5000
const closeLimitMs = 5000

/** Opens a pool; the first connection is made by the first query. @throws WP_STORE_URL_INVALID */
export function openPostgres(options: OpenPostgresOptions): PostgresDatabase {
  const { url, max = 10, applicationName = 'waypost', queryTimeoutMs } = options
  const target = parsePostgresUrl(url)
  if (target === undefined) throw errors.WP_STORE_URL_INVALID({ url: redactUrl(url) })
  const config: ClientConfig = {
    connectionString: url,
    application_name: applicationName,
    types: postgresTypes(),
    connectionTimeoutMillis: connectLimitMs,
    keepAlive: true,
  }
  // oxlint-disable-next-line typescript/no-misused-promises -- the pool awaits it, which its types do not say
  const pool = new Pool({ ...config, max, onConnect: setUp, query_timeout: queryTimeoutMs })
  // A connection that is dropped while it is idle or checked out emits an error, which without a listener ends the
  // process. The pool throws such a connection away, and the query in flight fails, without help.
  pool.on('error', ignore)
  pool.on('connect', (client) => client.on('error', ignore))
  return {
    kind: 'postgresql',
    target,
    pool,
    dialect: () => new PostgresDialect({ pool: borrow(pool, target), cursor: BoundCursor }),
    openClient: () => openClient(config, target),
    close: async () => {
      if (pool.ending) return
      const late = Promise.withResolvers<void>()
      const timer = setTimeout(late.resolve, closeLimitMs)
      await Promise.race([pool.end(), late.promise])
      clearTimeout(timer)
    },
  }
}

async function openClient(config: ClientConfig, target: PostgresTarget): Promise<Client> {
  const client = new Client(config)
  client.on('error', ignore)
  try {
    await client.connect()
    await setUp(client)
    return client
  } catch (error) {
    await client.end().catch(ignore)
    throw explainConnectError(error, target, connectLimitMs)
  }
}

/** The pool as Kysely uses it: it may not end it, and learns which server a connection was lost to. */
function borrow(pool: Pool, target: PostgresTarget): PostgresPool {
  const explain = (error: unknown) => explainQueryError(error, target)
  return {
    options: pool.options,
    async connect() {
      try {
        return new BoundClient(await pool.connect(), explain)
      } catch (error) {
        throw explainConnectError(error, target, connectLimitMs)
      }
    },
    async end() {},
  }
}

/** Texts without a zone mean UTC, as on SQLite. A statement, since poolers refuse it as a start-up option. */
async function setUp(client: ClientBase): Promise<void> {
  const text = `set time zone 'UTC'; set datestyle to 'ISO, YMD'`
  await client.query({ text, query_timeout: connectLimitMs } as QueryConfig) // which pg knows and its types do not
}

function ignore(): void {}
