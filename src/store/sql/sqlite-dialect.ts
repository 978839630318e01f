import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import path from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, type Dialect, type Driver, type Kysely } from 'kysely'
import { errors } from './errors.ts'
import { SqliteDriver } from './sqlite-driver.ts'
import { openDatabase } from './sqlite-handle.ts'
import { SqliteHandles } from './sqlite-handles.ts'

export interface OpenSqliteOptions {
  readonly file: string
  /** Make the file, and the folders above it, where there is none; only its owner may read it. */
  readonly create?: boolean
  /** Handles at most for read-only transactions and streams beside the one that single queries share; 4 by default. */
  readonly readers?: number
  /** `FULL` by default: a commit that was answered survives a power cut. */
  readonly synchronous?: 'FULL' | 'NORMAL' | 'OFF'
  /** How long anything waits for its turn to write; 5,000 ms by default. */
  readonly busyLimitMs?: number
}

/** A SQLite file with several handles, in write-ahead mode: readers never wait for writers. */
export interface SqliteDatabase {
  readonly kind: 'sqlite'
  readonly file: string
  /**
   * A Kysely dialect over the handles. Destroying the Kysely instance closes nothing, so any number may share them.
   * Queries throw WP_STORE_BUSY when the turn to write does not come in time.
   */
  dialect(): Dialect
  /** A synchronous handle of one's own, to be closed by the caller; on a busy file it throws at once. */
  openHandle(readOnly: boolean): DatabaseSync
  /** Lets running transactions end, at most for the busy limit, then closes every handle. */
  close(): Promise<void>
}

/** Opens a SQLite file; the handles open at the first query. @throws WP_STORE_MISSING, WP_STORE_FILE */
export function openSqlite(options: OpenSqliteOptions): SqliteDatabase {
  const { file, readers = 4, synchronous = 'FULL', busyLimitMs = 5000 } = options
  if (options.create === true) makeFile(file)
  else if (!existsSync(file)) throw errors.WP_STORE_MISSING({ file })
  const handles = new SqliteHandles({ file, readers, synchronous, busyLimitMs })
  return {
    kind: 'sqlite',
    file,
    dialect: () => new SqliteFileDialect(handles),
    openHandle: (readOnly) => openDatabase(file, { readOnly, synchronous }),
    close: () => handles.close(),
  }
}

/** Kysely's SQLite dialect, but over several handles. */
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
    return true // otherwise Kysely lets one query at a time through
  }
}

function makeFile(file: string): void {
  try {
    mkdirSync(path.dirname(file), { recursive: true })
    closeSync(openSync(file, 'a', 0o600))
  } catch (error) {
    throw errors.WP_STORE_FILE({ file, reason: (error as Error).message }, { cause: error })
  }
}
