import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts'
import { orderApi, orders } from './order-table.ts'
import { openTableApi, users, type Result, type TableApi } from '../../../../test/support/table-api.ts'

const body = { total: 5, title: 'Milk' }

for (const kind of ['sqlite', 'postgresql'] as const) {
  describe(`rows of a table, ${kind}`, () => {
    let postgres: TestPostgres | undefined
    let api: TableApi
    const newUrl = async () => postgres?.createDatabase()
    before(async () => {
      if (kind === 'postgresql') postgres = await startPostgres()
      api = await openTableApi(orderApi(kind, await newUrl()))
    })
    after(async () => {
      await api[Symbol.asyncDispose]()
      await postgres?.stop()
    })
    const insert = async (more: object = {}, user: string = users.ann): Promise<Result> => {
      const result = await api.call('POST /order', { user, body: { ...body, ...more } })
      assert.equal(result.status, 201, JSON.stringify(result.body))
      return result
    }
    const statusOf = async (operation: string, call = {}) => (await api.call(operation, call)).status

    test('are inserted, read, changed and deleted', async () => {
      const inserted = await insert()
      const { id } = inserted.body
      assert.deepEqual(inserted.headers, { location: `/order/${id}`, etag: '"1"' })
      assert.deepEqual(inserted.body, {
        ...Object.fromEntries(orders.columns.map((name) => [name, null])),
        ...body,
        id,
        status: 1,
        always: {},
        version: 1,
        insert_date: '2026-11-23T12:00:00.000Z',
      })
      assert.deepEqual((await api.call(`GET /order/${id}`)).body, inserted.body)
      const patched = await api.call(`PATCH /order/${id}`, { body: { total: 6 } })
      assert.deepEqual([patched.status, patched.headers['etag']], [200, '"2"'])
      assert.deepEqual(patched.body, { ...inserted.body, total: 6, version: 2 })
      assert.equal(await statusOf(`PUT /order/${id}`, { body: { total: 7 } }), 400)
      const { id: _, status: _status, version: _version, insert_date: _date, ...all } = inserted.body
      const put = await api.call(`PUT /order/${id}`, { body: { ...all, title: 'Bread' } })
      assert.deepEqual(put.body, { ...inserted.body, title: 'Bread', version: 3 })
      assert.deepEqual(await api.call(`DELETE /order/${id}`), { status: 204, body: null, headers: {} })
      for (const method of ['GET', 'DELETE']) assert.equal(await statusOf(`${method} /order/${id}`), 404)
      assert.equal(await statusOf(`PUT /order/${id}`, { body: all }), 404)
      const rows = await api.execute(`select status, version from app_order where id = ${id}`)
      assert.deepEqual(rows, [{ status: 0, version: 4 }])
    })

    test('of other users do not exist, unless the caller has the scope', async () => {
      const { id } = (await insert({}, users.bob)).body
      const others = { user: users.ann, headers: { 'if-match': '"9"' } }
      assert.equal(await statusOf(`GET /order/${id}`), 404)
      assert.equal(await statusOf(`PATCH /order/${id}`, { ...others, body: { total: 1 } }), 404)
      assert.equal(await statusOf(`DELETE /order/${id}`, others), 404)
      assert.equal((await api.call('GET /order', { query: { id } })).body.entry.length, 0)
      const all = { scopes: ['order.all'] }
      assert.equal(await statusOf(`GET /order/${id}`, all), 200)
      assert.equal((await api.call('GET /order', { query: { id }, ...all })).body.entry.length, 1)
      assert.equal(await statusOf(`PATCH /order/${id}`, { ...all, body: { total: 2 } }), 200)
      assert.equal(await statusOf(`GET /order/${id}`, { user: users.bob }), 200)
    })

    test('have versions', async () => {
      const { id, status: _status, version: _version, insert_date: _date, ...full } = (await insert()).body
      const get = (etag: string) => api.call(`GET /order/${id}`, { headers: { 'If-None-Match': etag } })
      assert.deepEqual(await get('"1"'), { status: 304, body: null, headers: { etag: '"1"' } })
      for (const [etag, status] of [
        ['W/"1"', 304],
        ['"0", W/"1"', 304],
        ['*', 304],
        ['"2"', 200],
        ['1', 200],
        ['', 200],
      ] as const)
        assert.equal((await get(etag)).status, status, etag)
      const patch = (etag: string) =>
        statusOf(`PATCH /order/${id}`, { body: { total: 1 }, headers: { 'If-Match': etag } })
      for (const [etag, status] of [
        ['"0"', 412],
        ['"99999999999"', 412],
        ['"x"', 412],
        ['"5", "6"', 412],
        ['1', 400],
        ['"1"', 200],
        ['W/"2"', 412], // If-Match compares strongly (RFC 9110 §13.1.1)
        ['"9", W/"2"', 412],
        ['W/"9", "2"', 200],
        ['*', 200],
        ['"3"', 412],
      ] as const)
        assert.equal(await patch(etag), status, etag)
      for (const operation of [`PATCH /order/${id}`, `PUT /order/${id}`, `DELETE /order/${id}`]) {
        const unless = (etag: string, more = {}) =>
          statusOf(operation, {
            body: operation.startsWith('PUT') ? full : { total: 1 },
            headers: { 'If-None-Match': etag, ...more },
          })
        for (const etag of ['*', '"4"', 'W/"4"', '"9", "4"']) assert.equal(await unless(etag), 412, operation)
        assert.equal(await unless('4'), 400, operation)
      }
      const other = (await insert()).body.id
      const withOther = { body: { total: 1 }, headers: { 'If-None-Match': '"9"' } }
      assert.equal(await statusOf(`PATCH /order/${other}`, withOther), 200)
      assert.equal(await statusOf(`PATCH /order/${other}`, { ...withOther, user: users.bob }), 404)
      assert.equal(
        await statusOf('PATCH /order/999999', { body: { total: 1 }, headers: { 'If-None-Match': '*' } }),
        404,
      )
      assert.equal(await statusOf(`DELETE /order/${id}`, { headers: { 'If-Match': '"3"' } }), 412)
      assert.equal(await statusOf(`DELETE /order/${id}`, { headers: { 'If-Match': 'W/"4"' } }), 412)
      assert.equal(await statusOf(`DELETE /order/${id}`, { headers: { 'If-Match': '"4"' } }), 204)
    })

    test('with a required version need If-Match', async () => {
      const version = { column: 'version', required: true }
      await using api = await openTableApi(orderApi(kind, await newUrl(), { config: { ...orders, version } }))
      const { id } = (await api.call('POST /order', { body })).body
      assert.equal((await api.call(`PATCH /order/${id}`, { body: { total: 1 } })).status, 428)
      assert.equal((await api.call(`DELETE /order/${id}`)).status, 428)
    })

    test('are changed by one of twenty writers with the same version', async () => {
      const { id } = (await insert()).body
      const writers = Array.from({ length: 20 }, (_, total) =>
        statusOf(`PATCH /order/${id}`, { body: { total }, headers: { 'If-Match': '"1"' } }),
      )
      const found = await Promise.all(writers)
      assert.deepEqual(
        found.toSorted((a, b) => a - b),
        [200, ...Array.from({ length: 19 }, () => 412)],
      )
    })

    test('take only columns that callers write, by any method', async () => {
      const { id, ...row } = (await insert()).body
      for (const name of [
        'id',
        'user_id',
        'status',
        'secret',
        'version',
        'insert_date',
        'constructor',
        'toString',
        '__proto__',
      ])
        for (const [method, path, known] of [
          ['POST', '/order', body],
          ['PUT', `/order/${id}`, row],
          ['PATCH', `/order/${id}`, {}],
        ] as const) {
          const { id: _, status: _status, version: _version, insert_date: _date, ...writable } = known
          const sent = JSON.parse(
            `{ ${JSON.stringify(name)}: 1, ${JSON.stringify(writable).slice(1)}`.replace(', }', '}'),
          )
          assert.equal(await statusOf(`${method} ${path}`, { body: sent }), 400, `${method} ${name}`)
        }
      assert.equal(await statusOf(`PATCH /order/${id}`, { body: {} }), 400)
      assert.deepEqual((await api.call(`GET /order/${id}`)).body, { id, ...row })
    })

    test('keep the values of each type', async () => {
      for (const [name, sent, expected = sent] of [
        ['data', '1'],
        ['data', 1],
        ['data', true],
        ['data', 'abc'],
        ['data', [1, { a: null }]],
        ['data', null],
        ['always', null],
        ['always', 'null'],
        ['flag', false],
        ['total', -(2 ** 31)],
        ['total', 2 ** 31 - 1],
        ['large', 2 ** 53 - 1],
        ['large', '9007199254740993'],
        ['large', '-9223372036854775808'],
        ['large', '7', 7],
        ['weight', 0.1],
        ['weight', 1e300],
        ['weight', -5],
        ['price', 1.25],
        ['title', '🐄🐄🐄🐄🐄🐄🐄🐄'],
        ['due', '2026-02-28'],
        ['code', '0190A0A0-0000-7000-8000-00000000000C', '0190a0a0-0000-7000-8000-00000000000c'],
        ['paid_at', '2026-11-20T10:00:00+02:00', '2026-11-20T08:00:00.000Z'],
        ['paid_at', '2026-11-20T10:00:00.123000789Z', '2026-11-20T10:00:00.123Z'],
        ['paid_at', '2026-11-20T10:00:00.123456Z', `2026-11-20T10:00:00.123${kind === 'sqlite' ? '' : '456'}Z`],
        ['paid_at', '2026-12-31T23:59:60Z', '2027-01-01T00:00:00.000Z'],
        ['paid_at', '0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
      ] as const) {
        const inserted = await insert({ [name]: sent })
        assert.deepEqual(inserted.body[name], expected, `POST ${name} ${JSON.stringify(sent)}`)
        const { body } = await api.call(`PATCH /order/${inserted.body.id}`, { body: { [name]: sent, code: null } })
        if (name !== 'code') assert.deepEqual(body[name], expected, `PATCH ${name} ${JSON.stringify(sent)}`)
      }
    })

    test('reject values that no database could store', async () => {
      const { id } = (await insert()).body
      for (const [name, value] of [
        ['total', 2 ** 31],
        ['total', 1.5],
        ['total', '5'],
        ['total', null],
        ['large', 2 ** 53],
        ['large', '9223372036854775808'],
        ['large', '1.5'],
        ['title', '🐄🐄🐄🐄🐄🐄🐄🐄🐄'],
        ['due', '2026-02-30'],
        ['due', '0000-01-01'],
        ['code', 'abc'],
        ['code', 'urn:uuid:0190a0a0-0000-7000-8000-00000000000c'],
        ['paid_at', '2026-02-30T10:00:00Z'],
        ['paid_at', '2026-11-20T10:00:00'],
        ['paid_at', '0000-06-01T10:00:00Z'],
        ['paid_at', '9999-12-31T23:00:00-02:00'],
        ['flag', 'true'],
        ['weight', 'NaN'],
      ] as const) {
        const found = [
          await statusOf('POST /order', { body: { ...body, [name]: value } }),
          await statusOf(`PATCH /order/${id}`, { body: { [name]: value } }),
        ]
        assert.deepEqual(found, [400, 400], `${name} ${JSON.stringify(value)}`)
      }
      if (kind === 'postgresql') assert.equal(await statusOf(`PATCH /order/${id}`, { body: { price: 12345 } }), 400)
      for (const text of ['abc', '1.5', '9007199254740993', '', '%', "1' or '1'='1"])
        assert.equal(await statusOf(`GET /order/${encodeURIComponent(text)}`), 400, text)
    })

    test('conflict without naming hidden columns', async () => {
      const { id } = (await insert({ code: '0190a0a0-0000-7000-8000-0000000000ff' })).body
      const conflict = await api.call('POST /order', {
        body: { ...body, code: '0190a0a0-0000-7000-8000-0000000000ff' },
      })
      assert.deepEqual(
        [conflict.status, conflict.body.errors],
        [409, [{ path: 'body/code', message: 'is already taken' }]],
      )
      for (const broken of [
        await api.call(`PATCH /order/${id}`, { body: { shelf_id: 99 } }),
        await api.call('POST /order', { body: { ...body, shelf_id: '99' } }),
      ])
        assert.deepEqual(
          [broken.status, broken.body.errors],
          [409, [{ path: 'body/shelf_id', message: 'refers to something that does not exist' }]],
        )
      assert.equal(await statusOf(`PATCH /order/${id}`, { body: { total: 666 } }), 409)
      const config = { ...orders, set: { ...orders.set, secret: 'same' } }
      await using other = await openTableApi(orderApi(kind, await newUrl(), { config }))
      await other.call('POST /order', { body })
      const hidden = await other.call('POST /order', { body })
      assert.equal(hidden.status, 409)
      assert.doesNotMatch(JSON.stringify(hidden.body), /secret/)
    })

    test('are not changed by defaults of a declared schema', async () => {
      const request = {
        type: 'object',
        properties: { total: { type: 'integer', default: 99 }, title: { default: 'x' } },
      }
      const requests = { 'PATCH /order/:id': request, 'POST /order': request }
      await using api = await openTableApi(orderApi(kind, await newUrl(), { requests }))
      const inserted = await api.call('POST /order', { body: {} })
      assert.deepEqual([inserted.body.total, inserted.body.title], [99, 'x'])
      const { id } = (await api.call('POST /order', { body })).body
      const { body: patched } = await api.call(`PATCH /order/${id}`, { body: { flag: true } })
      assert.deepEqual([patched.total, patched.title, patched.flag], [5, 'Milk', true])
    })

    test('are removed from the table without "delete" in the config', async () => {
      const config = { ...orders, delete: undefined, where: undefined } as never
      await using api = await openTableApi(orderApi(kind, await newUrl(), { config }))
      const { id } = (await api.call('POST /order', { body })).body
      assert.equal((await api.call(`DELETE /order/${id}`, { headers: { 'If-Match': '"1"' } })).status, 204)
      assert.deepEqual(await api.execute('select id from app_order'), [])
      assert.equal((await api.call(`DELETE /order/${id}`)).status, 404)
    })
  })
}
