import {
  CompiledQuery,
  sql,
  type DatabaseConnection,
  type Driver,
  type Kysely,
  type QueryResult,
  type Transaction,
  type TransactionSettings,
} from 'kysely'
import { errors } from './errors.ts'
import { addForeignKey } from './foreign-keys.ts'
import { verbOf, type Row, type SqliteHandle } from './sqlite-handle.ts'
import { addStatement, renewStack } from './statement-errors.ts'
import { isReadOnlyError, type Lease, type SqliteHandles } from './sqlite-handles.ts'

/** A query that begins with this comment reads many rows, so it runs in a thread, unless it is part of a transaction. */
const scanMark = '/* scan */'
const readingVerbs = new Set(['select', 'values', 'with', 'explain'])

/** On a connection, this statement stops enforcing foreign keys in its next transaction. */
const withoutKeysMark = '/* the next transaction without foreign keys */'

/**
 * Runs work in a transaction of SQLite that does not enforce foreign keys, so that dropping a table neither deletes nor
 * changes the rows that refer to it. The work checks them.
 */
export function withoutForeignKeys<Tables, Value>(
  db: Kysely<Tables>,
  work: (transaction: Transaction<Tables>) => Promise<Value>,
): Promise<Value> {
  return db.connection().execute(async (connection) => {
    await sql.raw(withoutKeysMark).execute(connection)
    return connection.transaction().execute(work)
  })
}

/** A connection has no cost until it is used. It acquires a handle for one statement or one transaction. */
class SqliteConnection implements DatabaseConnection {
  readonly #handles: SqliteHandles
  #transaction: Lease | undefined
  #enforcesKeys = true
  /** Whether a transaction has just ended. */
  #hasEnded = false
  #isReleased = false

  constructor(handles: SqliteHandles) {
    this.#handles = handles
  }

