import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { generateTable } from '../../src/project/index.ts'
import { loadProject } from '../../src/project/load-project.ts'
import { writeFiles } from '../support/project-server.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'waypost-from-table-'))
  await writeFiles(folder, { 'package.json': '{ "type": "module" }', 'waypost.yml': yaml, [migration]: tables })
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const migration = 'migrations/System/20260101-shop.yml'
const yaml = `# the shop
routes:
  /hello: { methods: { GET: { public: true, action: { class: respond, config: { body: hello } } } } }
`
const tables = `create_table:
  app_order:
    columns:
      id: id
      user_id: uuid
      total: integer
      version: { type: integer, default: 1 }
      created_at: timestamp
      updated_at: timestamp
    index: [[user_id, created_at, id]]
  app_product: { columns: { sku: { type: text(20) }, name: text(64), created_at: timestamp }, key: [sku] }
  app_line:
    columns: { id: id, order_id: { type: bigint, references: app_order.id }, text: text }
    index: [[order_id, id]]
  stock: { columns: { shop: integer, sku: text(20), count: integer }, key: [shop, sku] }
`

const generate = (table: string, more = {}) =>
  generateTable({ folder, connection: 'System', table, dryRun: false, ...more })
const readYaml = () => readFile(path.join(folder, 'waypost.yml'), 'utf8')
async function load() {
  const { definition, diagnostics } = await loadProject({ root: folder, label: 'x' })
  assert.deepEqual(diagnostics, [])
  return definition!
}

