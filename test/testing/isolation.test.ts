import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { sql } from 'kysely'
import { Client } from 'pg'
import { openKysely } from '../../plugins/sql/src/open-kysely.ts'
import { openSqlite } from '../../src/store/index.ts'
import { createTestApp, type TestAppOptions } from '../../src/testing/index.ts'
import { startPostgres, type TestPostgres } from '../support/postgres.ts'
import { actionFile, writeFiles } from '../support/project-server.ts'
import { useTemporaryFolder } from './temporary-folder.ts'
import { longTest } from '../support/forms.ts'

const migration = `export default {
  up: async (db: any, type: any) => { await db.schema.createTable('item').addColumn('id', type.id, (c: any) => c.primaryKey()).addColumn('name', 'text').execute() },
}\n`
const insert = (name: string) =>
  `await context.connection('${name}').insertInto('item').values({ name: 'milk' }).execute()`
const count = (name: string) => `(await context.connection('${name}').selectFrom('item').selectAll().execute()).length`
const box = `{
  description: 'A box', config: { type: 'object', required: ['text'], properties: { text: { type: 'string' } } }, clientType: 'unknown',
  capabilities: ['count'],
  open: async ({ text }) => ({
    client: { read: () => text }, check: async () => {}, close: async () => {}, count: async () => ({ count: 99, resetMs: 1000 }),
  }),
}`
const files = {
  // These must never be used: an existing database, and a file beside the project.
  '.env': 'STOCK_FILE=real.db\nORDERS_URL=postgresql://127.0.0.1:9/real\n',
  '.env.test': 'STOCK_FILE=from-env-test.db\nGREETING=hello\n',
  'waypost.yml': `
connection:
  Stock: { class: sqlite, config: { file: "\${env.STOCK_FILE}" } }
  Orders: { class: postgresql, config: { url: "\${env.ORDERS_URL}", max: 2 } }
routes:
  /item: { methods: { POST: { public: true, action: src/insert.ts }, GET: { public: true, action: src/count.ts } } }
cronjob:
  fill: { schedule: "0 4 1 1 *", action: src/insert.ts }
`,
  'migrations/Stock/20260101-item.ts': migration,
  'migrations/Orders/20260101-item.ts': migration,
  'src/insert.ts': actionFile(`${insert('Stock')}; ${insert('Orders')}; return {}`),
  'src/count.ts': actionFile(`return { stock: ${count('Stock')}, orders: ${count('Orders')} }`),
  'plain/waypost.yml': `routes: { /system: { methods: { POST: { public: true, action: src/system.ts } } } }
event: { made: { description: Made, scopes: [mine] } }
`,
  'plain/src/system.ts': actionFile(
    `await context.dispatch('made', { by: 'test' })
    const db = context.connection('System')
    return db.selectNoFrom((eb: any) => eb.fn('version').as('version')).executeTakeFirst()`,
  ),
  'greeting/waypost.yml': `
routes: { /greeting: { methods: { GET: { public: true, action: src/greet.ts } } } }
config: { docs: "\${env.DOCS:-public}", cors: ["https://\${env.GREETING}.example"] }
`,
  'greeting/.env': 'GREETING=real\n',
  'greeting/.env.test': 'GREETING=hello\n',
  'greeting/src/greet.ts': actionFile('return {}'),
  'plugin/package.json': '{}',
  'plugin/waypost.yml': `
plugins: [box-plugin]
connection: { Box: { class: box, config: { text: real } }, Reference: { class: sqlite, config: { file: data/reference.db } } }
routes:
  /box: { methods: { GET: { public: true, action: src/box.ts } } }
  /plain: { methods: { GET: { public: true, action: src/plain.ts } } }
  /transaction: { methods: { GET: { public: true, action: src/transaction.ts } } }
  /limited: { methods: { GET: { public: true, rate: few, action: src/box.ts } } }
rate: { few: { limit: 1, window: 1m, connection: Box } }
cronjob: { read: { schedule: "0 4 1 1 *", action: src/read.ts } }
event: { read: { description: Read, scopes: [mine] } }
`,
  'plugin/node_modules/box-plugin/package.json': '{ "name": "box-plugin", "type": "module", "exports": "./index.js" }',
  'plugin/node_modules/box-plugin/index.js': `export default { name: 'box', requires: '^1.0.0', connections: { box: ${box} } }\n`,
  'plugin/src/box.ts': actionFile(`return { text: context.connection('Box').read() }`),
  'plugin/src/plain.ts': actionFile('return {}'),
  'plugin/src/transaction.ts': actionFile(`return context.transaction('Box', async () => ({}))`),
  'http/waypost.yml': `
env: { STOCK_URL: { default: "https://stock.example.com" } }
connection: { Stock: { class: http, config: { url: "\${env.STOCK_URL}" } } }
routes: { /stock: { methods: { GET: { public: true, action: src/stock.ts } } } }
`,
  'http/src/stock.ts': actionFile(`return { text: await (await context.connection('Stock').fetch('/')).text() }`),
  'shop/waypost.yml': `
connection: { Shop: { class: postgresql, config: { url: "postgresql://127.0.0.1:9/real" } } }
routes:
  /item: { methods: { GET: { public: true, action: { class: sql-table, config: { connection: Shop, table: item, columns: all } } } } }
  /name:
    methods:
      GET:
        public: true
        action: { class: sql-query, config: { connection: Shop, query: "select name from item" } }
        response: { type: array, items: { type: object, properties: { name: { type: string } } } }
  /plain: { methods: { GET: { public: true, action: src/plain.ts } } }
`,
  'shop/migrations/Shop/tables.json': JSON.stringify({
    migrations: {},
    tables: { item: { columns: { id: { type: 'id' }, name: { type: 'text' } }, key: ['id'] } },
  }),
  'shop/src/plain.ts': actionFile('return {}'),
  'plugin/src/read.ts': actionFile(`await context.dispatch('read', { text: context.connection('Box').read() })`),
}

