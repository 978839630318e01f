import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts'
import { openTableApi, users, type Call, type TableApi } from '../../../../test/support/table-api.ts'
import { orderApi } from './order-table.ts'

const attacks = [
  "'",
  "' or '1'='1",
  "'; drop table app_order; --",
  '"; delete from app_order; --',
  '1 or 1=1',
  '1); delete from app_order; --',
  '$1',
  '?1',
  ':id',
  '\\',
  '%',
  '{}',
  '{"$gt":""}',
  '[]',
  'null',
  'id desc, (select 1)',
  '-id; select pg_sleep(9)',
  '\u0000',
  '🐄',
  'x'.repeat(2000),
]

for (const kind of ['sqlite', 'postgresql'] as const) {
  describe(`lists of a table, ${kind}`, () => {
    let postgres: TestPostgres | undefined
    let api: TableApi
    before(async () => {
      if (kind === 'postgresql') postgres = await startPostgres()
      api = await openTableApi(orderApi(kind, await postgres?.createDatabase()))
    })
    after(async () => {
      await api[Symbol.asyncDispose]()
      await postgres?.stop()
    })
    const insert = (body: object = {}, user: string = users.ann) =>
      api.call('POST /order', { user, body: { total: 1, title: 'Milk', ...body } })
    const list = (query: Call['query'] = '', call: Call = {}) => api.call('GET /order', { query, ...call })
    const reset = () => api.execute('delete from app_order')

    test('have pages of the default size, newest first', async () => {
      await reset()
      for (let index = 0; index < 20; index += 1) await insert({ total: index })
      const first = (await list()).body
      assert.equal(first.entry.length, 16)
      assert.deepEqual(
        first.entry.map(({ total }: { total: number }) => total),
        Array.from({ length: 16 }, (_, index) => 19 - index),
      )
      const second = (await list({ after: first.next })).body
      assert.deepEqual([second.entry.length, second.next, second.count], [4, null, undefined])
      assert.equal((await list('count=true&limit=1')).body.count, 20)
      for (const query of ['limit=0', 'limit=101', 'limit=1.5', 'limit=x', 'count=maybe'])
        assert.equal((await list(query)).status, 400, query)
      assert.equal((await list('limit=100')).body.entry.length, 20)
    })

    test('continue exactly between times that differ in microseconds', async () => {
      await reset()
      await insert()
      const copied = 'user_id, status, total, title, version, insert_date'
      for (let index = 0; index < 20; index += 1) {
        const time = `'2026-11-20T10:00:00.12345${index % 10}Z'`
        await api.execute(
          `insert into app_order (${copied}, paid_at) select ${copied}, ${time} from app_order order by id limit 1`,
        )
      }
      for (const sort of ['paid_at', '-paid_at', 'paid_at,-id', '-paid_at,total']) {
        const found = new Set<number>()
        let after: string | undefined
        do {
          const { body } = await list({ sort, limit: 3, ...(after && { after }) })
          for (const { id } of body.entry) found.add(id)
          after = body.next ?? undefined
        } while (after !== undefined)
        assert.equal(found.size, 21, sort)
      }
    })

    test('continue after numbers that JSON does not have, which are null', async () => {
      await reset()
      for (const weight of [1, 2, 3, 4, 5, 6, null, 8]) await insert({ weight })
      const infinity = kind === 'sqlite' ? '9e999' : `'Infinity'`
      await api.execute(`update app_order set weight = ${infinity} where weight in (2, 3)`)
      await api.execute(
        `update app_order set weight = -${infinity}${kind === 'sqlite' ? '' : '::float8'} where weight in (4, 5)`,
      )
      if (kind === 'postgresql') await api.execute(`update app_order set weight = 'NaN' where weight = 6`)
      for (const sort of ['weight', '-weight', 'weight,-id', '-weight,total,-id']) {
        const found: (number | null)[] = []
        let after: string | undefined
        do {
          const { status, body } = await list({ sort, limit: 1, ...(after && { after }) })
          assert.equal(status, 200)
          for (const { weight } of body.entry) found.push(weight)
          after = body.next ?? undefined
        } while (after !== undefined && found.length < 20)
        const numbers = kind === 'sqlite' ? [1, 6, 8] : [1, 8]
        const nulls = Array.from({ length: kind === 'sqlite' ? 3 : 4 }, () => null)
        const sorted = [null, null, ...numbers, ...nulls]
        assert.deepEqual(found, sort.startsWith('-') ? sorted.toReversed() : sorted, sort)
      }
    })

    if (kind === 'sqlite') {
      test('that read many rows do not block other requests', async () => {
        await reset()
        await insert()
        const copied = 'user_id, status, total, version, insert_date'
        await api.execute(`insert into app_order (${copied}, title)
          with recursive c(n) as (select 1 union all select n + 1 from c where n < 3000)
          select ${copied}, printf('%.*c', 10000, 'x') from app_order, c`)
        for (const query of ['title.contains=none', 'sort=title', 'count=true&total.gt=5', 'flag=true&sort=-due']) {
          const counts: number[] = []
          // Several times, because the machine may hold back this thread while the other one reads.
          while (counts.length < 20 && Math.max(...counts) <= 10) {
            let turns = 0
            let isRunning = true
            const count = () => void ((turns += 1), isRunning && setImmediate(count))
            count()
            assert.equal((await list(query)).status, 200)
            isRunning = false
            counts.push(turns)
          }
          assert.ok(Math.max(...counts) > 10, `${query}: ${counts.join(', ')} turns`)
        }
      })
    }

    test('accept only cursors of the same list', async () => {
      await reset()
      for (let index = 0; index < 3; index += 1) await insert({ total: index, paid_at: '2026-11-20T10:00:00Z' })
      const { next } = (await list('limit=1&sort=paid_at&total.gte=0')).body
      const [digest, time, id] = JSON.parse(Buffer.from(next, 'base64url').toString()) as [string, string, number]
      const statusOf = async (value: unknown, query = 'limit=2&sort=paid_at&total.gte=0') => {
        const text = typeof value === 'string' ? value : Buffer.from(JSON.stringify(value)).toString('base64url')
        return (await list(`${query}&after=${encodeURIComponent(text)}`)).status
      }
      assert.equal(await statusOf(next), 200)
      for (const query of [
        '',
        'sort=-paid_at&total.gte=0',
        'sort=paid_at',
        'sort=paid_at&total.gte=1',
        'sort=paid_at&total.gt=0',
      ])
        assert.equal(await statusOf(next, query), 400, query)
      for (const value of [
        'x',
        '!!!',
        [],
        {},
        [digest],
        [digest, time],
        [digest, time, '\0'],
        [digest, time, { a: 1 }],
        [digest, time, [1]],
        [digest, time, id, 1],
        [digest, '2026\u0000', id],
        [digest, '\uD800', id],
        [digest, true, id],
        ['constructor', time, id],
        // The bytes would be the binary form of a type.
        ...(kind === 'postgresql'
          ? [
              [digest, ['AAAA'], id],
              [digest, time, ['AA==']],
            ]
          : []),
      ])
        assert.equal(await statusOf(value), 400, JSON.stringify(value))
      // SQLite compares any text; PostgreSQL rejects it.
      for (const value of [
        [digest, 'abc', id],
        [digest, time, 'abc'],
        [digest, "' or 1=1 --", id],
        [digest, time, 1e300],
      ])
        assert.ok([200, 400].includes(await statusOf(value)), JSON.stringify(value))
    })

    test('reject parameters that they do not have', async () => {
      for (const query of [
        'total[gte]=1',
        'total.gte=1&total.gte=2',
        'total.like=1',
        'secret=1',
        'user_id=1',
        'user_id.null=true',
        'shelf_id=1',
        'data=1',
        'data.contains=1',
        '__proto__=1',
        'constructor=1',
        'toString.gte=1',
        '=1',
        'title.contains=',
        `title.contains=${'x'.repeat(201)}`,
        'sort=',
        'sort=secret',
        'sort=user_id',
        'sort=--total',
        'sort=total,total',
        'sort=total,-total',
        'sort=total,weight,title,flag',
        'sort=total&sort=title',
        'after=',
        'code=abc',
        'due=2026-02-30',
        'total=2147483648',
        'large=9223372036854775808',
        'paid_at=2026-11-20T10:00:00',
        Array.from({ length: 101 }, (_, index) => `total=${index}`).join('&'),
      ])
        assert.equal((await list(query)).status, 400, query)
      const hundred = Array.from({ length: 100 }, (_, index) => `total=${index}`).join('&')
      assert.equal((await list(hundred)).status, 200)
    })

    test('find text as it is written', async () => {
      await reset()
      for (const title of ['50% off', '50 off', 'A_B', 'AxB', 'milk', 'Milk']) await insert({ title })
      const find = async (text: string) => {
        const { body } = await list({ 'title.contains': text, sort: 'id' })
        return body.entry.map(({ title }: { title: string }) => title)
      }
      assert.deepEqual(await find('0%'), ['50% off'])
      assert.deepEqual(await find('_'), ['A_B'])
      assert.deepEqual(await find('ilk'), ['milk', 'Milk'])
      assert.deepEqual(await find('m'), ['milk'])
    })

    test('compare times in UTC', async () => {
      await reset()
      await insert({ paid_at: '2026-11-20T10:00:00Z' })
      const count = async (name: string, value: string) =>
        (await list(`paid_at${name}=${encodeURIComponent(value)}`)).body.entry.length
      assert.equal(await count('', '2026-11-20T12:00:00+02:00'), 1)
      assert.equal(await count('.gt', '2026-11-20T12:00:00+03:00'), 1)
      assert.equal(await count('.lt', '2026-11-20T05:00:00-05:00'), 0)
    })

    test('are not changed by attacks on any parameter', async () => {
      await reset()
      await insert({ title: 'mine' })
      await insert({ title: 'other' }, users.bob)
      const { id } = (await list()).body.entry[0]
      const names = [
        'id',
        'total',
        'total.gte',
        'title',
        'title.contains',
        'flag',
        'flag.null',
        'paid_at',
        'due',
        'weight',
      ]
      const attacked = [...names, 'large', 'price.lt', 'code', 'sort', 'limit', 'after', 'count']
      for (const attack of attacks) {
        for (const name of attacked) {
          const { status, body } = await list({ [name]: attack })
          assert.ok(status === 200 || status === 400, `${name} ${attack} ${status}`)
          if (status === 200) for (const { title } of body.entry) assert.equal(title, 'mine')
        }
        assert.equal((await list({ [attack]: '1' })).status, 400, attack)
        const path = `/order/${encodeURIComponent(attack)}`
        for (const method of ['GET', 'DELETE']) assert.equal((await api.call(`${method} ${path}`)).status, 400)
        for (const header of ['if-match', 'if-none-match']) {
          const method = header === 'if-match' ? 'DELETE' : 'GET'
          const { status } = await api.call(`${method} /order/${id}`, { headers: { [header]: `"${attack}"` } })
          assert.ok([200, 400, 412].includes(status), `${header} ${attack} ${status}`)
        }
        if (attack === '\u0000') continue // the server rejects such bodies
        for (const name of ['title', 'data', 'large', 'code', 'paid_at', attack]) {
          const { status, body } = await api.call(`PATCH /order/${id}`, { body: { [name]: attack } })
          assert.ok(status === 200 || status === 400, `${name} ${attack} ${status}`)
          if (status === 200) assert.equal(body[name], attack)
        }
        await api.call(`PATCH /order/${id}`, { body: { title: 'mine' } })
      }
      const rows = await api.execute('select title, status from app_order order by id')
      assert.deepEqual(rows, [
        { title: 'mine', status: 1 },
        { title: 'other', status: 1 },
      ])
    })

    test('read views', async () => {
      const columns = { title: { type: 'text', null: true }, count: { type: 'bigint', null: true } } as const
      const options = orderApi(kind, await postgres?.createDatabase())
      await using api = await openTableApi({
        ...options,
        schema: [
          ...options.schema,
          'create view app_title as select title, count(*) as count from app_order group by title',
        ],
        tables: { app_title: { view: true, columns } },
        config: { table: 'app_title', columns: 'all', key: 'title', sort: ['-count'], filter: ['title'] },
        routes: ['GET /title', 'GET /title/:title'],
        isPublic: true,
      })
      const values = (title: string) => `('${users.ann}', 1, '${title}', 1, '2026-11-20T10:00:00Z')`
      for (const title of ['Milk', 'Milk', 'Bread'])
        await api.execute(`insert into app_order (user_id, total, title, version, insert_date) values ${values(title)}`)
      const anyone = { user: '' }
      const first = (await api.call('GET /title', { ...anyone, query: 'limit=1' })).body
      const second = (await api.call('GET /title', { ...anyone, query: { limit: 1, after: first.next } })).body
      assert.deepEqual(
        [...first.entry, ...second.entry],
        [
          { title: 'Milk', count: 2 },
          { title: 'Bread', count: 1 },
        ],
      )
      assert.deepEqual((await api.call('GET /title/Bread', anyone)).body, { title: 'Bread', count: 1 })
    })
  })
}
