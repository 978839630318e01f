import type { PostgresCursor, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import type { PoolClient } from 'pg'
import Cursor from 'pg-cursor'
import { errors } from './errors.ts'
import type { LineWatch } from './line-watch.ts'
import { queryTimedOut } from './postgres-errors.ts'
import { bindPostgresValue } from './postgres-values.ts'
import { addStatement } from './statement-errors.ts'

/** A cursor whose values are bound as those of other statements. */
export class BoundCursor<Row> extends Cursor<Row> {
  constructor(sql: string, parameters: readonly unknown[]) {
    super(sql, parameters.map(bindPostgresValue))
  }
}

const saidWithinMs = 250

/** A client of the pool as Kysely sees it: binds values as SQLite does, and says which server was lost. */
export class BoundClient implements PostgresPoolClient {
  readonly #client: PoolClient
  readonly #explain: (error: unknown) => unknown
  readonly #lines: LineWatch
  /** Whoever came next would wait behind what nobody answers. */
  #isStuck = false

  constructor(client: PoolClient, { explain, lines }: { explain: (error: unknown) => unknown; lines: LineWatch }) {
    this.#client = client
    this.#explain = explain
    this.#lines = lines
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
    if (typeof query !== 'string') return this.#client.query(query as never) as PostgresCursor<Row>
    return this.#run(query, parameters)
  }

  release(): void {
    const client = this.#client as PoolClient & { readonly readyForQuery?: boolean }
    if (this.#isStuck || client.readyForQuery !== false) return this.#giveBack()
    // Behind an error PostgreSQL still has to say how the transaction stands, if the connection is still there.
    const end = (isHeard: boolean) => {
      clearTimeout(timer)
      client.off('drain', heard)
      this.#isStuck = !isHeard
      this.#giveBack()
    }
    const heard = () => end(true)
    const timer = setTimeout(() => end(false), saidWithinMs)
    client.on('drain', heard)
  }

  #giveBack(): void {
    this.#client.release(this.#isStuck || this.#isInTransaction()) // true throws it away
  }

  /** What came next would be a part of it, or be refused: it could not be ended. */
  #isInTransaction(): boolean {
    return !['I', null].includes(this.#client.getTransactionStatus())
  }

  async #run<Row>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<Row>> {
    const bound = parameters.map(bindPostgresValue)
    let result: PostgresQueryResult<Row>
    this.#lines.begin(this.#client)
    try {
      result = (await this.#client.query(sql, bound)) as never
    } catch (error) {
      this.#isStuck ||= (error as Error).message === queryTimedOut
      throw addStatement(this.#explain(error), sql)
    } finally {
      this.#lines.end(this.#client)
    }
    // PostgreSQL answers the commit of a transaction in which a statement failed with a rollback, and with no error.
    if (sql === 'commit' && (result.command as string) === 'ROLLBACK') throw errors.WP_STORE_TRANSACTION_LOST()
    return result
  }
}
