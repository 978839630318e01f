// On SQLite, a table is changed by building it again. Nothing that refers to it may be lost.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Kysely, sql } from 'kysely'
import type { ColumnTypes, Migration } from '../../src/contract/index.ts'
import type { Clock } from '../../src/kit/index.ts'
import { applyMigrations } from '../../src/store/migrate/apply-migrations.ts'
import { makeDeclaredMigration } from '../../src/store/migrate/declared-migration.ts'
import { loadSnapshot } from '../../src/store/migrate/load-snapshot.ts'
import { revertMigrations } from '../../src/store/migrate/revert-migrations.ts'
import { openSqlite } from '../../src/store/sql/sqlite-dialect.ts'
import type { AnyTables } from './each-database.ts'

const clock: Clock = { now: () => Date.UTC(2026, 10, 20), monotonic: () => 0 }
let home: string
let count = 0
before(async () => {
  home = await mkdtemp(path.join(tmpdir(), 'waypost-rebuild-'))
})
after(() => rm(home, { recursive: true }))

async function open(t: { after(work: () => Promise<void>): void }) {
  const database = openSqlite({ file: path.join(home, `${count++}.db`), create: true, synchronous: 'OFF' })
  t.after(() => database.close())
  const db = new Kysely<AnyTables>({ dialect: database.dialect() })
  const run = async (...statements: readonly string[]) => {
    for (const statement of statements) await sql.raw(statement).execute(db)
  }
  const rows = async (query: string) => (await sql.raw<Record<string, unknown>>(query).execute(db)).rows
  const migrationOf = (up: readonly string[], down: readonly string[] = []) => {
    const steps = (statements: readonly string[]) => async (transaction: Kysely<unknown>) => {
      for (const statement of statements) await sql.raw(statement).execute(transaction)
    }
    return { name: 'change', checksum: '', migration: { up: steps(up), down: steps(down) } }
  }
  const migrate = (...up: readonly string[]) => {
    const migrations = [migrationOf(up)]
    return applyMigrations({ db, kind: 'sqlite', migrations, withLock: (_name, work) => work(), clock })
  }
  const revert = (...down: readonly string[]) =>
    revertMigrations({ db, kind: 'sqlite', clock, revert: [migrationOf([], down)], apply: [] })
  return { db, run, rows, migrate, revert }
}

const album = ['create table album (id integer primary key, name text)', "insert into album values (1, 'a'), (2, 'b')"]
const rebuild = [
  'create table album_new (id integer primary key, name text not null)',
  'insert into album_new select * from album',
  'drop table album',
  'alter table album_new rename to album',
]

describe('a migration that builds a table again', () => {
  for (const action of ['cascade', 'set null', 'set default', 'restrict', 'no action'])
    for (const how of ['up', 'down', 'a script'] as const) {
      test(`keeps the rows that refer to it: on delete ${action}, in ${how}`, async (t) => {
        const { run, rows, migrate, revert } = await open(t)
        const key = `album_id integer default 2 references album(id) on delete ${action}`
        await run(
          ...album,
          `create table photo (id integer primary key, ${key})`,
          'insert into photo values (1, 1), (2, 1)',
        )
        if (how !== 'down') await migrate(...(how === 'up' ? rebuild : [rebuild.join(';')]))
        else await migrate().then(() => revert(...rebuild))
        assert.deepEqual(await rows('select * from photo'), [
          { id: 1, album_id: 1 },
          { id: 2, album_id: 1 },
        ])
        await assert.rejects(run('insert into photo values (3, 9)'), /FOREIGN KEY constraint failed/)
        await assert.rejects(run('insert into album values (3, null)'), /NOT NULL/)
      })
    }

  test('keeps the rows of a table that refers to itself', async (t) => {
    const { run, rows, migrate } = await open(t)
    const columns = 'id integer primary key, parent integer references node(id) on delete cascade'
    await run(`create table node (${columns})`, 'insert into node values (1, null), (2, 1), (3, 2)')
    await migrate(
      `create table node_new (${columns}, title text)`,
      'insert into node_new (id, parent) select * from node',
      'drop table node',
      'alter table node_new rename to node',
    )
    assert.equal((await rows('select * from node')).length, 3)
    await run('delete from node where id = 1')
    assert.deepEqual(await rows('select * from node'), [])
  })

  test('fails if rows would refer to rows that are gone, names them, and changes nothing', async (t) => {
    const { run, rows, migrate } = await open(t)
    await run(...album, 'create table photo (id integer primary key, album_id integer references album(id))')
    await run('insert into photo values (1, 1), (7, 2), (8, 2)')
    const reason = 'Rows would refer to rows that no longer exist: '
    const named = 'photo.album_id of row 7 (refers to album), photo.album_id of row 8 (refers to album)'
    await assert.rejects(migrate('delete from album where id = 2'), (error: Error) =>
      error.message.endsWith(reason + named),
    )
    assert.equal((await rows('select * from album')).length, 2)
    await assert.rejects(run('delete from album where id = 2'), /FOREIGN KEY/)
  })

  test('does not fail for rows that were lost before it', async (t) => {
    const { run, rows, migrate } = await open(t)
    await run(
      ...album,
      'create table photo (id integer primary key, album_id integer)',
      'insert into photo values (1, 9)',
    )
    await run('create table tag (photo_id integer references photo(id))')
    await migrate(
      'create table photo_new (id integer primary key, album_id integer references album(id))',
      'insert into photo_new select id, null from photo',
      'drop table photo',
      'alter table photo_new rename to photo',
    )
    assert.deepEqual(await rows('select * from photo'), [{ id: 1, album_id: null }])
  })

  test('may commit several statements with rows that refer to each other', async (t) => {
    const { rows, migrate } = await open(t)
    await migrate(
      'create table a (id integer primary key, b integer references b(id))',
      'create table b (id integer primary key, a integer references a(id))',
      'insert into a values (1, 1)',
      'insert into b values (1, 1)',
    )
    assert.equal((await rows('select * from a join b')).length, 1)
  })

  for (const [what, statement, expected] of [
    ['a view', 'create view names as select name from album', /The view "names" would no longer work: no such /],
    [
      'a trigger',
      'create trigger counted after insert on photo begin update album set name = new.id; end',
      /The trigger "counted" would no longer work: no such /,
    ],
    [
      'a foreign key',
      'create table shelf (album_id integer references album(id))',
      /The foreign key of "shelf" to "album" would no longer work: no such table$/,
    ],
  ] as const) {
    test(`fails if ${what} would no longer work, and names it`, async (t) => {
      const { run, migrate } = await open(t)
      await run(...album, 'create table photo (id integer primary key)', statement)
      await assert.rejects(migrate('drop table album'), expected)
      await migrate('create table other (id integer)')
    })
  }

  test('is not stopped by what another program left broken', async (t) => {
    const { run, rows, migrate } = await open(t)
    await run(
      ...album,
      'create table gone (id integer)',
      'create view broken as select id from gone',
      'drop table gone',
    )
    await migrate('create table other (id integer)', 'alter table album add column year integer', 'drop view broken')
    assert.equal((await rows('select year from album')).length, 2)
  })
})

