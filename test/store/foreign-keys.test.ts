import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { sql, type Kysely } from 'kysely'
import { isConflict, parseConflict } from '../../src/kit/index.ts'
import { describeEachDatabase, type AnyTables } from './each-database.ts'

describeEachDatabase('a foreign key violation', ({ kind, open }) => {
  let db: Kysely<AnyTables>
  before(async () => {
    db = (await open()).db
    const tables = [
      sql`create table author (id integer primary key, name text)`,
      sql`create table shelf (room integer, place integer, primary key (room, place))`,
      sql`create table book (id integer primary key, author_id integer references author, editor_id integer references author (id),
        room integer, place integer, foreign key (room, place) references shelf (room, place))`,
    ]
    for (const table of tables) await table.execute(db)
    await db.insertInto('author').values({ id: 1, name: 'Ann' }).execute()
    await db.insertInto('shelf').values({ room: 1, place: 1 }).execute()
    await db.insertInto('book').values({ id: 1, author_id: 1, room: 1, place: 1 }).execute()
  })

  const cases: readonly (readonly [what: string, run: (db: Kysely<AnyTables>) => Promise<unknown>, columns: string])[] =
    [
      [
        'an inserted value',
        (on) => on.insertInto('book').values({ id: 2, author_id: 1, editor_id: 9 }).execute(),
        'editor_id',
      ],
      [
        'one of several rows',
        (on) =>
          on
            .insertInto('book')
            .values([
              { id: 2, author_id: 1 },
              { id: 3, author_id: 9 },
            ])
            .execute(),
        'author_id',
      ],
      [
        'two columns together',
        (on) => on.insertInto('book').values({ id: 2, room: 1, place: 2 }).execute(),
        'room,place',
      ],
      [
        'an updated value',
        (on) => on.updateTable('book').set({ author_id: 9 }).where('id', '=', 1).execute(),
        'author_id',
      ],
      ['an updated key', (on) => on.updateTable('author').set({ id: 9 }).where('id', '=', 1).execute(), 'id'],
      ['a deleted row', (on) => on.deleteFrom('shelf').where('room', '=', 1).execute(), 'room,place'],
      ['a deleted row with two references', (on) => on.deleteFrom('author').where('id', '=', 1).execute(), 'id'],
    ]
  for (const [what, run, columns] of cases) {
    test(`of ${what} names its columns, alone and in a transaction`, async () => {
      const failures = [run(db), db.transaction().execute(run)]
      for (const failure of await Promise.allSettled(failures)) {
        assert.equal(failure.status, 'rejected')
        assert.equal(String(parseConflict(failure.reason)?.columns), columns)
        assert.ok(isConflict(failure.reason, columns.split(',')[0]))
      }
    })
  }

  test('of a row that the same transaction inserted is not taken for missing', async () => {
    const failed = db.transaction().execute(async (on) => {
      await on.insertInto('author').values({ id: 5 }).execute()
      await on.insertInto('book').values({ id: 6, author_id: 5, editor_id: 9 }).execute()
    })
    await assert.rejects(failed, (error) => String(parseConflict(error)?.columns) === 'editor_id')
  })

  test(`of raw SQL ${kind === 'sqlite' ? 'has no columns' : 'names its columns'}`, async () => {
    const failed = sql`insert into book (id, author_id) values (7, 9)`.execute(db)
    await assert.rejects(
      failed,
      (error) => String(parseConflict(error)?.columns) === (kind === 'sqlite' ? '' : 'author_id'),
    )
  })
})
