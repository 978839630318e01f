import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import { Kysely, sql } from 'kysely'
import { isLong } from '../support/forms.ts'
import { abortTimeoutMs } from '../support/until.ts'
import { count, holdWriteLock, startWriter, useSqliteFiles, type Tables } from './sqlite-handles.ts'

const { open, openAgain } = useSqliteFiles()

test('many transactions in each of two processes at once all succeed', async () => {
  const each = isLong ? 200 : 40
  const { file, db } = await open()
  const writers = [startWriter(file, 'write', each), startWriter(file, 'write', each)]
  const codes = await Promise.all(writers.map(async (writer) => (await once(writer, 'exit'))[0] as number))
  assert.deepEqual(codes, [0, 0])
  assert.equal((await db.selectFrom('counter').selectAll().executeTakeFirstOrThrow()).value, 2 * each)
})

test('a write that does not get its turn within the limit is WP_STORE_BUSY', async () => {
  const { file, db } = await open({ busyLimitMs: 300 })
  const release = await holdWriteLock(file)
  const busy = { code: 'WP_STORE_BUSY', status: 503, kind: 'external', retryAfterSeconds: 1 }
  await assert.rejects(db.insertInto('counter').values({ value: 1 }).execute(), busy)
  await assert.rejects(
    db.transaction().execute(async () => {}),
    busy,
  )
  await release()
  await db.insertInto('counter').values({ value: 1 }).execute()
})

test('while another process holds the write lock, reads are answered, and a write succeeds afterwards', async () => {
  const { file, db } = await open({ busyLimitMs: abortTimeoutMs })
  const release = await holdWriteLock(file)
  let isWritten = false
  const write = db
    .insertInto('counter')
    .values({ value: 1 })
    .execute()
    .then(() => (isWritten = true))
  for (let reads = 0; reads < 50; reads++) assert.equal(await count(db), 1)
  assert.equal(isWritten, false)
  await release()
  await write
  assert.equal(await count(db), 2)
})

test('a transaction that never ends makes other writers of the process fail, and not the readers', async () => {
  const { db } = await open({ busyLimitMs: 100 })
  const transaction = await db.startTransaction().execute()
  await transaction.insertInto('counter').values({ value: 1 }).execute()
  await assert.rejects(db.insertInto('counter').values({ value: 2 }).execute(), { code: 'WP_STORE_BUSY' })
  assert.equal(await count(db), 1)
  assert.equal(await count(transaction), 2)
  await transaction.commit().execute()
  assert.equal(await count(db), 2)
})

test('a file is opened and read at once while a transaction writes, here or in another handle', async () => {
  const { file, database, db } = await open({ busyLimitMs: 100 })
  const transaction = await db.startTransaction().execute()
  await transaction.insertInto('counter').values({ value: 1 }).execute()
  assert.equal(await count(new Kysely<Tables>({ dialect: database.dialect() })), 1)
  assert.equal(await count(new Kysely<Tables>({ dialect: openAgain(file).dialect() })), 1)
  await transaction.rollback().execute()
})