  async begin(settings: TransactionSettings): Promise<void> {
    const isReading = settings.accessMode === 'read only'
    const lease = await (isReading ? this.#handles.leaseReader() : this.#handles.leaseWriter())
    try {
      // Inside a transaction, this would change nothing.
      if (!this.#enforcesKeys) lease.handle.command('pragma foreign_keys = off')
      await this.#handles.retryWhileBusy(() => lease.handle.command(isReading ? 'begin' : 'begin immediate'))
    } catch (error) {
      this.#end(lease)
      throw this.#handles.explain(error)
    }
    this.#transaction = lease
  }

  /** Commits. Rolls back a transaction that cannot be committed. */
  async commit(): Promise<void> {
    try {
      // Without write-ahead logging, a commit waits for those who are reading.
      await this.#handles.retryWhileBusy(() => inTransaction(this.#transaction).command('commit'))
    } catch (error) {
      throw this.#handles.explain(error)
    } finally {
      this.rollback()
    }
  }

  /** Ends an open transaction. */
  rollback(): void {
    const lease = this.#transaction
    this.#transaction = undefined
    if (lease === undefined) return
    this.#hasEnded = true
    try {
      if (lease.handle.isInTransaction) lease.handle.command('rollback')
    } finally {
      this.#end(lease)
    }
  }

  release(): void {
    this.#isReleased = true
    this.rollback()
  }

  /**
   * A statement that comes after the end of its transaction must not run outside of it. Kysely releases the connection right
   * after the end, unless it is used for more than the transaction.
   */
  async #awaitEnd(): Promise<void> {
    if (this.#hasEnded) await new Promise((resolve) => void setImmediate(resolve))
    if (this.#isReleased) throw errors.WP_STORE_TRANSACTION_OVER()
    this.#hasEnded = false
  }

  #end(lease: Lease): void {
    try {
      if (!this.#enforcesKeys) lease.handle.command('pragma foreign_keys = on')
    } finally {
      this.#enforcesKeys = true
      lease.release()
    }
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#hasEnded || this.#isReleased) await this.#awaitEnd()
    if (query.sql === withoutKeysMark) {
      this.#enforcesKeys = false
      return { rows: [] }
    }
    try {
      return (await this.#execute(query)) as QueryResult<R>
    } catch (error) {
      await waitForLinkedPromises()
      await addForeignKey(error, query, async (text, parameters) => {
        return (await this.#execute(CompiledQuery.raw(text, [...parameters]))).rows as never
      })
      renewStack(error)
      throw this.#handles.explain(addStatement(error, query.sql))
    }
  }

  async *streamQuery<R>(query: CompiledQuery, chunkSize: number): AsyncIterableIterator<QueryResult<R>> {
    if (this.#hasEnded || this.#isReleased) await this.#awaitEnd()
    if (!isReading(query)) {
      yield await this.executeQuery<R>(query)
    } else if (this.#transaction !== undefined) {
      yield* this.#stream<R>(inTransaction(this.#transaction), query, chunkSize)
    } else {
      const { handle, release } = await this.#handles.leaseReader()
      try {
        yield* this.#stream<R>(handle, query, chunkSize)
      } finally {
        release()
      }
    }
  }

  async *#stream<R>(handle: SqliteHandle, query: CompiledQuery, size: number): AsyncIterableIterator<QueryResult<R>> {
    let rows: Generator<Row> | undefined
    try {
      let chunk = await this.#handles.retryWhileBusy(() => takeRows((rows = handle.iterate(query)), size))
      while (chunk.length > 0) {
        yield { rows: chunk as R[] }
        chunk = takeRows(rows!, size)
      }
    } catch (error) {
      await waitForLinkedPromises()
      renewStack(error)
      throw this.#handles.explain(addStatement(error, query.sql))
    } finally {
      rows?.return(undefined)
    }
  }

  #execute(query: CompiledQuery): QueryResult<Row> | Promise<QueryResult<Row>> {
    if (this.#transaction !== undefined) return inTransaction(this.#transaction).execute(query)
    if (!isReading(query)) return this.#handles.write((handle) => executeAlone(handle, query))
    const isScan = query.sql.startsWith(scanMark)
    const rows = isScan ? this.#handles.scan(query) : this.#handles.read((handle) => executeAlone(handle, query))
    return rows.catch((error: unknown) => {
      if (!isReadOnlyError(error)) throw error
      return this.#handles.write((handle) => executeAlone(handle, query)) // `with … insert`
    })
  }
}

/** Kysely's driver over the handles of one SQLite file. The caller that opened the file closes it. */
export class SqliteDriver implements Driver {
  readonly #handles: SqliteHandles

  constructor(handles: SqliteHandles) {
    this.#handles = handles
  }

  init(): Promise<void> {
    return this.#handles.open()
  }

  async acquireConnection(): Promise<SqliteConnection> {
    return new SqliteConnection(this.#handles)
  }

  beginTransaction(connection: SqliteConnection, settings: TransactionSettings): Promise<void> {
    return connection.begin(settings)
  }

  async commitTransaction(connection: SqliteConnection): Promise<void> {
    await connection.commit()
  }

  async rollbackTransaction(connection: SqliteConnection): Promise<void> {
    connection.rollback()
  }

  async savepoint(connection: SqliteConnection, name: string): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(`savepoint ${quote(name)}`))
  }

  async rollbackToSavepoint(connection: SqliteConnection, name: string): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(`rollback to ${quote(name)}`))
  }

  async releaseSavepoint(connection: SqliteConnection, name: string): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(`release ${quote(name)}`))
  }

  async releaseConnection(connection: SqliteConnection): Promise<void> {
    connection.release()
  }

  async destroy(): Promise<void> {}
}

/**
 * Waits until the promises of Kysely's calls are linked to those that await them, so that the stack of a failed
 * statement names the code that runs the query. The number of turns is generous: each of Kysely's calls takes at most
 * three.
 */
async function waitForLinkedPromises(): Promise<void> {
  for (let turn = 0; turn < 30; turn++) await Promise.resolve()
}

function isReading({ query, sql }: CompiledQuery): boolean {
  return query.kind === 'SelectQueryNode' || (query.kind === 'RawNode' && readingVerbs.has(verbOf(sql)))
}

/** Returns the handle of a transaction that is still open. SQLite may end one, for example when the disk is full. */
function inTransaction(lease: Lease | undefined): SqliteHandle {
  if (!lease?.handle.isInTransaction) throw errors.WP_STORE_TRANSACTION_LOST()
  return lease.handle
}

/** Runs a statement on a shared handle. The statement must not leave a transaction open. */
function executeAlone(handle: SqliteHandle, query: CompiledQuery): QueryResult<Row> {
  const result = handle.execute(query)
  if (!handle.isInTransaction) return result
  handle.command('rollback')
  throw errors.WP_STORE_BEGIN({ statement: query.sql })
}

function takeRows(rows: Generator<Row>, count: number): Row[] {
  const result: Row[] = []
  while (result.length < count) {
    const next = rows.next()
    if (next.done) break
    result.push(next.value)
  }
  return result
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
