import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TableSnapshot } from 'waypost'
import { describeTable } from '../../src/table/describe.ts'
import type { TablePlan } from '../../src/table/plan.ts'
import { orders, orderTable, run, planOf, problemsOf, propertiesOf } from './describing.ts'

test('the order of the columns in tables.json does not matter for columns that the config names', () => {
  const [first, second] = [Object.entries(orderTable.columns), Object.entries(orderTable.columns).toReversed()].map(
    (columns) => {
      const table = { ...orderTable, columns: Object.fromEntries(columns) }
      return ['GET /order', 'POST /order', 'GET /order/:id', 'PATCH /order/:id'].map((operation) => {
        const [method = '', path = ''] = operation.split(' ')
        return run(orders, [method, path], { System: { tables: { app_order: table } } })
      })
    },
  )
  assert.deepStrictEqual(first, second)
})

describe('the operation', () => {
  for (const [method, path, operation] of [
    ['GET', '/order', 'list'],
    ['POST', '/order', 'insert'],
    ['GET', '/order/:id', 'read'],
    ['PUT', '/order/:id', 'replace'],
    ['PATCH', '/order/:id', 'update'],
    ['DELETE', '/order/:id', 'delete'],
  ] as const)
    test(`of ${method} ${path} is ${operation}`, () => {
      const description = run(orders, [method, path])
      assert.deepEqual(description.problems, [])
      assert.equal(planOf(description).operation, operation)
      assert.equal(planOf(description).format, 1)
    })

  for (const [method, path, message] of [
    ['POST', '/order/:id', ' POST /order/:id ends with the key "id", so it refers to one existing row'],
    ['PUT', '/order', ' PUT /order does not end with a parameter for the key "id"'],
    [
      'GET',
      '/user/:user_id/order',
      ' The path parameter ":user_id" of /user/:user_id/order is neither the key "id" nor used',
    ],
  ] as const)
    test(`rejects ${method} ${path}`, () => assert.deepEqual(problemsOf(run(orders, [method, path])), [message]))

  test('of a composite key needs all its columns', () => {
    const config = { table: 'app_line', columns: 'all', where: { order_id: '$params.order_id' } }
    assert.deepEqual(planOf(run(config, ['GET', '/order/:order_id/line/:number'])).key, ['order_id', 'number'])
    const list = run(config, ['GET', '/order/:order_id/line'])
    assert.deepEqual([list.problems, planOf(list).list!.unique], [[], ['number']])
    assert.deepEqual(problemsOf(run({ table: 'app_line', columns: 'all' }, ['GET', '/line/:number'])), [
      ' /line/:number does not identify one row, because the key column "order_id" has no value',
    ])
  })

  test('of a view is reading, by the key that the config names', () => {
    const config = { table: 'app_report', columns: 'all', key: 'day' }
    assert.equal(planOf(run(config, ['GET', '/report/:day'])).operation, 'read')
    assert.equal(planOf(run(config, ['GET', '/report'])).operation, 'list')
    assert.match(problemsOf(run(config, ['DELETE', '/report/:day']))[0]!, /is a view, so DELETE/)
    assert.match(problemsOf(run({ table: 'app_report', columns: 'all' }))[0]!, /has no primary key/)
  })
})

