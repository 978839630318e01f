import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { after, afterEach, before, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Kysely, sql } from 'kysely'
import type { ClientBase } from 'pg'
import { openPostgres, redactUrl, type OpenPostgresOptions } from '../../src/store/sql/postgres-dialect.ts'
import { makeStaleness } from '../../src/store/sql/postgres-staleness.ts'
import { arrayParameter } from '../../src/store/sql/postgres-values.ts'
import { setUnusual, startPostgres, type TestPostgres } from '../support/postgres.ts'

interface Tables {
  counter: { value: number }
}

let server: TestPostgres
let url: string
const opened: { close(): Promise<void> }[] = []
before(async () => {
  server = await startPostgres()
  url = await server.createDatabase()
  const { db } = open()
  await db.schema.createTable('counter').addColumn('value', 'integer').execute()
})
after(() => server.stop())
afterEach(async () => {
  await Promise.all(opened.splice(0).map((database) => database.close()))
})

function open(options: Partial<OpenPostgresOptions> = {}) {
  const database = openPostgres({ url, ...options })
  opened.push(database)
  return { database, db: new Kysely<Tables>({ dialect: database.dialect() }) }
}

function changed(change: (url: URL) => void): string {
  const copy = new URL(url)
  change(copy)
  return copy.href
}

test('a connection closed by the server only fails its query: the next one has a new connection', async () => {
  const { database, db } = open({ max: 1 })
  const killer = await database.openClient()
  const dropped = db.transaction().execute(async (transaction) => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(transaction)
    await killer.query('select pg_terminate_backend($1)', [rows[0]!.pid])
    await sql`select 1`.execute(transaction)
  })
  await assert.rejects(dropped, { code: 'WP_STORE_UNREACHABLE', kind: 'external', status: 503 })
  assert.deepEqual((await sql`select 1 as one`.execute(db)).rows, [{ one: 1 }])

  const idle = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)
  const removed = new Promise((resolve) => database.pool.once('remove', resolve))
  await killer.query('select pg_terminate_backend($1)', [idle.rows[0]!.pid])
  await removed
  assert.deepEqual((await sql`select 1 as one`.execute(db)).rows, [{ one: 1 }])
  await killer.end()
})

test('bytes that are no value of their type fail their statement, not the connection', async () => {
  const { db } = open({ max: 1 })
  const pid = async () => (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)).rows[0]!.pid
  const before = await pid()
  const refused = sql`select ${Buffer.from([1])}::text::int = 1 or 1 = ${Buffer.from([1])}::int`.execute(db)
  await assert.rejects(refused, { code: /^(08P01|22P03)$/ })
  assert.equal(await pid(), before)
})

test('a connection that is released in the middle of a transaction is not used again', async () => {
  const { db } = open({ max: 1 })
  const pids: number[] = []
  for (const left of ['begin', 'begin; select 1 / 0', 'select 1']) {
    await db.connection().execute(async (connection) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(connection)
      pids.push(rows[0]!.pid)
      await sql
        .raw(left)
        .execute(connection)
        .catch(() => undefined)
    })
  }
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)
  assert.equal(new Set(pids).size, 3)
  assert.equal(rows[0]!.pid, pids[2], 'one that is well goes on')
})

test('a transaction in which a statement failed is not said to be committed', async () => {
  const { db } = open()
  const committed = db.transaction().execute(async (transaction) => {
    await transaction.insertInto('counter').values({ value: 7 }).execute()
    await sql`insert into nowhere values (1)`.execute(transaction).catch(() => undefined)
  })
  await assert.rejects(committed, { code: 'WP_STORE_TRANSACTION_LOST' })
  assert.deepEqual(await db.selectFrom('counter').selectAll().execute(), [])
})

test('savepoints roll back a part', async () => {
  const { db } = open()
  const transaction = await db.startTransaction().execute()
  const inner = await transaction.savepoint('inner').execute()
  await inner.insertInto('counter').values({ value: 2 }).execute()
  await (await inner.rollbackToSavepoint('inner').execute()).releaseSavepoint('inner').execute()
  assert.deepEqual(await transaction.selectFrom('counter').selectAll().execute(), [])
  await transaction.commit().execute()
})

