import type { PostgresCursor, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import type { PoolClient } from 'pg'
import Cursor from 'pg-cursor'
import { errors } from './errors.ts'
import { queryTimedOut } from './postgres-errors.ts'
import { bindPostgresValue } from './postgres-values.ts'

/** A cursor whose values are bound as those of other statements. */
export class BoundCursor<Row> extends Cursor<Row> {
  constructor(sql: string, parameters: readonly unknown[]) {
    super(sql, parameters.map(bindPostgresValue))
  }
}

/** A client of the pool as Kysely sees it: binds values as SQLite does, and says which server was lost. */
export class BoundClient implements PostgresPoolClient {
  readonly #client: PoolClient
  readonly #explain: (error: unknown) => unknown
  /** Whoever came next would wait behind what nobody answers. */
  #isStuck = false

  constructor(client: PoolClient, explain: (error: unknown) => unknown) {
    this.#client = client
    this.#explain = explain
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
    this.#client.release(this.#isStuck || this.#isInTransaction()) // true throws it away
  }

  /** What came next would be a part of it, or be refused: it could not be ended. */
  #isInTransaction(): boolean {
    return !['I', null].includes(this.#client.getTransactionStatus())
  }

  async #run<Row>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<Row>> {
    const bound = parameters.map(bindPostgresValue)
    let result: PostgresQueryResult<Row>
    try {
      result = (await this.#client.query(sql, bound)) as never
    } catch (error) {
      this.#isStuck ||= (error as Error).message === queryTimedOut
      throw this.#explain(error)
    }
    // PostgreSQL answers the commit of a transaction in which a statement failed with a rollback, and with no error.
    if (sql === 'commit' && (result.command as string) === 'ROLLBACK') throw errors.WP_STORE_TRANSACTION_LOST()
    return result
  }
}