describe('the id of a deleted row', () => {
  const columns = { id: { type: 'id' }, title: { type: 'text' }, count: { type: 'integer', default: 0 } } as const
  const declared = makeDeclaredMigration([{ step: 'create_table', table: 'note', columns }])
  const inCode: Migration = {
    async up(db, type) {
      await db.schema
        .createTable('note')
        .addColumn('id', type.id, (column) => column.primaryKey())
        .addColumn('title', 'text', (column) => column.notNull())
        .addColumn('count', 'integer', (column) => column.notNull().defaultTo(0))
        .execute()
    },
  }
  const withLock = <Value>(_name: string, work: () => Promise<Value>) => work()

  for (const [how, migration] of [
    ['a declared migration', declared],
    ['a migration in code', inCode],
  ] as const)
    test(`is not given again in a table of ${how}, also after the table was built again`, async (t) => {
      const { db, run, rows } = await open(t)
      const first = { name: '1-note', checksum: '', migration }
      const apply = (...migrations: readonly (typeof first)[]) =>
        applyMigrations({ db, kind: 'sqlite', migrations: [first, ...migrations], withLock, clock })
      await apply()
      const { note } = (await loadSnapshot(db, 'sqlite')).tables
      assert.deepEqual(
        [note!.columns['id'], note!.columns['count'], note!.key],
        [{ type: 'id' }, { type: 'integer', default: true }, ['id']],
      )
      const add = async () => (await rows("insert into note (title) values ('a') returning id"))[0]!['id']
      assert.deepEqual([await add(), await add()], [1, 2])
      await run('delete from note where id = 2')
      assert.equal(await add(), 3)
      await run('delete from note')
      const up = async (database: Kysely<unknown>, type: ColumnTypes) => {
        await database.schema
          .createTable('note_new')
          .addColumn('id', type.id, (column) => column.primaryKey())
          .addColumn('title', 'text')
          .execute()
        await sql`insert into note_new select id, title from note; drop table note; alter table note_new rename to note`.execute(
          database,
        )
      }
      await apply({ name: '2-again', checksum: '', migration: { up } })
      assert.equal(await add(), 4)
      await run('delete from note')
      await apply(
        { name: '2-again', checksum: '', migration: { up } },
        {
          name: '3-changed',
          checksum: '',
          migration: makeDeclaredMigration([
            { step: 'alter_column', table: 'note', column: 'title', change: { type: 'text', length: 9 } },
          ]),
        },
      )
      assert.equal(await add(), 5)
    })

  test('is not given again in a table that was built again beside a temporary one', async (t) => {
    const { run, rows, migrate } = await open(t)
    const create = (name: string) => `create ${name} (id integer primary key autoincrement, a text)`
    await run(create('table old'), "insert into old (a) values ('a'), ('b')", 'delete from old where id = 2')
    await migrate(
      create('temp table scratch'),
      create('table old_new'),
      'insert into old_new select * from old; drop table old; alter table old_new rename to old',
    )
    assert.deepEqual(await rows("insert into old (a) values ('c') returning id"), [{ id: 3 }])
  })

  test('matters neither to temporary tables nor to those without row ids', async (t) => {
    const { db, rows } = await open(t)
    const up: Migration['up'] = async (database, type) => {
      const create = (name: string) =>
        database.schema.createTable(name).addColumn('id', type.id, (column) => column.primaryKey())
      await create('bare')
        .modifyEnd(sql`without rowid`)
        .execute()
      await create('scratch').temporary().execute()
    }
    await applyMigrations({
      db,
      kind: 'sqlite',
      migrations: [{ name: '1', checksum: '', migration: { up } }],
      withLock,
      clock,
    })
    assert.deepEqual(await rows("select name from sqlite_schema where name in ('bare', 'sqlite_sequence')"), [
      { name: 'bare' },
    ])
  })

  test('may be given again in a table that was there before, which stays as it is', async (t) => {
    const { run, rows, migrate } = await open(t)
    await run('create table old (id INTEGER primary key, a text)', "insert into old (a) values ('a'), ('b')")
    await migrate('alter table old add column b text', 'create table keep (id integer primary key autoincrement)')
    await run('delete from old where id = 2')
    assert.deepEqual(await rows("insert into old (a) values ('c') returning id"), [{ id: 2 }])
  })
})
