import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { generateClient } from '../../src/project/index.ts'
import { everyCombination, nastyProject } from '../runtime/openapi/nasty-project.ts'
import { checkout } from '../support/cli.ts'
import { writeFiles } from '../support/project-server.ts'
import { longTest } from '../support/forms.ts'
import { shopFiles } from '../clients/shop-project.ts'

test('the client of an API that is hard to describe, and of one with every kind of method, type-checks', async () => {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'waypost-client-')))
  try {
    await mkdir(path.join(folder, 'node_modules'))
    await symlink(path.join(checkout, 'node_modules/@oazapfts'), path.join(folder, 'node_modules/@oazapfts'))
    for (const [name, files] of Object.entries({ nasty: nastyProject, all: everyCombination(), shop: shopFiles })) {
      await writeFiles(path.join(folder, name), files)
      const client = await generateClient({
        folder: path.join(folder, name),
        variables: {},
        onDiagnostics: (diagnostics) => assert.deepEqual(diagnostics, []),
      })
      // The rest of a path stays several segments.
      if (name === 'nasty') assert.match(client, /`\/one\/of\/\$\{\w+\(id\)\}\/\$\{encodeRest\(path\)\}`/)
      await writeFile(path.join(folder, `${name}.ts`), client.replace('// @ts-nocheck\n', ''))
    }
    await writeFile(path.join(folder, 'use.ts'), use + useShop)
    await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify(config))
    await writeFile(path.join(folder, 'package.json'), '{ "type": "module" }')
    const tsc = path.join(checkout, 'node_modules/typescript/bin/tsc')
    assert.equal(execFileSync(process.execPath, [tsc, '-p', '.'], { cwd: folder, encoding: 'utf8' }), '')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

const ticketYaml = `
schema:
  Id: { type: integer, readOnly: true }
  Ticket:
    type: object
    required: [id, title, password]
    properties:
      id: { $ref: schema:///Id }
      title: { type: string, description: 'What it is "about"; briefly' }
      password: { type: string, writeOnly: true }
      status: { type: string, enum: [open, "it's; closed"] }
  Failure: { type: object, required: [why], properties: { why: { type: string } } }
routes:
  /ticket:
    methods:
      GET:
        public: true
        parameters: { first-name: { type: string }, limit: { type: integer } }
        response: { type: array, items: { $ref: schema:///Ticket } }
        action: a.ts
      POST:
        public: true
        rate: some
        request: Ticket
        responses: { 201: Ticket, 409: { type: boolean }, 4XX: Failure, default: { type: string } }
        action: a.ts
  /ticket/:ticket_id: { methods: { DELETE: { operationId: drop_ticket, public: true, rate: some, responses: { 204: }, action: a.ts } } }
rate: { some: { limit: 10, window: 1m, by: address } }
`