let folder: string
let postgres: TestPostgres
let temporary: Awaited<ReturnType<typeof useTemporaryFolder>>
before(async () => {
  temporary = await useTemporaryFolder()
  folder = temporary.folder
  await writeFiles(folder, files)
  postgres = await startPostgres()
})
after(async () => {
  await postgres.stop()
  await temporary.remove()
})

const set: string[] = []
const setVariable = (name: string, value: string) => {
  process.env[name] = value
  set.push(name)
}
afterEach(() => set.splice(0).forEach((name) => delete process.env[name]))

/** A PostgreSQL role for this test only, which owns its databases. */
async function makeDatabases(): Promise<{ url: string; list(): Promise<string[]> }> {
  const admin = await postgres.createDatabase()
  const role = `role_${path.basename(new URL(admin).pathname)}`
  await query(admin, `create role ${role} login createdb password 'test'`)
  const url = Object.assign(new URL(admin), { username: role, password: 'test' }).href
  const own = `select datname from pg_database where pg_get_userbyid(datdba) = '${role}'`
  return { url, list: async () => (await query(admin, own)).map((row) => String(row['datname'])) }
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}

const reject = async (options: TestAppOptions, error: object) => {
  await assert.rejects(createTestApp(options), error)
  assert.deepEqual(
    (await readdir(folder)).filter((name) => name.startsWith('waypost-test-')),
    [],
  )
}

test('each connection has a separate database, which is deleted afterwards', async () => {
  const databases = await makeDatabases()
  setVariable('WAYPOST_TEST_DATABASES', databases.url)
  {
    await using one = await createTestApp({ folder })
    await using other = await createTestApp({ folder })
    assert.equal((await one.inject('POST /item')).status, 200)
    await one.cronjobs.run('fill')
    assert.deepEqual((await one.inject('GET /item')).body, { stock: 2, orders: 2 })
    assert.deepEqual((await other.inject('GET /item')).body, { stock: 0, orders: 0 })
    const made = await databases.list()
    assert.equal(made.length, 2)
    assert.ok(
      made.every((name) => name.startsWith('waypost_test_')),
      made.join(),
    )
  }
  assert.deepEqual(await databases.list(), [])
  assert.deepEqual(
    (await readdir(folder)).filter((name) => name.endsWith('.db')),
    [],
  )
})