test('a pool whose connections are all taken is WP_STORE_BUSY after 5 s', async () => {
  const { db } = open({ max: 1 })
  const transaction = await db.startTransaction().execute()
  await assert.rejects(sql`select 1`.execute(db), { code: 'WP_STORE_BUSY', status: 503, retryAfterSeconds: 1 })
  await transaction.commit().execute()
  await sql`select 1`.execute(db)
})

test('a server that ends connections is not said to be busy, however many wait', async () => {
  const ending = createServer((socket) => socket.end().on('error', () => undefined)).listen(0)
  await once(ending, 'listening')
  const { port } = ending.address() as AddressInfo
  const { database, db } = open({ url: `postgresql://ann:x@127.0.0.1:${port}/db`, max: 1 })
  const limited = new Kysely<Tables>({ dialect: database.dialect({ idleLimitMs: 1000, maxConnections: 1 }) })
  const all = await Promise.allSettled([db, db, limited, db].map((one) => sql`select 1`.execute(one)))
  for (const one of all) {
    assert.equal(one.status, 'rejected')
    assert.equal((one.reason as { code: string }).code, 'WP_STORE_UNREACHABLE')
  }
  ending.close()
})

test('a list for an array parameter is sent as an array', async () => {
  const { db } = open()
  const { rows } = await sql`select n from generate_series(1, 5) n where n = any(${arrayParameter([2, 4])})`.execute(db)
  assert.deepEqual(rows, [{ n: 2 }, { n: 4 }])
})

test('destroying a Kysely instance leaves the pool to the others', async () => {
  const { database, db } = open()
  await sql`select 1`.execute(db)
  await db.destroy()
  await sql`select 1`.execute(new Kysely<Tables>({ dialect: database.dialect() }))
})

const unreachable: readonly { what: string; url: () => string | Promise<string>; message: RegExp }[] = [
  {
    what: 'a wrong password',
    url: () => changed((copy) => (copy.password = 'wrong-secret')),
    message: /^Cannot reach the PostgreSQL database "test_\w+" at "127.0.0.1:\d+": .* .postgres.$/,
  },
  {
    what: 'a database that is not there',
    url: () => changed((copy) => (copy.pathname = '/nowhere')),
    message: /database "nowhere" at .*: .*.nowhere. /,
  },
  {
    what: 'a port at which nobody listens',
    url: async () => {
      const port = await freePort()
      return changed((copy) => Object.assign(copy, { hostname: 'localhost', port: String(port) }))
    },
    message: /^Cannot reach .* at "localhost:\d+": connect ECONNREFUSED/,
  },
  {
    what: 'a host that does not exist',
    url: () => changed((copy) => (copy.hostname = 'db.invalid')),
    message: /^Cannot reach .* at "db.invalid:\d+": getaddrinfo/,
  },
]

for (const { what, url: urlOf, message } of unreachable) {
  test(`${what} is WP_STORE_UNREACHABLE and contains no password`, async () => {
    const { database, db } = open({ url: await urlOf() })
    const isTold = (error: Error & { code: string; hint: string }) => {
      assert.equal(error.code, 'WP_STORE_UNREACHABLE')
      assert.match(error.message, message)
      assert.ok(!`${error.message} ${error.hint}`.includes(new URL(url).password))
      assert.ok(!`${error.message} ${error.hint}`.includes('wrong-secret'))
      return true
    }
    await assert.rejects(sql`select 1`.execute(db), isTold)
    await assert.rejects(database.openClient(), isTold)
  })
}

test('an invalid address is rejected, without its password', () => {
  assert.throws(() => openPostgres({ url: 'postgresql://user:se/cret@host:x/db' }), {
    code: 'WP_STORE_URL_INVALID',
    message: '"postgresql://user@host:x/db" is not a valid PostgreSQL URL',
  })
})

