import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import path from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, type Dialect, type Driver, type Kysely } from 'kysely'
import { errors } from './errors.ts'
import { SqliteDriver } from './sqlite-driver.ts'
import { isBusy, makeFileError, openDatabase, type Journal } from './sqlite-handle.ts'
import { SqliteHandles } from './sqlite-handles.ts'

export interface OpenSqliteOptions {
  readonly file: string
  /** Create the file and its parent folders if they do not exist. Only the owner may read it. */
  readonly create?: boolean
  /**
   * The maximum number of handles for read-only transactions and streams, in addition to the one that single queries
   * share; 4 by default.
   */
  readonly readers?: number
  /** `FULL` by default: a confirmed commit survives a power failure. */
  readonly synchronous?: 'FULL' | 'NORMAL' | 'OFF'
  /** `wal` by default: readers and a writer do not wait for each other. `keep` leaves a file of another program as it is. */
  readonly journal?: Journal
  /** Never change the file. It may be on read-only media. */
  readonly readOnly?: boolean
  /** Whether triggers and views may have texts in double quotes. */
  readonly allowsQuotedTexts?: boolean
  /** How long to wait for the write lock; 5,000 ms by default. */
  readonly busyLimitMs?: number
  /** How long a query that reads many rows may take; 30,000 ms by default, 0 for no limit. */
  readonly scanLimitMs?: number
}

/** A SQLite file with several handles in write-ahead mode. Readers never wait for writers. */
export interface SqliteDatabase {
  readonly kind: 'sqlite'
  readonly file: string
  /**
   * Makes a Kysely dialect over the handles. Destroying the Kysely instance closes nothing, so any number of instances
   * may share them. Queries throw WP_STORE_BUSY if the write lock is not available in time.
   */
  dialect(): Dialect
  /**
   * Checks that the file at the path is still the one that is open, with the content that SQLite gave it.
   * @throws WP_STORE_REPLACED
   */
  assertSame(): void
  /** Opens a separate synchronous handle, which the caller closes. Throws immediately if the file is busy. */
  openHandle(isReader: boolean): DatabaseSync
  /** Lets running transactions finish, at most for the busy limit, then closes every handle. */
  close(): Promise<void>
}

/**
 * Opens a SQLite file. The first query opens the handles.
 * @throws WP_STORE_MISSING, WP_STORE_FILE
 */
export function openSqlite(options: OpenSqliteOptions): SqliteDatabase {
  const { file, readers = 4, synchronous = 'FULL', busyLimitMs = 5000, scanLimitMs = 30_000 } = options
  const { journal = 'wal', allowsQuotedTexts = false, readOnly = false } = options
  if (options.create === true) createFile(file)
  else if (!existsSync(file)) throw errors.WP_STORE_MISSING({ file })
  const handles = new SqliteHandles({
    file,
    readers,
    synchronous,
    busyLimitMs,
    scanLimitMs,
    journal,
    readOnly,
    allowsQuotedTexts,
  })
  return {
    kind: 'sqlite',
    file,
    dialect: () => new SqliteFileDialect(handles),
    openHandle(isReader) {
      try {
        return openDatabase(file, { readOnly: isReader || readOnly, synchronous, journal, allowsQuotedTexts })
      } catch (error) {
        throw isBusy(error) ? error : makeFileError(file, error)
      }
    },
    assertSame: () => handles.assertSame(),
    close: () => handles.close(),
  }
}

/** Kysely's SQLite dialect with several handles. */
class SqliteFileDialect implements Dialect {
  readonly #handles: SqliteHandles

  constructor(handles: SqliteHandles) {
    this.#handles = handles
  }

  createDriver(): Driver {
    return new SqliteDriver(this.#handles)
  }

  createQueryCompiler(): SqliteQueryCompiler {
    return new SqliteQueryCompiler()
  }

  createAdapter(): SqliteAdapter {
    return new ConcurrentSqliteAdapter()
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- as Kysely declares it
  createIntrospector(db: Kysely<any>): SqliteIntrospector {
    return new SqliteIntrospector(db)
  }
}

class ConcurrentSqliteAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true // otherwise Kysely runs only one query at a time
  }
}

/** Creates a file and its parent folders if they do not exist. Only the owner may read it. */
export function createFile(file: string): void {
  try {
    mkdirSync(path.dirname(file), { recursive: true })
    if (existsSync(file)) return // closing a file that SQLite has open would free its locks
    closeSync(openSync(file, 'ax', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' && existsSync(file)) return // another process created it
    throw makeFileError(file, error)
  }
}
