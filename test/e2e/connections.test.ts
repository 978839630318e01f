// A project with a second database beside System: its own migrations, tables.ts, and an action that uses both.
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import { Client } from 'pg'
import { makeProject, type TestProject } from '../support/project.ts'
import { startPostgres } from '../support/postgres.ts'
import { send } from '../support/send.ts'
import { assertCalm, baseUrl, makeHost, secret, startServe } from './serving.ts'
import { chooseKinds, longTest } from '../support/forms.ts'

const routes = `  /order:
    methods:
      GET: { public: true, response: Order-List, action: src/order/list.ts }
      POST: { public: true, rate: gentle, request: Order-Input, responses: { 201: Message }, action: src/order/insert.ts }
`
const schemas = `
Order-Input:
  type: object
  required: [item]
  properties: { item: { type: string } }
Order-List:
  type: object
  required: [entry]
  properties:
    entry: { type: array, items: { type: object, properties: { item: { type: string }, paid: { type: boolean } } } }
`
const list = `import type { Action, Context, Request } from 'waypost'

export default class OrderList implements Action<'GET /order'> {
  async handle(_request: Request<'GET /order'>, context: Context) {
    return { entry: await context.connection('Orders').selectFrom('orders').select(['item', 'paid']).execute() }
  }
}
`
const insert = `import type { Action, Context, Request } from 'waypost'

export default class InsertOrder implements Action<'POST /order'> {
  async handle({ body }: Request<'POST /order'>, context: Context) {
    const order = await context.transaction('Orders', async (db) => {
      const made = await db.insertInto('orders').values({ item: body.item, paid: true }).returningAll().executeTakeFirstOrThrow()
      if (body.item === 'nothing') throw context.problem(409, 'Nothing cannot be ordered')
      return made
    })
    const note = { title: order.item, content: 'ordered', status: 1, insert_date: context.now().toISOString() }
    await context.connection('System').insertInto('app_todo').values(note).execute()
    return { success: true, message: 'Ordered', id: order.id }
  }
}
`
const migration = (up: string) => `import type { Migration } from 'waypost'

export default {
  async up(db, type) {
    ${up}
  },
  async down(db) {
    await db.schema.dropTable('orders').execute()
  },
} satisfies Migration
`
const createOrders = `await db.schema
      .createTable('orders')
      .addColumn('id', type.id, (column) => column.primaryKey())
      .addColumn('item', 'varchar(64)', (column) => column.notNull())
      .addColumn('paid', type.boolean, (column) => column.notNull())
      .execute()`
const createHalf = `await db.schema.createTable('half').addColumn('id', type.id, (column) => column.primaryKey()).execute()
    await db.schema.createTable('orders').addColumn('id', type.id).execute()`

const uses = {
  sqlite: `{ class: sqlite, config: { file: '\${env.ORDERS}' } }`,
  postgresql: `{ class: postgresql, config: { url: '\${env.ORDERS}', max: 2 } }`,
}

describe('a second connection', { concurrency: 2 }, () => {
  for (const kind of chooseKinds('sqlite')) declare(kind)
})

