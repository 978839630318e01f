import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { Migration, Migrator } from '@mikro-orm/migrations'
import { MikroORM as PostgresOrm } from '@mikro-orm/postgresql'
import { MikroORM as SqlOrm, SqliteDriver } from '@mikro-orm/sql'
import { Kysely, sql } from 'kysely'
import type { PostgresDatabase } from '../../src/store/sql/postgres-dialect.ts'
import { openSqlite, type SqliteDatabase } from '../../src/store/sql/sqlite-dialect.ts'
import { describeEachDatabase, type AnyTables } from './each-database.ts'

const Book = defineEntity({
  name: 'Book',
  tableName: 'waypost_book',
  properties: {
    id: p.integer().primary(),
    title: p.text(),
    created_at: p.bigint('number'),
    data: p.json<object>(),
    isLent: p.boolean().name('is_lent'),
  },
})

class First extends Migration {
  override up(): void {
    this.addSql('create table "waypost_first" ("id" integer primary key)')
  }
}

class Broken extends Migration {
  override up(): void {
    this.addSql('create table "waypost_half" ("id" integer primary key)')
    this.addSql('insert into nowhere values (1)')
  }
}

const novel = { title: `"a" ? 'b' \\ ; -- $1`, created_at: 1_795_000_000_000, data: { pages: [1, 2] }, isLent: true }

function openOrm(db: Kysely<AnyTables>, database: SqliteDatabase | PostgresDatabase, migrations = { First }) {
  const options = {
    entities: [Book],
    driverOptions: db,
    // MikroORM checks whether the database exists and otherwise creates it through separate connections.
    dbName: database.kind === 'sqlite' ? database.file : database.target.database,
    ensureDatabase: false,
    extensions: [Migrator],
    implicitTransactions: false,
    schemaGenerator: { skipTables: [/^(?!([^.]+\.)?waypost_)/] },
    migrations: {
      tableName: 'waypost_schema',
      migrationsList: Object.entries(migrations).map(([name, migration]) => ({ name, class: migration })),
      snapshot: false,
      silent: true,
    },
  }
  return database.kind === 'sqlite'
    ? new SqlOrm({ ...options, driver: SqliteDriver })
    : (new PostgresOrm(options) as unknown as SqlOrm)
}

describeEachDatabase('MikroORM over Kysely', ({ open }) => {
  async function openWithSchema() {
    const { db, database } = await open()
    await db.schema.createTable('app_other').addColumn('id', 'integer').execute()
    const orm = openOrm(db, database)
    await orm.schema.update()
    return { db, database, orm }
  }

  test('an entity is written, found and seen by Kysely', async () => {
    const { db, orm } = await openWithSchema()
    const em = orm.em.fork()
    em.create(Book, novel)
    await em.flush()
    const [found] = await orm.em.fork().find(Book, { isLent: true, title: novel.title })
    assert.deepEqual({ ...found }, { id: 1, ...novel })
    const row = await db.selectFrom('waypost_book').select(['title', 'created_at', 'data']).executeTakeFirstOrThrow()
    assert.deepEqual(row, { title: novel.title, created_at: novel.created_at, data: novel.data })
  })

  test('a transaction holds for both, and an inner one rolls back alone', async () => {
    const { orm } = await openWithSchema()
    const failed = orm.em.fork().transactional(async (em) => {
      const kysely = em.getKysely() as unknown as Kysely<AnyTables>
      em.create(Book, novel)
      await em.flush()
      assert.equal((await kysely.deleteFrom('waypost_book').returning('title').execute()).length, 1)
      throw new Error('no')
    })
    await assert.rejects(failed, { message: 'no' })
    await orm.em.fork().transactional(async (em) => {
      em.create(Book, { ...novel, title: 'outer' })
      await em.flush()
      const inner = em.transactional(async (nested) => {
        nested.create(Book, { ...novel, title: 'inner' })
        await nested.flush()
        throw new Error('inner')
      })
      await assert.rejects(inner, { message: 'inner' })
    })
    assert.deepEqual(
      (await orm.em.fork().find(Book, {})).map(({ title }) => title),
      ['outer'],
    )
  })

  test('the schema is up to date after its update, and the application its tables are left alone', async () => {
    const { db, orm } = await openWithSchema()
    assert.equal(await orm.schema.getUpdateSchemaSQL({ wrap: false }), '')
    await db.schema.alterTable('waypost_book').dropColumn('title').execute()
    assert.match(
      await orm.schema.getUpdateSchemaSQL({ wrap: false }),
      /^alter table .waypost_book. add (column )?.title. text not null;\s*$/,
    )
  })

  test('migrations of a list run once, and a failed one changes nothing', async () => {
    const { db, database } = await open()
    const first = openOrm(db, database)
    assert.deepEqual(
      (await first.migrator.up()).map(({ name }) => name),
      ['First'],
    )
    assert.deepEqual(await first.migrator.up(), [])
    const broken = openOrm(db, database, { First, Broken } as never)
    await assert.rejects(broken.migrator.up(), /nowhere/)
    const tables = (await db.introspection.getTables()).map(({ name }) => name)
    assert.deepEqual(tables.toSorted(), ['waypost_first', 'waypost_schema'])
    assert.equal((await sql<{ name: string }>`select name from waypost_schema`.execute(db)).rows.length, 1)
  })
})

test('an error of the store keeps its code, kind and status through MikroORM', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'waypost-orm-'))
  const database = openSqlite({ file: path.join(folder, 'x.db'), create: true, busyLimitMs: 50 })
  const db = new Kysely<AnyTables>({ dialect: database.dialect() })
  try {
    const orm = openOrm(db, database)
    await orm.schema.update()
    const transaction = await db.startTransaction().execute()
    await assert.rejects(orm.em.fork().insert(Book, novel), { code: 'WP_STORE_BUSY', kind: 'external', status: 503 })
    await transaction.rollback().execute()
  } finally {
    await database.close()
    rmSync(folder, { recursive: true })
  }
})