// In CI, the test above type-checks all of it.
longTest('the client is formatted, has the properties of each direction, and types for ranges of errors', async () => {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'waypost-client-')))
  try {
    await mkdir(path.join(folder, 'node_modules'))
    await symlink(path.join(checkout, 'node_modules/@oazapfts'), path.join(folder, 'node_modules/@oazapfts'))
    await writeFiles(folder, { 'a.ts': '', 'waypost.yml': ticketYaml, 'package.json': '{ "type": "module" }' })
    const client = await generateClient({
      folder,
      variables: {},
      onDiagnostics: (diagnostics) => assert.deepEqual(diagnostics, []),
    })
    assert.ok(client.includes(ticketTypes), client)
    assert.ok(client.includes(listTickets), client)
    assert.match(client, /export function dropTicket\(ticketId: string, /)
    assert.ok(client.includes('`/ticket/${pathSegment(ticketId)}`'), client)
    assert.doesNotMatch(client, /;$|^ {4}\S.*"/m)
    await writeFile(path.join(folder, 'tickets.ts'), client.replace('// @ts-nocheck\n', ''))
    await writeFile(path.join(folder, 'use.ts'), useTickets)
    await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify({ ...config, files: ['use.ts'] }))
    const tsc = path.join(checkout, 'node_modules/typescript/bin/tsc')
    assert.equal(execFileSync(process.execPath, [tsc, '-p', '.'], { cwd: folder, encoding: 'utf8' }), '')
    // Runs without a network: nothing is sent.
    const { dropTicket } = (await import(path.join(folder, 'tickets.ts'))) as { dropTicket(id: string): unknown }
    for (const id of ['.', '..']) assert.throws(() => dropTicket(id), /cannot be a path parameter/)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

const ticketTypes = `
export type Ticket = {
  id: Id
  /** What it is "about"; briefly */
  title: string
  status?: 'open' | "it's; closed"
}
`
const listTickets = `
/** List tickets */
export function listTickets({ firstName, limit }: {
  firstName?: string
  limit?: number
} = {}, opts?: Oazapfts.RequestOpts) {
  return oazapfts.fetchJson<
    | { status: 200; data: Ticket[] }
    | { status: 400 | 404 | 406 | 409 | 500 | 503; data: Problem }
  >(\`/ticket\${QS.query(QS.explode({ "first-name": firstName, limit }))}\`, { ...opts })
}
`
const useTickets = `import { createTicket, listTickets } from './tickets.ts'
const made = await createTicket({ title: 'x', password: 'y' })
// @ts-expect-error read-only
await createTicket({ title: 'x', password: 'y', id: 1 })
// @ts-expect-error required
await createTicket({ title: 'x' })
if (made.status === 201) {
  const id: number = made.data.id
  // @ts-expect-error write-only
  console.log(id, made.data.password)
}
if (made.status === 422 && 'why' in made.data) console.log(made.data.why)
if (made.status === 409 && typeof made.data !== 'boolean') console.log(made.data.detail)
if (made.status === 502 && typeof made.data === 'string') console.log(made.data.length)
// @ts-expect-error not in the response either
const list = await listTickets(); if (list.status === 200) console.log(list.data[0]?.password)
`

// A tuple becomes an array of its item types.
const use = `import { createSearch, getOrder, getRoot } from './nasty.ts'
await createSearch({ p: ['a', 1], q: ['a', 2] })
// @ts-expect-error
await createSearch({ p: [true] })
const found = await getOrder('1', { date: '2027-01-31' })
if (found.status === 400) console.log(found.data.errors?.[0]?.path)
const page = await getRoot()
if (page.status === 200) console.log(page.data.length)
if (page.status === 204) console.log('nothing')
// @ts-expect-error
if (page.status === 201) console.log('created')
`
const useShop = `import { createOrder, createProduct, createSaved, listOrders, listProducts } from './shop.ts'
const one = await createProduct({ sku: 'a', title: 'A', price: '1.50', status: 'open' })
const several = await createProduct([{ sku: 'a', title: 'A' }, { sku: 'b', title: 'B', stock: '9007199254740993' }])
if (several.status === 201 && Array.isArray(several.data)) console.log(several.data[0]?.price satisfies string | undefined)
if (one.status === 201 && !Array.isArray(one.data)) one.data.status satisfies 'open' | 'closed'
// @ts-expect-error a decimal is a text
await createProduct({ sku: 'a', title: 'A', price: 1.5 })
// @ts-expect-error not one of the values
await createProduct({ sku: 'a', title: 'A', status: 'lost' })
const saved = await createSaved({ sku: 'a', title: 'A' })
if (saved.status === 200 || saved.status === 201) console.log(saved.data)
const order = await createOrder({ title: 'x', lines: [{ product_id: 1, price: '1' }] })
if (order.status === 201) console.log(order.data.lines?.entry[0]?.price satisfies string | undefined)
const orders = await listOrders({ embed: ['customer', 'lines'], customerName: ['Ann'] })
if (orders.status === 200) console.log(orders.data.entry[0]?.customer?.name, orders.data.entry[0]?.lines?.more)
// @ts-expect-error cannot be embedded
await listOrders({ embed: ['product'] })
const text = await listProducts({ q: 'bell', priceGte: '1.00' }, { headers: { accept: 'text/csv' } })
if (text.status === 200) console.log(typeof text.data === 'string' ? text.data : text.data.entry[0]?.sku)
`
const config = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: 'es2024',
    lib: ['es2024', 'dom', 'dom.iterable'],
    module: 'nodenext',
    types: [],
    skipLibCheck: true,
    allowImportingTsExtensions: true,
  },
  files: ['use.ts', 'all.ts', 'shop.ts'],
}
