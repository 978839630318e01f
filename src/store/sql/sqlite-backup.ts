import { existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { backup, DatabaseSync } from 'node:sqlite'
import { messageOf } from '../../kit/index.ts'
import { errors } from './errors.ts'
import { createFile } from './sqlite-dialect.ts'
import { isBusy, makeFileError, resultCode } from './sqlite-handle.ts'

/** Files that SQLite keeps beside a database. */
const besides = ['-wal', '-shm', '-journal']
const damaged: ReadonlySet<number> = new Set([11, 26])
const full = 13
/** All pages in one batch: between batches, a commit of another process would start the copy again. */
const rate = 0x7fff_ffff

/**
 * Copies a SQLite file as it is at one moment, while others may use it. The copy is complete or absent, and nothing is beside it.
 * @throws WP_STORE_MISSING, WP_STORE_BACKUP_EXISTS, WP_STORE_DAMAGED, WP_STORE_FULL, WP_STORE_FILE
 */
export async function backUpSqlite(file: string, to: string): Promise<void> {
  if (!existsSync(file)) throw errors.WP_STORE_MISSING({ file })
  if (existsSync(to)) throw errors.WP_STORE_BACKUP_EXISTS({ file: to })
  const partial = `${to}.partial`
  removeAll(partial)
  try {
    createFile(partial)
    await copy(file, partial)
    finish(partial, file)
    renameSync(partial, to)
  } catch (error) {
    removeAll(partial)
    throw error
  }
}

/**
 * Replaces the content of a SQLite file by that of a backup, in one transaction. A damaged file is kept beside it.
 * @returns where the damaged file is
 * @throws WP_STORE_MISSING, WP_STORE_DAMAGED, WP_STORE_LOG, WP_STORE_IN_USE, WP_STORE_FULL, WP_STORE_FILE
 */
export async function restoreSqlite(from: string, file: string): Promise<string | undefined> {
  assertRestorable(from)
  const kept = takeOver(file)
  createFile(file)
  await copy(from, file)
  finish(file, from)
  return kept
}

/**
 * Checks a file that was copied to its place: that it is intact, and that no log lies beside it, which SQLite would take for
 * that of the copy.
 * @throws WP_STORE_MISSING, WP_STORE_DAMAGED, WP_STORE_LOG, WP_STORE_FILE
 */
export function assertRestorable(file: string): void {
  if (!existsSync(file)) throw errors.WP_STORE_MISSING({ file })
  const log = `${file}-wal`
  if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) > 0) throw errors.WP_STORE_LOG({ file, log })
  withFile(file, { readOnly: true }, (database) => assertIntact(database, file))
}

/** Whether a SQLite file has a table. */
export function hasSqliteTable(file: string, name: string): boolean {
  return withFile(file, { readOnly: true }, (database) => {
    return database.prepare(`select 1 from sqlite_schema where type = 'table' and name = ?`).get(name) !== undefined
  })
}

async function copy(from: string, to: string): Promise<void> {
  const source = openFile(from, { readOnly: true })
  try {
    await backup(source, to, { rate })
  } catch (error) {
    if (resultCode(error) === full) throw errors.WP_STORE_FULL({ database: to }, { cause: error })
    if (isBusy(error)) throw errors.WP_STORE_IN_USE({ file: to }, { cause: error })
    throw explainDamage(error, from)
  } finally {
    source.close()
  }
}

/** Checks a copy. It has no write-ahead log until it is used. */
function finish(file: string, from: string): void {
  withFile(file, {}, (database) => {
    database.exec('pragma journal_mode = delete')
    assertIntact(database, from)
  })
}

function assertIntact(database: DatabaseSync, file: string): void {
  const found = database.prepare('pragma integrity_check(1)').get()?.['integrity_check']
  if (found !== 'ok') throw errors.WP_STORE_DAMAGED({ file, reason: String(found) })
}

/**
 * Makes sure that no other process uses a file: each holds a lock while the file has a write-ahead log.
 * @returns where the file was moved if it is damaged
 */
function takeOver(file: string): string | undefined {
  if (!existsSync(file)) {
    removeAll(file)
    return undefined
  }
  try {
    withFile(file, {}, (database) => database.exec('pragma journal_mode = delete; begin exclusive; rollback'))
    return undefined
  } catch (error) {
    if (isBusy(error)) throw errors.WP_STORE_IN_USE({ file }, { cause: error })
    if (!damaged.has(resultCode(error)) && !damaged.has(resultCode((error as Error).cause))) throw error
    const kept = `${file}.damaged-${new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '')}`
    for (const end of ['', ...besides]) if (existsSync(file + end)) renameSync(file + end, kept + end)
    return kept
  }
}

function withFile<Value>(
  file: string,
  options: { readOnly?: boolean },
  work: (database: DatabaseSync) => Value,
): Value {
  const database = openFile(file, options)
  try {
    return work(database)
  } catch (error) {
    throw explainDamage(error, file)
  } finally {
    database.close()
  }
}

function explainDamage(error: unknown, file: string): unknown {
  return damaged.has(resultCode(error))
    ? errors.WP_STORE_DAMAGED({ file, reason: messageOf(error) }, { cause: error })
    : error
}

function openFile(file: string, options: { readOnly?: boolean }): DatabaseSync {
  try {
    return new DatabaseSync(file, { ...options, timeout: 0 })
  } catch (error) {
    throw makeFileError(file, error)
  }
}

function removeAll(file: string): void {
  for (const end of ['', ...besides]) rmSync(file + end, { force: true })
}
