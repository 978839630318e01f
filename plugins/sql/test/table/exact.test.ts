// `numeric` columns of a foreign database that an action sends with all digits.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { makeForeignTables } from '../../../../test/support/foreign-tables.ts'
import { startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts'
import { openTableApi, type TableApi } from '../../../../test/support/table-api.ts'
import type { TableConfig } from '../../src/table/config.ts'

const schema = [
  'create schema sales',
  'create table sales.customer (id integer generated always as identity primary key, rate numeric not null default 0)',
  `create table sales.order (id integer generated always as identity primary key,
    customer_id integer not null references sales.customer (id), amount numeric(20,3) not null,
    double numeric generated always as (amount * 2) stored)`,
]
const actions = {
  Customers: {
    table: 'sales.customer',
    columns: ['id', 'rate'],
    write: ['rate'],
    exact: ['rate'],
    embed: { orders: { from: 'Orders', by: 'customer_id', write: true } },
  },
  Orders: {
    table: 'sales.order',
    columns: ['id', 'customer_id', 'amount', 'double'],
    exact: ['amount', 'double'],
    filter: ['amount', 'customer.rate'],
    sortable: ['amount'],
    unindexed: ['amount', 'customer.rate'],
    csv: true,
    bulk: 10,
    embed: { customer: { from: 'Customers', by: 'customer_id' } },
  },
} satisfies Readonly<Record<string, TableConfig>>

let postgres: TestPostgres
let api: TableApi
before(async () => {
  postgres = await startPostgres()
  const tables = await makeForeignTables({ target: await postgres.createDatabase(), schema })
  api = await openTableApi({
    url: await postgres.createDatabase(),
    schema,
    tables,
    config: actions.Orders,
    actions,
    routes: [
      'GET /customer Customers',
      'POST /customer Customers',
      'GET /order Orders',
      'POST /order Orders',
      'PATCH /order/:id Orders',
    ],
    isPublic: true,
  })
})
after(async () => {
  await api[Symbol.asyncDispose]()
  await postgres.stop()
})

const large = '12345678901234567.891'

test('exact decimals are the same texts in rows, embedded rows, children, lists of rows and CSV', async () => {
  const orders = [{ amount: large }, { amount: '0.1' }]
  const { status, body: customer } = await api.call('POST /customer', { body: { rate: `1.${'3'.repeat(40)}`, orders } })
  assert.equal(status, 201, JSON.stringify(customer))
  assert.equal(customer.rate, `1.${'3'.repeat(40)}`)
  const expected = [
    { id: 1, customer_id: 1, amount: large, double: '24691357802469135.782' },
    { id: 2, customer_id: 1, amount: '0.100', double: '0.200' },
  ]
  assert.deepEqual(customer.orders.entry, expected)
  const [embedding] = (await api.call('GET /customer', { query: 'embed=orders' })).body.entry
  assert.deepEqual(embedding, customer)
  const { body: list } = await api.call('GET /order', { query: 'embed=customer&sort=amount' })
  const one = { id: 1, rate: customer.rate }
  assert.deepEqual(
    list.entry,
    expected.toReversed().map((order) => ({ ...order, customer: one })),
  )
  const found = await api.call('GET /order', { query: { amount: large, 'customer.rate': customer.rate } })
  assert.deepEqual(found.body.entry, [expected[0]])
  const csv = await api.call('GET /order', { query: 'sort=amount&limit=1', headers: { accept: 'text/csv' } })
  assert.equal(csv.body, 'id,customer_id,amount,double\r\n2,1,0.100,0.200\r\n')
  const { body: rows } = await api.call('POST /order', { body: [{ customer_id: 1, amount: '7' }] })
  assert.deepEqual(rows, [{ id: 3, customer_id: 1, amount: '7.000', double: '14.000' }])
  assert.equal((await api.call('PATCH /order/3', { body: { amount: large } })).body.amount, large)
})

test('exact decimals are rejected as numbers, with more digits, and as NaN', async () => {
  for (const amount of [1.5, '1.0001', 'NaN', '1e3', '', null, '123456789012345678.1']) {
    assert.equal((await api.call('POST /order', { body: { customer_id: 1, amount } })).status, 400, String(amount))
    const child = await api.call('POST /customer', { body: { orders: [{ amount }] } })
    assert.equal(child.status, 400, String(amount))
  }
})
