import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, afterEach } from 'node:test'
import { Kysely } from 'kysely'
import { openSqlite, type OpenSqliteOptions, type SqliteDatabase } from '../../src/store/sql/sqlite-dialect.ts'

export interface Tables {
  counter: { value: number }
}

/** Files for the tests of one suite; what they open is closed after each test. */
export function useSqliteFiles() {
  const folder = mkdtempSync(path.join(tmpdir(), 'waypost-sqlite-'))
  const opened: SqliteDatabase[] = []
  let files = 0
  after(() => rmSync(folder, { recursive: true }))
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((database) => database.close()))
  })

  /** Opens a file with the table `counter`, which has one row with 0. */
  async function open(options: Partial<OpenSqliteOptions> = {}) {
    const file = options.file ?? path.join(folder, `${files++}.db`)
    const database = openSqlite({ file, create: true, ...options })
    opened.push(database)
    const db = new Kysely<Tables>({ dialect: database.dialect() })
    if (options.file === undefined) {
      await db.schema.createTable('counter').addColumn('value', 'integer').execute()
      await db.insertInto('counter').values({ value: 0 }).execute()
    }
    return { file, database, db }
  }

  function openAgain(file: string): SqliteDatabase {
    const database = openSqlite({ file })
    opened.push(database)
    return database
  }

  return { folder, opened, open, openAgain }
}

export function count(db: Kysely<Tables>): Promise<number> {
  return db
    .selectFrom('counter')
    .select((q) => q.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
    .then((row) => row.count)
}

export function startWriter(file: string, task: 'write' | 'hold', amount = 0): ChildProcess {
  const program = path.join(import.meta.dirname, 'sqlite-writer.ts')
  return spawn(process.execPath, [program, file, task, String(amount)], { stdio: ['pipe', 'pipe', 'inherit'] })
}

/**
 * Holds the write lock in another process.
 * @returns a function that releases it
 */
export async function holdWriteLock(file: string): Promise<() => Promise<void>> {
  const holder = startWriter(file, 'hold')
  const ended = once(holder, 'exit')
  await once(holder.stdout!, 'data')
  return async () => {
    holder.stdin!.end()
    await ended
  }
}