describe('a query that begins with /* scan */', () => {
  const manyRows = (count: number) =>
    sql.raw<{
      count: number
    }>(`/* scan */ with recursive c(n) as (select 1 union all select n + 1 from c where n < ${count})
      select count(*) as count from c`)

  test('runs in a thread, while this process does other work', async () => {
    const { db } = await open()
    let turns = 0
    let isRunning = true
    const turn = () => void ((turns += 1), isRunning && setImmediate(turn))
    turn()
    assert.deepEqual((await manyRows(300_000).execute(db)).rows, [{ count: 300_000 }])
    isRunning = false
    assert.ok(turns > 20, `${turns} turns`)
  })

  test('returns the same values and errors as others, and sees what was committed', async () => {
    const { db } = await open()
    await sql`create table many (flag boolean, made timestamp, bytes blob, text json, large bigint, missing text)`.execute(
      db,
    )
    const row = [true, '2026-11-20T10:00:00.000Z', Buffer.from([1, 2]), '{"a":1}', 2n ** 60n, null]
    await sql`insert into many values (${sql.join(row)})`.execute(db)
    const query = 'select * from many where flag = '
    const normal = await sql`${sql.raw(query)}${true}`.execute(db)
    const scan = await sql`/* scan */ ${sql.raw(query)}${true}`.execute(db)
    assert.equal(normal.rows.length, 1)
    assert.deepEqual(scan.rows, normal.rows)
    await assert.rejects(sql.raw('/* scan */ select * from missing').execute(db), {
      message: /no such table: missing/,
      code: 'ERR_SQLITE_ERROR',
      errcode: 1,
    })
    await sql.raw('alter table many add column more int').execute(db)
    assert.deepEqual((await sql<{ more: null }>`/* scan */ select more from many`.execute(db)).rows, [{ more: null }])
  })

  test('is part of a transaction, and may write', async () => {
    const { db } = await open()
    const rows = sql<{ value: number }>`/* scan */ select value from counter order by value`
    await db.transaction().execute(async (transaction) => {
      await transaction.insertInto('counter').values({ value: 7 }).execute()
      assert.equal((await rows.execute(transaction)).rows.length, 2)
      assert.equal((await rows.execute(db)).rows.length, 1)
    })
    await sql`/* scan */ with one as (select 8 as value) insert into counter select value from one`.execute(db)
    assert.deepEqual((await rows.execute(db)).rows, [{ value: 0 }, { value: 7 }, { value: 8 }])
  })

  test('waits for earlier ones within the limit, and close waits for it', async () => {
    const { db, database } = await open({ busyLimitMs: 100 })
    const first = manyRows(3_000_000).execute(db)
    await assert.rejects(manyRows(1).execute(db), { code: 'WP_STORE_SCAN', status: 503, retryAfterSeconds: 1 })
    assert.equal((await first).rows[0]?.count, 3_000_000)
    assert.equal((await manyRows(1).execute(db)).rows[0]?.count, 1)
    await database.close()
    await assert.rejects(manyRows(1).execute(db), { code: 'WP_STORE_CLOSED' })
  })

  test('fails after its limit, and others run in another thread meanwhile', async (t) => {
    const { db } = await open({ scanLimitMs: 20_000 })
    assert.equal((await manyRows(1).execute(db)).rows[0]?.count, 1)
    t.mock.timers.enable({ apis: ['setTimeout'] })
    /** A thread that is ended before it begins the statement is not busy with it. */
    const begin = async () => {
      for (const end = performance.now() + 100; performance.now() < end;) await nextTurn()
    }
    const tooLong = async () => {
      const failing = manyRows(20_000_000).execute(db)
      const failed = assert.rejects(failing, { code: 'WP_STORE_SCAN_TIMEOUT', status: 503 })
      await begin()
      t.mock.timers.tick(20_000)
      await failed
    }
    await tooLong()
    assert.equal((await manyRows(1).execute(db)).rows[0]?.count, 1)
    const failures: unknown[] = []
    for (let tries = 0; failures.length === 0 && tries < 50; tries++) {
      await tooLong()
      await manyRows(1)
        .execute(db)
        .catch((error: unknown) => failures.push(error))
    }
    assert.equal((failures[0] as { code?: unknown } | undefined)?.code, 'WP_STORE_SCAN_TIMEOUT')
  })
})

test('writers of one process run in the order of their requests', async () => {
  const { db } = await open()
  const order: number[] = []
  const writers = [1, 2, 3, 4, 5].map((number) =>
    db.transaction().execute(async (transaction) => {
      await delay(2)
      await transaction.insertInto('counter').values({ value: number }).execute()
      order.push(number)
    }),
  )
  await Promise.all(writers)
  assert.deepEqual(order, [1, 2, 3, 4, 5])
})

test('a transaction that throws is rolled back and leaves no lock', async () => {
  const { db } = await open({ busyLimitMs: 100 })
  const failed = db.transaction().execute(async (transaction) => {
    await transaction.insertInto('counter').values({ value: 1 }).execute()
    throw new Error('no')
  })
  await assert.rejects(failed, { message: 'no' })
  assert.equal(await count(db), 1)
  await db.insertInto('counter').values({ value: 1 }).execute()
})

test('a commit that fails rolls back and leaves no lock', async () => {
  const { db } = await open({ busyLimitMs: 100 })
  await sql`create table parent (id integer primary key); create table child (parent_id integer references parent(id) deferrable initially deferred)`.execute(
    db,
  )
  const failed = db.transaction().execute((transaction) => sql`insert into child values (7)`.execute(transaction))
  await assert.rejects(failed, { message: 'FOREIGN KEY constraint failed' })
  const controlled = await db.startTransaction().execute()
  await sql`insert into child values (8)`.execute(controlled)
  await assert.rejects(controlled.commit().execute(), { message: 'FOREIGN KEY constraint failed' })
  await controlled.rollback().execute()
  await db.insertInto('counter').values({ value: 1 }).execute()
  assert.deepEqual((await sql`select * from child`.execute(db)).rows, [])
})

