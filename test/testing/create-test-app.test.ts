import assert from 'node:assert/strict'
import { once } from 'node:events'
import { cp, readdir } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { typesReplaced } from '../../src/project/index.ts'
import { createTestApp, type TestApp } from '../../src/testing/index.ts'
import { actionFile, writeFiles } from '../support/project-server.ts'
import { until } from '../support/until.ts'
import { useTemporaryFolder } from './temporary-folder.ts'

const milk = { title: 'Buy milk', content: 'Two bottles' }
const yml = `
routes:
  /now: { methods: { GET: { public: true, action: src/now.ts } } }
  /mine: { scopes: [mine], methods: { GET: { action: src/who.ts } } }
  /echo/:name:
    path: { name: { type: string } }
    methods:
      GET: { public: true, parameters: { tag: { type: array, items: { type: string } } }, action: src/echo.ts }
      DELETE: { public: true, responses: { 204: }, action: src/nothing.ts }
  /token: { methods: { GET: { public: true, action: src/token.ts } } }
  /told: { scopes: [mine], methods: { POST: { action: src/told.ts } } }
  /text: { methods: { GET: { public: true, action: src/text.ts } } }
  /bytes: { methods: { GET: { public: true, action: src/bytes.ts } } }
  /events: { methods: { GET: { public: true, response: { content: { text/event-stream: {} } }, action: src/events.ts } } }
  /lines: { methods: { GET: { public: true, response: { content: { application/jsonl: {} } }, action: src/lines.ts } } }
  /fetched: { methods: { GET: { public: true, action: src/fetched.ts } } }
  /fail: { methods: { GET: { public: true, action: src/fail.ts } } }
  /made: { methods: { POST: { public: true, action: src/made.ts } } }
event: { made: { description: Made, scopes: [mine] } }
cronjob:
  tidy: { schedule: "0 4 1 1 *", action: src/tidy.ts }
  fail: { schedule: "0 4 1 1 *", action: src/fail.ts }
`
const files = {
  'waypost.yml': yml,
  'src/now.ts': actionFile('return { now: context.now().getTime() }'),
  'src/who.ts': actionFile('return context.principal'),
  'src/echo.ts': actionFile(
    'return { name: request.params.name, tag: request.query.tag ?? null, header: request.headers["x-a"] ?? null }',
  ),
  'src/token.ts': actionFile('return { authorization: request.headers.authorization }'),
  'src/told.ts': actionFile(
    `await context.dispatch('made', request.body, { users: [context.principal.user.id, 'nobody'] }); return {}`,
  ),
  'src/nothing.ts': actionFile('return undefined'),
  'src/text.ts': actionFile(`return context.respond(200, 'plain', { 'content-type': 'text/plain' })`),
  'src/bytes.ts': actionFile('return Buffer.from([0, 255, 10])'),
  'src/events.ts': actionFile(
    `return (async function* () {
      yield 1
      for (let id = 2; ; id += 1) yield { event: 'more', id, data: 'a\\n' + id }
    })()`,
  ),
  'src/lines.ts': actionFile('return [1, [2], { data: 3 }]'),
  'src/fetched.ts': actionFile('return [await (await fetch("http://127.0.0.1:9")).json()]'),
  'src/fail.ts': actionFile(`throw new Error('out of milk')`),
  'src/tidy.ts': actionFile(`await context.dispatch('made', { at: context.now().getTime(), ...request.params })`),
  'src/made.ts': actionFile(`await context.dispatch('made', request.body); return {}`),
}

let folder: string
let todo: string
/** For tests that neither dispatch events nor turn the clock. */
let shared: TestApp
let sharedSystems: readonly string[]
let temporary: Awaited<ReturnType<typeof useTemporaryFolder>>
before(async () => {
  temporary = await useTemporaryFolder()
  folder = temporary.folder
  await writeFiles(folder, files)
  todo = path.join(folder, 'todo')
  await cp(path.resolve('templates/todo'), todo, { recursive: true })
  shared = await createTestApp({ folder })
  sharedSystems = await systems()
})
after(async () => {
  await shared.close()
  await temporary.remove()
})

const systems = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('waypost-test-'))

