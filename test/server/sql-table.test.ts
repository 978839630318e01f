import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { TableSnapshot } from '../../src/contract/index.ts'
import { compareManifests } from '../../src/release/index.ts'
import { describeSystems, openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'
import { chooseKinds } from '../support/forms.ts'

const migration = `export default {
  async up(db: any, type: any) {
    await db.schema.createTable('app_order')
      .addColumn('id', type.id, (one: any) => one.primaryKey())
      .addColumn('user_id', 'varchar(36)', (one: any) => one.notNull())
      .addColumn('status', 'integer', (one: any) => one.notNull())
      .addColumn('total', 'integer', (one: any) => one.notNull())
      .addColumn('large', 'bigint')
      .addColumn('title', 'varchar(20)')
      .addColumn('data', type.json)
      .addColumn('paid_at', type.timestamp)
      .addColumn('version', 'integer', (one: any) => one.notNull())
      .addColumn('insert_date', type.timestamp, (one: any) => one.notNull())
      .execute()
  },
}
`
const order: TableSnapshot = {
  columns: {
    id: { type: 'id' },
    user_id: { type: 'text', length: 36 },
    status: { type: 'integer' },
    total: { type: 'integer' },
    large: { type: 'bigint', null: true },
    title: { type: 'text', length: 20, null: true },
    data: { type: 'json', null: true },
    paid_at: { type: 'timestamp', null: true },
    version: { type: 'integer' },
    insert_date: { type: 'timestamp' },
  },
  key: ['id'],
  index: [['user_id', 'status', 'insert_date', 'id']],
}
const writeTables = (table: TableSnapshot) =>
  JSON.stringify({
    migrations: { '20260101-order': hash('sha256', migration).slice(0, 12) },
    tables: { app_order: table },
  })
const yaml = `
event:
  order_created: { scopes: [], schema: { type: object, properties: { total: { type: integer, maximum: 100 } } } }
schema:
  Order: { type: object, properties: { total: { type: integer, minimum: 0, default: 7 }, title: { type: [string, 'null'] } } }
action:
  Orders:
    class: sql-table
    config:
      table: app_order
      columns: [id, status, total, large, title, data, paid_at, version, insert_date]
      write: [total, large, title, data, paid_at]
      set: { status: 1, insert_date: $now }
      where: { status: 1 }
      delete: { status: 0 }
      owner: { column: user_id, unless: order.all }
      version: version
      sort: [-insert_date, -id]
      sortable: [insert_date, total]
      filter: [status, total, title, large]
routes:
  /order:
    scopes: [order]
    methods:
      GET: { action: Orders }
      POST: { action: Orders, request: Order, dispatch: order_created }
  /order/:id:
    scopes: [order]
    methods:
      GET: { action: Orders }
      PUT: { action: Orders }
      PATCH: { action: Orders, request: Order }
      DELETE: { action: Orders }
  /early/:id:
    scopes: [order]
    path: { id: { type: string, maxLength: 3, description: The number of an early order } }
    methods:
      GET: { action: Orders }
`

describeSystems('a table as an API', chooseKinds('sqlite'), ({ newSystem }) => {
  let server: ProjectServer
  let ann: { authorization: string }
  let bob: { authorization: string }
  before(async () => {
    server = await openProjectServer({
      files: {
        'waypost.yml': yaml,
        'migrations/System/20260101-order.ts': migration,
        'migrations/System/tables.json': writeTables(order),
      },
      systemUrl: await newSystem(),
      isDevelopment: true,
    })
    ann = await server.authorize('ann', ['order'])
    bob = await server.authorize('bob', ['order'])
  })
  after(() => server[Symbol.asyncDispose]())
  const call = (operation: string, body?: unknown, headers: Record<string, string> = ann) => {
    const [method = '', path = ''] = operation.split(' ')
    return send(server.port, { method, path, headers, ...(body === undefined ? {} : { body }) })
  }

  test('serves every method', async () => {
    const posted = await call('POST /order', { total: 5, title: 'Milk', data: '1', large: '9007199254740993' })
    assert.equal(posted.status, 201, posted.text)
    const { id } = posted.body
    assert.deepEqual([posted.headers['location'], posted.headers['etag']], [`/order/${id}`, '"1"'])
    assert.deepEqual([posted.body.large, posted.body.data], ['9007199254740993', '1'])
    const got = await call(`GET /order/${id}`)
    assert.deepEqual([got.status, got.body, got.headers['etag']], [200, posted.body, '"1"'])
    const cached = await call(`GET /order/${id}`, undefined, { ...ann, 'if-none-match': '"1"' })
    assert.deepEqual([cached.status, cached.text], [304, ''])
    const weak = await call(`PATCH /order/${id}`, { title: null }, { ...ann, 'if-match': 'W/"1"' })
    assert.equal(weak.status, 412)
    const patched = await call(`PATCH /order/${id}`, { title: null }, { ...ann, 'if-match': '"1"' })
    assert.deepEqual([patched.status, patched.body.total, patched.body.title], [200, 5, null])
    assert.equal((await call(`PATCH /order/${id}`, { title: 'x' }, { ...ann, 'if-match': '"1"' })).status, 412)
    const put = await call(`PUT /order/${id}`, {
      total: 6,
      title: 'x',
      data: null,
      large: null,
      paid_at: '2026-11-20T10:00:00+02:00',
    })
    assert.deepEqual([put.status, put.body.paid_at], [200, '2026-11-20T08:00:00.000Z'])
    assert.equal((await call(`GET /order/${id}`, undefined, bob)).status, 404)
    assert.equal((await call(`PATCH /order/${id}`, { title: 'x' }, { ...bob, 'if-match': '"1"' })).status, 404)
    const list = await call('GET /order?count=true&total=6&total=7')
    assert.deepEqual(list.body, { entry: [put.body], next: null, count: 1 })
    assert.deepEqual((await call('GET /order', undefined, bob)).body, { entry: [], next: null })
    const deleted = await call(`DELETE /order/${id}`)
    assert.deepEqual([deleted.status, deleted.text], [204, ''])
    assert.equal((await call(`DELETE /order/${id}`)).status, 404)
  })

  test('narrows by declared schemas, whose defaults a PATCH ignores', async () => {
    const posted = await call('POST /order', { title: 'default' })
    assert.deepEqual([posted.status, posted.body.total], [201, 7])
    const { id } = posted.body
    assert.equal((await call('POST /order', { total: -1 })).status, 400)
    assert.equal((await call('POST /order', { total: 1, status: 2 })).status, 400)
    assert.equal((await call('POST /order', { total: 1, title: 'x'.repeat(21) })).status, 400)
    assert.equal((await call(`PATCH /order/${id}`, {})).status, 400)
    await call(`PATCH /order/${id}`, { total: 9 })
    const { body } = await call(`PATCH /order/${id}`, { title: 'only' })
    assert.deepEqual([body.total, body.title], [9, 'only'])
  })

  test('narrows path parameters by a declared path', async () => {
    const { id } = (await call('POST /order', { total: 1 })).body
    assert.equal((await call(`GET /early/${id}`)).body.id, id)
    assert.equal((await call('GET /early/999')).status, 404)
    for (const wrong of ['1000', 'abc', '1.5']) assert.equal((await call(`GET /early/${wrong}`)).status, 400, wrong)
    const { paths } = (await call('GET /openapi.json')).body
    const [parameter] = paths['/early/{id}'].get.parameters
    assert.deepEqual([parameter.name, parameter.in, parameter.required], ['id', 'path', true])
    assert.match(JSON.stringify(parameter), /"integer".*"maxLength":3|"maxLength":3.*"integer"/)
  })

  test('never rounds an id', async () => {
    const row = {
      id: 9007199254740993n,
      user_id: 'x',
      status: 1,
      total: 77,
      version: 1,
      insert_date: '2026-01-01T00:00:00.000Z',
    }
    await server.host.system.db
      .insertInto('app_order' as never)
      .values(row)
      .execute()
    const all = await server.authorize('eve', ['order', 'order.all'])
    // Not with `send`, which compares the answer with /openapi.json: the schema does not allow null.
    const list = await fetch(`http://127.0.0.1:${server.port}/order?total=77`, { headers: all })
    const { entry } = (await list.json()) as { readonly entry: readonly { readonly id: unknown }[] }
    assert.deepEqual([list.status, entry[0]!.id], [200, null])
    const logged = server.logs.find((line) => line['column'] === 'id')
    assert.equal(logged?.['table'], 'app_order')
    assert.match(String(logged?.['msg']), /use a column of the type bigint/)
    assert.equal((await call('GET /order/9007199254740993', undefined, all)).status, 400)
    await server.host.system.db
      .deleteFrom('app_order' as never)
      .where('total' as never, '=', 77 as never)
      .execute()
  })

  test('stores no row whose event cannot be dispatched', async () => {
    assert.equal((await call('POST /order', { total: 101, title: 'lost' })).status, 500)
    assert.deepEqual((await call('GET /order?title=lost')).body.entry, [])
  })

  test('rejects requests that no client should send', async () => {
    for (const path of [
      '?total[gte]=1',
      '?__proto__=1',
      '?constructor=1',
      '?total.gte=1&total.gte=2',
      '?after=%00',
      '?titel=x',
      '/1%00',
      '/x',
    ])
      assert.equal((await call(`GET /order${path}`)).status, 400, path)
    const { errors } = (await call('GET /order?titel=x')).body
    assert.deepEqual(errors, [{ path: 'query/titel', message: 'is unknown. Did you mean "title"?' }])
    for (const body of [
      '{"total": 1, "__proto__": {}}',
      '{"total": 1, "constructor": 1}',
      '{"total": 1e400}',
      '{"total": 1, "data": [1e400]}',
      '{"total": 1, "title": "\\u0000"}',
      '{"large": 9007199254740993, "total": 1}',
    ]) {
      const headers = { ...ann, 'content-type': 'application/json' }
      const { status } = await send(server.port, { method: 'POST', path: '/order', headers, body })
      assert.equal(status, 400, body)
    }
  })

  test('is documented', async () => {
    const { paths } = (await call('GET /openapi.json')).body
    const names = new Set(paths['/order'].get.parameters.map(({ name }: { name: string }) => name))
    assert.ok(['total.gte', 'title.contains', 'sort', 'limit', 'after', 'count'].every((name) => names.has(name)))
    assert.deepEqual(Object.keys(paths['/order/{id}']), ['get', 'put', 'patch', 'delete'])
    const { post } = paths['/order']
    assert.deepEqual(Object.keys(post.responses['201'].headers), ['Location', 'ETag'])
    const { get, put, patch, delete: remove } = paths['/order/{id}']
    const headersOf = ({ parameters }: { parameters: readonly { $ref?: string }[] }) =>
      parameters.flatMap(({ $ref }) => ($ref === undefined ? [] : [$ref.split('/').at(-1)]))
    assert.deepEqual([headersOf(get), Object.keys(get.responses['304'].headers)], [['If-None-Match'], ['ETag']])
    for (const change of [put, patch, remove]) {
      assert.deepEqual(headersOf(change), ['If-Match', 'If-None-Match'])
      assert.equal(change.responses['412'].$ref, '#/components/responses/PreconditionFailed')
      assert.equal(change.responses['428'], undefined)
    }
    assert.deepEqual(Object.keys(patch.responses['200'].headers), ['ETag'])
  })

  test('breaks callers when a column is dropped or narrowed', async () => {
    const columns = { ...order.columns, title: { type: 'text', length: 10, null: true } }
    const stored = await server.deploy({
      'waypost.yml': yaml.replaceAll(' large,', '').replace(', large]', ']'),
      'migrations/System/tables.json': writeTables({ ...order, columns } as TableSnapshot),
    })
    const changes = compareManifests(server.release.manifest, stored.manifest)
    const breaking = changes.flatMap(({ name, details }) =>
      details.flatMap((one) => (one.breaking ? `${name} ${one.text}` : [])),
    )
    for (const text of [
      'GET /order query: "large" is no longer accepted',
      'GET /order response 200: "entry[].large" removed',
      'PATCH /order/:id request: "title" maxLength 10, was 20',
    ])
      assert.ok(breaking.includes(text), breaking.join('\n'))
  })
})
