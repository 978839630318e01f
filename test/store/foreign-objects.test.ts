// SQLite files with objects that SQLite cannot read here, or that belong to its extensions.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { Kysely, sql } from 'kysely'
import {
  assertSystemMigrated,
  loadSnapshot,
  migrateSystem,
  openSystem,
  systemMigrations,
  writeTables,
} from '../../src/store/index.ts'
import { openSqlite } from '../../src/store/sql/sqlite-dialect.ts'
import { applyMigrations } from '../../src/store/migrate/apply-migrations.ts'

const objects = `
  create table good (id integer primary key, t text not null);
  create table gone (a);
  create view of_gone as select a, b from (select a, a as b from gone);
  drop table gone;
  create view of_function as select id, ST_X(t) as x from good;
  create virtual table found using fts5(t);
  create virtual table area using rtree(id, a, b);
  pragma writable_schema = on;
  insert into sqlite_schema values ('table', 'of_module', 'of_module', 0, 'create virtual table of_module using vec0(a)');
  pragma writable_schema = reset;`

let folder: string
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'waypost-foreign-'))
})
after(() => rm(folder, { recursive: true }))

test('what cannot be read is named and left out, and stops neither System nor a migration', async (t) => {
  const file = path.join(folder, 'system.db')
  const foreign = new DatabaseSync(file, { enableDoubleQuotedStringLiterals: true })
  foreign.enableDefensive?.(false)
  foreign.exec(objects)
  foreign.close()
  const system = await openSystem({ url: `sqlite:${file}` })
  t.after(() => system.close())
  assert.deepEqual(await migrateSystem(system), systemMigrations)
  await assertSystemMigrated(system)

  const unreadable: string[] = []
  const load = () => loadSnapshot(system.db, 'sqlite', ({ name, reason }) => unreadable.push(`${name}: ${reason}`))
  // The shadow tables of FTS5 and RTree are not listed.
  assert.deepEqual(Object.keys((await load()).tables), ['area', 'found', 'good'])
  assert.deepEqual(unreadable, [
    'of_function: no such function: ST_X',
    'of_gone: no such table: main.gone',
    'of_module: no such module: vec0',
  ])
  assert.match(await writeTables(system.db, 'sqlite'), /good: \{/)

  const migrations = [
    {
      name: '1-repair',
      checksum: '',
      migration: {
        up: async (db: typeof system.db) => {
          await db.schema.dropView('of_gone').execute()
          await db.schema.alterTable('good').addColumn('more', 'text').execute()
        },
      },
    },
  ]
  const clock = { now: () => 0, monotonic: () => 0 }
  await applyMigrations({
    db: system.db,
    kind: 'sqlite',
    migrations,
    withLock: (_name, work) => work(),
    clock,
  })
  unreadable.length = 0
  assert.equal((await load()).tables['good']!.columns['more']!.type, 'text')
  assert.equal(unreadable.length, 2)
})

/** A file that another program made, without write-ahead logging. */
function makeForeign(name: string, schema: string): string {
  const file = path.join(folder, name)
  const database = new DatabaseSync(file, { enableDoubleQuotedStringLiterals: true })
  database.exec(schema)
  database.close()
  return file
}

function open(file: string, options: Partial<Parameters<typeof openSqlite>[0]> = {}) {
  const database = openSqlite({ file, journal: 'keep', allowsQuotedTexts: true, synchronous: 'OFF', ...options })
  // oxlint-disable-next-line typescript/no-explicit-any -- each file has its own tables
  return { database, db: new Kysely<any>({ dialect: database.dialect() }) }
}

test('the journal mode of a file stays as it is, and a commit waits for a reader', async (t) => {
  const file = makeForeign('journal.db', 'create table item (id integer primary key, name text)')
  const { database, db } = open(file)
  t.after(() => database.close())
  const reader = new DatabaseSync(file, { readOnly: true })
  reader.exec('begin; select * from item')
  const written = db
    .transaction()
    .execute((transaction) => transaction.insertInto('item').values({ name: 'a' }).execute())
  assert.deepEqual(await db.selectFrom('item').selectAll().execute(), [], 'readers do not wait for a reader')
  reader.exec('commit')
  await written
  assert.equal(reader.prepare('pragma journal_mode').get()!['journal_mode'], 'delete')
  assert.deepEqual(await db.selectFrom('item').selectAll().execute(), [{ id: 1, name: 'a' }])
  reader.close()
})

test('a file that is opened read-only is never changed', async (t) => {
  const file = makeForeign('only.db', 'create table item (id integer primary key, name text)')
  const { database, db } = open(file, { readOnly: true })
  t.after(() => database.close())
  assert.deepEqual(await db.selectFrom('item').selectAll().execute(), [])
  await assert.rejects(db.insertInto('item').values({ name: 'a' }).execute(), { errcode: 8 })
})

test('triggers and views may have texts in double quotes, statements may not', async (t) => {
  const file = makeForeign(
    'quoted.db',
    `create table item (id integer primary key, name text); create table log (id, what);
     create trigger logs after insert on item begin insert into log values (new.id, "created"); end;
     create view years as select id, strftime("%Y", name) as year from item;`,
  )
  const { database, db } = open(file)
  t.after(() => database.close())
  await db.insertInto('item').values({ name: '2026-01-01' }).execute()
  assert.deepEqual(await db.selectFrom('log').selectAll().execute(), [{ id: 1, what: 'created' }])
  assert.deepEqual(await db.selectFrom('years').selectAll().execute(), [{ id: 1, year: '2026' }])
  await assert.rejects(sql`select "naem" from item`.execute(db), /no such column/)
  const named = await sql`select max("id"), 'a "b" c' as text from item`.execute(db)
  assert.deepEqual(named.rows, [{ 'max("id")': 1, text: 'a "b" c' }])
})

test('a misspelled column in double quotes is no text in statements that define tables either', async (t) => {
  const file = makeForeign('defined.db', 'create table item (id integer primary key, "name" text)')
  const { database, db } = open(file)
  t.after(() => database.close())
  for (const text of [
    'create index i1 on item ("naem")',
    'create index i1 on item (name) where "naem" > 1',
    'alter table item add column size integer check ("szie" > 0)',
    'create table other ("id" integer primary key, check ("idd" > 0))',
    'create table other ("id" integer primary key); create index i1 on other ("idd")',
  ])
    await assert.rejects(sql.raw(text).execute(db), /no such column/, text)
  const { rows } = await sql`select name from sqlite_schema`.execute(db)
  assert.deepEqual(rows, [{ name: 'item' }])
  await sql`create index "i1" on "item" ("name"); insert into "item" ("name") values ('"a"'); -- end`.execute(db)
  await sql`create table "more" ("id" integer primary key, "note" text check ("note" <> ''))`.execute(db)
  const stored = await sql<{ sql: string }>`select sql from sqlite_schema where name = 'more'`.execute(db)
  assert.match(stored.rows[0]!.sql, /"note" text check \("note"/)
  assert.deepEqual(await db.selectFrom('item').select('name').execute(), [{ name: '"a"' }])
})

test('a write-ahead log stays small in a file that another program put into that mode', async (t) => {
  const file = makeForeign('wal.db', 'pragma journal_mode = wal; create table item (id integer primary key)')
  const { database } = open(file)
  t.after(() => database.close())
  const handle = database.openHandle(false)
  t.after(() => handle.close())
  assert.equal(handle.prepare('pragma journal_size_limit').get()!['journal_size_limit'], 67_108_864)
})

test('a key that does not number the rows is no id', async (t) => {
  const file = makeForeign(
    'keys.db',
    `create table descending (id INTEGER PRIMARY KEY DESC, name text); insert into descending (name) values ('a');
     create table bare (id INTEGER PRIMARY KEY, name text) without rowid; create table usual (id INTEGER PRIMARY KEY, name text)`,
  )
  const { database, db } = open(file)
  t.after(() => database.close())
  const { tables } = await loadSnapshot(db, 'sqlite')
  const ids = Object.entries(tables).map(([name, { columns }]) => [name, columns['id']])
  assert.deepEqual(ids, [
    ['bare', { type: 'bigint' }],
    ['descending', { type: 'bigint', null: true }],
    ['usual', { type: 'id' }],
  ])
})
