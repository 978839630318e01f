import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import type { ColumnSnapshot } from 'waypost'
import { startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts'
import { orderApi, orders } from './order-table.ts'
import { openTableApi, users, type Result, type TableApi } from '../../../../test/support/table-api.ts'

const row = (total: number, more: object = {}) => ({ total, title: 'Milk', ...more })

for (const kind of ['sqlite', 'postgresql'] as const) {
  describe(`a list of rows, ${kind}`, () => {
    let postgres: TestPostgres | undefined
    let api: TableApi
    before(async () => {
      if (kind === 'postgresql') postgres = await startPostgres()
      const config = { ...orders, bulk: 500, write: [...orders.columns.filter(isWritable), 'id'] }
      api = await openTableApi(orderApi(kind, await postgres?.createDatabase(), { config }))
    })
    after(async () => {
      await api[Symbol.asyncDispose]()
      await postgres?.stop()
    })
    const count = async () => Number((await api.execute('select count(*) as n from app_order'))[0]!['n'])
    const post = (body: unknown, call = {}) => api.call('POST /order', { body, ...call })

    test('is inserted in its order, with the same values as single rows', async () => {
      const all = {
        flag: true,
        paid_at: '2026-11-23T14:00:00.123+02:00',
        due: '2027-01-31',
        weight: 0.1 + 0.2,
        large: '9223372036854775807',
        data: { a: [1, 'é"\\', null] },
        always: { b: false },
        code: '0190A0A0-0000-7000-8000-0000000000AA',
        price: 12.34,
        shelf_id: 1,
      }
      const rows = [row(1), row(2, all), row(3, { data: null, flag: false, large: 7 }), row(4, { always: [] }), row(5)]
      rows.push(row(6, { title: 'a\ud800b' }))
      const bulk = await post(rows)
      assert.equal(bulk.status, 201, JSON.stringify(bulk.body))
      assert.deepEqual(bulk.headers, {})
      await api.execute('delete from app_order')
      const singles = []
      for (const one of rows) singles.push((await post(one)).body)
      const withoutId = ({ id, ...others }: { id: number }) => ({ ...others, isId: Number.isInteger(id) })
      assert.deepEqual(bulk.body.map(withoutId), singles.map(withoutId))
      assert.deepEqual(
        bulk.body.map((one: { total: number }) => one.total),
        [1, 2, 3, 4, 5, 6],
      )
    })

    test('takes up to the number in "bulk"', async () => {
      const rows = Array.from({ length: 501 }, (_, index) => row(index))
      assert.equal((await post(rows)).status, 400)
      assert.deepEqual((await post([])).body.errors, [{ path: 'body', message: 'must NOT have fewer than 1 items' }])
      const before = await count()
      const { body, status } = await post(rows.slice(1))
      assert.equal(status, 201)
      assert.deepEqual(
        body.map((one: { total: number }) => one.total),
        rows.slice(1).map((one) => one.total),
      )
      assert.equal(await count(), before + 500)
    })

    test('belongs to the caller', async () => {
      await api.execute('delete from app_order')
      const { body } = await post([row(71), row(72)], { user: users.bob })
      const stored = await api.execute('select user_id from app_order where total in (71, 72)')
      assert.deepEqual(
        stored.map((one) => one['user_id']),
        [users.bob, users.bob],
      )
      assert.equal((await api.call(`GET /order/${body[0].id}`)).status, 404)
    })

    test('is inserted wholly or not at all, and the error names the row', async () => {
      const before = await count()
      const rows = Array.from({ length: 40 }, (_, index) => row(index))
      const { id } = (await post(row(1))).body
      const at = (index: number, more: object) => rows.with(index, row(1, more))
      const failures = [
        [at(17, { title: 5 }), 400, 'body/17/title must be string'],
        [at(17, { other: 5 }), 400, 'body/17/other is unknown'],
        [[row(1), {}, 7], 400, 'body/1/total is required; body/1/title is required; body/2 must be object'],
        [at(39, { total: 666 }), 409, 'body/39/total is not allowed'],
        [at(0, { id }), 409, 'body/0/id is already taken'],
        [at(38, { shelf_id: 9 }), 409, 'body/38/shelf_id refers to something that does not exist'],
        [at(5, { due: '0000-01-01' }), 400, 'body/5: "due" must be a date between the years 1 and 9999'],
        [at(6, { data: [1e300, 2 ** 60] }), 400, /^body\/6: "data" must be JSON without integers/],
      ] as const
      for (const [body, status, expected] of failures) {
        const result = await post(body)
        const problems = (result.body.errors ?? []) as { path: string; message: string }[]
        const text = problems.map(({ path, message }) => `${path} ${message}`).join('; ') || result.body.detail
        assert.equal(result.status, status, text)
        if (typeof expected === 'string') assert.equal(text, expected)
        else assert.match(text, expected)
      }
      assert.equal(await count(), before + 1)
    })
  })
}

function isWritable(name: string): boolean {
  return !['id', 'status', 'version', 'insert_date'].includes(name)
}

for (const kind of ['sqlite', 'postgresql'] as const)
  test(`values of each further type are the same as in single rows, ${kind}`, async (t) => {
    const postgres = kind === 'postgresql' ? await startPostgres() : undefined
    t.after(() => postgres?.stop())
    const columns = {
      id: { type: 'integer' },
      price: { type: 'numeric', precision: 10, scale: 2, null: true },
      bytes: { type: 'bytes', null: true },
      ...(kind === 'postgresql' && {
        state: { type: 'enum', values: ['open', 'closed'], null: true },
        tags: { type: 'array', items: { type: 'text' }, null: true },
        days: { type: 'array', items: { type: 'bigint' }, null: true },
        parts: { type: 'array', items: { type: 'json' }, null: true },
        span: { type: 'literal', as: 'interval', null: true },
      }),
    } satisfies Record<string, ColumnSnapshot>
    const names = Object.keys(columns)
    await using api = await openTableApi({
      url: await postgres?.createDatabase(),
      tables: { app_value: { columns, key: ['id'] } },
      config: { table: 'app_value', columns: names, write: names, bulk: 10 },
      routes: ['POST /value'],
      schema:
        kind === 'sqlite'
          ? ['create table app_value (id integer primary key, price decimal_integer(10,2), bytes blob)']
          : [
              `create type state as enum ('open', 'closed')`,
              `create table app_value (id integer primary key, price numeric(10, 2), bytes bytea, state state,
                tags text[], days bigint[], parts jsonb[], span interval)`,
            ],
    })
    const first = { price: '-12.30', bytes: 'AP8i' }
    const more = {
      state: 'closed',
      tags: ['a', '"{},\\', ''],
      days: [1, '9223372036854775807'],
      parts: [{ a: [1] }, 'text', null],
      span: '1 day',
    }
    const rows = [{}, kind === 'sqlite' ? first : { ...first, ...more }, { price: null, bytes: null }]
    const post = (from: number, list: boolean) => {
      const body = rows.map((row, index) => ({ id: from + index, ...row }))
      return list ? [body] : body
    }
    const read = ({ body }: Result) => [body].flat().map(({ id: _, ...row }) => row as unknown)
    const bulk = read(await api.call('POST /value', { body: post(1, true)[0] }))
    const single: unknown[] = []
    for (const body of post(11, false)) single.push(...read(await api.call('POST /value', { body })))
    assert.deepEqual(bulk, single)
    assert.deepEqual((bulk[1] as { price: unknown; bytes: unknown }).bytes, first.bytes)
  })

for (const kind of ['sqlite', 'postgresql'] as const)
  test(`names and values of any characters are only names and values, ${kind}`, async (t) => {
    const postgres = kind === 'postgresql' ? await startPostgres() : undefined
    t.after(() => postgres?.stop())
    const names = [`a"b`, `c'd`, 'e ?1 $1', String.raw`f\"; drop table app_odd; --`]
    const columns = ['id', ...names]
    await using api = await openTableApi({
      url: await postgres?.createDatabase(),
      tables: {
        app_odd: {
          columns: {
            id: { type: 'integer' },
            ...Object.fromEntries(
              names.map((name, index) => [name, { type: index < 2 ? 'json' : 'text', null: true }]),
            ),
          },
          key: ['id'],
          unique: [[names[2]!]],
        },
      },
      config: { table: 'app_odd', columns, write: columns, upsert: [names[2]!], bulk: 10 },
      routes: ['POST /odd'],
      schema: [
        `create table app_odd (id integer primary key, ${names
          .map((name, index) => {
            const type = index < 2 ? (kind === 'sqlite' ? 'json_text' : 'jsonb') : 'varchar(200)'
            return `"${name.replaceAll('"', '""')}" ${type}${index === 2 ? ' unique' : ''}`
          })
          .join()})`,
      ],
    })
    const wild = [`'); drop table app_odd; --`, `"},{"id":9`, '$.x', '{}', '\u2028é😀\\', "''", 'null']
    const rows = wild.map((text, id) => ({
      id,
      [names[0]!]: { [text]: text },
      [names[1]!]: text,
      [names[2]!]: text,
      [names[3]!]: text,
    }))
    const { status, body } = await api.call('POST /odd', { body: rows })
    assert.deepEqual([status, body], [200, rows])
    const changed = rows.map(({ id: _, ...row }, index) => ({ ...row, id: index, [names[3]!]: `${index}` }))
    const again = await api.call('POST /odd', { body: changed })
    assert.equal(again.status, 200, JSON.stringify(again.body))
    assert.deepEqual(
      again.body.map((row: Record<string, unknown>) => row[names[3]!]),
      changed.map((_, index) => `${index}`),
    )
    const others = ['__proto__', 'constructor', 'id" = 1; --'].map((name) =>
      JSON.parse(`[{"id":1,${JSON.stringify(name)}:1}]`),
    )
    for (const one of others) assert.equal((await api.call('POST /odd', { body: one })).status, 400)
    assert.equal((await api.execute('select count(*) as n from app_odd'))[0]!['n'], wild.length)
  })

