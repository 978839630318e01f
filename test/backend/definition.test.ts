import assert from 'node:assert/strict'
// oxlint-disable typescript/no-explicit-any -- the schemas of the routes check the answers
import { createServer, type AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { addUser } from '../../src/auth/index.ts'
import { issueHostToken, testHostConnection } from '../../src/operate/index.ts'
import { actionFile, openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { send, type Answer } from '../support/send.ts'
import { asCommand } from '../support/server.ts'
import { readTemplate } from '../support/template.ts'
import { allScopes, assertDescribed, openAdmin } from './admin.ts'

const { 'migrations/System/20261123-create-app-order.yml': migration, 'migrations/System/tables.json': tables } =
  readTemplate('crud')

const files = {
  'migrations/System/20261123-create-app-order.yml': migration!,
  'migrations/System/20261124-alter.yml':
    '- add_column: { app_order: { city: { type: text, null: true } } }\n- create_table: { app_extra: { columns: { id: id } } }\n',
  'migrations/System/tables.json': tables!,
  'waypost.yml': `
action:
  Orders:
    class: sql-table
    config: { table: app_order, columns: [id, item, quantity], owner: user_id, write: [item, quantity], set: { status: 1, insert_date: $now } }
routes:
  /order:
    scopes: [order]
    methods:
      GET: { description: Lists orders, action: Orders }
      POST: { action: Orders, dispatch: order_created }
  /note/:id:
    path: { id: { type: integer } }
    methods:
      GET: { public: true, parameters: { deep: { type: boolean } }, response: Note, action: src/note.ts }
      PUT: { scopes: [note, order], request: Note, response: Note, rate: gentle, action: src/note.ts }
schema:
  Note: { type: object, required: [text], properties: { text: { type: string, examples: [milk] }, by: { $ref: 'schema:///Owner' } } }
  Owner: { type: object, properties: { name: { type: string } } }
event: { order_created: { description: An order was created, scopes: [order] } }
rate: { gentle: { limit: 5, window: 1m } }
static: { /assets: { folder: public, max_age: 1d }, /: { folder: public, fallback: index.html } }
cronjob: { clean: { schedule: '0 4 * * *', action: src/note.ts } }
config: { title: Notes, token_lifetime: 2h }
connection:
  Files: { class: sqlite, config: { file: files.db } }
  Far: { class: postgresql, config: { url: '\${env.FAR_URL}' } }
  Web: { class: http, config: { url: 'https://example.com', auth: { bearer: abcdefgh12345678 } } }
`,
  'public/index.html': '<p>hello</p>',
  'public/a.txt': 'a',
  'src/note.ts': actionFile("return { text: 'milk' }"),
}

describe('the definition in the admin API', () => {
  let world: ProjectServer
  let call: (line: string, scopes?: readonly string[]) => Promise<Answer>
  const silent = createServer(() => undefined) // accepts connections and never answers
  before(async () => {
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as AddressInfo
    const variables = { FAR_URL: `postgresql://far:s3cr3t%2Fpw@127.0.0.1:${port}/far` }
    world = await openProjectServer({ files, variables, keepsFiles: true })
    const { system } = world.host
    for (const [name, scopes] of Object.entries({
      root: [...allScopes, 'order'],
      ann: ['order', 'note'],
      bob: ['note'],
    }))
      await addUser(system, { name, password: 'correct horse battery', scopes })
    call = async (line, scopes = allScopes) => {
      const { access_token: token } = await issueHostToken(asCommand(world.host), {
        user: 'root',
        scopes,
        expires: undefined,
      })
      const [method = '', path = ''] = line.split(' ')
      const headers = { authorization: `Bearer ${token}` }
      const answer = await send(world.port, { method, path: `/backend${path}`, headers })
      if (answer.status < 300) assertDescribed(method, path, answer)
      return answer
    }
  })
  after(async () => {
    await world[Symbol.asyncDispose]()
    silent.close()
  })

  test('lists routes with access, action, source and calls', async () => {
    for (const path of ['/note/1', '/note/1', '/note/x', '/order']) await send(world.port, { path })
    await world.server.recordStatistics()
    const { body } = await call('GET /release/active/definition')
    assert.equal(body.is_active, true)
    assert.equal((await call(`GET /release/${body.id.slice(0, 8)}/definition`)).body.id, body.id)
    const found = Object.fromEntries(body.routes.map((one: any) => [`${one.method} ${one.path}`, one]))
    assert.deepEqual(Object.keys(found), ['GET /note/:id', 'PUT /note/:id', 'GET /order', 'POST /order'])
    const { p95_ms: p95, ...note } = found['GET /note/:id']
    assert.ok(p95 > 0)
    assert.deepEqual(note, {
      method: 'GET',
      path: '/note/:id',
      source: 'waypost.yml:15',
      description: null,
      public: true,
      scopes: [],
      holders: null,
      action: { name: 'src/note.ts', kind: 'file', class: null },
      dispatch: null,
      dispatch_data: null,
      rate: null,
      deprecated: false,
      groups: [],
      inherited: {},
      calls: 3,
      server_errors: 0,
    })
    assert.deepEqual(found['PUT /note/:id'].holders, { users: 3, clients: 0 }, 'each user counts once')
    assert.deepEqual(found['GET /order'].holders, { users: 2, clients: 0 })
    assert.deepEqual(found['GET /order'].action, { name: 'Orders', kind: 'named', class: 'sql-table' })
    assert.equal(found['GET /order'].calls, 1)
    assert.equal(found['PUT /note/:id'].calls, 0)
  })

  test('lists static folders', async () => {
    const { body } = await call('GET /release/active/definition')
    const [line] = body.static.map(({ source }: { source: string }) => source)
    assert.match(line, /^waypost\.yml:\d+$/)
    assert.deepEqual(body.static, [
      { path: '/', source: line, folder: 'public', files: 2, max_age_ms: null, fallback: 'index.html' },
      { path: '/assets', source: line, folder: 'public', files: 2, max_age_ms: 86_400_000, fallback: null },
    ])
  })

  test('lists schemas, actions, events, cronjobs, rates and settings with their users', async () => {
    const { body } = await call('GET /release/active/definition')
    const [note, owner] = body.schemas
    assert.deepEqual(note.used_by, [
      { kind: 'route', name: 'GET /note/:id' },
      { kind: 'route', name: 'PUT /note/:id' },
    ])
    assert.deepEqual(
      [owner.name, owner.source, owner.used_by[0]],
      ['Owner', 'waypost.yml:19', { kind: 'schema', name: 'Note' }],
    )
    assert.deepEqual(
      body.actions.map(({ name, kind, source, used_by: users }: any) => [
        name,
        kind,
        source,
        users.map((one: any) => one.name),
      ]),
      [
        ['Orders', 'named', 'waypost.yml:3', ['GET /order', 'POST /order']],
        ['src/note.ts', 'file', null, ['GET /note/:id', 'PUT /note/:id', 'clean']],
      ],
    )
    assert.equal(body.actions[0].config.table, 'app_order')
    assert.deepEqual(body.events[0].dispatched_by, ['POST /order'])
    assert.deepEqual(body.cronjobs[0].action.name, 'src/note.ts')
    assert.deepEqual(body.rates, [
      {
        name: 'gentle',
        source: 'waypost.yml:21',
        limit: 5,
        window_ms: 60_000,
        by: 'principal',
        connection: null,
        used_by: ['PUT /note/:id'],
      },
    ])
    const settings = Object.fromEntries(body.settings.map((one: any) => [one.name, one]))
    assert.equal(settings.token_lifetime.value, '2h')
    assert.equal(settings.token_lifetime.default, '1h')
    assert.ok(!('value' in settings.refresh_lifetime))
  })

  test('shows a method with its schemas and an example body', async () => {
    const { body } = await call('GET /release/active/method?method=PUT&path=%2Fnote%2F%3Aid')
    assert.equal(
      body.definition,
      'PUT: { scopes: [note, order], request: Note, response: Note, rate: gentle, action: src/note.ts }',
    )
    assert.deepEqual(body.example, { text: 'milk' })
    assert.deepEqual(body.params.properties.id.type, 'integer')
    assert.deepEqual(Object.keys(body.schemas), ['Note', 'Owner'])
    assert.equal((await call('GET /release/active/method?method=GET&path=%2Fnothing')).status, 404)
  })

  test('lists tables and migrations', async () => {
    const { body } = await call('GET /table')
    const [extra, table] = body.entry
    assert.equal(extra.name, 'app_extra')
    const names = table.columns.map((one: any) => one.name)
    assert.ok(names.includes('city'), String(names))
    assert.deepEqual([table.connection, table.name, table.key], ['System', 'app_order', ['id']])
    assert.deepEqual(table.used_by, ['GET /order', 'POST /order'])
    assert.ok(table.columns.some((one: any) => one.name === 'quantity' && one.type === 'integer'))
    const listed = (await call('GET /migration')).body
    assert.deepEqual(listed.problems, [])
    assert.deepEqual(
      listed.entry.map(({ connection, name, state, declared }: any) => [connection, name, state, declared]),
      [
        ['System', '20261123-create-app-order', 'applied', true],
        ['System', '20261124-alter', 'applied', true],
      ],
    )
    assert.ok(!Number.isNaN(Date.parse(listed.entry[0].applied_at)))
  })

  test('lists the next runs of a schedule', async () => {
    const url = (schedule: string, timezone: string) =>
      `GET /schedule?${new URLSearchParams({ schedule, timezone }).toString()}`
    const { next, problem } = (await call(url('30 4 * * 1', 'Europe/Berlin'))).body
    assert.equal(problem, null)
    assert.equal(next.length, 5)
    const inBerlin = new Intl.DateTimeFormat('en', { timeStyle: 'short', hourCycle: 'h23', timeZone: 'Europe/Berlin' })
    for (const at of next) assert.match(inBerlin.format(new Date(at)), /04:30/)
    assert.match((await call(url('61 * * * *', 'UTC'))).body.problem, /minute/)
    assert.match((await call(url('0 4 * * *', 'Mars/Base'))).body.problem, /time zone "Mars\/Base"/)
    assert.deepEqual((await call(url('0 0 30 2 *', 'UTC'))).body.next, [])
  })

  test('lists classes and plugins', async () => {
    const { body } = await call('GET /class')
    assert.ok(body.connections.some((one: any) => one.name === 'postgresql' && one.config.properties.url.writeOnly))
    assert.ok(body.actions.some((one: any) => one.name === 'sql-table' && one.routes_only))
    assert.deepEqual(body.steps, [], 'Waypost itself provides none')
    const { entry } = (await call('GET /plugin')).body
    assert.deepEqual(
      entry.map(({ name, place }: any) => [name, place]),
      [
        ['sql', 'built-in'],
        ['http', 'built-in'],
      ],
    )
  })

  test('lists connections without secrets', async () => {
    const { body, text } = await call('GET /connection')
    assert.deepEqual(
      body.entry.map((one: any) => one.name),
      ['System', 'Far', 'Files', 'Web'],
    )
    assert.equal(body.entry[1].config.url, '${env.FAR_URL}')
    assert.equal(body.entry[3].config.auth.bearer, '[hidden]')
    assert.doesNotMatch(text, /abcdefgh|s3cr3t/)
  })

  test('tests connections with a time limit, and shows no secrets', async () => {
    for (const name of ['System', 'Files']) {
      const { body, text } = await call(`POST /connection/${name}/test`)
      assert.equal(body.ok, true, text)
    }
    assert.equal((await call('POST /connection/Files/test', ['backend.read'])).status, 403)
    assert.equal((await call('POST /connection/Nothing/test')).status, 404)
    const late = await testHostConnection(world.host, 'Far', 100)
    assert.match(late.problem!, /does not respond/)
    const { server } = await openRefusing('password "s3cr3t/pw" of postgresql://far:s3cr3t%2Fpw@host is wrong')
    try {
      const { port } = server.address() as AddressInfo
      const variables = { ...world.host.variables, FAR_URL: `postgresql://far:s3cr3t%2Fpw@127.0.0.1:${port}/far` }
      const { problem } = await testHostConnection({ ...world.host, variables }, 'Far')
      assert.match(problem!, /password "\[hidden\]" of postgresql:\/\/far:\[(hidden|redacted)\]@host is wrong/)
    } finally {
      server.close()
    }
  })
})

/** A PostgreSQL server that refuses each connection with a message. */
async function openRefusing(message: string) {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => {
      const fields = Buffer.from(`SFATAL\0C28P01\0M${message}\0\0`)
      const head = Buffer.alloc(5)
      head.write('E')
      head.writeInt32BE(fields.length + 4, 1)
      socket.end(Buffer.concat([head, fields]))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server }
}

test('an empty server has connections and classes, and an empty definition', async () => {
  const world = await openAdmin('sqlite')
  try {
    const { status, body } = await world.call('GET /release/active/definition')
    assert.deepEqual([status, body.id, body.routes], [200, null, []])
    assert.deepEqual((await world.call('GET /table')).body.entry, [])
    assert.deepEqual((await world.call('GET /migration')).body.entry, [])
    assert.equal((await world.call('GET /connection')).body.entry.length, 1)
    assert.equal((await world.call('POST /connection/System/test')).body.ok, true)
  } finally {
    await world.close()
  }
})