describe('schemas', () => {
  const all = { table: 'app_order', columns: 'all' }

  test('a response has all its columns, and "all" leaves out types that the API does not support', () => {
    const { responses } = run({ ...all, columns: 'all' }, ['GET', '/order/:id'])
    const { required, properties } = responses!['200'] as { required: string[]; properties: Record<string, unknown> }
    assert.deepEqual(Object.keys(properties), required)
    assert.equal(required.includes('tags'), false)
    assert.deepEqual(properties['paid_at'], { type: ['string', 'null'], format: 'date-time' })
    assert.deepEqual(properties['price'], { type: ['number', 'null'] })
  })

  test('a POST requires what has no default, a PUT everything, a PATCH one property', () => {
    const config = { ...orders, write: ['total', 'note', 'large', 'title'], set: { status: 1 } }
    const [post, put, patch] = [
      run(config, ['POST']),
      run(config, ['PUT', '/order/:id']),
      run(config, ['PATCH', '/order/:id']),
    ].map(({ request }) => request as Record<string, unknown>)
    assert.deepEqual(post!['required'], ['total', 'title'])
    assert.deepEqual(put!['required'], ['total', 'note', 'large', 'title'])
    assert.deepEqual([patch!['required'], patch!['minProperties']], [undefined, 1])
    for (const schema of [post, put, patch]) {
      assert.equal(schema!['additionalProperties'], false)
      assert.equal(JSON.stringify(schema).includes('"default"'), false)
    }
    assert.deepEqual(propertiesOf(post)['total'], { type: 'integer', minimum: -(2 ** 31), maximum: 2 ** 31 - 1 })
    assert.deepEqual(propertiesOf(post)['title'], { type: 'string', maxLength: 64 })
    assert.deepEqual(propertiesOf(post)['note'], { type: ['string', 'null'] })
  })

  test('callers write the columns of responses by default, without those with values of their own', () => {
    const { request } = run(
      { ...orders, write: undefined, columns: [...orders.columns, 'title', 'label', 'user_id'] },
      ['PATCH', '/order/:id'],
    )
    assert.deepEqual(Object.keys(propertiesOf(request)), ['total'])
  })

  test('a column of "set" may be written later, and a key only in new rows', () => {
    const config = { ...orders, where: undefined, delete: undefined, write: ['status', 'total'] }
    assert.deepEqual(Object.keys(propertiesOf(run(config, ['POST']).request)), ['total'])
    assert.deepEqual(Object.keys(propertiesOf(run(config, ['PATCH', '/order/:id']).request)), ['status', 'total'])
    const lines = { table: 'app_line', columns: 'all', write: ['order_id', 'number', 'text'] }
    assert.deepEqual(planOf(run(lines, ['POST', '/line'])).write, ['order_id', 'number', 'text'])
    assert.deepEqual(planOf(run(lines, ['PUT', '/line/:order_id/:number'])).write, ['text'])
  })

  test('a list has filters, order and pages', () => {
    const { parameters, responses } = run({ ...orders, filter: ['status', 'total'] })
    const properties = propertiesOf(parameters)
    const expected = ['status', 'status.not', 'status.gt', 'status.gte', 'status.lt', 'status.lte']
    assert.deepEqual(Object.keys(properties), [
      ...expected,
      ...expected.map((name) => name.replace('status', 'total')),
      'any',
      'sort',
      'limit',
      'after',
      'count',
    ])
    assert.equal((properties['status'] as { maxItems: number }).maxItems, 100)
    assert.deepEqual(Object.keys(propertiesOf(responses!['200'])), ['entry', 'next', 'count'])
  })

  test('the default filters are the key and the first columns of indexes, within the columns', () => {
    const { parameters } = run({ ...orders, filter: undefined, columns: ['id', 'title', 'total', 'insert_date'] })
    const names = Object.keys(propertiesOf(parameters)).filter((name) => !name.includes('.'))
    assert.deepEqual(names, ['id', 'title', 'sort', 'limit', 'after', 'count'])
    assert.equal(Object.hasOwn(propertiesOf(parameters), 'title.contains'), false)
  })

  test('text that is listed can be searched, and null can be found where it is allowed', () => {
    const { parameters } = run({ ...orders, columns: [...orders.columns, 'note', 'data'], filter: ['note', 'data'] })
    const names = Object.keys(propertiesOf(parameters)).slice(0, 5)
    assert.deepEqual(names, ['note', 'note.not', 'note.contains', 'note.null', 'data.null'])
  })

  test('a path parameter has the type of the column that it is compared with', () => {
    const { params } = run({ ...orders, set: { status: 1, title: '$params.title' } }, ['POST', '/shelf/:title/order'])
    assert.deepEqual(propertiesOf(params), { title: { type: 'string', maxLength: 64, minLength: 1 } })
  })
})