test('a failed statement leaves no lock, alone and in a transaction that continues', async () => {
  const { db } = await open({ busyLimitMs: 100 })
  await assert.rejects(sql`insert into nowhere values (1)`.execute(db), { message: 'no such table: nowhere' })
  await db.transaction().execute(async (transaction) => {
    await assert.rejects(sql`insert into nowhere values (1)`.execute(transaction))
    await transaction.insertInto('counter').values({ value: 1 }).execute()
  })
  assert.equal(await count(db), 2)
})

test('savepoints roll back a part', async () => {
  const { db } = await open()
  const transaction = await db.startTransaction().execute()
  await transaction.insertInto('counter').values({ value: 1 }).execute()
  const inner = await transaction.savepoint('inner').execute()
  await inner.insertInto('counter').values({ value: 2 }).execute()
  const outer = await inner.rollbackToSavepoint('inner').execute()
  await outer.releaseSavepoint('inner').execute()
  await outer.insertInto('counter').values({ value: 3 }).execute()
  await transaction.commit().execute()
  const rows = await db.selectFrom('counter').select('value').orderBy('value').execute()
  assert.deepEqual(
    rows.map((row) => row.value),
    [0, 1, 3],
  )
})

test('a transaction that only reads sees one state during other writes, and cannot write', async () => {
  const { db } = await open()
  const reading = await db.startTransaction().setAccessMode('read only').execute()
  assert.equal(await count(reading), 1)
  await db.insertInto('counter').values({ value: 1 }).execute()
  assert.equal(await count(reading), 1)
  assert.equal(await count(db), 2)
  await assert.rejects(reading.insertInto('counter').values({ value: 2 }).execute(), /readonly/)
  await reading.commit().execute()
})

test('a stream sees one state, keeps no writer waiting and can be left early', async () => {
  const { db } = await open({ readers: 1, busyLimitMs: 100 })
  await sql`insert into counter with recursive n (v) as (select 1 union all select v + 1 from n where v < 999) select v from n`.execute(
    db,
  )
  let seen = 0
  for await (const row of db.selectFrom('counter').selectAll().stream(10)) {
    assert.notEqual(row.value, -1)
    if (seen++ === 0) await db.insertInto('counter').values({ value: -1 }).execute()
  }
  assert.equal(seen, 1000)
  for await (const row of db.selectFrom('counter').selectAll().stream(10)) {
    if (row.value === 1) break
  }
  for await (const row of db.selectFrom('counter').selectAll().where('value', '=', -1).stream())
    assert.equal(row.value, -1)
  const stream = db.selectFrom('counter').selectAll().stream(10)
  await stream.next()
  await assert.rejects(db.selectFrom('counter').selectAll().stream(10).next(), { code: 'WP_STORE_BUSY' })
  await stream.return?.()
})

test('a stream inside a transaction sees its writes', async () => {
  const { db } = await open()
  await db.transaction().execute(async (transaction) => {
    await transaction.insertInto('counter').values({ value: 1 }).execute()
    const values: number[] = []
    for await (const row of transaction.selectFrom('counter').selectAll().stream()) values.push(row.value)
    assert.deepEqual(values, [0, 1])
  })
})

test('raw SQL that writes after a "with" uses the writer', async () => {
  const { db } = await open()
  const { rows } =
    await sql`with one as (select 5 as five) insert into counter select five from one returning value`.execute(db)
  assert.deepEqual(rows, [{ value: 5 }])
})

test('a transaction begun or ended by a statement is rejected', async () => {
  const { db } = await open({ busyLimitMs: 100 })
  await assert.rejects(sql`begin`.execute(db), { code: 'WP_STORE_BEGIN' })
  const ended = db.transaction().execute(async (transaction) => {
    await sql`commit`.execute(transaction)
    await transaction.insertInto('counter').values({ value: 1 }).execute()
  })
  await assert.rejects(ended, { code: 'WP_STORE_TRANSACTION_LOST' })
  await db.insertInto('counter').values({ value: 1 }).execute()
  assert.equal(await count(db), 2)
})
