import {
  CompiledQuery,
  type AbortableOperationOptions,
  PostgresDialect,
  PostgresDriver,
  type DatabaseConnection,
  type Dialect,
  type PostgresPool,
} from 'kysely'
import { Client, Pool, type ClientBase, type ClientConfig, type QueryConfig } from 'pg'
import { withDeadline } from '../../kit/index.ts'
import { errors } from './errors.ts'
import { LineWatch } from './line-watch.ts'
import { BoundClient, BoundCursor } from './postgres-client.ts'
import { explainBusy, explainConnectError, explainQueryError, type PostgresTarget } from './postgres-errors.ts'
import { parsePostgresUrl, redactUrl } from './postgres-url.ts'
import { postgresTypes } from './postgres-values.ts'

export { redactUrl }

export interface OpenPostgresOptions {
  readonly url: string
  /** The same database without a pooler between, for clients outside the pool: what is listened for, locks. */
  readonly directUrl?: string | undefined
  /** Connections at most; 10 by default. */
  readonly max?: number
  /** What `pg_stat_activity` shows. */
  readonly applicationName?: string
  /** How long a statement may go unanswered until its connection is given up; without it, as long as it takes. */
  readonly queryTimeoutMs?: number
  /** How long a statement goes unanswered until it is found out whether its line is dead; 10 s by default. */
  readonly lateMs?: number
}

export interface TransactionLimits {
  /** How long a transaction may wait for this process before PostgreSQL ends it (WP_STORE_IDLE). */
  readonly idleLimitMs: number
  /** Connections of the pool at most, so that transactions that wait for a lock leave some for everything else. */
  readonly share: number
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
   * @param limits of transactions that others may have to wait for; none by default
   */
  dialect(limits?: TransactionLimits): Dialect
  /** A connected client outside the pool, to be ended by the caller. @throws WP_STORE_UNREACHABLE */
  openClient(): Promise<Client>
  /** Waits for 5 s at most: over a line that is half open nobody answers a goodbye. */
  close(): Promise<void>
}

const connectLimitMs = 5000
/** Linux waits for two hours before it asks whether the other side of a line is there, if it is not told otherwise. */
const keepAliveMs = 10_000
const closeLimitMs = 5000

/** Opens a pool; the first connection is made by the first query. @throws WP_STORE_URL_INVALID */
export function openPostgres(options: OpenPostgresOptions): PostgresDatabase {
  const { url, max = 10, applicationName = 'waypost', queryTimeoutMs } = options
  const target = parseTarget(url)
  const direct = options.directUrl === undefined ? target : parseTarget(options.directUrl)
  const config: ClientConfig = {
    connectionString: url,
    application_name: applicationName,
    types: postgresTypes(),
    connectionTimeoutMillis: connectLimitMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
  }
  const directConfig = { ...config, connectionString: options.directUrl ?? url }
  /** What ended connections between two statements: all that the next statement says is that it cannot be sent. */
  const lost = new WeakMap<ClientBase, Error>()
  const lines = new LineWatch({ lateMs: options.lateMs ?? 10_000, openClient: () => openClient(config, target) })
  const meet = async (client: ClientBase) => {
    await setUp(client)
    if (queryTimeoutMs === undefined) await lines.meet(client) // or it is given up sooner anyway
  }
  // oxlint-disable-next-line typescript/no-misused-promises -- the pool awaits it, which its types do not say
  const pool = new Pool({ ...config, max, onConnect: meet, query_timeout: queryTimeoutMs })
  // A connection that is dropped while it is idle or checked out emits an error, which without a listener ends the
  // process. The pool throws such a connection away, and the query in flight fails, without help.
  pool.on('error', ignore)
  pool.on('connect', (client) => client.on('error', (error) => lost.set(client, error)))
  return {
    kind: 'postgresql',
    target,
    pool,
    dialect: (limits) => {
      const config = { pool: borrow({ pool, target, lines, lost }), cursor: BoundCursor }
      return limits === undefined ? new PostgresDialect(config) : new LimitedDialect(config, { ...limits, target })
    },
    openClient: () => openClient(directConfig, direct),
    close: async () => {
      if (pool.ending) return
      await withDeadline(pool.end(), closeLimitMs, () => undefined)
    },
  }
}