describe('declared schemas', () => {
  const patch = (request: object, schemas = {}) =>
    run(orders, ['PATCH', '/order/:id', { declared: { request: request as never, responses: {} }, schemas }])

  test('narrow those of the table', () => {
    const request = { type: 'object', properties: { total: { type: 'integer', minimum: 1 } } }
    const found = patch(request).request as { allOf: object[] }
    assert.deepEqual([found, found.allOf.length], [{ ...request, allOf: found.allOf }, 1])
  })

  test('must not have properties that cannot be written', () => {
    const schemas = { Base: { properties: { status: {} } } }
    const request = { allOf: [{ $ref: 'schema:///Base' }], properties: { total: {}, version: {} } }
    assert.deepEqual(problemsOf(patch(request, schemas)), [
      ' "version" of the declared request is not writable',
      ' "status" of the declared request is not writable',
    ])
  })

  test('have no effect with their defaults in a PATCH, wherever these are', () => {
    const schemas = {
      Order: { properties: { total: { $ref: 'schema:///Total' } } },
      Total: { type: 'integer', default: 5 },
    }
    const found = patch({ $ref: 'schema:///Order' }, schemas).request
    assert.doesNotMatch(JSON.stringify(found), /"default":5/)
    assert.deepEqual(problemsOf(patch({ properties: { default: {} } })), [
      ' "default" of the declared request is not writable',
    ])
  })
})

test('a plan has what statements need, and nothing of other columns', () => {
  const { plan } = run(orders, ['PATCH', '/order/:id'])
  assert.deepEqual(JSON.parse(JSON.stringify(plan)), {
    format: 1,
    operation: 'update',
    connection: 'System',
    table: 'app_order',
    types: {
      id: { type: 'id', default: true },
      insert_date: { type: 'timestamp', default: true },
      status: { type: 'integer', default: true },
      total: { type: 'integer' },
      user_id: { type: 'uuid' },
      version: { type: 'integer', default: true },
    },
    columns: ['id', 'status', 'total', 'version', 'insert_date'],
    where: { status: { from: 'constant', value: 1 } },
    owner: { column: 'user_id' },
    version: { column: 'version', required: false },
    key: ['id'],
    identity: ['id'],
    write: ['total'],
    set: {},
  })
})

test('the default limit is at most the maximum', () => {
  assert.deepEqual(planOf(run({ ...orders, limit: { max: 5 } })).list!.limit, { default: 5, max: 5 })
  assert.deepEqual(planOf(run(orders)).list!.limit, { default: 16, max: 100 })
})

test('a change on System with an event is one transaction', () => {
  const transactionOf = (config: object, method: string, path: string) =>
    run({ ...orders, ...config }, [method, path, { dispatch: 'order_changed' }]).plan!.transaction
  assert.equal(transactionOf({}, 'POST', '/order'), 'System')
  assert.equal(transactionOf({}, 'GET', '/order'), undefined)
  assert.equal(run(orders, ['POST']).plan!.transaction, undefined)
})

test('columns with unusual names are described like others', () => {
  const columns: TableSnapshot['columns'] = {
    id: { type: 'id' },
    constructor: { type: 'text' as const },
    'a"b': { type: 'text' },
  }
  const { problems, plan } = describeTable(
    { table: 't', columns: 'all' },
    {
      method: 'GET',
      path: '/t',
      public: true,
      declared: { responses: {} },
      schemas: {},
      events: {},
      connections: {},
      databases: {},
      actions: {},
      methods: {},
    },
    { System: { tables: { t: { columns, key: ['id'] } } } },
  )
  assert.deepEqual([problems, (plan as TablePlan).columns], [[], ['id', 'constructor', 'a"b']])
})
