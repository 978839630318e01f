import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { actionFile, openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'

const yml = `
routes:
  /mine: { scopes: [mine], methods: { GET: { rate: mine, action: src/ok.ts } } }
  /here:
    rate: here
    methods:
      GET: { public: true, action: src/ok.ts }
      POST: { public: true, request: { type: object, required: [a], properties: { a: { type: integer } } }, action: src/ok.ts }
  /here/too: { methods: { GET: { public: true, rate: here, action: src/ok.ts } } }
  /other: { methods: { GET: { public: true, rate: other, action: src/ok.ts } } }
  /open: { methods: { GET: { public: true, rate: mine, action: src/ok.ts } } }
  /free: { methods: { GET: { public: true, action: src/ok.ts } } }
  /old: { deprecated: 2026-11-30, methods: { GET: { public: true, action: src/ok.ts }, DELETE: { scopes: [mine], action: src/ok.ts } } }
rate:
  mine: { limit: 2, window: 10s, by: principal }
  here: { limit: 3, window: 1m, by: address }
  other: { limit: 1, window: 1m, by: address }
`
const files = { 'waypost.yml': yml, 'src/ok.ts': actionFile('return {}') }

describe('a rate', () => {
  let server: ProjectServer
  let now = Date.now()
  before(async () => {
    server = await openProjectServer({ files, clock: { now: () => now, monotonic: () => performance.now() } })
  })
  after(() => server[Symbol.asyncDispose]())
  beforeEach(() => {
    now += 3_600_000 / 2 // tokens live for an hour, windows for a minute
  })
  const get = (path: string, headers = {}) => send(server.port, { path, headers })
  const statuses = async (path: string, times: number, headers = {}) => {
    const found: number[] = []
    for (let turn = 0; turn < times; turn += 1) found.push((await get(path, headers)).status)
    return found
  }

  test('by principal counts each user, across tokens and routes', async () => {
    const ann = await server.authorize('ann', ['mine'])
    const annAgain = await server.authorize('ann', ['mine'])
    const bob = await server.authorize('bob', ['mine'])
    assert.deepEqual(await statuses('/mine', 1, ann), [200])
    assert.deepEqual(await statuses('/open', 1, annAgain), [200])
    assert.deepEqual(await statuses('/mine', 1, annAgain), [429])
    assert.deepEqual(await statuses('/mine', 3, bob), [200, 200, 429])
    assert.deepEqual(await statuses('/open', 3), [200, 200, 429], 'who has no token is counted by address')
  })

  test('does not count rejected requests', async () => {
    assert.deepEqual(await statuses('/mine', 4), [401, 401, 401, 401])
    const carol = await server.authorize('carol', ['other'])
    assert.deepEqual(await statuses('/mine', 3, carol), [403, 403, 403])
  })

  test('is one budget for all routes and methods that name it, and another for another name', async () => {
    assert.deepEqual(await statuses('/here', 1), [200])
    assert.deepEqual(await statuses('/here/too', 1), [200])
    assert.equal((await send(server.port, { path: '/here', body: {} })).status, 400)
    assert.deepEqual(await statuses('/here/too', 1), [429])
    assert.equal((await send(server.port, { path: '/here', method: 'HEAD' })).status, 429)
    assert.equal((await send(server.port, { path: '/here', body: 'x'.repeat(2_000_000) })).status, 429)
    assert.deepEqual(await statuses('/other', 2), [200, 429])
    assert.deepEqual(await statuses('/free', 5), [200, 200, 200, 200, 200])
  })

  test('returns the remaining requests and the time to retry in headers', async () => {
    const first = await get('/here')
    assert.deepEqual(
      [first.headers['x-ratelimit-limit'], first.headers['x-ratelimit-remaining'], first.headers['x-ratelimit-reset']],
      ['3', '2', '60'],
    )
    now += 20_500
    await statuses('/here', 2)
    const { status, headers, body } = await get('/here')
    assert.equal(status, 429)
    assert.deepEqual([headers['x-ratelimit-remaining'], headers['retry-after']], ['0', '40'])
    assert.equal(headers['content-type'], 'application/problem+json')
    assert.deepEqual([body.type, body.detail], ['urn:waypost:errors#WP_RUNTIME_RATE', 'More than 3 requests in 60 s'])
    assert.equal(body.hint, 'Try again in 40 s.')
    now += 39_499
    assert.equal((await get('/here')).status, 429)
    now += 1
    assert.equal((await get('/here')).status, 200)
  })

  test('keeps counting when another release is served', async () => {
    assert.deepEqual(await statuses('/other', 1), [200])
    await server.deploy({ 'src/ok.ts': actionFile('return { version: 2 }') })
    assert.equal((await get('/free')).body.version, 2)
    assert.deepEqual(await statuses('/other', 1), [429])
  })

  test('is not needed for the header of deprecated routes', async () => {
    const since = `@${Date.parse('2026-11-30') / 1000}`
    assert.equal((await get('/old')).headers['deprecation'], since)
    const refused = await send(server.port, { path: '/old', method: 'DELETE' })
    assert.deepEqual([refused.status, refused.headers['deprecation']], [401, since])
    assert.equal((await get('/free')).headers['deprecation'], undefined)
  })
})
