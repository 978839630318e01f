// What upserts and children need of PostgreSQL, and how they name what is wrong in tables of other schemas.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ActionUse, TableSnapshot } from 'waypost'
import { makeForeignTables } from '../../../../test/support/foreign-tables.ts'
import { startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts'
import { openTableApi } from '../../../../test/support/table-api.ts'
import { findTableProblems } from '../../src/table/check.ts'
import type { TableConfig } from '../../src/table/config.ts'
import { describeTable } from '../../src/table/describe.ts'

let postgres: TestPostgres
before(async () => {
  postgres = await startPostgres()
})
after(() => postgres.stop())

const tables: Readonly<Record<string, TableSnapshot>> = {
  'sales.item': {
    schema: 'sales',
    columns: {
      id: { type: 'integer' },
      user_id: { type: 'uuid' },
      sku: { type: 'text' },
      name: { type: 'text', null: true },
      status: { type: 'integer' },
      item_id: { type: 'integer', null: true },
    },
    key: ['id'],
    unique: [['user_id', 'sku']],
    references: [{ columns: ['item_id'], table: 'sales.item', to: ['id'] }],
  },
}
const items = {
  table: 'sales.item',
  columns: ['id', 'sku', 'name', 'item_id'],
  write: ['id', 'sku', 'name', 'item_id'],
  where: { status: 1 },
  owner: 'user_id',
  upsert: ['sku'],
  bulk: 10,
} satisfies TableConfig
const parts = {
  table: 'sales.item',
  columns: ['id', 'sku'],
  write: ['id', 'sku'],
  where: { status: 1, item_id: '$params.item_id' },
  set: { name: 'part' },
  owner: 'user_id',
} satisfies TableConfig
const family = {
  table: 'sales.item',
  columns: ['id', 'sku'],
  write: ['id', 'sku'],
  where: { status: 1 },
  owner: 'user_id',
  embed: { parts: { from: 'Parts', by: 'item_id', many: true, write: true } },
} satisfies TableConfig
const actions = { Items: items, Parts: parts, Families: family }
const schema = [
  'create schema sales',
  `create table sales.item (id integer primary key, user_id uuid not null, sku text not null, name text,
    status integer not null, item_id integer references sales.item (id), unique (user_id, sku))`,
]

test('errors name the columns of a table in another schema', async (t) => {
  const api = await openTableApi({
    url: await postgres.createDatabase(),
    tables,
    config: items,
    actions,
    routes: ['POST /item Items', 'GET /item Items'],
    schema,
  })
  t.after(() => api[Symbol.asyncDispose]())
  const problemOf = async (body: object) => (await api.call('POST /item', { body })).body.errors[0]
  assert.equal((await api.call('POST /item', { body: { id: 1, sku: 'a' } })).status, 201)
  await api.execute('update sales.item set status = 0')
  const reference = { path: 'body/item_id', message: 'refers to something that does not exist' }
  const taken = { path: 'body/sku', message: 'is already taken in this combination' }
  assert.deepEqual(await problemOf({ id: 2, sku: 'b', item_id: 1 }), reference)
  assert.deepEqual(await problemOf({ id: 2, sku: 'a' }), taken)
  assert.deepEqual(
    await problemOf([
      { id: 3, sku: 'c' },
      { id: 2, sku: 'a' },
    ]),
    { ...taken, path: 'body/1/sku' },
  )
})

test('an upsert needs a constraint that is checked at once', async (t) => {
  const url = await postgres.createDatabase()
  const schema = [
    'create table item (id integer primary key deferrable, sku text not null, unique (sku) deferrable initially deferred)',
  ]
  const found = await makeForeignTables({ target: url, schema })
  assert.deepEqual([found['item']!.unique, found['item']!.index], [[], [['sku']]])
  const api = await openTableApi({ url, tables: found, config: items, routes: [], schema: [] })
  t.after(() => api[Symbol.asyncDispose]())
  const run = (upsert: readonly string[]) => {
    const config = { table: 'item', columns: ['id', 'sku'], write: ['id', 'sku'], upsert } satisfies TableConfig
    const use = { method: 'POST', path: '/item', public: true, declared: { responses: {} }, schemas: {}, events: {} }
    const all = { ...use, connections: {}, databases: {}, actions: {}, methods: {} } as unknown as ActionUse
    return describeTable(config, all, { System: { tables: found } })
  }
  assert.deepEqual(
    run(['sku']).problems?.map(({ message }) => message),
    ['No unique constraint of "item" consists of sku'],
  )
  const { plan } = run(['id'])
  assert.deepEqual(
    await findTableProblems({ plan: plan!, connection: async () => api.db, databases: { System: 'postgresql' } }),
    ['The constraint of "id" of "item" is deferrable, so "upsert" cannot use it'],
  )
})

test('a deployment names the privileges that an upsert and children need', async (t) => {
  const url = await postgres.createDatabase()
  const role = `role_${new URL(url).pathname.slice(6)}`
  const admin = await openTableApi({ url, tables, config: items, routes: [], schema })
  await admin.execute(`create role ${role} login password 'x'`)
  await admin.execute(`grant usage on schema sales to ${role}`)
  await admin.execute(`grant select, insert on sales.item to ${role}`)
  const api = await openTableApi({
    url: Object.assign(new URL(url), { username: role, password: 'x' }).href,
    tables,
    config: items,
    routes: ['POST /item'],
    schema: [],
  })
  t.after(async () => {
    await api[Symbol.asyncDispose]()
    await admin.execute(`drop owned by ${role}`)
    await admin.execute(`drop role ${role}`)
    await admin[Symbol.asyncDispose]()
  })
  const check = (config: TableConfig) => {
    const use = { method: 'POST', path: '/item', public: false, declared: { responses: {} }, schemas: {}, events: {} }
    const access = { method: 'GET', path: '/item', public: false, scopes: [] }
    const more = { connections: {}, databases: {}, actions, methods: { Items: [access], Parts: [access] } }
    const all = { ...use, ...more } as unknown as ActionUse
    const { plan, problems } = describeTable(config, all, { System: { tables } })
    assert.ok(plan, JSON.stringify(problems))
    return findTableProblems({ plan, connection: async () => api.db, databases: { System: 'postgresql' } })
  }
  const mayNot = (what: string) => `The role "${role}" may not ${what} of "sales.item"`
  const post = async () => (await api.call('POST /item', { body: { id: 1, sku: 'a', name: 'A' } })).status
  assert.deepEqual([await post(), await post()], [201, 403])
  assert.deepEqual(await check(items), [mayNot('change "name", "item_id"')])
  await admin.execute(`grant update (name, item_id) on sales.item to ${role}`)
  assert.deepEqual([await check(items), await post()], [[], 200])
  await admin.execute(`revoke insert on sales.item from ${role}`)
  await admin.execute(`grant insert (id, sku, item_id, user_id, status) on sales.item to ${role}`)
  assert.deepEqual(await check(family), [mayNot('insert "name"')])
})
