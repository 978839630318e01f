import {
  CompiledQuery,
  type AbortableOperationOptions,
  PostgresDialect,
  PostgresDriver,
  type DatabaseConnection,
  type Dialect,
  type PostgresPool,
} from 'kysely'
import { Pool, type Client, type ClientBase, type ClientConfig, type PoolClient } from 'pg'
import { withDeadline } from '../../kit/index.ts'
import { ConnectionMonitor } from './connection-monitor.ts'
import { BoundClient, BoundCursor } from './postgres-client.ts'
import { explainBusy, explainConnectError, explainQueryError } from './postgres-errors.ts'
import { ParameterTypes } from './postgres-parameters.ts'
import { parsePostgresAddress, type PostgresAddress } from './postgres-address.ts'
import { connectLimitMs, makeClientClass, openClientOf, setUpClient } from './postgres-connect.ts'
import { redactUrl, type PostgresTarget } from './postgres-url.ts'
import type { SessionOptions } from './postgres-session.ts'
import { makeStaleness, type Staleness } from './postgres-staleness.ts'
import { postgresTypes } from './postgres-values.ts'
import { StatementNames } from './statement-names.ts'

export { redactUrl }

export interface OpenPostgresOptions {
  readonly url: string
  /** The same database without a pooler, for clients outside the pool: LISTEN and locks. */
  readonly directUrl?: string | undefined
  /** The maximum number of connections; 10 by default. */
  readonly max?: number
  /** The name in `pg_stat_activity`. */
  readonly applicationName?: string
  /** How long a statement may take before its connection is closed; unlimited by default. */
  readonly queryTimeoutMs?: number
  /** How long a statement may take before its connection is checked; 10 s by default. */
  readonly lateMs?: number
  /**
   * Whether statements that are used repeatedly are prepared; true by default. Must be false behind a pooler that gives
   * each transaction another connection.
   */
  readonly prepare?: boolean
  /** How long a statement may run before PostgreSQL cancels it; unlimited by default. */
  readonly statementTimeoutMs?: number
  /** Whether Waypost's own tables are in this database. */
  readonly isSystem?: boolean
  /** That of another pool of the same database. */
  readonly staleness?: Staleness
}

export interface TransactionLimits {
  /** How long a transaction may wait for this process before PostgreSQL ends it (WP_STORE_IDLE). */
  readonly idleLimitMs: number
  /**
   * The maximum number of connections that these transactions use, so that those waiting for a lock leave some for
   * other work.
   */
  readonly maxConnections: number
}

/** A pool of connections to one PostgreSQL database, as plugins see it. */
export interface SharedPostgres {
  readonly kind: 'postgresql'
  /** Host and database, for messages. */
  readonly target: PostgresTarget
  /**
   * Makes a Kysely dialect over the pool. Destroying the Kysely instance does not end the pool, so any number of
   * instances may share it. Queries throw WP_STORE_UNREACHABLE, and WP_STORE_BUSY if no connection of the pool became
   * free in time.
   * @param limits for transactions that others may have to wait for; none by default
   */
  dialect(limits?: TransactionLimits): Dialect
  /** Waits at most 5 s, because a half-open connection never confirms that it is closed. */
  close(): Promise<void>
}

export interface PostgresDatabase extends SharedPostgres {
  readonly pool: Pool
  readonly staleness: Staleness
  /**
   * Opens a client outside the pool, which the caller closes.
   * @throws WP_STORE_UNREACHABLE
   */
  openClient(): Promise<Client>
}

/** By default Linux waits two hours before it checks an idle connection. */
const keepAliveMs = 10_000
const closeLimitMs = 5000

/**
 * Opens a pool. The first query opens the first connection.
 * @throws WP_STORE_URL_INVALID, WP_STORE_URL_OPTION
 */
