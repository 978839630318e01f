import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ActionDescription, ActionUse, TableSnapshot } from 'waypost'
import type { TableConfig } from '../../src/table/config.ts'
import { describeTable } from '../../src/table/describe.ts'
import type { TablePlan } from '../../src/table/plan.ts'

const order: TableSnapshot = {
  columns: {
    id: { type: 'id', default: true },
    user_id: { type: 'uuid' },
    status: { type: 'integer', default: true },
    total: { type: 'integer' },
    title: { type: 'text', length: 64 },
    note: { type: 'text', null: true },
    paid_at: { type: 'timestamp', null: true },
    due: { type: 'date', null: true },
    weight: { type: 'number', null: true },
    large: { type: 'bigint', default: true },
    data: { type: 'json', null: true },
    price: { type: 'other', as: 'numeric(12,2)', null: true },
    tags: { type: 'other', as: 'text[]', null: true },
    label: { type: 'text', null: true, generated: true },
    version: { type: 'integer', default: true },
    insert_date: { type: 'timestamp', default: true },
  },
  key: ['id'],
  unique: [['title']],
  index: [['user_id', 'status', 'insert_date', 'id']],
}
const line: TableSnapshot = {
  columns: { order_id: { type: 'bigint' }, number: { type: 'integer' }, text: { type: 'text', null: true } },
  key: ['order_id', 'number'],
}
const report: TableSnapshot = {
  view: true,
  columns: { day: { type: 'date', null: true }, count: { type: 'bigint', null: true } },
}
const tables = { System: { tables: { app_order: order, app_line: line, app_report: report } } }

const orders = {
  table: 'app_order',
  columns: ['id', 'status', 'total', 'version', 'insert_date'],
  write: ['total'],
  set: { status: 1, insert_date: '$now', title: 'new' },
  where: { status: 1 },
  delete: { status: 0 },
  owner: 'user_id',
  version: 'version',
  sort: ['-insert_date', '-id'],
  sortable: ['insert_date', 'total'],
  filter: ['status'],
  unindexed: ['total'],
} satisfies TableConfig

function run(
  config: object,
  [method = 'GET', path = '/order', more = {}]: readonly [string?, string?, Partial<ActionUse>?] = [],
): ActionDescription {
  const use = {
    method,
    path,
    public: false,
    declared: { responses: {} },
    schemas: {},
    events: {},
    connections: {},
    actions: {},
    ...more,
  }
  return describeTable(config as TableConfig, use, tables)
}

const planOf = (description: ActionDescription) => description.plan as TablePlan
/** `POINTER message`, with the severity of warnings. */
const problemsOf = ({ problems = [] }: ActionDescription) =>
  problems.map(({ at, message, severity }) => `${severity === 'warning' ? 'warning ' : ''}${at} ${message}`)

