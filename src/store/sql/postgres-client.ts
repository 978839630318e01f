import { isWaypostError } from '../../kit/index.ts'
import type { PostgresCursor, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import { Query, type PoolClient, type QueryConfig } from 'pg'
import Cursor from 'pg-cursor'
import { endMark } from './end-transaction.ts'
import { errors } from './errors.ts'
import type { ConnectionMonitor } from './connection-monitor.ts'
import { endsConnection, explainStale, isRepeatable, isStalePlan } from './postgres-errors.ts'
import type { ParameterTypes } from './postgres-parameters.ts'
import { bindPostgresValue, ListParameter } from './postgres-values.ts'
import { jsonWeight, markCutOff, readMaxBytes, RowBytes } from './row-bytes.ts'
import type { StatementNames } from './statement-names.ts'
import { addStatement, renewStack } from './statement-errors.ts'

/** A cursor that binds values like other statements. The client that runs it sends another one, with written lists. */
export class BoundCursor<Row> extends Cursor<Row> {
  readonly sql: string
  readonly bound: readonly unknown[]

  constructor(sql: string, parameters: readonly unknown[]) {
    super(sql, [])
    this.sql = sql
    this.bound = parameters.map(bindPostgresValue)
  }
}

/** What a query of `pg` inherits that its types omit. */
interface RowReader {
  handleDataRow(message: RowMessage): void
  handleReadyForQuery(connection: unknown): void
  readonly _result: { readonly rows: readonly unknown[]; readonly fields: readonly { readonly dataTypeID: number }[] }
}

interface RowMessage {
  readonly length: number
  readonly fields: readonly (string | null)[]
}

const { handleDataRow: readRow, handleReadyForQuery: end } = Query.prototype as unknown as RowReader
/** json and jsonb */
const jsonTypes: ReadonlySet<number> = new Set([114, 3802])

/** A query that skips rows after those with a number of bytes. PostgreSQL still sends them, but none stays in memory. */
class LimitedQuery extends Query {
  readonly #bytes: RowBytes
  #isCutOff = false
  #jsonFields: readonly number[] | undefined

  constructor(config: QueryConfig, maxBytes: number, settle: (error: Error | undefined, result: unknown) => void) {
    super(config, settle)
    this.#bytes = new RowBytes(maxBytes)
  }

  handleDataRow(message: RowMessage): void {
    if (this.#isCutOff) return
    if (this.#bytes.add(this.#weigh(message))) return readRow.call(this, message)
    this.#isCutOff = true
    markCutOff(this.#result.rows)
  }

  handleReadyForQuery(connection: unknown): void {
    this.#bytes.mark(this.#result.rows)
    end.call(this, connection)
  }

  get #result(): RowReader['_result'] {
    return (this as unknown as RowReader)._result
  }

  #weigh({ length, fields }: RowMessage): number {
    this.#jsonFields ??= this.#result.fields.flatMap(({ dataTypeID }, at) => (jsonTypes.has(dataTypeID) ? [at] : []))
    return this.#jsonFields.reduce((sum, at) => sum + (jsonWeight - 1) * (fields[at]?.length ?? 0), length)
  }
}

/** A statement with the commit of its transaction, which PostgreSQL skips if the statement fails. */
class LastQuery extends Query {
  constructor(config: QueryConfig, settle: (error: Error | undefined, result: unknown) => void) {
    super({ ...config, queryMode: 'extended' } as QueryConfig, settle)
  }

  /** Called when the statement was bound: executes it. */
  _getRows(connection: SentTo): void {
    connection.execute({})
    connection.parse({ text: 'commit' })
    connection.bind({})
    connection.execute({})
    connection.sync()
  }
}

/** What a query of `pg` is sent to, which its types omit. */
interface SentTo {
  parse(statement: { readonly text: string }): void
  bind(portal: object): void
  execute(portal: object): void
  sync(): void
}

const readyTimeoutMs = 250

interface ClientContext {
  readonly explain: (error: unknown) => unknown
  readonly monitor: ConnectionMonitor
  /** If omitted, statements are not prepared. */
  readonly names: StatementNames | undefined
  readonly types: ParameterTypes
  /** Called if the database only reads. */
  onReadOnly(): void
}

/** The statement that begins a transaction that is meant to read only. */
const readOnlyPattern = /^\s*(begin|start\s+transaction|set\s+transaction)\b[^;]*\bread\s+only\b/i
/** One statement that a transaction of its own contains: `call` and `do` may commit, and texts with several may too. */
const singlePattern = /^(\s*\/\*[^*]*\*\/)*\s*(select|insert|update|delete|merge|with|values|table)\b[^;]*;?\s*$/i
/** How often a single statement is tried that failed only because of others. */
const maxTries = 5

/** A pooled client for Kysely: binds values as SQLite does, and names the server when a connection is lost. */
export class BoundClient implements PostgresPoolClient {
  readonly #client: PoolClient
  readonly #explain: (error: unknown) => unknown
  readonly #monitor: ConnectionMonitor
  readonly #names: StatementNames | undefined
  readonly #types: ParameterTypes
  readonly #onReadOnly: () => void
  /** Whether the connection must not be reused: it has an unanswered statement, or leads to a server that only reads. */
  #isStuck = false
  #isMeantToRead = false
  /** The statement that ends a transaction. */
  #end: Promise<unknown> | undefined
  /** Whether a statement has committed the transaction. */
  #isCommitted = false
  #isReleased = false

  constructor(client: PoolClient, { explain, monitor, names, types, onReadOnly }: ClientContext) {
    this.#client = client
    this.#onReadOnly = onReadOnly
    this.#names = names
    this.#types = types
    this.#explain = explain
    this.#monitor = monitor
  }

  get processID(): number {
    return (this.#client as { processID?: number }).processID ?? 0
  }

  query<Row>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<Row>>
  query<Row>(cursor: PostgresCursor<Row>): PostgresCursor<Row>
  query<Row>(
    query: string | PostgresCursor<Row>,
    parameters: readonly unknown[] = [],
  ): Promise<PostgresQueryResult<Row>> | PostgresCursor<Row> {
    if (this.#isReleased) throw errors.WP_STORE_TRANSACTION_OVER()
    if (typeof query !== 'string') return this.#stream(query as BoundCursor<Row>)
    return this.#run(query, parameters)
  }

  release(): void {
    this.#isReleased = true
    const client = this.#client as PoolClient & { readonly readyForQuery?: boolean }
    if (this.#isStuck || client.readyForQuery !== false) return this.#returnToPool()
    // After an error PostgreSQL still sends the state of the transaction, if the connection is alive.
    const end = (isReady: boolean) => {
      clearTimeout(timer)
      client.off('drain', onReady)
      this.#isStuck = !isReady
      this.#returnToPool()
    }
    const onReady = () => end(true)
    const timer = setTimeout(() => end(false), readyTimeoutMs)
    client.on('drain', onReady)
  }

  #returnToPool(): void {
    this.#client.release(this.#isStuck || this.#isInTransaction()) // true removes it from the pool
  }

  /** The next statement would run inside this transaction or be rejected. */
  #isInTransaction(): boolean {
    return !['I', null].includes(this.#client.getTransactionStatus())
  }

  async #run<Row>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<Row>> {
    if (this.#isCommitted && sql === 'commit') {
      this.#isCommitted = false
      this.#end = Promise.resolve()
      return { command: 'SELECT', rowCount: 0, rows: [] }
    }
    if (this.#end !== undefined || this.#isCommitted) await this.#awaitEnd()
    const isEnd = sql.startsWith(endMark)
    const bound = parameters.map(bindPostgresValue)
    if (readOnlyPattern.test(sql)) this.#isMeantToRead = true
    const running = this.#repeat(sql, () => this.#query<Row>(sql, bound))
    if (isEnd || sql === 'commit' || sql === 'rollback') this.#end = running
    const result = await running
    if (isEnd) this.#isCommitted = true
    // If a statement in a transaction failed, PostgreSQL answers the commit with a rollback and no error.
    if (sql === 'commit' && (result.command as string) === 'ROLLBACK') throw errors.WP_STORE_TRANSACTION_LOST()
    return result
  }

  /**
   * A statement that comes after the end of its transaction must not run outside of it, or in that of another one that gets
   * the connection next. Kysely releases the connection right after the end, unless it is used for more than the transaction.
   */
  async #awaitEnd(): Promise<void> {
    await this.#end?.catch(() => undefined)
    await new Promise((resolve) => void setImmediate(resolve))
    this.#end = undefined
    if (this.#isReleased || this.#isCommitted) throw errors.WP_STORE_TRANSACTION_OVER()
  }

  /** Repeats a statement outside a transaction that failed because of others, for example one with `repeatable read`. */
  async #repeat<Value>(sql: string, run: () => Promise<Value>): Promise<Value> {
    for (let tries = 1; ; tries++) {
      const isAlone = !this.#isInTransaction()
      try {
        return await run()
      } catch (error) {
        if (!isAlone || tries === maxTries || !isRepeatable(error) || !singlePattern.test(sql)) throw error
      }
    }
  }

  /** Runs a statement, prepared if it is used repeatedly. */
  async #query<Row>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<Row>> {
    const names = this.#names
    const name = names?.nameOf(text, values)
    const maxBytes = readMaxBytes(text)
    const run = async (named?: string): Promise<PostgresQueryResult<Row>> => {
      const written = await this.#writeLists({ text, name: named }, values)
      const config = { ...(named !== undefined && { name: named }), text, values: written as unknown[] }
      const sent = text.startsWith(endMark) ? this.#sendLast(config) : this.#send(config, maxBytes)
      return (await this.#watch(text, sent)) as PostgresQueryResult<Row>
    }
    if (name === undefined) return run()
    const isAlone = !this.#isInTransaction()
    try {
      return await run(name)
    } catch (error) {
      if (!names!.isSuspect(error)) throw error
      if (!isAlone) {
        // The transaction has failed. The next one must not fail for the same reason.
        if (isStalePlan(error)) names!.renew(text)
        throw explainStale(error)
      }
      const result = await run()
      names!.renew(text)
      return result
    }
  }

  async #writeLists(
    statement: { readonly text: string; readonly name: string | undefined },
    values: readonly unknown[],
  ): Promise<readonly unknown[]> {
    if (!values.some((value) => value instanceof ListParameter)) return values
    return this.#watch(statement.text, this.#types.writeLists(this.#client, statement, values))
  }

  /** With a callback: V8 keeps results for which `pg` makes the promise until the next full garbage collection. */
  #send(config: QueryConfig, maxBytes: number | undefined): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const settle = (error: Error | undefined, result: unknown) => (error ? reject(error) : resolve(result))
      this.#client.query(
        maxBytes === undefined ? new Query(config, settle as never) : new LimitedQuery(config, maxBytes, settle),
      )
    })
  }

  /** @returns the result of the statement */
  async #sendLast(config: QueryConfig): Promise<unknown> {
    const [result] = await new Promise<readonly unknown[]>((resolve, reject) => {
      const settle = (error: Error | undefined, results: unknown) =>
        error ? reject(error) : resolve(results as readonly unknown[])
      this.#client.query(new LastQuery(config, settle))
    })
    return result
  }

  #stream<Row>({ sql: text, bound }: BoundCursor<Row>): PostgresCursor<Row> {
    // A cursor that waits for its end would not learn that the connection ended first.
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    this.#client.once('end', end)
    let cursor: Cursor<Row> | undefined
    const open = async () => {
      const opened = new Cursor<Row>(text, await this.#writeLists({ text, name: undefined }, bound))
      this.#client.query(opened as never)
      return opened
    }
    return {
      read: async (count) => {
        cursor ??= await open()
        return this.#watch(text, cursor.read(count))
      },
      close: async () => {
        if (cursor !== undefined) await this.#watch(text, Promise.race([cursor.close(), ended]))
        this.#client.off('end', end)
      },
    }
  }

  /** Awaits an answer to a statement, and explains its error. */
  async #watch<Answer>(sql: string, answer: Promise<Answer>): Promise<Answer> {
    this.#monitor.begin(this.#client)
    try {
      return await answer
    } catch (error) {
      renewStack(error)
      throw addStatement(this.#explainFailure(error), sql)
    } finally {
      this.#monitor.end(this.#client)
    }
  }

  #explainFailure(error: unknown): unknown {
    const explained = this.#explain(error)
    const isReadOnly = isWaypostError(explained) && explained.code === 'WP_STORE_READ_ONLY'
    if (isReadOnly && this.#isMeantToRead) return error // a mistake of the statement, not the state of the database
    if (isReadOnly) this.#onReadOnly()
    this.#isStuck ||= endsConnection(explained)
    return explained
  }
}