test('the to-do project: created, listed, delivered; an app beside it is independent', async () => {
  await using app = await createTestApp({ folder: todo })
  await using other = await createTestApp({ folder: todo })
  const created = await app.as('ann', ['todo']).inject('POST /todo', { body: milk })
  assert.deepEqual([created.status, created.body.success], [201, true])
  const list = await app.inject('GET /todo', { query: { startIndex: 0 } })
  assert.deepEqual([list.body.totalResults, list.body.entry[0].title], [1, 'Buy milk'])
  assert.deepEqual(app.events.delivered('todo_created'), [list.body.entry[0]])
  assert.equal(
    (await app.inject('GET /todo/:todo_id', { params: { todo_id: created.body.id } })).body.title,
    'Buy milk',
  )
  assert.equal((await app.inject('POST /todo', { body: milk })).status, 401)
  assert.equal((await app.as('ann', ['consumer']).inject('POST /todo', { body: milk })).status, 403)
  assert.equal((await other.inject('GET /todo')).body.totalResults, 0)
  assert.deepEqual(other.events.delivered('todo_created'), [])
  app.clock.forward('1d')
  assert.equal((await other.as('ann', ['todo']).inject('POST /todo', { body: milk })).status, 201)
})

test('declared migrations create the tables of a test', async () => {
  const declared = path.join(folder, 'declared')
  await writeFiles(declared, {
    'waypost.yml': 'routes: { /note: { methods: { GET: { public: true, action: src/note.ts } } } }',
    'src/note.ts': actionFile(
      `return context.connection('System').insertInto('note').defaultValues().returningAll().executeTakeFirstOrThrow()`,
    ),
    'migrations/System/1-note.yml':
      'create_table: { note: { columns: { id: id, paid: { type: boolean, default: true } } } }',
  })
  await using app = await createTestApp({ folder: declared })
  assert.deepEqual((await app.inject('GET /note')).body, { id: 1, paid: true })
})

test('a stream of values is read as it arrives, and closed by leaving the loop', async () => {
  const app = shared
  const { status, body } = await app.inject('GET /events')
  const events: unknown[] = []
  for await (const event of body) if (events.push(event) === 3) break
  assert.deepEqual(
    [status, events],
    [200, [{ data: 1 }, { event: 'more', id: '2', data: 'a\n2' }, { event: 'more', id: '3', data: 'a\n3' }]],
  )
  const lines: unknown[] = []
  for await (const line of (await app.inject('GET /lines')).body) lines.push(line)
  assert.deepEqual(lines, [1, [2], { data: 3 }])
})

test('a test that replaces the global "fetch" replaces that of actions, and not that of its requests', async (t) => {
  const app = shared
  t.mock.method(globalThis, 'fetch', async () => Response.json({ n: 1 }))
  assert.deepEqual((await app.inject('GET /fetched')).body, [{ n: 1 }])
})

test('the clock controls the time of actions, tokens and deliveries', async () => {
  await using app = await createTestApp({ folder })
  const before = (await app.inject('GET /now')).body.now as number
  const ann = app.as('ann', ['mine'])
  assert.equal((await ann.inject('GET /mine')).status, 200)
  const first = (await ann.inject('GET /token')).body.authorization as string
  app.clock.forward('59m')
  assert.equal((await ann.inject('GET /mine')).status, 200)
  app.clock.forward('1m30s')
  assert.equal((await ann.inject('GET /mine')).status, 200, 'with a new token: the first one has expired')
  const kept = await fetch(`${app.url}/mine`, { headers: { authorization: first } })
  assert.equal(kept.status, 401, 'a token lives for an hour')
  const passed = ((await app.inject('GET /now')).body.now as number) - before
  assert.ok(passed >= 3_630_000 && passed < 3_640_000, String(passed))
  assert.throws(() => app.clock.forward('soon'), {
    code: 'WP_TESTING_DURATION',
    message: '"soon" is not a valid duration',
  })
})

