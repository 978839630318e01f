import { randomUUID } from 'node:crypto'
import { accessSync, constants, statSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { DatabaseSync, type SQLOutputValue, type StatementSync } from 'node:sqlite'
import type { QueryResult } from 'kysely'
import { messageOf } from '../../kit/index.ts'
import { errors } from './errors.ts'
import type { LogProgress } from './sqlite-identity.ts'
import { jsonWeight, markCutOff, readMaxBytes, RowBytes } from './row-bytes.ts'
import { bindSqliteValue, readerOf, readJson } from './sqlite-values.ts'

const cachedStatements = 200
/** The longest path that SQLite opens, beside which it makes files with longer names. */
const maxPathBytes = 503

const [major = 0, minor = 0] = process.versions['sqlite']!.split('.').map(Number)
const hasNoop = major > 3 || (major === 3 && minor >= 51)

/** Returns the primary result code of an error of SQLite; 0 for another error. */
export function resultCode(error: unknown): number {
  return ((error as { errcode?: number } | undefined)?.errcode ?? 0) & 0xff
}

/** Whether another connection locks the file. */
export function isBusy(error: unknown): boolean {
  return resultCode(error) === 5
}

/** Returns the error for a file that SQLite cannot open. */
export function makeFileError(file: string, cause: unknown) {
  const bytes = Buffer.byteLength(file)
  return bytes > maxPathBytes
    ? errors.WP_STORE_PATH({ file, bytes, limit: maxPathBytes }, { cause })
    : errors.WP_STORE_FILE({ file, reason: messageOf(cause) }, { cause })
}

export interface HandleOptions {
  readonly readOnly: boolean
  readonly synchronous: 'FULL' | 'NORMAL' | 'OFF'
  readonly journal: Journal
  /** Whether triggers and views may have texts in double quotes, as SQLite's shell allows. Statements may not. */
  readonly allowsQuotedTexts: boolean
}

/** Write-ahead logging, which is stored in the file, or what the file has. */
export type Journal = 'wal' | 'keep'

export interface Statement {
  readonly sql: string
  readonly parameters: readonly unknown[]
}

export type Row = Record<string, unknown>

interface Column {
  readonly name: string
  read(value: SQLOutputValue): unknown
}

interface Prepared {
  readonly statement: StatementSync
  readonly columns: readonly Column[]
  readonly verb: string
  /** Whether the text contains more than one statement. */
  readonly isScript: boolean
}

const beforeVerb = /^(?:[\s;(]|--[^\n]*(?:\n|$)|\/\*[^]*?\*\/)*/

/** Returns the first word of a statement in lower case; empty for a text without a statement. */
export function verbOf(sql: string): string {
  const start = beforeVerb.exec(sql)?.[0].length ?? 0
  return /^[a-z]*/i.exec(sql.slice(start, start + 16))?.[0].toLowerCase() ?? ''
}

/** Opens a handle of `node:sqlite` that never waits inside SQLite, which would block the event loop. */
export function openDatabase(
  file: string,
  { readOnly, synchronous, journal, ...options }: HandleOptions,
): DatabaseSync {
  const open = (location: string | URL) => {
    const database = new DatabaseSync(location, {
      readOnly,
      timeout: 0,
      enableForeignKeyConstraints: true,
      enableDoubleQuotedStringLiterals: options.allowsQuotedTexts,
    })
    try {
      if (!readOnly && journal === 'wal') database.exec('pragma journal_mode = wal')
      if (!readOnly) database.exec('pragma journal_size_limit = 67108864') // in whatever mode the file is, or is put by others
      database.exec(`pragma synchronous = ${synchronous}; select 1 from sqlite_schema limit 1`)
      return database
    } catch (error) {
      database.close()
      throw error
    }
  }
  try {
    return open(file)
  } catch (error) {
    if (!readOnly || resultCode(error) !== cannotOpen || !isUnchangeable(file)) throw error
    return open(immutable(file))
  }
}

const cannotOpen = 14

/**
 * Whether SQLite may be told that a file cannot change. It writes beside a file with write-ahead logging even to read it,
 * which read-only media do not allow. What an earlier program left in the log would be missing.
 */
function isUnchangeable(file: string): boolean {
  if ((statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) return false
  try {
    accessSync(path.dirname(file), constants.W_OK)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EROFS'
  }
}

function immutable(file: string): URL {
  return Object.assign(pathToFileURL(path.resolve(file)), { search: '?immutable=1' })
}

/**
 * A statement in a transaction that begins with this comment may change `sqlite_schema`, and rename tables and drop columns
 * although a view of the application cannot be read. No other SQL can contain it.
 */
export const schemaMark = `/* ${randomUUID()} */`

/** One handle of a SQLite file with its prepared statements. Returns the same values as PostgreSQL. */
export class SqliteHandle {
  readonly #database: DatabaseSync
  readonly #schemaVersion: StatementSync
  readonly #allowsQuotedTexts: boolean
  readonly #prepared = new Map<string, Prepared>()
  #schema: SQLOutputValue | undefined
  #log: StatementSync | undefined
  #version: StatementSync | undefined

  constructor(file: string, options: HandleOptions) {
    this.#database = openDatabase(file, options)
    this.#allowsQuotedTexts = options.allowsQuotedTexts
    this.#schemaVersion = this.#database.prepare('pragma schema_version')
  }

  get isInTransaction(): boolean {
    return this.#database.isTransaction
  }

  execute({ sql, parameters }: Statement): QueryResult<Row> {
    if (sql.startsWith(schemaMark)) return this.#changeSchema(sql)
    const prepared = this.#prepare(sql)
    if (prepared === undefined) return { rows: [] }
    if (prepared.isScript) return this.#script(sql, parameters)
    const bound = parameters.map(bindSqliteValue)
    const { statement, columns, verb } = prepared
    if (columns.length > 0) {
      const maxBytes = readMaxBytes(sql)
      const rows =
        maxBytes === undefined
          ? (statement.all(...bound) as unknown as SQLOutputValue[][]).map((row) => readRow(columns, row))
          : readWithin(maxBytes, columns, statement.iterate(...bound))
      return isWriting(verb) ? { rows, numAffectedRows: BigInt(rows.length) } : { rows }
    }
    const done = statement.run(...bound)
    const result = { rows: [], numAffectedRows: BigInt(done.changes) }
    return verb === 'insert' || verb === 'replace' ? { ...result, insertId: BigInt(done.lastInsertRowid) } : result
  }

  /**
   * Yields rows one by one. Until the last row or `return()`, the handle sees the database as it was at the first row.
   */
  *iterate({ sql, parameters }: Statement): Generator<Row> {
    const { statement, columns } = prepare(this.#database, sql, this.#allowsQuotedTexts) // not a cached statement: running it again would end this iteration
    for (const row of statement.iterate(...parameters.map(bindSqliteValue))) {
      yield readRow(columns, row as unknown as SQLOutputValue[])
    }
  }

  /** Returns the state of the write-ahead log; undefined without one, and in SQLite before 3.51, which would copy pages. */
  readLogProgress(): LogProgress | undefined {
    if (!hasNoop) return undefined
    this.#log ??= this.#database.prepare('pragma wal_checkpoint(noop)')
    this.#version ??= this.#database.prepare('pragma data_version')
    try {
      const version = this.#version.get()?.['data_version']
      const { log: pages, checkpointed: copied } = this.#log.get() as Record<'log' | 'checkpointed', number>
      return pages < 0 ? undefined : { pages, copied, version }
    } catch (error) {
      if (isBusy(error)) return undefined
      throw error
    }
  }

  /** Commits what is stored already, so that all handles of all processes read the pages again that they have cached. */
  renew(): void {
    this.command('begin immediate')
    const version = this.#database.prepare('pragma user_version').get()?.['user_version']
    this.command(`pragma user_version = ${String(version)}; commit`)
  }

  /** Runs a command without values and rows, such as `begin`. */
  command(sql: string): void {
    this.#database.exec(sql)
  }

  close(): void {
    this.#prepared.clear()
    this.#database.close()
  }

  #prepare(sql: string): Prepared | undefined {
    this.#refreshSchema()
    let prepared = this.#prepared.get(sql)
    if (prepared === undefined) {
      if (verbOf(sql) === '') return undefined // Node 24 crashes on exit after preparing an empty text
      prepared = prepare(this.#database, sql, this.#allowsQuotedTexts)
      if (this.#prepared.size >= cachedStatements) this.#prepared.delete(this.#prepared.keys().next().value!)
    } else {
      this.#prepared.delete(sql) // and set again, so that the first key is the least recently used
    }
    this.#prepared.set(sql, prepared)
    return prepared
  }

  // A prepared statement keeps the columns, their types, and on Node 24 even their number from when it was prepared.
  #refreshSchema(): void {
    const version = this.#schemaVersion.get()?.['schema_version']
    if (version === this.#schema) return
    this.#prepared.clear()
    this.command('select 1 from sqlite_schema limit 1') // preparing alone would use the schema that the handle has cached
    this.#schema = version
  }

  /** As https://www.sqlite.org/lang_altertable.html describes it. A text that SQLite cannot read fails at `reset`. */
  #changeSchema(sql: string): QueryResult<Row> {
    if (!this.isInTransaction) throw errors.WP_STORE_TRANSACTION_LOST()
    const version = Number(this.#schemaVersion.get()?.['schema_version'])
    this.#defend(false)
    try {
      this.command('pragma writable_schema = on')
      this.command(sql)
      this.command(`pragma schema_version = ${version + 1}`)
    } finally {
      this.command('pragma writable_schema = reset')
      this.#defend(true)
    }
    this.command('select 1 from sqlite_schema limit 1')
    return { rows: [] }
  }

  /** Node 24 has no defensive mode. */
  #defend(active: boolean): void {
    const database = this.#database as { enableDefensive?(active: boolean): void }
    database.enableDefensive?.(active)
  }

  #script(sql: string, parameters: readonly unknown[]): QueryResult<Row> {
    if (parameters.length > 0) throw errors.WP_STORE_SCRIPT()
    const isOwn = !this.isInTransaction
    if (isOwn) this.command('begin immediate')
    try {
      if (this.#allowsQuotedTexts) this.#runEach(sql)
      else this.command(sql)
      if (isOwn) this.command('commit')
    } catch (error) {
      if (isOwn && this.isInTransaction) this.command('rollback')
      throw error
    }
    return { rows: [] }
  }

  /** Runs the statements of a script one by one, each as if it were alone. */
  #runEach(script: string): void {
    for (let rest = script; verbOf(rest) !== '';) {
      const one = this.#database.prepare(rest).sourceSQL
      prepare(this.#database, one, true).statement.all()
      rest = rest.slice(one.length)
    }
  }
}

/** Their text is stored, so names in it keep their quotes. */
const definingVerbs = new Set(['create', 'alter'])
const changingVerbs = new Set([...definingVerbs, 'drop', 'reindex', 'pragma', 'attach'])

/**
 * Where triggers and views may have texts in double quotes, statements could too, and a misspelled column would be a text.
 * In backquotes it stays a name.
 */
function quoteNames(sql: string): string {
  return sql.replaceAll(/'(?:[^']|'')*'|--[^\n]*|\/\*[^]*?\*\/|"((?:[^"]|"")*)"/g, (all, name: string | undefined) =>
    name === undefined ? all : `\`${name.replaceAll('""', '"').replaceAll('`', '``')}\``,
  )
}

/** Fails for a misspelled column. SQLite reads the constraints of an added column only when it adds it. */
function assertNames(database: DatabaseSync, sql: string, verb: string): void {
  const statement = database.prepare(sql)
  if (verb !== 'alter') return
  database.exec('savepoint waypost_names')
  try {
    statement.all()
  } finally {
    if (database.isTransaction) database.exec('rollback to waypost_names; release waypost_names')
  }
}

function prepare(database: DatabaseSync, given: string, allowsQuotedTexts: boolean): Prepared {
  const verb = verbOf(given)
  const sql = allowsQuotedTexts && !changingVerbs.has(verb) ? quoteNames(given) : given
  if (allowsQuotedTexts && definingVerbs.has(verb)) assertNames(database, quoteNames(given), verb)
  const statement = database.prepare(sql)
  statement.setReadBigInts(true)
  statement.setReturnArrays(true)
  return {
    statement,
    columns: statement.columns().map((column) => ({
      // The name of an expression is its text.
      name: column.column === null && sql !== given ? column.name.replaceAll('`', '"') : column.name,
      read: readerOf(column.type),
    })),
    verb,
    isScript: verbOf(sql.slice(statement.sourceSQL.length)) !== '',
  }
}

function readRow(columns: readonly Column[], values: readonly SQLOutputValue[]): Row {
  const row: Row = {}
  for (let index = 0; index < columns.length; index++) {
    const column = columns[index]!
    row[column.name] = column.read(values[index]!)
  }
  return row
}

/** Reads rows until they have too many bytes. The rows after that are never read. */
function readWithin(maxBytes: number, columns: readonly Column[], found: Iterable<unknown>): Row[] {
  const bytes = new RowBytes(maxBytes)
  const weights = columns.map(({ read }) => (read === readJson ? jsonWeight : 1))
  const rows: Row[] = []
  for (const values of found as Iterable<readonly SQLOutputValue[]>) {
    if (!bytes.add(values.reduce<number>((sum, value, index) => sum + sizeOf(value) * weights[index]!, 0))) {
      markCutOff(rows)
      break
    }
    rows.push(readRow(columns, values))
  }
  bytes.mark(rows)
  return rows
}

function sizeOf(value: SQLOutputValue): number {
  return typeof value === 'string' || value instanceof Uint8Array ? value.length : 8
}

function isWriting(verb: string): boolean {
  return verb === 'insert' || verb === 'update' || verb === 'delete' || verb === 'replace'
}
