import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import type { OpenOptions } from '../../src/contract/index.ts'
import { openOutbound } from '../../src/outbound/index.ts'
import { http } from '../../plugins/http/src/http.ts'
import type { HttpConfig } from '../../plugins/http/src/http-client.ts'

const log = { debug() {}, info() {}, warn() {}, error() {} }
const outbound = openOutbound({ allow: () => [], loopback: false })
const options: OpenOptions = {
  config: {},
  log,
  now: () => new Date(),
  fetch: (input, init) => outbound.fetch(input, init),
  name: 'Stock',
  folder: '/',
}

let server: Server
let url: string
let answer: (request: IncomingMessage, response: ServerResponse) => void
const listen = async (one: {
  listen(port: number, host: string): unknown
  once(event: string, done: () => void): unknown
  address(): unknown
}) => {
  one.listen(0, '127.0.0.1')
  await new Promise<void>((resolve) => one.once('listening', resolve))
  return `http://127.0.0.1:${(one.address() as AddressInfo).port}`
}
before(async () => {
  server = createServer((request, response) => answer(request, response))
  url = await listen(server)
})
after(async () => {
  await outbound.close()
  server.closeAllConnections()
  server.close()
})

const defaults = { timeout: '10s', body_timeout: '60s', body_limit: '10mb', network: 'private' } as const
const open = (more: Partial<HttpConfig> = {}) => http.open({ ...defaults, url, ...more }, options)
const echo: typeof answer = (request, response) => {
  const { method, url: path, headers } = request
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ method, path, headers }))
}
const readEcho = async (response: Response) =>
  (await response.json()) as { method: string; path: string; headers: Record<string, string> }

test('a path is appended to the base URL and cannot leave it', async () => {
  answer = echo
  const { client } = await open({ url: `${url}/api/v1/` })
  for (const [path, sent] of [
    ['/items?a=1', '/api/v1/items?a=1'],
    ['', '/api/v1'],
    ['?a=1', '/api/v1?a=1'],
    ['//evil.example/x', '/api/v1//evil.example/x'],
    ['/a/../b', '/api/v1/b'],
  ])
    assert.equal((await readEcho(await client.fetch(path!))).path, sent)
  for (const path of [
    'items',
    '/../x',
    '/..',
    '/%2e%2e/x',
    '/\\..\\..\\x',
    'http://evil.example/',
    '@evil.example',
    '.evil.example',
    '/../v10',
  ])
    await assert.rejects(client.fetch(path), { name: 'TypeError', message: /must not leave the base URL/ }, path)
})

test('the credentials of the connection replace those of the request', async () => {
  answer = echo
  for (const [auth, name, value] of [
    [{ bearer: 's3cret' }, 'authorization', 'Bearer s3cret'],
    [
      { basic: { user: 'ann', password: 'pä:ss' } },
      'authorization',
      `Basic ${Buffer.from('ann:pä:ss').toString('base64')}`,
    ],
    [{ header: { name: 'X-Api-Key', value: 's3cret' } }, 'x-api-key', 's3cret'],
  ] as const) {
    const { client } = await open({ auth })
    const headers = { Authorization: 'Bearer other', 'x-api-key': 'other', accept: 'text/plain' }
    const sent = await readEcho(await client.fetch('/', { headers }))
    assert.equal(sent.headers[name], value)
    assert.equal(sent.headers['accept'], 'text/plain')
    assert.equal(sent.headers['user-agent'], 'waypost')
  }
})

test('redirects are not followed', async () => {
  answer = (_request, response) => response.writeHead(302, { location: '/elsewhere' }).end()
  const { client } = await open({ auth: { bearer: 's3cret' } })
  await assert.rejects(client.fetch('/'), TypeError)
  await assert.rejects(client.fetch('/', { redirect: 'follow' }), TypeError)
  assert.equal((await client.fetch('/', { redirect: 'manual' })).status, 302)
})

test('a response that does not begin in time fails, also in check', async () => {
  answer = () => undefined
  const opened = await open({ timeout: '50ms' })
  await assert.rejects(opened.client.fetch('/'), { name: 'TimeoutError', message: 'No response within 50ms' })
  await assert.rejects(opened.check(), { message: 'No response within 50ms' })
})

test('a service that accepts connections without answering, or none, is down', async () => {
  const silent = createTcpServer((socket) => void socket.resume())
  const silentUrl = await listen(silent)
  await assert.rejects((await open({ url: silentUrl, timeout: '50ms' })).check(), /No response within 50ms/)
  await new Promise((resolve) => silent.close(resolve))
  await assert.rejects((await open({ url: silentUrl })).check(), /ECONNREFUSED/)
  await assert.rejects((await open({ network: 'public' })).check(), /is not on the public internet/)
})

test('any response counts as up', async () => {
  for (const status of [200, 302, 401, 405, 500]) {
    answer = (request, response) => {
      assert.equal(request.method, 'HEAD')
      response.writeHead(status).end()
    }
    await (await open()).check()
  }
})

test('a body that drips too slowly ends', async () => {
  answer = (_request, response) => {
    const timer = setInterval(() => response.write('.'), 5)
    response.on('close', () => clearInterval(timer))
  }
  const { client } = await open({ body_timeout: '50ms' })
  const closed = new Promise((resolve) =>
    server.once('request', (request: IncomingMessage) => request.socket.once('close', resolve)),
  )
  const response = await client.fetch('/')
  await assert.rejects(response.text(), { name: 'TimeoutError', message: 'The response was not complete within 50ms' })
  await closed
})

test('a body over the limit is refused: at once if it says so, otherwise where it exceeds the limit', async () => {
  const { client } = await open({ body_limit: '1kb' })
  answer = (_request, response) => response.end(Buffer.alloc(1024))
  assert.equal((await (await client.fetch('/')).arrayBuffer()).byteLength, 1024)
  answer = (_request, response) => response.end(Buffer.alloc(1025))
  await assert.rejects(client.fetch('/'), { name: 'RangeError', message: /larger than 1024 bytes/ })
  answer = (_request, response) => {
    response.write(Buffer.alloc(1024))
    response.end(Buffer.alloc(1))
  }
  const response = await client.fetch('/')
  await assert.rejects(response.arrayBuffer(), { name: 'RangeError' })
})

test('a response without a body stays one', async () => {
  answer = (_request, response) => response.writeHead(204).end()
  const response = await (await open()).client.fetch('/')
  assert.deepEqual([response.status, response.body], [204, null])
})

test('a base URL with credentials, a query or a fragment is not opened', async () => {
  for (const bad of ['http://ann:pw@host/', 'http://host/?a', 'http://host/#a', 'host'])
    await assert.rejects(open({ url: bad }), (error: Error) => {
      assert.match(error.message, /"url" must be/)
      assert.doesNotMatch(error.message, /pw/)
      return true
    })
})