test('a connection that cannot be isolated fails when it is used, not when the app starts', async (t) => {
  const lines: string[] = []
  t.mock.method(process.stderr, 'write', (text: string) => lines.push(text) > 0)
  {
    await using app = await createTestApp({ folder })
    assert.equal((await app.inject('POST /item')).status, 500)
  }
  assert.match(lines.splice(0).join(''), /The connection "Orders" needs a PostgreSQL server for test databases/)
  await using app = await createTestApp({ folder: path.join(folder, 'plugin') })
  assert.deepEqual([(await app.inject('GET /box')).status, (await app.inject('GET /plain')).status], [500, 200])
  assert.equal((await app.inject('GET /transaction')).status, 500)
  const must = /The test must replace the connection "Box", because createTestApp cannot .* for the class "box"/
  assert.match(lines.join(''), must)
  assert.equal(lines.join('').match(new RegExp(must, 'g'))?.length, 2)
})

test('an http connection keeps a loopback URL', async () => {
  const server = createServer((_, response) => response.end('pong'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const local = path.join(folder, 'http')
  try {
    await using app = await createTestApp({ folder: local, env: { STOCK_URL: `http://127.0.0.1:${port}` } })
    assert.deepEqual((await app.inject('GET /stock')).body, { text: 'pong' })
  } finally {
    server.close()
  }
  await using app = await createTestApp({ folder: local })
  assert.equal((await app.inject('GET /stock')).status, 500)
})

test('a server for test databases that cannot be used is named without its password', async () => {
  const databases = 'postgresql://ann:secret-word@127.0.0.1:9/postgres'
  await reject({ folder, databases }, (error: Error & { code: string }) => {
    assert.equal(error.code, 'WP_SERVER_TEST_DATABASE')
    assert.match(error.message, /^Cannot create a test database at postgresql:\/\/ann@127\.0\.0\.1:9\/postgres: /)
    assert.doesNotMatch(`${error.message} ${error.stack}`, /secret-word/)
    return true
  })
})

test('System is on PostgreSQL if a test asks for it, regardless of the environment', async () => {
  const databases = await makeDatabases()
  for (const name of ['WAYPOST_SYSTEM_URL', 'WAYPOST_SYSTEM_DIRECT_URL'])
    setVariable(name, 'postgresql://127.0.0.1:9/real')
  const plain = path.join(folder, 'plain')
  await reject(
    { folder: plain, system: 'postgresql' },
    { code: 'WP_SERVER_TEST_SERVER', message: 'System needs a PostgreSQL server for test databases' },
  )
  {
    await using app = await createTestApp({ folder: plain, system: 'postgresql', databases: databases.url })
    assert.match((await app.inject('POST /system')).body.version, /^PostgreSQL /)
    assert.deepEqual(app.events.delivered('made'), [{ by: 'test' }])
    assert.equal((await databases.list()).length, 1)
  }
  assert.deepEqual(await databases.list(), [])
})

test('databases of a killed test are dropped a day later, and no others', async () => {
  const databases = await makeDatabases()
  const day = 86_400_000
  const name = (ageMs: number) => `waypost_test_${Date.now() - ageMs}_${'0'.repeat(16)}`
  const kept = [name(day - 60_000), 'waypost_test_mine', `${name(2 * day)}_mine`]
  for (const one of [...kept, name(day + 60_000)]) await query(databases.url, `create database ${one}`)
  await using app = await createTestApp({
    folder: path.join(folder, 'plain'),
    system: 'postgresql',
    databases: databases.url,
  })
  assert.ok(app)
  const there = await databases.list()
  assert.equal(there.length, 4)
  assert.deepEqual(there.filter((one) => kept.includes(one)).toSorted(), kept.toSorted())
})

test('variables come from the environment and from the test; a file is read only where the test names it', async () => {
  const greeting = path.join(folder, 'greeting')
  const missing = { code: 'WP_PROJECT_TEST_VARIABLE', message: 'The variable "GREETING" is not set in this test' }
  await reject({ folder: greeting }, { ...missing, hint: /option env of createTestApp/ })
  await reject({ folder: greeting, envFile: '.env.none' }, { code: 'WP_KIT_ENV_FILE', message: /it does not exist/ })
  const originOf = async (options: TestAppOptions) => {
    await using app = await createTestApp({ folder: greeting, ...options })
    const { headers } = await app.inject('GET /greeting', { headers: { origin: 'https://hello.example' } })
    return headers.get('access-control-allow-origin')
  }
  assert.equal(await originOf({ envFile: '.env.test' }), 'https://hello.example')
  assert.equal(await originOf({ envFile: '.env.test', env: { GREETING: 'bye' } }), null)
  setVariable('GREETING', 'hello')
  assert.equal(await originOf({ envFile: '.env' }), 'https://hello.example')
})

test('a test replaces a connection by a client or a config', async () => {
  const plugin = path.join(folder, 'plugin')
  const connections = { Box: { client: { read: () => 'fake' } } }
  const readBoth = async (options: TestAppOptions) => {
    await using app = await createTestApp({ folder: plugin, ...options })
    await app.cronjobs.run('read')
    return [(await app.inject('GET /box')).body, ...app.events.delivered('read')]
  }
  assert.deepEqual(await readBoth({ connections }), [{ text: 'fake' }, { text: 'fake' }])
  const configured = { Box: { config: { text: 'test' } }, Reference: { config: { file: 'own.db' } } }
  assert.deepEqual(await readBoth({ connections: configured }), [{ text: 'test' }, { text: 'test' }])
  // A path is relative to the project, as in waypost.yml.
  assert.ok(existsSync(path.join(plugin, 'own.db')) && !existsSync(path.join(plugin, 'data')))
  await reject(
    { folder: plugin, connections: { Bxo: { config: {} } } },
    { code: 'WP_PROJECT_TEST_REPLACED', message: /"Bxo"/, hint: 'Did you mean "Box"?' },
  )
  await reject(
    { folder: plugin, connections: { ...connections, System: { config: {} } } },
    { code: 'WP_PROJECT_TEST_REPLACED', hint: /the option system/ },
  )
})

test('routes to tables of a connection without a test database fail when they are called, and use the client of a test', async () => {
  const shop = path.join(folder, 'shop')
  {
    await using app = await createTestApp({ folder: shop })
    const statuses = ['GET /plain', 'GET /item', 'GET /name'].map(async (route) => (await app.inject(route)).status)
    assert.deepEqual(await Promise.all(statuses), [200, 500, 500])
  }
  const { client, close } = openKysely(openSqlite({ file: path.join(folder, 'shop.db'), create: true }))
  try {
    await sql`create table item (id integer primary key, name text not null)`.execute(client)
    await sql`insert into item (name) values ('milk')`.execute(client)
    await using app = await createTestApp({ folder: shop, connections: { Shop: { client } } })
    assert.deepEqual((await app.inject('GET /item')).body, { entry: [{ id: 1, name: 'milk' }], next: null })
    assert.deepEqual((await app.inject('GET /name')).body, [{ name: 'milk' }])
  } finally {
    await close()
  }
})

// In CI, runtime/shared-rates.test.ts counts in the app too.
longTest('requests to a rate are counted by the app, not by the connection of the rate', async () => {
  const connections = { Box: { config: { text: 'test' } } }
  await using app = await createTestApp({ folder: path.join(folder, 'plugin'), connections })
  const statuses = [await app.inject('GET /limited'), await app.inject('GET /limited')].map(({ status }) => status)
  assert.deepEqual(statuses, [200, 429])
})

// In CI, "a test replaces a connection" has no variable either.
longTest('a connection that a test replaces needs neither its variables nor its migrations', async () => {
  const rows: object[] = []
  const client = {
    insertInto: () => ({ values: (row: object) => ({ execute: async () => rows.push(row) }) }),
    selectFrom: () => ({ selectAll: () => ({ execute: async () => rows }) }),
  }
  await using app = await createTestApp({ folder, connections: { Orders: { client } } })
  await app.inject('POST /item')
  assert.deepEqual((await app.inject('GET /item')).body, { stock: 1, orders: 1 })
})

test('a test may name a database, which is migrated and kept', async () => {
  const url = await postgres.createDatabase()
  {
    await using app = await createTestApp({ folder, connections: { Orders: { config: { url } } } })
    await app.inject('POST /item')
  }
  assert.equal((await query(url, 'select name from item')).length, 1)
})