function parseTarget(url: string): PostgresTarget {
  const target = parsePostgresUrl(url)
  if (target === undefined) throw errors.WP_STORE_URL_INVALID({ url: redactUrl(url) })
  return target
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

type DialectConfig = ConstructorParameters<typeof PostgresDialect>[0]
type Limits = TransactionLimits & { readonly target: PostgresTarget }

/** Begins transactions that others may have to wait for. */
class LimitedDialect extends PostgresDialect {
  readonly #config: DialectConfig
  readonly #limits: Limits

  constructor(config: DialectConfig, limits: Limits) {
    super(config)
    this.#config = config
    this.#limits = limits
  }

  override createDriver(): PostgresDriver {
    return new LimitedDriver(this.#config, this.#limits)
  }
}

type Connection = Parameters<PostgresDriver['releaseConnection']>[0]

class LimitedDriver extends PostgresDriver {
  readonly #begin: CompiledQuery
  readonly #target: PostgresTarget
  /** PostgreSQL ends what all of them may be waiting for after the first part. */
  readonly #waitLimitMs: number
  readonly #waiting = new Set<() => void>()
  #free: number

  constructor(config: DialectConfig, { idleLimitMs, share, target }: Limits) {
    super(config)
    this.#target = target
    this.#waitLimitMs = idleLimitMs + connectLimitMs
    this.#free = share
    // One message to the server. Local to the transaction: others use the connection after it, also through a pooler.
    this.#begin = CompiledQuery.raw(`begin; set local idle_in_transaction_session_timeout = ${idleLimitMs}`)
  }

  override async acquireConnection(options?: AbortableOperationOptions): Promise<DatabaseConnection> {
    await this.#enter()
    try {
      return await super.acquireConnection(options)
    } catch (error) {
      this.#leave()
      throw error
    }
  }

  override async releaseConnection(connection: Connection): Promise<void> {
    await super.releaseConnection(connection)
    this.#leave()
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(this.#begin)
  }

  async #enter(): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1
      return
    }
    const turn = Promise.withResolvers<void>()
    this.#waiting.add(turn.resolve)
    await withDeadline(turn.promise, this.#waitLimitMs, () => {
      this.#waiting.delete(turn.resolve)
      throw explainBusy(this.#target, this.#waitLimitMs)
    })
  }

  #leave(): void {
    const [next] = this.#waiting
    if (next === undefined) this.#free += 1
    else {
      this.#waiting.delete(next)
      next()
    }
  }
}

interface Lender {
  readonly pool: Pool
  readonly target: PostgresTarget
  readonly lines: LineWatch
  readonly lost: WeakMap<ClientBase, Error>
}

/** The pool as Kysely uses it: it may not end it, and learns which server a connection was lost to. */
function borrow({ pool, target, lines, lost }: Lender): PostgresPool {
  return {
    options: pool.options,
    async connect() {
      try {
        const client = await pool.connect()
        const explain = (error: unknown) => explainQueryError(lost.get(client) ?? error, target)
        return new BoundClient(client, { explain, lines })
      } catch (error) {
        throw explainConnectError(error, target, connectLimitMs)
      }
    },
    async end() {},
  }
}

const settings = {
  timezone: `'UTC'`, // texts without a zone, as on SQLite
  datestyle: `'ISO, YMD'`,
  // PostgreSQL notices after 25 s that this machine is gone, and releases its locks; by default after two hours.
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 3,
}

/** By a statement, since poolers refuse start-up options. */
async function setUp(client: ClientBase): Promise<void> {
  const text = Object.entries(settings).map(([name, value]) => `set ${name} = ${value}`)
  await client.query({ text: text.join('; '), query_timeout: connectLimitMs } as QueryConfig) // which pg knows and its types do not
}

function ignore(): void {}
