// SQLite files with objects that SQLite cannot read here, or that belong to its extensions.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import {
  assertSystemMigrated,
  loadSnapshot,
  migrateSystem,
  openSystem,
  systemMigrations,
  writeTables,
} from '../../src/store/index.ts'
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