test('requests that lock the same rows in opposite order are repeated', async (t) => {
  const postgres = await startPostgres()
  t.after(() => postgres.stop())
  const url = await postgres.createDatabase()
  const items = {
    table: 'app_item',
    columns: ['id', 'note'],
    write: ['id', 'note'],
    upsert: ['id'],
    bulk: 10,
  } as const
  await using api = await openTableApi({
    url,
    tables: {
      app_item: { columns: { id: { type: 'integer' }, note: { type: 'text', null: true } }, key: ['id'] },
    },
    config: items,
    routes: ['POST /item'],
    schema: [
      `do $$ begin execute format('alter database %I set deadlock_timeout = ''50ms''', current_database()); end $$`,
      'create table app_item (id integer primary key, note text)',
      `insert into app_item values (1), (2), (3)`,
    ],
  })
  const countWaiting = async () => {
    const waiting = 'select 1 from pg_stat_activity where datname = current_database() and wait_event_type = $1'
    return (await api.execute(waiting, ['Lock'])).length
  }
  const lock = (transaction: typeof api.db, id: number) =>
    sql`update app_item set note = 'other' where id = ${id}`.execute(transaction)
  const [last, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const other = api.db.transaction().execute(async (transaction) => {
    await sql`set local deadlock_timeout = '1min'`.execute(transaction) // the request is ended, not this
    await lock(transaction, 3)
    last.resolve()
    while ((await countWaiting()) < 1) await delay(5)
    await lock(transaction, 1)
  })
  // Releases the second row when the other transaction already waits for the request, which then waits for the third row.
  // PostgreSQL looks for a deadlock only once for each wait, so it must exist by then.
  const between = api.db.transaction().execute(async (transaction) => {
    await lock(transaction, 2)
    second.resolve()
    while ((await countWaiting()) < 2) await delay(5)
  })
  await Promise.all([last.promise, second.promise])
  const rows = [1, 2, 3, 4].map((id) => ({ id, note: 'request' }))
  const { status, body } = await api.call('POST /item', { body: rows })
  assert.deepEqual([status, body], [200, rows])
  await Promise.all([other, between])
  assert.deepEqual(await api.execute('select id, note from app_item order by id'), rows)
})