test('a delivery that failed is sent again when the clock was turned to it', async () => {
  const answers = [500, 204]
  const posts: string[] = []
  const receiver = createServer((request, response) => {
    posts.push(String(request.headers['webhook-id']))
    request.resume().on('end', () => response.writeHead(answers.shift() ?? 204).end())
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const endpoint = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`

  await using app = await createTestApp({ folder })
  const ann = app.as('ann', ['consumer', 'mine'])
  const subscribed = await ann.inject('POST /consumer/subscription', { body: { event: 'made', endpoint } })
  assert.equal(subscribed.status, 201)
  await app.inject('POST /made', { body: { n: 1 } })
  assert.equal(posts.length, 1)
  await app.inject('GET /now')
  assert.equal(posts.length, 1)
  app.clock.forward('2m')
  await app.inject('GET /now')
  assert.equal(posts.length, 2)
  assert.equal(posts[0], posts[1])
  assert.deepEqual(app.events.delivered('made'), [{ n: 1 }])
  receiver.closeAllConnections()
  receiver.close()
})

test('an event dispatched to certain users is recorded once, and delivered to these users', async () => {
  const posts: unknown[] = []
  const receiver = createServer((request, response) => {
    request.on('data', (part) => posts.push(JSON.parse(String(part)))).on('end', () => response.writeHead(204).end())
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const endpoint = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`

  await using app = await createTestApp({ folder })
  const [ann, bob] = [app.as('ann', ['consumer', 'mine']), app.as('bob', ['mine'])]
  await ann.inject('POST /consumer/subscription', { body: { event: 'made', endpoint } })
  await ann.inject('POST /told', { body: { n: 1 } })
  await bob.inject('POST /told', { body: { n: 2 } })
  await app.inject('POST /made', { body: { n: 3 } })
  const bodies = [4, 5, 6, 7].map((n) => ({ n }))
  await Promise.all(bodies.map((body) => bob.inject('POST /told', { body })))
  await app.inject('GET /now')
  const made = app.events.delivered('made') as { n: number }[]
  assert.deepEqual(
    made.map(({ n }) => n).toSorted((a, b) => a - b),
    [1, 2, 3, 4, 5, 6, 7],
  )
  assert.deepEqual(posts, [{ n: 1 }, { n: 3 }])
  receiver.closeAllConnections()
  receiver.close()
})

test('a cronjob is run on request of the test, by its clock', async () => {
  await using app = await createTestApp({ folder })
  app.clock.forward('30d')
  const before = Date.now() + 30 * 86_400_000
  await app.cronjobs.run('tidy')
  const [made] = app.events.delivered('made') as { at: number; cronjob: string; slot: string }[]
  assert.equal(made?.cronjob, 'tidy')
  assert.ok(made.at >= before - 1000 && Date.parse(made.slot) <= made.at)
  await app.cronjobs.run('tidy')
  assert.equal(app.events.delivered('made').length, 2)
  await assert.rejects(app.cronjobs.run('fail'), /out of milk/)
  await assert.rejects(app.cronjobs.run('tdy'), { code: 'WP_SERVER_CRONJOB_UNKNOWN' })
})

test('requests send path, query and headers; responses without JSON and without a body are returned', async () => {
  const app = shared
  const { body } = await app.inject('GET /echo/:name', {
    params: { name: 'a/ü?' },
    query: { tag: ['x', 'y&z'] },
    headers: { 'x-a': '1' },
  })
  assert.deepEqual(body, { name: 'a/ü?', tag: ['x', 'y&z'], header: '1' })
  const nothing = await app.inject('DELETE /echo/:name', { params: { name: 'a' } })
  assert.deepEqual([nothing.status, nothing.body], [204, ''])
  const text = await app.inject('GET /text')
  assert.deepEqual([text.body, text.headers.get('content-type')], ['plain', 'text/plain'])
  assert.deepEqual([...(await app.inject('GET /bytes')).bytes], [0, 255, 10])
  assert.equal((await app.inject('HEAD /now')).status, 200)
  assert.equal((await app.inject('GET /nowhere')).status, 404)
  assert.equal((await fetch(`${app.url}/health/ready`)).status, 200)
  await assert.rejects(app.inject('GET /echo/:name'), {
    code: 'WP_TESTING_PARAMETER',
    message: /is missing the path parameter "name"/,
  })
})

test('a user has the scopes of the test, a token those it was issued for', async () => {
  const app = shared
  const both = await app.as('ann', ['mine', 'consumer']).inject('GET /mine')
  const one = await app.as('ann', ['mine']).inject('GET /mine')
  assert.deepEqual([both.body.user.name, both.body.scopes], ['ann', ['mine', 'consumer']])
  assert.deepEqual([one.body.user.id, one.body.scopes], [both.body.user.id, ['mine']])
})

test('replaced types and an error of an action, with its line, are written where the tests are', async (t) => {
  await writeFiles(folder, { '.waypost/types.d.ts': '// of another branch\n' })
  const written: string[] = []
  t.mock.method(process.stderr, 'write', (text: string) => written.push(text) > 0)
  await using app = await createTestApp({ folder })
  const { status, body } = await app.inject('GET /fail')
  t.mock.restoreAll()
  assert.equal(status, 500)
  assert.equal(written[0], `${typesReplaced}\n`)
  const id = /request (\w+)\.$/.exec(body.detail)?.[1]
  assert.match(
    written.join(''),
    new RegExp(`error: request failed reqId="${id}"\\n {2}Error: out of milk\\n {6}at \\S+ \\(src/fail\\.ts:4:7\\)`),
  )
})

test('the System of the environment is never touched, and other variables reach the project', async () => {
  const file = path.join(folder, 'never.db')
  await using app = await createTestApp({
    folder,
    env: { WAYPOST_SYSTEM_URL: `sqlite:${file}`, WAYPOST_SECRET: 'short' },
  })
  assert.equal((await app.inject('GET /now')).status, 200)
  assert.ok(!(await readdir(folder)).includes('never.db'))
})

test('a project with errors reports them and leaves nothing open', async (t) => {
  const written: string[] = []
  t.mock.method(process.stderr, 'write', (text: string) => written.push(text) > 0)
  const broken = path.join(folder, 'broken')
  await writeFiles(broken, {
    'waypost.yml': 'routes: { /a: { methods: { GET: { public: true, action: src/none.ts } } } }\n',
  })
  await assert.rejects(createTestApp({ folder: broken }), { code: 'WP_PROJECT_BROKEN' })
  await assert.rejects(createTestApp({ folder: path.join(folder, 'nowhere') }), { code: 'WP_PROJECT_NONE' })
  t.mock.restoreAll()
  assert.match(written.join(''), /waypost\.yml:1:.*src\/none\.ts/)
  assert.deepEqual(await systems(), sharedSystems)
})

test('an app that is closed leaves no folder and no socket', async () => {
  const resources = () =>
    process.getActiveResourcesInfo().filter((name) => /TCP|Server|Timeout|FSEvent|Process/.test(name))
  const before = resources()
  const app = await createTestApp({ folder })
  await app.as('ann', ['mine']).inject('GET /mine')
  await app.close()
  await app.close()
  assert.deepEqual(await systems(), sharedSystems)
  await until('nothing more is open than before', () => isDeepStrictEqual(resources().toSorted(), before.toSorted()))
  await assert.rejects(fetch(app.url))
})

test('closing an app ends the timers of modules and names what else they left open', async (t) => {
  const own = path.join(folder, 'left-open')
  await writeFiles(own, {
    'waypost.yml': 'routes: { /left: { methods: { GET: { public: true, action: src/left.ts } } } }\n',
    'src/left.ts': `import { createServer } from 'node:net'
import { onClose } from 'waypost'
const server = createServer().listen(0)
onClose(() => void (globalThis as any).leftOpen.push(server))
${actionFile('setInterval(() => undefined, 3600000); return {}')}`,
  })
  const left: { close(): void }[] = []
  Object.assign(globalThis, { leftOpen: left })
  const app = await createTestApp({ folder: own })
  assert.equal((await app.inject('GET /left')).status, 200)
  const write = t.mock.method(process.stderr, 'write', () => true)
  await app.close()
  write.mock.restore()
  left[0]!.close()
  const lines = write.mock.calls.map(({ arguments: [text] }) => String(text).replace(/^warning: /, ''))
  assert.deepEqual(lines, [
    'outdated code left something open kind="server" place="src/left.ts:3"\n',
    'outdated code left something running; it was ended kind="timer" place="src/left.ts:8"\n',
  ])
})