function declare(kind: 'sqlite' | 'postgresql'): void {
  describe(kind, { concurrency: 1 }, () => {
    const closers: (() => Promise<unknown>)[] = []
    let project: TestProject
    let env: Record<'ORDERS' | 'WAYPOST_SYSTEM_URL' | 'WAYPOST_SECRET' | 'WAYPOST_BASE_URL', string>
    const first = 'migrations/Orders/20261121-create-orders.ts'
    const second = 'migrations/Orders/20261122-half.ts'

    before(async () => {
      project = await makeProject()
      closers.push(project.remove)
      const system = { WAYPOST_SECRET: secret, WAYPOST_BASE_URL: baseUrl }
      if (kind === 'postgresql') {
        const postgres = await startPostgres()
        closers.push(postgres.stop)
        const [ORDERS, WAYPOST_SYSTEM_URL] = [await postgres.createDatabase(), await postgres.createDatabase()]
        env = { ...system, ORDERS, WAYPOST_SYSTEM_URL }
      } else {
        const { folder } = project
        env = { ...system, ORDERS: `${folder}/data/orders.db`, WAYPOST_SYSTEM_URL: `sqlite:${folder}/data/system.db` }
      }
      await project.edit('waypost.yml', 'schema: !include', `${routes}schema: !include`)
      await project.write(
        'waypost.yml',
        `${await project.read('waypost.yml')}rate: { gentle: { limit: 1000, window: 1m } }\nconnection:\n  Orders: ${uses[kind]}\n`,
      )
      await project.write('resources/schema.yml', (await project.read('resources/schema.yml')) + schemas)
      await project.write('src/order/list.ts', list)
      await project.write('src/order/insert.ts', insert)
      await project.write(first, migration(createOrders))
    })
    after(async () => {
      for (const close of closers.toReversed()) await close()
    })

    it('migrate --connection runs its migrations and no others', async () => {
      const { code, stdout, stderr } = await project.run('migrate --connection Orders', { env })
      assert.equal(code, 0, stderr)
      assert.match(
        stdout,
        /Migrated {3}Orders\/20261121-create-orders {3}\d+ ms\n {2}Wrote {6}migrations\/Orders\/tables\.ts\n {2}Wrote {6}migrations\/Orders\/tables\.json\n$/,
      )
      assert.doesNotMatch(stdout, /System/)
      assert.match(
        await project.read('migrations/Orders/tables.ts'),
        /orders: \{ id: Generated<number>; item: string; paid: boolean \}/,
      )
      assert.deepEqual(await tablesOf(kind, env.ORDERS), ['orders', 'waypost_migration'])

      const refused = await project.run('deploy --yes', { env })
      assert.equal(refused.code, 1)
      assert.match(
        refused.stderr,
        /Error: The release needs migrations that have not run: System\/20261120-create-app-todo\n/,
      )
      assert.match(
        await project.ok('migrate', { env }),
        /^ {2}Migrated {3}System\/20261120-create-app-todo {3}\d+ ms\n$/,
      )
    })

    // Depends on no database, so once is enough.
    if (kind === 'sqlite') {
      it('an unknown connection is rejected with the nearest name', async () => {
        const { code, stderr } = await project.run('migrate --connection Ordres', { env })
        assert.equal(code, 1)
        assert.match(
          stderr,
          /Error: Connection "Ordres" has no migrations in this project\n {2}Did you mean "Orders"\?\n$/,
        )
      })
    }

    // Depends on no database, so once is enough.
    if (kind === 'sqlite') {
      // In CI, test/project/generate.test.ts and validate.test.ts check types.
      longTest('its client is typed by its tables', async () => {
        assert.match(await project.ok('validate --types --strict', { env }), /^No problems: /)
        await project.edit('src/order/list.ts', `'paid'`, `'payed'`)
        const { code, stdout } = await project.run('validate --types', { env })
        assert.equal(code, 1)
        assert.match(stdout, /^src\/order\/list\.ts:5:\d+  .* TS\d+$/ms)
        await project.edit('src/order/list.ts', `'payed'`, `'paid'`)
      })
    }

    // In CI, operate/releases/migrate-release.test.ts names it.
    longTest('a migration that fails is named and rolled back', async () => {
      await project.write(second, migration(createHalf))
      const { code, stdout, stderr } = await project.run('migrate', { env })
      assert.deepEqual([code, stdout], [1, ''])
      assert.match(
        stderr,
        /Error: The migration "migrations\/Orders\/20261122-half\.ts" failed and was rolled back: .*orders.* already exists\n {2}Fix it /,
      )
      assertCalm(stderr)
      assert.deepEqual(await tablesOf(kind, env.ORDERS), ['orders', 'waypost_migration'])
      await project.write(second, migration(createHalf.split('\n')[0]!))
      assert.match(await project.ok('migrate', { env }), /Migrated {3}Orders\/20261122-half /)
      assert.deepEqual(await tablesOf(kind, env.ORDERS), ['half', 'orders', 'waypost_migration'])
    })

    // In CI, migrate.test.ts and operate/releases/migrate-release.test.ts name it.
    longTest('an applied migration that was edited is named by migrate and by deploy', async () => {
      await project.edit(second, `'half'`, `'whole'`)
      const [migrated, deployed] = await Promise.all([
        project.run('migrate', { env }),
        project.run('deploy --yes', { env }),
      ])
      assert.deepEqual([migrated.code, deployed.code], [1, 1])
      assert.match(
        migrated.stderr,
        /Error: Migrations changed after they were applied: "20261122-half"\n {2}Restore [^]*deletes\s+the\s+rows\s+of\s+their\s+tables:\s+npx waypost migrate:redo --connection Orders\n/,
      )
      const [status, redo] = [await project.run('migrate:status', { env }), await project.run('migrate:redo', { env })]
      assert.match(
        status.stderr,
        /the edit does not change what it does: npx waypost migrate:accept 20261122-half --connection Orders\n/,
      )
      assert.match(
        status.stderr,
        /deletes the rows of its tables:\n {10}npx waypost migrate:redo --connection Orders\n/,
      )
      assert.match(
        redo.stderr,
        /migrations: Orders, System\n {2}Choose one:\n( {4}npx waypost migrate:redo --connection (Orders|System)\n){2}/,
      )
      const down = await project.run('migrate:down --to 20261121-order --yes', { env })
      assert.match(down.stderr, /^ {4}npx waypost migrate:down --to 20261121-order --connection Orders$/m)
      assert.match(
        deployed.stderr,
        /Error: Migrations of the release differ from .*: Orders\/20261122-half\n {2}Restore the files /,
      )
      await project.edit(second, `'whole'`, `'half'`)
    })

    // In CI, plugins/sql/test/contract.test.ts and sql.test.ts have transactions.
    longTest('an action uses both databases; a failed transaction is rolled back', async () => {
      await project.ok('deploy --yes', { env })
      const host = await makeHost({ ...env, HOST: '127.0.0.1' })
      closers.push(host.remove)
      const serving = await startServe(host)
      closers.push(serving.stop)
      const order = (item: string) => send(serving.port, { path: '/order', body: { item } })
      assert.equal((await order('milk')).status, 201)
      const refused = await order('nothing')
      assert.deepEqual([refused.status, refused.body.detail], [409, 'Nothing cannot be ordered'])
      assert.deepEqual((await send(serving.port, { path: '/order' })).body, { entry: [{ item: 'milk', paid: true }] })
      const { body } = await send(serving.port, { path: '/todo' })
      assert.deepEqual(
        body.entry.map((one: { title: string }) => one.title),
        ['milk'],
      )
    })

    // In CI, server/start-server.test.ts has a connection that cannot be opened.
    longTest('a database that is down affects only its own routes', async () => {
      const down = kind === 'sqlite' ? '/dev/null/orders.db' : 'postgresql://waypost:geheim@127.0.0.1:1/orders'
      const host = await makeHost({ ...env, ORDERS: down, HOST: '127.0.0.1' })
      closers.push(host.remove)
      const serving = await startServe(host)
      closers.push(serving.stop)
      assert.equal((await send(serving.port, { path: '/todo' })).status, 200)
      const answer = await send(serving.port, { path: '/order' })
      assert.equal(answer.status, 503)
      assert.ok(answer.headers['retry-after'] !== undefined)
      assertCalm(answer.text)
      await serving.waitFor(/"connection":"Orders"|"code":"WP_STORE_UNREACHABLE"/)
      assert.ok(!(answer.text + serving.stdout()).includes('geheim'))
    })

    // Depends on no database, so once is enough.
    if (kind === 'sqlite') {
      // In CI, test/server/plugin-faults.test.ts refuses a release for it.
      longTest('an unset variable prevents the release from being served, and is named', async () => {
        const { ORDERS: _, ...others } = env
        const host = await makeHost({ ...others, HOST: '127.0.0.1' })
        closers.push(host.remove)
        const serving = await startServe(host)
        closers.push(serving.stop)
        await serving.waitFor(/The release [0-9a-f]{8} requires variables that are not set: ORDERS/)
        assert.equal((await send(serving.port, { path: '/todo' })).status, 404)
        assert.equal((await send(serving.port, { path: '/health/live' })).status, 200)
      })
    }
  })
}

async function tablesOf(kind: 'sqlite' | 'postgresql', where: string): Promise<string[]> {
  if (kind === 'sqlite') {
    const database = new DatabaseSync(where, { readOnly: true })
    const rows = database
      .prepare(`select name from sqlite_master where type = 'table' and name not like 'sqlite%'`)
      .all()
    database.close()
    return rows.map(({ name }) => String(name)).toSorted()
  }
  const client = new Client({ connectionString: where })
  await client.connect()
  const { rows } = await client.query(`select tablename from pg_tables where schemaname = 'public'`)
  await client.end()
  return rows.map(({ tablename }) => String(tablename)).toSorted()
}
