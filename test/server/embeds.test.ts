// Embedded rows as everything around `sql-table` sees them: requests, OpenAPI, types, clients and plans.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { makeTypes } from '../../src/build/index.ts'
import { generateClient } from '../../src/project/index.ts'
import { loadProject } from '../../src/project/load-project.ts'
import { compareManifests } from '../../src/release/index.ts'
import { chooseKinds } from '../support/forms.ts'
import { describeSystems, openProjectServer, writeFiles, type ProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'

const yaml = `
action:
  Orders:
    class: sql-table
    config:
      table: app_order
      columns: [id, total]
      write: [total, customer_id]
      filter: [total, customer.name]
      unindexed: [total, customer.name]
      as: Order
      embed:
        customer: { from: Customers, by: customer_id }
        lines: { from: Lines, by: order_id, columns: [sku, data] }
  Customers: { class: sql-table, config: { table: app_customer, columns: [id, name], as: Customer } }
  Lines: { class: sql-table, config: { table: app_line, columns: [id, sku, data] } }
  Shown:
    class: sql-table
    config: { table: app_order, columns: [id, total], embed: { lines: { from: Lines, by: order_id }, customer: { from: Customers, by: customer_id } } }
routes:
  /order: { scopes: [order], methods: { GET: { action: Orders }, POST: { action: Orders } } }
  /order/:id: { scopes: [order], methods: { GET: { action: Orders }, PATCH: { action: Orders }, DELETE: { action: Orders } } }
  /customer: { scopes: [order, customer], methods: { GET: { action: Customers }, POST: { action: Customers } } }
  /shown:
    scopes: [order, line]
    methods:
      GET:
        action: Shown
        response:
          type: object
          properties:
            entry:
              type: array
              items: { type: object, properties: { id: { type: integer }, lines: { type: object, properties: { more: { type: boolean } } } } }
  /line: { scopes: [line], methods: { GET: { action: Lines } } }
`
const migration = `
create_table:
  app_customer: { columns: { id: id, name: text(100) } }
  app_order:
    columns: { id: id, total: integer, customer_id: { type: bigint, references: app_customer } }
  app_line:
    columns: { id: id, order_id: { type: bigint, references: app_order }, sku: text(40), data: json }
    index: [[order_id, id]]
`
const files = { 'waypost.yml': yaml, 'migrations/System/20260101-order.yml': migration }

describeSystems('embedded rows of a server', chooseKinds('sqlite'), ({ newSystem }) => {
  let server: ProjectServer
  before(async () => {
    server = await openProjectServer({ files, systemUrl: await newSystem(), isDevelopment: true })
  })
  after(() => server[Symbol.asyncDispose]())

  test('are sent to callers with the scopes of their action', async () => {
    const headers = await server.authorize('ann', ['order'])
    const post = async (at: string, body: object): Promise<number> =>
      (await send(server.port, { path: at, headers, body })).body.id
    const customer = await post('/customer', { name: 'Ann' })
    const id = await post('/order', { total: 7, customer_id: customer })
    const get = async (at: string, scopes: readonly string[] = ['order']) => {
      const user = await server.authorize(`user-${scopes.join('-')}`, scopes)
      const { status, body } = await send(server.port, { path: at, headers: user })
      return [status, body] as const
    }
    assert.deepEqual(await get(`/order/${id}?embed=customer`), [
      200,
      { id, total: 7, customer: { id: customer, name: 'Ann' } },
    ])
    const [status, problem] = await get('/order?embed=customer,lines')
    assert.deepEqual([status, problem.detail], [403, 'You may not read the rows of "lines"'])
    assert.deepEqual(await get('/order?embed=lines&customer.name=Ann&any=(total:7,total:8)', ['order', 'line']), [
      200,
      { entry: [{ id, total: 7, lines: { entry: [], more: false } }], next: null },
    ])
    assert.equal((await get('/order?embed=customers'))[0], 400)
    const [, shown] = await get('/shown?embed=lines,customer', ['order', 'line'])
    assert.deepEqual(shown, { entry: [{ id, lines: { more: false } }] })
  })

  test('are described in /openapi.json, with one schema for all methods', async () => {
    const { paths, components } = (await send(server.port, { path: '/openapi.json' })).body as {
      readonly paths: Record<
        string,
        Record<string, { parameters: { name: string }[]; responses: Record<string, unknown> }>
      >
      readonly components: { readonly schemas: Record<string, { properties: Record<string, unknown> }> }
    }
    const embed = paths['/order']!['get']!.parameters.find(({ name }) => name === 'embed')
    const description =
      'Rows of other tables that each row contains, separated by commas. `customer` needs the scope `customer` or `order`. `lines` needs the scope `line`.'
    assert.deepEqual(embed, {
      name: 'embed',
      in: 'query',
      description,
      explode: false,
      schema: { type: 'array', items: { type: 'string', enum: ['customer', 'lines'] }, minItems: 1 },
    })
    const { Order, Customer } = components.schemas
    assert.deepEqual(Object.keys(Order!.properties), ['id', 'total', 'customer', 'lines'])
    assert.deepEqual((Order!.properties['customer'] as { anyOf: unknown }).anyOf, [
      { $ref: '#/components/schemas/Customer' },
      { type: 'null' },
    ])
    assert.deepEqual(Object.keys(Customer!.properties), ['id', 'name'])
    for (const [at, method, code] of [
      ['/order', 'post', '201'],
      ['/order/{id}', 'get', '200'],
      ['/order/{id}', 'patch', '200'],
    ] as const)
      assert.match(JSON.stringify(paths[at]![method]!.responses[code]), /#\/components\/schemas\/Order"/)
  })

  test('lost names, columns and filters break callers', async () => {
    const breaking = async (from: string, to: string) => {
      const changed = await server.deploy({ 'waypost.yml': yaml.replace(from, to) })
      const found = compareManifests(server.release.manifest, changed.manifest)
      return found.flatMap(({ name, details }) =>
        details.flatMap((one) => (one.breaking ? [`${name} ${one.text}`] : [])),
      )
    }
    const lines = await breaking('        lines: { from: Lines, by: order_id, columns: [sku, data] }\n', '')
    assert.deepEqual(lines, [
      'GET /order query: "embed[]" no longer accepts "lines"',
      'GET /order embed lines removed: A row has at most 16 rows of "lines", for a "limit" of at most 312.',
      'GET /order/:id query: "embed[]" no longer accepts "lines"',
      'Order "lines" removed',
    ])
    assert.deepEqual(await breaking('columns: [sku, data]', 'columns: [sku]'), ['Order "lines.entry[].data" removed'])
    assert.deepEqual(await breaking('columns: [sku, data]', 'columns: [sku, data], limit: 100'), [
      'GET /order embed lines changed: A row has at most 100 rows of "lines", for a "limit" of at most 50.',
      'Order "lines.entry" maxItems 100, was 16',
    ])
    const filters = 'filter: [total, customer.name]\n      unindexed: [total, customer.name]'
    assert.deepEqual(await breaking(filters, 'filter: [total]\n      unindexed: [total]'), [
      'GET /order query: "customer.name" is no longer accepted',
    ])
    assert.deepEqual(await breaking('as: Order', 'as: Order\n      embed_always: [customer]'), [])
  })
})

test('types and clients name what can be embedded', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-embeds-'))
  t.after(() => rm(folder, { recursive: true }))
  await writeFiles(folder, files)
  const { definition, diagnostics } = await loadProject({ root: folder, label: 'x' })
  assert.deepEqual(diagnostics, [])
  const types = makeTypes(definition!, { tables: {}, clientTypes: {} })
  assert.match(types, /customer\?: Schema\.Customer \| null|customer\?: Customer \| null/)
  const client = await generateClient({ folder, variables: {}, onDiagnostics: (found) => assert.deepEqual(found, []) })
  assert.match(client, /embed\?: \('customer' \| 'lines'\)\[\]/)
  assert.match(client, /export type Order = \{/)
  assert.match(client, /customer\?: Customer \| null/)
  assert.match(client, /QS\.form\(\{\s*embed/)
})

test('a name means one schema', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-embeds-'))
  t.after(() => rm(folder, { recursive: true }))
  const problems = async (changed: string) => {
    await writeFiles(folder, { ...files, 'waypost.yml': changed })
    const { diagnostics } = await loadProject({ root: folder, label: 'x' })
    return [...new Set(diagnostics.map(({ message }) => message))]
  }
  assert.deepEqual(await problems(yaml.replace('as: Customer', 'as: Order')), [
    'The class "sql-table" describes the schema "Order" differently from an earlier method',
  ])
  assert.deepEqual(await problems(`schema: { Order: { type: object } }\n${yaml}`), [
    'The schema "Order" is not used',
    'The class "sql-table" describes the schema "Order", which exists already',
  ])
})