function propertiesOf(schema: unknown): Record<string, unknown> {
  return (schema as { properties: Record<string, unknown> }).properties
}

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
    const expected = ['status', 'status.gt', 'status.gte', 'status.lt', 'status.lte']
    assert.deepEqual(Object.keys(properties), [
      ...expected,
      ...expected.map((name) => name.replace('status', 'total')),
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
    const names = Object.keys(propertiesOf(parameters)).slice(0, 4)
    assert.deepEqual(names, ['note', 'note.contains', 'note.null', 'data.null'])
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

describe('problems', () => {
  for (const [name, config, expected, use] of [
    ['a table of Waypost', { table: 'waypost_user' }, '/table The table "waypost_user" belongs to Waypost'],
    [
      'a table of Waypost in upper case',
      { table: 'WAYPOST_user' },
      '/table The table "WAYPOST_user" belongs to Waypost',
    ],
    ['an unknown table', { table: 'orders' }, '/table Unknown table "orders"'],
    ['an unknown connection', { connection: 'Shop' }, '/connection The tables of the connection "Shop" are not known'],
    ['an unknown column', { columns: [...orders.columns, 'tatal'] }, '/columns/5 Unknown column "tatal"'],
    ['an inherited name', { columns: [...orders.columns, 'constructor'] }, '/columns/5 Unknown column "constructor"'],
    [
      'a type that is not supported',
      { columns: [...orders.columns, 'tags'] },
      '/columns/5 The column "tags" is not supported: its type is text[]',
    ],
    [
      'an owner of a public method',
      {},
      '/owner GET /order is public, so it has no user who could own rows',
      ['GET', '/order', { public: true }],
    ],
    [
      'an owner that is not text',
      { owner: 'total', write: [] },
      '/owner The owner column "total" must have the type text or uuid, not integer',
    ],
    [
      'a version that is not an integer',
      { version: 'note' },
      '/version The version column "note" must have the type integer or bigint and not allow null',
    ],
    [
      'a computed column that callers write',
      { write: ['label'] },
      '/write/0 Callers cannot write the column "label": the database computes it',
    ],
    [
      'a condition that callers write',
      { write: ['status'] },
      '/write/0 Callers cannot write the column "status": it is in "where", or the owner or version column',
    ],
    [
      'a constant of another type',
      { where: { status: 'open' } },
      '/where/status The value of "status" must be an integer of 32 bits',
    ],
    [
      'a text that is too long',
      { set: { title: 'x'.repeat(65) } },
      '/set/title The value of "title" must have at most 64 characters',
      ['POST'],
    ],
    [
      'an unknown reference',
      { where: { status: '$user.name' } },
      '/where/status The value of "status" must be a constant, $now, $user.id or $params.NAME, not "$user.name"',
    ],
    [
      'the time as a condition',
      { where: { insert_date: '$now' }, delete: undefined },
      '/where/insert_date The value of "insert_date" must not be $now: no row has the current time',
    ],
    [
      'a parameter that the path lacks',
      { where: { total: '$params.total' }, delete: undefined },
      '/where/total The value of "total" cannot be $params.total: /order has no such parameter',
    ],
    [
      'a deletion without effect',
      { delete: { status: 1 } },
      '/delete Deleted rows would still exist for the API, because "delete" does not contradict "where"',
    ],
    [
      'new rows that do not exist',
      { set: { status: 2, title: 'a' } },
      '/set/status New rows would not exist for the API, because "where" requires another "status"',
      ['POST'],
    ],
    [
      'new rows without a value',
      { set: { status: 1 } },
      '/write New rows have no value for the column "title"',
      ['POST'],
    ],
    [
      'a change of a condition',
      { set_on_update: { status: 1 } },
      '/set_on_update/status "status" identifies the row, so a change must keep its value',
    ],
    [
      'an order by a hidden column',
      { sort: ['note'] },
      '/sort/0 Lists cannot be sorted by "note", which is not in "columns"',
    ],
    [
      'a filter by a hidden column',
      { filter: ['note'] },
      '/filter/0 Lists cannot be filtered by "note": it is not in "columns"',
    ],
    [
      'a hidden key',
      { columns: ['total', 'insert_date'], sort: undefined, sortable: undefined, filter: undefined },
      '/columns Lists need the key column "id", because "next" contains it',
    ],
    [
      'a default limit beyond the maximum',
      { limit: { default: 20, max: 10 } },
      '/limit/default The default limit 20 is higher than the maximum 10',
    ],
  ] as const)
    test(name, () => {
      const found = problemsOf(run({ ...orders, ...config }, use as never)).filter((one) => !one.startsWith('warning'))
      assert.deepEqual(found, [expected])
    })

  test('a method that cannot write anything', () => {
    const found = problemsOf(run({ ...orders, write: [] }, ['PATCH', '/order/:id']))
    assert.deepEqual(found, ['/write PATCH /order/:id cannot write any column'])
  })

  test('warnings: orders and filters without an index, unless they are accepted', () => {
    const table = {
      ...orders,
      unindexed: undefined,
      sort: ['-insert_date'],
      sortable: ['insert_date', 'total'],
      filter: ['total', 'id'],
    }
    const accept = (...unindexed: string[]) => problemsOf(run({ ...table, unindexed }))
    const [sorted, filtered] = [
      'warning /sortable/1 No index of "app_order" serves this list with ?sort=total, so each request reads many rows',
      'warning /filter/0 No index of "app_order" serves this list with ?total=, so each request reads many rows',
    ]
    assert.deepEqual(problemsOf(run(table)), [sorted, filtered])
    assert.deepEqual(accept('total'), [])
    assert.deepEqual(accept('total', 'id'), [
      'warning /unindexed/1 Indexes serve all lists that are sorted or filtered by "id"',
    ])
    assert.match(accept('totals').join(), /^\/unindexed\/0 Unknown column "totals"/)
    const all =
      'warning /table No index of "app_order" serves this list for callers with the scope "order.all", so each request reads many rows'
    const shared = { ...table, owner: { column: 'user_id', unless: 'order.all' } }
    assert.deepEqual(problemsOf(run(shared)), [all, sorted, filtered])
    assert.deepEqual(problemsOf(run({ ...shared, unindexed: ['insert_date', 'total'] })), [])
  })

  test('warnings: a list without an index, and numbers that lose digits', () => {
    const filters = { sortable: undefined, filter: undefined, unindexed: undefined }
    assert.deepEqual(
      problemsOf(run({ ...orders, ...filters, columns: [...orders.columns, 'price'], sort: ['total'] })),
      [
        'warning /table No index of "app_order" serves this list, so each request reads many rows',
        'warning /columns/5 "price" has the type numeric(12,2), whose values lose digits as JSON numbers',
      ],
    )
    assert.deepEqual(problemsOf(run({ table: 'app_line', columns: ['number', 'order_id'] })), [])
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
      actions: {},
    },
    { System: { tables: { t: { columns, key: ['id'] } } } },
  )
  assert.deepEqual([problems, (plan as TablePlan).columns], [[], ['id', 'constructor', 'a"b']])
})

describe('owner rules and references', () => {
  const ticket: TableSnapshot = { columns: { id: { type: 'id' }, user_id: { type: 'uuid' } }, key: ['id'] }
  const reference = { columns: ['ticket_id'], table: 'ticket', to: ['id'] }
  const note: TableSnapshot = {
    columns: { id: { type: 'id' }, ticket_id: { type: 'bigint' }, code: { type: 'text' } },
    key: ['id'],
    unique: [['code'], ['ticket_id', 'code']],
    index: [['ticket_id']],
    references: [reference],
  }
  const Tickets = { table: 'ticket', columns: 'all', owner: 'user_id' } as const
  const notes: TableConfig = { table: 'note', columns: ['id', 'ticket_id'], owner: { through: 'ticket_id' } }
  const of = (
    config: TableConfig,
    { method = 'PUT', path = '/note/:id', actions = { Tickets }, table = note, isPublic = false }: Partial<Place> = {},
  ) => {
    const use = {
      method,
      path,
      public: isPublic,
      declared: { responses: {} },
      schemas: {},
      events: {},
      connections: {},
    }
    const description = describeTable(config, { ...use, actions }, { System: { tables: { ticket, note: table } } })
    return { problems: problemsOf(description), plan: description.plan as TablePlan }
  }
  interface Place {
    readonly method: string
    readonly path: string
    readonly actions: ActionUse['actions']
    readonly table: TableSnapshot
    readonly isPublic: boolean
  }

  test('a row belongs to whoever owns the row that it refers to', () => {
    const { problems, plan } = of(notes)
    assert.deepEqual(problems, [])
    const rule = { table: 'ticket', types: { user_id: { type: 'uuid' } }, where: {}, owner: { column: 'user_id' } }
    assert.deepEqual(plan.owner, { column: 'ticket_id', parent: { to: 'id', rule } })
    assert.deepEqual(plan.references, [{ columns: ['ticket_id'], to: ['id'], rule }])
  })

  test('a row that could belong to nobody is an error', () => {
    const nullable = { ...note, columns: { ...note.columns, ticket_id: { type: 'bigint', null: true } } } as const
    const lost = { ...note, references: [{ ...reference, on_delete: 'set null' }] } as const
    const message = '/owner/through Rows could have no owner, because "ticket_id"'
    assert.deepEqual(of(notes, { table: nullable }).problems, [`${message} allows null`])
    assert.deepEqual(of(notes, { table: lost }).problems, [`${message} is "on delete set null"`])
    assert.deepEqual(of({ ...notes, owner: { through: 'code' } }).problems, [
      '/owner/through "code" does not refer to another table',
    ])
    assert.deepEqual(of(notes, { actions: {} }).problems, [
      '/owner/through No action with "owner" serves "ticket", so its rows have no owner',
    ])
  })

  test('several rules of one table need a choice; the same rule of several actions does not', () => {
    const AllTickets = { ...Tickets, owner: { column: 'user_id', unless: 'all' } }
    const config: TableConfig = { table: 'note', columns: ['id', 'ticket_id'] }
    const actions = { Tickets, AllTickets }
    assert.deepEqual(of(config, { actions }).problems.slice(0, 1), [
      ' "ticket_id" refers to "ticket", which has several owner rules: those of Tickets, AllTickets',
    ])
    const chosen = of({ ...config, parents: { ticket_id: 'AllTickets' } }, { actions })
    assert.equal(chosen.plan.references![0]!.rule.owner.unless, 'all')
    assert.equal(of(config, { actions: { Tickets, Other: Tickets } }).plan.references!.length, 1)
    assert.deepEqual(of({ ...config, parents: { ticket_id: 'Ticket' } }).problems.slice(0, 1), [
      '/parents/ticket_id "Ticket" is not an action with an "owner" for the table that "ticket_id" refers to',
    ])
  })

  test('"any" allows all rows, and a warning says what that means', () => {
    const { problems, plan } = of({ table: 'note', columns: ['id', 'ticket_id'], parents: { ticket_id: 'any' } })
    assert.equal(plan.references, undefined)
    assert.deepEqual(problems, [
      'warning /parents/ticket_id Callers can refer to rows of "ticket" of other users, keep them from being deleted, and learn which of them exist',
    ])
  })

  test('a public method cannot refer to rows of users', () => {
    const found = of({ table: 'note', columns: ['id', 'ticket_id'] }, { isPublic: true }).problems
    assert.deepEqual(found, [' PUT /note/:id is public, so its callers have no rows of "ticket"'])
  })

  test('warnings: tables without a rule, and values that are unique among all users', () => {
    assert.deepEqual(of({ table: 'note', columns: ['id'] }, { method: 'GET' }).problems, [
      'warning /table Callers have access to all rows, although "ticket_id" refers to rows of users in "ticket"',
    ])
    assert.deepEqual(of({ table: 'ticket', columns: ['id'] }, { method: 'GET', actions: {} }).problems, [
      'warning /table Callers have access to the rows of all users, although "ticket" has a "user_id"',
    ])
    assert.deepEqual(of({ ...notes, columns: ['id', 'ticket_id', 'code'] }).problems, [
      'warning /owner "code" is unique among the rows of all users, so a 409 reveals that another user has a value',
    ])
  })
})

test('a column that refers to an id, also through other tables, has the type of the id', () => {
  const columns = { id: { type: 'id' }, user_id: { type: 'bigint' }, count: { type: 'bigint', null: true } } as const
  const profile: TableSnapshot = {
    columns: { user_id: { type: 'bigint' }, name: { type: 'text' } },
    key: ['user_id'],
    references: [{ columns: ['user_id'], table: 'user', to: ['id'] }],
  }
  const post: TableSnapshot = {
    columns: { ...columns, reply_to: { type: 'bigint', null: true } },
    key: ['id'],
    index: [['user_id']],
    references: [
      { columns: ['user_id'], table: 'profile', to: ['user_id'] },
      { columns: ['reply_to'], table: 'post', to: ['id'] },
    ],
  }
  const user: TableSnapshot = { columns: { id: { type: 'id' } }, key: ['id'] }
  const known = { System: { tables: { post, profile, user } } }
  const describePost = (method: string, path: string, where?: object) =>
    describeTable(
      { table: 'post', columns: 'all', ...(where && { where }) } as TableConfig,
      {
        method,
        path,
        public: true,
        declared: { responses: {} },
        schemas: {},
        events: {},
        connections: {},
        actions: {},
      },
      known,
    )
  const { request, responses } = describePost('POST', '/post')
  const safe = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }
  const typesOf = (schema: unknown) => (schema as { properties: Record<string, { type: unknown }> }).properties
  assert.deepEqual(typesOf(request)['user_id'], { type: 'integer', ...safe })
  assert.deepEqual(typesOf(request)['reply_to'], { type: ['integer', 'null'], ...safe })
  assert.deepEqual(typesOf(responses![201])['user_id'], { type: 'integer' })
  assert.deepEqual(typesOf(responses![201])['count']!.type, ['integer', 'string', 'null'])
  const { params, parameters } = describePost('GET', '/user/:user_id/post', { user_id: '$params.user_id' })
  assert.deepEqual(typesOf(params)['user_id'], { type: 'integer', ...safe })
  assert.deepEqual(typesOf(parameters)['id.gt'], { type: 'integer', ...safe })
})