test('a table with an owner becomes routes that validate without a warning', async () => {
  const { methods, scopes, action } = await generate('app_order', { owner: 'user_id', scopes: ['shop'] })
  assert.equal(action, 'Order')
  assert.deepEqual(scopes, ['shop'])
  const all = ['GET /order', 'POST /order', 'GET /order/:id', 'PUT /order/:id', 'PATCH /order/:id', 'DELETE /order/:id']
  assert.deepEqual(methods, all)
  const { routes } = await load()
  assert.deepEqual(
    routes.flatMap((route) => route.methods.map(({ method }) => `${method} ${route.path}`)),
    ['GET /hello', ...all],
  )
  const [, , insert] = routes.flatMap((route) => route.methods)
  assert.deepEqual(insert!.action, {
    class: 'sql-table',
    config: {
      table: 'app_order',
      columns: ['id', 'total', 'version', 'created_at', 'updated_at'],
      owner: 'user_id',
      set: { created_at: '$now', updated_at: '$now' },
      set_on_update: { updated_at: '$now' },
      version: 'version',
      sort: ['-created_at', '-id'],
    },
    plan: (insert!.action as { plan?: unknown }).plan,
    at: insert!.action.at,
  })
  assert.deepEqual(Object.keys((insert!.request as { properties: object }).properties), ['total'])
  assert.match(await readYaml(), /^# the shop\n/)
})

test('a column that refers to a row with an owner makes that user the owner', async () => {
  await generate('app_order', { owner: 'user_id' })
  await generate('app_line', { owner: 'order_id' })
  const line = (await load()).routes.find((one) => one.path === '/line')!
  const { action } = line.methods[0]! as { readonly action: { readonly config?: object } }
  assert.deepEqual(action.config, {
    table: 'app_line',
    columns: ['id', 'order_id', 'text'],
    owner: { through: 'order_id' },
  })
})

test('an event about rows of an owner gets a scope of its own, since subscribers receive the rows of all users', async () => {
  const request = { owner: 'user_id', scopes: ['shop'], event: { name: 'order_created' } }
  await generate('app_order', { ...request, newScopes: { shop: 'Orders' } })
  const { events, scopes } = await load()
  assert.deepEqual(events['order_created']?.scopes, ['shop.events'])
  assert.deepEqual(scopes['shop.events'], { description: 'Receives events about the rows of all users' })
})

test('a text key is a path parameter; a key of two columns has a list only', async () => {
  assert.deepEqual((await generate('app_product')).methods.slice(1, 3), ['POST /product', 'GET /product/:sku'])
  assert.deepEqual((await generate('stock', { scopes: [] })).methods, ['GET /stock', 'POST /stock'])
  await load()
})

test('a mistake is reported, and nothing is written', async () => {
  const wrong = [
    [() => generate('app_ordr'), /"System" has no table "app_ordr".*app_order/],
    [() => generate('app_order', { owner: 'user' }), /no column "user"/],
    [() => generate('app_order', { connection: 'Elsewhere' }), /Connection "Elsewhere" is not defined in waypost.yml/],
    [() => generate('app_order', { owner: 'total' }), /owner|total/],
  ] as const
  for (const [generating, message] of wrong) await assert.rejects(generating, { code: 'WP_PROJECT_GENERATE', message })
  assert.equal(await readYaml(), yaml)
  await generate('app_order', { dryRun: true })
  assert.equal(await readYaml(), yaml)
  await generate('app_order')
  await assert.rejects(generate('app_order'), /The action "Order" already exists at waypost\.yml:/)
})

test('access, a path, soft deletion, an event and scopes can be chosen', async () => {
  const yamlOfTodo = `create_table:
  app_todo:
    columns:
      id: id
      title: text(200)
      status: { type: integer, default: 1 }
      insert_date: { type: timestamp, default: now }
    index: [[status, insert_date, id]]
`
  await writeFiles(folder, { 'migrations/System/20260102-todo.yml': yamlOfTodo, 'waypost.yml': 'routes: {}\n' })
  const { methods } = await generate('app_todo', {
    scopes: ['todo'],
    methods: [
      { method: 'GET', access: 'public' },
      { method: 'POST' },
      { method: 'PUT', access: ['todo', 'editor'] },
      { method: 'DELETE' },
    ],
    softDelete: { column: 'status' },
    event: { name: 'todo_created', description: 'A to-do was created' },
    newScopes: { todo: 'Change to-dos', editor: 'Replace to-dos' },
  })
  assert.deepEqual(methods, ['GET /todo', 'POST /todo', 'GET /todo/:id', 'PUT /todo/:id', 'DELETE /todo/:id'])
  const { routes, events, scopes } = await load()
  assert.deepEqual(Object.keys(scopes), ['todo', 'editor'])
  assert.deepEqual(events['todo_created']!.scopes, ['todo'])
  const all = routes.flatMap((route) => route.methods.map((one) => ({ ...one, name: `${one.method} ${route.path}` })))
  assert.equal(all.find(({ name }) => name === 'POST /todo')!.dispatch, 'todo_created')
  const { config } = all[0]!.action as unknown as { config: object }
  assert.deepEqual(config, {
    table: 'app_todo',
    columns: ['id', 'title', 'status', 'insert_date'],
    set: { insert_date: '$now' },
    where: { status: 1 },
    delete: { status: 0 },
    sort: ['-insert_date', '-id'],
  })
  assert.equal(
    await readFile(path.join(folder, 'resources/routes/todo/entity.yml'), 'utf8'),
    `methods:
  GET:
    public: true
    action: Todo
  PUT:
    scopes: [todo, editor]
    action: Todo
  DELETE:
    scopes: [todo]
    action: Todo
`,
  )
  await assert.rejects(generate('app_product', { path: '/todo' }), /The action "Todo" already exists/)
  await assert.rejects(
    generate('app_order', { event: { name: 'todo_created' } }),
    /The event "todo_created" already exists/,
  )
})

test('parameters of the path select rows, and public changes get a rate', async () => {
  await generate('app_order', {
    path: '/user/:user_id/order',
    methods: [{ method: 'GET' }, { method: 'POST', access: 'public' }],
    softDelete: { column: 'total', values: [1, 2] },
  })
  const { definition } = await loadProject({ root: folder, label: 'x' })
  const { routes, rates } = definition!
  assert.deepEqual(Object.keys(rates), ['public'])
  const { config } = routes[1]!.methods[0]!.action as unknown as { config: { where: object } }
  assert.deepEqual(config.where, { user_id: '$params.user_id', total: 1 })
  await assert.rejects(generate('app_product', { softDelete: { column: 'name' } }), /cannot mark deleted rows/)
  await assert.rejects(generate('stock', { methods: [{ method: 'GET', at: 'row' }] }), /GET is not possible for a row/)
})

test('lists of a table with a search are searched', async () => {
  await writeFiles(folder, {
    'migrations/System/20260102-search.yml': 'add_search: { app_line: [text] }\n',
  })
  await generate('app_line', { scopes: ['shop'] })
  const { routes } = await load()
  const list = routes.find((route) => route.path === '/line')!.methods.find(({ method }) => method === 'GET')!
  assert.deepEqual((list.action as unknown as { config: { search: unknown } }).config.search, ['text'])
})
