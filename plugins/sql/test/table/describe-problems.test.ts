import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { orders, run, problemsOf } from './describing.ts'

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
      '/owner GET /order is public, so there is no user to own the rows',
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
      '/where/insert_date The value of "insert_date" must not be $now, because no row has the current time',
    ],
    [
      'a parameter that the path lacks',
      { where: { total: '$params.total' }, delete: undefined },
      '/where/total The value of "total" cannot be $params.total: /order has no such parameter',
    ],
    [
      'a deletion without effect',
      { delete: { status: 1 } },
      '/delete The API would still serve deleted rows, because "delete" does not contradict "where"',
    ],
    [
      'new rows that do not exist',
      { set: { status: 2, title: 'a' } },
      '/set/status The API would not serve new rows, because "where" requires another "status"',
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
