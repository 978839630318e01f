import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actionFile, openProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'

const yml = (config: string) => `
routes:
  /thing:
    methods:
      GET: { public: true, action: src/ok.ts }
      PUT: { public: true, action: src/ok.ts }
      DELETE: { scopes: [thing], action: src/ok.ts }
  /once: { methods: { GET: { public: true, rate: once, action: src/ok.ts } } }
  /wrong: { methods: { GET: { public: true, action: src/wrong.ts } } }
rate: { once: { limit: 1, window: 1m } }
${config}`
const files = (config = '') => ({
  'waypost.yml': yml(config),
  'src/ok.ts': actionFile('return { ok: true }'),
  'src/wrong.ts': actionFile('throw new Error()'),
})

const preflight = (origin: string, method: string) => ({
  method: 'OPTIONS',
  path: '/thing',
  headers: { origin, 'access-control-request-method': method, 'access-control-request-headers': 'authorization' },
})

test('pages of the origins in config may call every method, others none', async () => {
  await using server = await openProjectServer({ files: files('config: { cors: [https://app.example.com] }') })
  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
    const { status, headers } = await send(server.port, preflight('https://app.example.com', method))
    assert.equal(status, 204)
    assert.equal(headers['access-control-allow-origin'], 'https://app.example.com')
    assert.ok(headers['access-control-allow-methods']?.split(', ').includes(method), method)
    assert.equal(headers['access-control-allow-headers'], 'authorization')
    assert.equal(headers['access-control-max-age'], '600')
  }
  const refused = await send(server.port, preflight('https://evil.example.com', 'PUT'))
  assert.equal(refused.headers['access-control-allow-origin'], undefined)
  const called = await send(server.port, { path: '/thing', headers: { origin: 'https://app.example.com' } })
  assert.equal(called.headers['access-control-allow-origin'], 'https://app.example.com')
  assert.equal(called.headers['access-control-expose-headers'], '*')
  assert.equal(called.headers['access-control-allow-credentials'], undefined)
  assert.match(called.headers.vary!, /Origin/)
})

test('pages can read errors too', async () => {
  await using server = await openProjectServer({ files: files('config: { cors: [https://app.example.com] }') })
  const headers = { origin: 'https://app.example.com' }
  for (const [status, sent] of [
    [400, { path: '/thing?a=%00' }],
    [401, { path: '/thing', method: 'DELETE' }],
    [404, { path: '/nowhere' }],
    [405, { path: '/thing', method: 'PATCH' }],
    [415, { path: '/thing', method: 'PUT', body: 'a', headers: { 'content-type': 'text/plain' } }],
    [429, { path: '/once' }],
    [500, { path: '/wrong' }],
  ] as const) {
    if (status === 429) assert.equal((await send(server.port, { path: '/once' })).status, 200)
    const given = 'headers' in sent ? sent.headers : {}
    const answer = await send(server.port, { ...sent, headers: { ...given, ...headers } })
    assert.equal(answer.status, status)
    assert.equal(answer.headers['access-control-allow-origin'], 'https://app.example.com', String(status))
  }
})

test('an OPTIONS request that is not a preflight returns the methods of the path, with and without CORS', async () => {
  for (const config of ['', 'config: { cors: [https://app.example.com] }']) {
    await using server = await openProjectServer({ files: files(config) })
    for (const headers of [{}, { origin: 'https://app.example.com' }]) {
      const { status, headers: answered } = await send(server.port, { method: 'OPTIONS', path: '/thing', headers })
      assert.deepEqual([status, answered.allow], [204, 'GET, HEAD, PUT, DELETE, OPTIONS'])
      assert.equal((await send(server.port, { method: 'OPTIONS', path: '/nowhere', headers })).status, 404)
    }
  }
})

test('without origins in config no page of another origin may call', async () => {
  await using server = await openProjectServer({ files: files() })
  const { status, headers } = await send(server.port, preflight('https://app.example.com', 'PUT'))
  assert.equal(status, 204)
  assert.equal(headers['access-control-allow-origin'], undefined)
  assert.deepEqual(headers.allow?.split(', ').toSorted(), ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PUT'])
  assert.equal((await send(server.port, { method: 'OPTIONS', path: '/nowhere' })).status, 404)
})

test('in dev pages of the local machine may call', async () => {
  await using server = await openProjectServer({ files: files(), isDevelopment: true })
  for (const [origin, isAllowed] of [
    ['http://localhost:5173', true],
    ['http://127.0.0.1:8080', true],
    ['https://[::1]:1', true],
    ['http://localhost.evil.example', false],
    ['http://evil.example/localhost', false],
  ] as const) {
    const { headers } = await send(server.port, preflight(origin, 'PUT'))
    assert.equal(headers['access-control-allow-origin'], isAllowed ? origin : undefined)
  }
})

test('no page has anything to do with administration, however its path is written', async () => {
  await using server = await openProjectServer({ files: files('config: { cors: ["*"] }') })
  for (const path of ['/backend/deploy', '/backend/deploy/survey', '/%62ackend/deploy']) {
    const asked = await send(server.port, { ...preflight('https://app.example.com', 'POST'), path })
    assert.equal(asked.headers['access-control-allow-origin'], undefined, path)
    const { status, headers } = await send(server.port, {
      path,
      headers: { origin: 'https://app.example.com' },
      body: {},
    })
    assert.deepEqual([status, headers['access-control-allow-origin']], [401, undefined], path)
  }
})
