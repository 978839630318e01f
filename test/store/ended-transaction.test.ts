import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql, type Transaction } from 'kysely'
import { describeEachDatabase, type AnyTables } from './each-database.ts'

describeEachDatabase('a statement after the end of its transaction', ({ open }) => {
  async function openTable() {
    const { db } = await open()
    await sql`create table item (id integer primary key)`.execute(db)
    const ids = async () => {
      const { rows } = await sql<{ id: number }>`select id from item order by id`.execute(db)
      return rows.map(({ id }) => id)
    }
    const insert = (trx: Transaction<AnyTables>, id: number) => trx.insertInto('item').values({ id }).execute()
    return { db, ids, insert }
  }

  for (const fails of [false, true])
    test(`is refused, also while it ${fails ? 'rolls back' : 'commits'}`, async () => {
      const { db, ids, insert } = await openTable()
      const late: Promise<unknown>[] = []
      const work = db.transaction().execute(async (trx) => {
        await insert(trx, 1)
        // It is under way when the transaction ends. In each of the turns that the end may take, another one follows.
        const last = sql`select 1`.execute(trx)
        for (let turn = 0; turn < 50; turn++)
          late.push(
            last.then(async () => {
              for (let n = 0; n < turn; n++) await Promise.resolve()
              await insert(trx, 100 + turn)
            }),
          )
        if (fails) throw new Error('no')
      })
      const isCommitted = await work.then(
        () => true,
        () => false,
      )
      const isStored = (await Promise.allSettled(late)).map(({ status }) => status === 'fulfilled')
      // One that was in time belongs to the transaction.
      const inTime = isStored.flatMap((stored, turn) => (stored ? [100 + turn] : []))
      assert.deepEqual(await ids(), isCommitted ? [1, ...inTime] : [])
      assert.equal(isCommitted, !fails)
    })

  test('runs if its connection is used for more than the transaction', async () => {
    const { db, ids, insert } = await openTable()
    await db.connection().execute(async (connection) => {
      await connection.transaction().execute((trx) => insert(trx, 1))
      await connection.insertInto('item').values({ id: 2 }).execute()
      await connection.transaction().execute((trx) => insert(trx, 3))
    })
    assert.deepEqual(await ids(), [1, 2, 3])
  })
})
