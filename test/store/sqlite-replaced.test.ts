// A file that is replaced or overwritten while it is open: SQLite would mix its content with that of the write-ahead log.
import assert from 'node:assert/strict'
import { copyFileSync, existsSync, renameSync, rmSync, utimesSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test, type TestContext } from 'node:test'
import { Kysely } from 'kysely'
import { openSqlite } from '../../src/store/index.ts'

let folder: string
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'waypost-replaced-'))
})
after(() => rm(folder, { recursive: true, force: true }))

interface Tables {
  item: { id?: number; text: string }
}

/** Opens a file with rows in it and more in its log, and a backup that lacks those of the log. */
async function open(t: TestContext, name: string, busyLimitMs = 50) {
  const file = path.join(folder, name)
  const backup = `${file}.backup`
  const start = () => {
    const database = openSqlite({ file, create: true, synchronous: 'OFF', busyLimitMs })
    return { database, db: new Kysely<Tables>({ dialect: database.dialect() }) }
  }
  const opened = start()
  t.after(() => opened.database.close())
  const { database, db } = opened
  await db.schema
    .createTable('item')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('text', 'text', (column) => column.notNull())
    .execute()
  const write = (text = 'x'.repeat(2000)) => db.insertInto('item').values({ text }).execute()
  for (let count = 0; count < 50; count++) await write()
  const other = new DatabaseSync(file)
  other.exec(`pragma wal_checkpoint(truncate); vacuum into '${backup}'`)
  other.close()
  for (let count = 0; count < 50; count++) await write()
  return { file, backup, database, db, write, start }
}

const replaced = { code: 'WP_STORE_REPLACED', status: 503 }
const supportsCopied = new DatabaseSync(':memory:').prepare('select sqlite_version() as v').get()!['v']! >= '3.51'

test('a file that is replaced by another one is neither written nor read, and its log does not reach the new one', async (t) => {
  const { file, backup, database, db, write, start } = await open(t, 'moved.db')
  renameSync(backup, file)
  await assert.rejects(write(), replaced)
  await assert.rejects(db.selectFrom('item').selectAll().execute(), replaced)
  assert.throws(() => database.assertSame(), replaced)
  await database.close()
  assert.ok(existsSync(`${file}-wal.replaced`))
  const next = start()
  t.after(() => next.database.close())
  assert.equal((await next.db.selectFrom('item').selectAll().execute()).length, 50)
})

test(
  'a file that is overwritten is not written any more, and closing it copies nothing',
  { skip: !supportsCopied },
  async (t) => {
    const { file, backup, database, db, write, start } = await open(t, 'copied.db', 600)
    // Since the backup, pages have changed of which the log has only some.
    await db.schema.createIndex('item_text').on('item').column('text').execute()
    const other = new DatabaseSync(file)
    rmSync(backup)
    other.exec(`vacuum into '${backup}'; update item set text = id || text; pragma wal_checkpoint(truncate)`)
    other.close()
    for (let count = 0; count < 3; count++) await write()
    copyFileSync(backup, file)
    await assert.rejects(write(), replaced)
    await assert.rejects(write(), replaced)
    assert.throws(() => database.assertSame(), replaced)
    await database.close()
    const content = new DatabaseSync(backup).prepare('select count(*) as n from item').get()
    for (const end of ['-wal', '-shm']) rmSync(file + end)
    const next = start()
    t.after(() => next.database.close())
    const { rows } = { rows: await next.db.selectFrom('item').selectAll().execute() }
    assert.equal(rows.length, content!['n'])
  },
)

test('a file that is overwritten while its log is empty is not written', { skip: !supportsCopied }, async (t) => {
  const { file, backup, database, write } = await open(t, 'empty.db')
  const other = new DatabaseSync(file)
  t.after(() => other.close())
  other.exec('pragma wal_checkpoint(truncate)')
  database.assertSame()
  copyFileSync(backup, file)
  await assert.rejects(write(), replaced)
  await assert.rejects(write(), replaced)
})

test('a program that writes and empties the log does not replace the file', async (t) => {
  const { file, database, write } = await open(t, 'emptied.db')
  const other = new DatabaseSync(file)
  t.after(() => other.close())
  for (const work of ["insert into item (text) values ('other')", 'vacuum']) {
    other.exec('pragma wal_checkpoint(truncate)')
    database.assertSame()
    other.exec(`${work}; pragma wal_checkpoint(truncate)`)
    await write()
  }
})

test('an intact file of which only the time has changed is used again after a check', async (t) => {
  const { file, database, db, write } = await open(t, 'touched.db', 20_000)
  const other = new DatabaseSync(file)
  t.after(() => other.close())
  for (const before of ['pragma wal_checkpoint(truncate)', "insert into item (text) values ('in the log')"]) {
    other.exec(before)
    database.assertSame()
    utimesSync(file, new Date(), new Date())
    await write()
    database.assertSame()
  }
  assert.equal((await db.selectFrom('item').select('id').execute()).length, 103)
})

test('a missing file is not written, and can be put back', async (t) => {
  const { file, write } = await open(t, 'away.db')
  renameSync(file, `${file}.away`)
  await assert.rejects(write(), replaced)
  renameSync(`${file}.away`, file)
  await write()
})

test('pages that this or another process copies from the log to the file are no replacement', async (t) => {
  const { file, db, write } = await open(t, 'own.db')
  const other = new DatabaseSync(file)
  for (let count = 0; count < 20; count++) {
    await write('y'.repeat(200_000)) // enough for SQLite to copy pages by itself several times
    other.exec("insert into item (text) values ('other')")
    if (count % 3 === 0) other.exec('pragma wal_checkpoint(restart)')
    if (count % 5 === 0) other.exec('pragma wal_checkpoint(truncate)')
  }
  other.exec('vacuum')
  await write()
  other.close()
  assert.equal((await db.selectFrom('item').select('id').execute()).length, 141)
})

test('a file with another journal may be changed by other programs', async (t) => {
  const file = path.join(folder, 'plain.db')
  const other = new DatabaseSync(file)
  other.exec('create table item (id integer primary key, text text)')
  const database = openSqlite({ file, journal: 'keep' })
  t.after(() => database.close())
  const db = new Kysely<Tables>({ dialect: database.dialect() })
  for (let count = 0; count < 3; count++) {
    await db.insertInto('item').values({ text: 'a' }).execute()
    other.exec("insert into item (text) values ('b')")
  }
  assert.equal((await db.selectFrom('item').selectAll().execute()).length, 6)
})