test('an address is shown without its password', () => {
  const shown: readonly (readonly [string, string])[] = [
    ['postgresql://ann:secret@db.internal/todo', 'postgresql://ann@db.internal/todo'],
    [
      'postgresql://ann:secret@db.internal:5433/todo?sslmode=require',
      'postgresql://ann@db.internal:5433/todo?sslmode=require',
    ],
    ['postgresql://ann@db.internal/todo', 'postgresql://ann@db.internal/todo'],
    ['postgresql:///todo?host=/run/pg&password=secret', 'postgresql:///todo?host=%2Frun%2Fpg'],
    ['postgres://ann:se@cr:et@host:port/x', 'postgres://ann@host:port/x'],
    ['postgres://ann:1/2#3@host/x', 'postgres://ann@host/x'],
    ['postgres//ann:s3cret@host/x', 'postgres//ann@host/x'],
    ['postgres:ann:s3cret@host/x', 'postgres@host/x'],
    ['postgresql:/ann:s3/cr@et@host/x', 'postgresql@host/x'],
    ['//ann:s3cret@host/x', '//ann@host/x'],
    ['ann:s3cret@host/x', 'ann@host/x'],
    ['postgresql://ann:secret@/todo?host=/run/pg', 'postgresql://ann@/todo?host=%2Frun%2Fpg'],
    ['postgresql://db/todo?password=se@cret', 'postgresql://db…'],
    ['postgresql://ann:hunter', 'postgresql://ann…'],
    ['postgresql://ann@db/todo?password=s3#cret', 'postgresql://ann@db/todo'],
    ['sqlite:.waypost/system.db', 'sqlite:.waypost/system.db'],
    ['no address', 'no address'],
  ]
  for (const [url, expected] of shown) assert.equal(redactUrl(url), expected)
})

async function freePort(): Promise<number> {
  const probe = createServer().listen(0)
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}

test('PostgreSQL is configured to notice soon that this machine is gone', async () => {
  const { database, db } = open()
  const text = `select name, setting from pg_settings where name like 'tcp_keepalives%' order by name`
  const expected = [
    { name: 'tcp_keepalives_count', setting: '3' },
    { name: 'tcp_keepalives_idle', setting: '10' },
    { name: 'tcp_keepalives_interval', setting: '5' },
  ]
  assert.deepEqual((await sql.raw(text).execute(db)).rows, expected)
  const client = await database.openClient()
  assert.deepEqual((await client.query(text)).rows, expected)
  await client.end()
})

test('limited transactions use their share of the pool only; one that waits too long gets an error', async (t) => {
  const { database, db } = open({ max: 3 })
  const limited = new Kysely<Tables>({ dialect: database.dialect({ idleLimitMs: 60_000, maxConnections: 2 }) })
  const held = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = held.map(({ promise }, index) =>
    limited.transaction().execute(() => {
      begun[index]!.resolve()
      return promise
    }),
  )
  await Promise.all(begun.map(({ promise }) => promise))
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const late = limited.transaction().execute(async () => 'never')
  for (let step = 0; step < 4; step++) {
    await setImmediate() // it begins to wait
    t.mock.timers.tick(65_000 / 4)
  }
  await assert.rejects(late, { code: 'WP_STORE_BUSY', status: 503 })
  t.mock.timers.reset()

  const order: string[] = []
  const next = ['first', 'second'].map((name) => limited.transaction().execute(async () => void order.push(name)))
  assert.deepEqual((await sql`select 1 as one`.execute(db)).rows, [{ one: 1 }])
  assert.deepEqual(order, [])
  held[0]!.resolve()
  await Promise.all(next)
  assert.deepEqual(order, ['first', 'second'])
  held[1]!.resolve()
  await Promise.all(holding)

  await assert.rejects(limited.transaction().execute((trx) => sql`select 1 / 0`.execute(trx)))
  const all = Array.from({ length: 5 }, () => limited.transaction().execute((trx) => sql`select 1`.execute(trx)))
  assert.equal((await Promise.all(all)).length, 5)
})

test('values are the same whatever settings the role has', async () => {
  const unusual = await server.createDatabase()
  await setUnusual(unusual)
  const read = async (from: string) => {
    const { db } = open({ url: from, isSystem: true })
    const { rows } = await sql<{ number: number }>`select
      '2026-11-20 10:00:00.123+02'::timestamptz as time, '2026-11-20'::date as date, '\\x5c00ff'::bytea as bytes,
      0.1::float8 + 0.2::float8 as number, '1 day 02:00'::interval as span, 'a\\nb' as text, '{null,a}'::text[] as list,
      (null = null) is null as compares, current_setting('transaction_isolation') as isolation,
      current_setting('row_security') as policies`.execute(db)
    const again = await sql`select 1 where 0.1::float8 + 0.2::float8 = ${rows[0]!.number}::float8`.execute(db)
    assert.equal(again.rows.length, 1)
    return rows[0]
  }
  assert.deepEqual(await read(unusual), await read(url))
})

