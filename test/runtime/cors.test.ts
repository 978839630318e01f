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
${config}`
const files = (config = '') => ({ 'waypost.yml': yml(config), 'src/ok.ts': actionFile('return { ok: true }') })

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
  }
  const refused = await send(server.port, preflight('https://evil.example.com', 'PUT'))
  assert.equal(refused.headers['access-control-allow-origin'], undefined)
  const called = await send(server.port, { path: '/thing', headers: { origin: 'https://app.example.com' } })
  assert.equal(called.headers['access-control-allow-origin'], 'https://app.example.com')
  assert.match(called.headers['access-control-expose-headers']!, /WWW-Authenticate, Retry-After/)
  assert.match(called.headers.vary!, /Origin/)
  const failed = await send(server.port, {
    method: 'DELETE',
    path: '/thing',
    headers: { origin: 'https://app.example.com' },
  })
  assert.deepEqual([failed.status, failed.headers['access-control-allow-origin']], [401, 'https://app.example.com'])
  assert.equal((await send(server.port, { method: 'OPTIONS', path: '/thing' })).status, 204)
})

test('without origins in config no page of another origin may call', async () => {
  await using server = await openProjectServer({ files: files() })
  const { status, headers } = await send(server.port, preflight('https://app.example.com', 'PUT'))
  assert.equal(status, 204)
  assert.equal(headers['access-control-allow-origin'], undefined)
  assert.deepEqual(headers.allow?.split(', ').toSorted(), ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PUT'])
  assert.equal((await send(server.port, { method: 'OPTIONS', path: '/nowhere' })).status, 404)
})

test('in dev pages of this machine may call', async () => {
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