export function openPostgres(options: OpenPostgresOptions): PostgresDatabase {
  const { url, max = 10, applicationName = 'waypost', queryTimeoutMs } = options
  const session: SessionOptions = { isSystem: options.isSystem, statementTimeoutMs: options.statementTimeoutMs }
  const address = parsePostgresAddress(url)
  const { target } = address
  const directAddress = options.directUrl === undefined ? address : parsePostgresAddress(options.directUrl)
  const config: ClientConfig = {
    application_name: applicationName,
    types: postgresTypes(),
    connectionTimeoutMillis: connectLimitMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
  }
  /**
   * Errors that closed connections between two statements. The error of the next statement does not contain the reason.
   */
  const lost = new WeakMap<ClientBase, Error>()
  const staleness = options.staleness ?? makeStaleness()
  const outside: SessionOptions = { isSystem: options.isSystem }
  const monitor = new ConnectionMonitor({
    lateMs: options.lateMs ?? 10_000,
    openClient: () => openClientOf(config, { address, session: outside }),
  })
  const names = options.prepare === false || queryTimeoutMs !== undefined ? undefined : new StatementNames()
  const types = new ParameterTypes()
  const register = async (client: ClientBase) => {
    await setUpClient(client, { address, session })
    if (queryTimeoutMs !== undefined) return // it is shorter anyway
    const isDirect = await monitor.register(client)
    if (!isDirect) names?.stop()
  }
  const Client = makeClientClass(address, staleness.opened)
  const pooled = { ...config, Client, max, onConnect: register }
  const pool = new Pool({ ...pooled, query_timeout: queryTimeoutMs })
  // A lost connection emits an error, which would end the process without a listener. The pool discards the connection,
  // and its query fails, without further handling.
  pool.on('error', ignore)
  const usage = countInUse(pool)
  // Only the first error says why: the end of the connection follows it.
  pool.on('connect', (client) => client.once('error', (error) => lost.set(client, error)).on('error', ignore))
  return {
    kind: 'postgresql',
    target,
    pool,
    staleness,
    dialect: (limits) => {
      const context = { pool, address, usage, monitor, lost, types, staleness }
      if (limits === undefined)
        return new PostgresDialect({ pool: wrapPool({ ...context, names }), cursor: BoundCursor })
      const config = { pool: wrapPool({ ...context, names: undefined }), cursor: BoundCursor }
      return new LimitedDialect(config, { ...limits, target })
    },
    openClient: () => openClientOf(config, { address: directAddress, session: outside }),
    close: async () => {
      if (pool.ending) return
      await withDeadline(pool.end(), closeLimitMs, () => undefined)
    },
  }
}

type DialectConfig = ConstructorParameters<typeof PostgresDialect>[0]
type Limits = TransactionLimits & { readonly target: PostgresTarget }

/** Limits transactions that others may have to wait for. */
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
  /** After the first part of this time, PostgreSQL has ended every transaction that they may be waiting for. */
  readonly #waitLimitMs: number
  readonly #waiting = new Set<() => void>()
  #free: number
  /** Why the last connection could not be opened: then those that wait do not wait for transactions. */
  #failure: Error | undefined

  constructor(config: DialectConfig, { idleLimitMs, maxConnections, target }: Limits) {
    super(config)
    this.#target = target
    this.#waitLimitMs = idleLimitMs + connectLimitMs
    this.#free = maxConnections
    // One message to the server. `set local` applies to this transaction only, because connections are pooled.
    this.#begin = CompiledQuery.raw(`begin; set local idle_in_transaction_session_timeout = ${idleLimitMs}`)
  }

  override async acquireConnection(options?: AbortableOperationOptions): Promise<DatabaseConnection> {
    await this.#enter()
    try {
      const connection = await super.acquireConnection(options)
      this.#failure = undefined
      return connection
    } catch (error) {
      if (error instanceof Error) this.#failure = error
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
      throw this.#failure ?? explainBusy(this.#target, this.#waitLimitMs)
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

interface PoolContext {
  readonly pool: Pool
  readonly address: PostgresAddress
  readonly usage: { readonly inUse: number }
  readonly monitor: ConnectionMonitor
  readonly lost: WeakMap<ClientBase, Error>
  readonly names: StatementNames | undefined
  readonly types: ParameterTypes
  readonly staleness: Staleness
}

/** Wraps the pool for Kysely: Kysely cannot end it, and errors name the server. */
function wrapPool({ pool, address, usage, monitor, lost, names, types, staleness }: PoolContext): PostgresPool {
  const { target } = address
  return {
    options: pool.options,
    async connect() {
      try {
        const client = await connectCurrent(pool, staleness).catch((error: unknown) => {
          if (address.isWorthRetry(error)) return connectCurrent(pool, staleness)
          throw error
        })
        const explain = (error: unknown) => explainQueryError(lost.get(client) ?? error, target)
        const onReadOnly = () => staleness.foundReadOnly(client)
        return new BoundClient(client, { explain, monitor, names, types, onReadOnly })
      } catch (error) {
        const { ending: isEnding, options } = pool
        throw explainConnectError(error, {
          target,
          limitMs: connectLimitMs,
          pool: { isEnding, isInUse: usage.inUse >= options.max },
        })
      }
    },
    async end() {},
  }
}

async function connectCurrent(pool: Pool, staleness: Staleness): Promise<PoolClient> {
  for (;;) {
    const client = await pool.connect()
    if (!staleness.isStale(client)) return client
    client.release(true)
  }
}

/** Counts the connections that are in use, without those that are idle or just being opened. */
function countInUse(pool: Pool): { readonly inUse: number } {
  const usage = { inUse: 0 }
  pool.on('acquire', () => (usage.inUse += 1))
  pool.on('release', () => (usage.inUse -= 1))
  return usage
}

function ignore(): void {}