test('a single statement that cannot be serialized with others is repeated', async () => {
  const unusual = await server.createDatabase()
  await setUnusual(unusual)
  const { db } = open({ url: unusual, max: 8 })
  await sql`create table counter (value integer)`.execute(db)
  await sql`insert into counter values (0)`.execute(db)
  const add = () => sql`update counter set value = value + 1 where value >= ${0}`.execute(db)
  const results = await Promise.allSettled(Array.from({ length: 3 }, add))
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'fulfilled'],
  )
  assert.deepEqual((await sql`select value from counter`.execute(db)).rows, [{ value: 3 }])
})

test('a statement that commits a part itself is not repeated', async () => {
  const { db } = open()
  await sql`create sequence calls`.execute(db)
  await sql`create procedure fail_once() language plpgsql as $$ begin
    perform nextval('calls'); commit; raise exception sqlstate '40001'; end $$`.execute(db)
  const count = async () => {
    const { rows } = await sql<{ calls: number }>`select nextval('calls')::int as calls`.execute(db)
    return rows[0]!.calls
  }
  const texts = [
    'call fail_once()',
    `do $$ begin perform nextval('calls'); commit; raise exception sqlstate '40001'; end $$`,
    `select nextval('calls'); commit; do $$ begin raise exception sqlstate '40001'; end $$`,
  ]
  for (const [index, text] of texts.entries()) {
    await assert.rejects(sql.raw(text).execute(db), { code: '40001' })
    assert.equal(await count(), 2 * (index + 1), text)
  }
})

test('a commit or a parse that PostgreSQL refuses keeps its connection', async () => {
  const { db } = open({ max: 1 })
  const pid = async () => (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)).rows[0]!.pid
  await sql`create table parent (id integer primary key)`.execute(db)
  await sql`create table child (id integer references parent deferrable initially deferred)`.execute(db)
  const before = await pid()
  await assert.rejects(
    db.transaction().execute((transaction) => sql`insert into child values (1)`.execute(transaction)),
    { code: '23503' },
  )
  await assert.rejects(sql`prepare waypost_check as select nothing`.execute(db), { code: '42703' })
  assert.equal(await pid(), before)
})

test('a database that only reads is 503, and the connections to it are replaced', async () => {
  const { database, db } = open({ max: 2 })
  const admin = await database.openClient()
  const name = new URL(url).pathname.slice(1)
  await admin.query(`alter database ${name} set default_transaction_read_only = on`)
  const write = () => sql`update counter set value = 1`.execute(db)
  const pids = async () => {
    const pid = sql<{ pid: number }>`select pg_backend_pid() as pid, pg_sleep(0.05)`
    const found = await Promise.all([pid.execute(db), pid.execute(db)])
    return found.map(({ rows }) => rows[0]!.pid)
  }
  const before = await pids()
  await assert.rejects(write(), { code: 'WP_STORE_READ_ONLY', kind: 'external', status: 503, retryAfterSeconds: 1 })
  await admin.query(`alter database ${name} reset default_transaction_read_only`)
  await write() // no other connection of the pool leads to the former primary
  for (const pid of await pids()) assert.ok(!before.includes(pid))
  await assert.rejects(
    db
      .transaction()
      .setAccessMode('read only')
      .execute((transaction) => sql`update counter set value = 1`.execute(transaction)),
    { code: '25006' },
  )
  await admin.end()
})

test('connections that only read on purpose are replaced less and less often', () => {
  let now = 0
  const staleness = makeStaleness(() => now)
  const replaced: number[] = []
  let client = {} as ClientBase
  staleness.opened(client)
  for (now = 1; now < 60_000; now += 100) {
    staleness.foundReadOnly(client)
    if (!staleness.isStale(client)) continue
    replaced.push(now)
    client = {} as ClientBase
    now += 1
    staleness.opened(client)
  }
  assert.ok(replaced.length <= 10, String(replaced))
  assert.ok(replaced[1]! - replaced[0]! < 1500, 'soon at first')
})
