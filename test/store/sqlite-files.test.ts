import assert from 'node:assert/strict'
import { readdirSync, readlinkSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Kysely, sql } from 'kysely'
import { openSqlite } from '../../src/store/sql/sqlite-dialect.ts'
import { count, useSqliteFiles, type Tables } from './sqlite-handles.ts'

const { folder, opened, open, openAgain } = useSqliteFiles()

test('a table that another process created again is read with its new columns and types', async () => {
  const { file, db } = await open()
  const other = new Kysely<Tables>({ dialect: openAgain(file).dialect() })
  await sql`create table shape (a integer)`.execute(db)
  await sql`insert into shape values (1)`.execute(db)
  const read = () => sql`select * from shape`.execute(db).then(({ rows }) => rows)
  assert.deepEqual(await read(), [{ a: 1 }])
  await sql`alter table shape add column b integer`.execute(other)
  assert.deepEqual(await read(), [{ a: 1, b: null }])
  await sql`drop table shape; create table shape (a boolean, b json_text); insert into shape values (1, '[2]')`.execute(
    other,
  )
  assert.deepEqual(await read(), [{ a: true, b: [2] }])
})

test('foreign keys hold, and the file is a write-ahead one that is written through', async () => {
  const { database } = await open()
  const handle = database.openHandle(false)
  try {
    const pragma = (name: string) => Object.values(handle.prepare(`pragma ${name}`).get()!)[0]
    assert.equal(pragma('foreign_keys'), 1)
    assert.equal(pragma('journal_mode'), 'wal')
    assert.equal(pragma('synchronous'), 2)
    assert.equal(pragma('busy_timeout'), 0)
  } finally {
    handle.close()
  }
})

test('a separate handle detects commits by data_version', async () => {
  const { database, db } = await open()
  const handle = database.openHandle(true)
  try {
    const version = () => Object.values(handle.prepare('pragma data_version').get()!)[0]
    const before = version()
    assert.equal(version(), before)
    await db.insertInto('counter').values({ value: 1 }).execute()
    assert.notEqual(version(), before)
    assert.throws(() => handle.exec('insert into counter values (1)'), /readonly/)
  } finally {
    handle.close()
  }
})

test('a new file is for its owner only; one that is missing is not made', () => {
  const file = path.join(folder, 'new', 'deep.db')
  assert.throws(() => openSqlite({ file }), { code: 'WP_STORE_MISSING', kind: 'user' })
  opened.push(openSqlite({ file, create: true }))
  assert.equal(statSync(file).mode & 0o777, 0o600)
})

test('a path that is too long for SQLite is reported as such', async () => {
  const file = path.join(folder, ...Array.from({ length: 4 }, () => 'long'.repeat(40)), 'a.db')
  const { db } = await open({ file })
  await assert.rejects(sql`select 1`.execute(db), {
    code: 'WP_STORE_PATH',
    message: `The path of the SQLite file has ${Buffer.byteLength(file)} bytes; SQLite opens at most 503: "${file}"`,
  })
})

test('a file that is not a database is reported', async () => {
  const file = path.join(folder, 'text.db')
  writeFileSync(file, 'This is no database. '.repeat(100))
  const { db } = await open({ file })
  await assert.rejects(sql`select 1`.execute(db), {
    code: 'WP_STORE_FILE',
    message: `Cannot open the SQLite file "${file}": file is not a database`,
  })
})

test('closing waits for running statements, rejects new ones, and closes every handle', async () => {
  const { file, database, db } = await open()
  const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const running = db.transaction().execute(async (transaction) => {
    await transaction.insertInto('counter').values({ value: 1 }).execute()
    begun.resolve()
    await end.promise
    await transaction.insertInto('counter').values({ value: 2 }).execute()
  })
  await begun.promise
  const waiting = assert.rejects(db.insertInto('counter').values({ value: 3 }).execute(), { code: 'WP_STORE_CLOSED' })
  await nextTurn() // it waits for the writer
  const closed = database.close()
  end.resolve()
  await closed
  await running
  await waiting
  await assert.rejects(count(db), { code: 'WP_STORE_CLOSED' })
  if (process.platform === 'linux')
    assert.deepEqual(
      openFiles().filter((name) => name.startsWith(file)),
      [],
    )
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith(`${path.basename(file)}-`)),
    [],
  )
  assert.equal(await count((await open({ file })).db), 3)
})

function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)]
    } catch {
      return []
    }
  })
}
