// Tables as a project uses them, from its definition to the generated client: values have one form everywhere.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { after, before, test } from 'node:test'
import { generateClient } from '../../src/project/index.ts'
import { createTestApp, type TestApp } from '../../src/testing/index.ts'
import { checkout } from '../support/cli.ts'
import { writeFiles } from '../support/project-server.ts'
import { shopFiles } from './shop-project.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- test/project/generate-client.test.ts checks the types
type Client = Readonly<Record<string, any>>
interface Inject {
  // oxlint-disable-next-line typescript/no-explicit-any -- the types of this project are not those of the checkout
  inject(route: string, injection?: object): Promise<{ status: number; body: any; headers: Headers }>
}

let folder: string
let app: TestApp
let client: Client
let ann: Inject
before(async () => {
  folder = await realpath(await mkdtemp(path.join(tmpdir(), 'waypost-tables-')))
  await mkdir(path.join(folder, 'node_modules'))
  await symlink(path.join(checkout, 'node_modules/@oazapfts'), path.join(folder, 'node_modules/@oazapfts'))
  await writeFiles(folder, shopFiles)
  const onDiagnostics = (found: readonly unknown[]) => assert.deepEqual(found, [])
  await writeFile(path.join(folder, 'api.ts'), await generateClient({ folder, variables: {}, onDiagnostics }))
  client = await import(pathToFileURL(path.join(folder, 'api.ts')).href)
  app = await createTestApp({ folder })
  ann = app.as('ann', ['shop'])
  client['defaults'].baseUrl = app.url
  client['defaults'].headers = { authorization: (await ann.inject('GET /token')).body }
})
after(async () => {
  await app[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

const bell = {
  sku: 'B-1',
  title: 'Fire bell',
  price: '12345678.90',
  status: 'closed',
  stock: '9007199254740993',
  data: { a: [1] },
  note: null,
}

test('values of each type are the same in responses, lists, CSV, events and upserts', async () => {
  const created = await client['createProduct'](bell)
  assert.deepEqual([created.status, created.data], [201, { id: 1, ...bell }])
  assert.deepEqual((await client['getProduct'](1)).data, { id: 1, ...bell })
  const bulk = await client['createProduct']([
    { sku: 'B-2', title: 'Small bell' },
    { sku: 'B-3', title: '', price: '7', note: '' },
  ])
  assert.deepEqual([bulk.status, ...bulk.data.map(({ price }: { price: string }) => price)], [201, '0.50', '7.00'])
  const list = await client['listProducts']({ q: 'bel*', priceGt: '0.5', status: ['open', 'closed'] })
  assert.deepEqual(list.data, { entry: [{ id: 1, ...bell }], next: null })
  const csv = await client['listProducts']({ sort: '-price', limit: 2 }, { headers: { accept: 'text/csv' } })
  const cells = '1,B-1,Fire bell,12345678.90,closed,9007199254740993,"{""a"":[1]}",'
  assert.equal(csv.data, `id,sku,title,price,status,stock,data,note\r\n${cells}\r\n3,B-3,"",7.00,open,0,,""\r\n`)
  const { data: first } = await client['listProducts']({ limit: 1 })
  assert.equal((await client['listProducts']({ limit: 2, after: first.next })).data.entry[0].sku, 'B-3')
  const saved = await client['createSaved']([
    { ...bell, price: '1.5' },
    { sku: 'B-4', title: 'New' },
  ])
  assert.deepEqual(
    [saved.status, ...saved.data.map(({ sku, price }: { sku: string; price: string }) => [sku, price])],
    [200, ['B-1', '1.50'], ['B-4', '0.50']],
  )
  await app.events.deliver()
  // Deliveries have no order.
  const events = (name: string) =>
    (app.events.delivered(name as never) as unknown as readonly { sku: string }[]).toSorted((one, other) =>
      one.sku < other.sku ? -1 : 1,
    )
  assert.deepEqual(events('product_created')[0], { id: 1, ...bell })
  assert.deepEqual(events('product_saved'), [
    { sku: 'B-1', price: '1.50' },
    { sku: 'B-4', price: '0.50' },
  ])
  const changed = await client['updateProduct'](1, { price: '2', status: 'open' })
  assert.deepEqual([changed.status, changed.data.price, changed.data.status], [200, '2.00', 'open'])
  for (const wrong of [{ price: '1.005' }, { price: 1 }, { price: '1e3' }, { status: 'lost' }])
    assert.equal((await client['updateProduct'](1, wrong)).status, 400, JSON.stringify(wrong))
})

test('a row is created with its children, and read with what is embedded', async () => {
  const id = '0190a0a0-0000-7000-8000-000000000001'
  assert.equal((await client['createCustomer']({ id, name: 'Ann' })).status, 201)
  const lines = [{ product_id: 1, price: '3.5' }]
  const body = { customer_id: id, title: 'First', total: '1.5', lines }
  const created = await client['createOrder'](body)
  assert.equal(created.status, 201, JSON.stringify(created.data))
  const line = { id: 1, product_id: 1, price: '3.50' }
  const order = { id: 1, customer_id: id, title: 'First', total: '1.5000', version: 1 }
  assert.deepEqual(created.data, { ...order, lines: { entry: [line], more: false } })
  const embedded = { ...order, customer: { id, name: 'Ann' }, lines: { entry: [line], more: false } }
  const list = await client['listOrders']({
    embed: ['customer', 'lines'],
    customerName: ['Ann'],
    $any: '(title:First)',
  })
  assert.deepEqual(list.data.entry, [embedded])
  assert.deepEqual((await client['getOrder'](1, { embed: ['lines', 'customer'] })).data, embedded)
  assert.deepEqual((await client['listOrderLines'](1)).data.entry, [line])
  const injected = await ann.inject('GET /order/:id', { params: { id: 1 }, query: { embed: ['customer', 'lines'] } })
  assert.deepEqual(injected.body, embedded)
  const csv = await ann.inject('GET /product', {
    query: { status: ['open'], limit: 1 },
    headers: { accept: 'text/csv' },
  })
  assert.match(csv.body, /^id,sku,title,price,status,stock,data,note\r\n.*\r\n$/)
  const refused = await ann.inject('POST /product', {
    body: [
      { sku: 'x', title: 'x' },
      { sku: 'B-1', title: 'x' },
    ],
  })
  assert.deepEqual([refused.status, refused.body.errors], [409, [{ path: 'body/1/sku', message: 'is already taken' }]])
})
