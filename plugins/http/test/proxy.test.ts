import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { openProjectServer, type ProjectServer } from '../../../test/support/project-server.ts'
import { send } from '../../../test/support/send.ts'
import { until } from '../../../test/support/until.ts'

const project = (url: string) => `
connection:
  Stock:
    class: http
    config: { url: '${url}/api', network: private, auth: { bearer: '\${env.STOCK_TOKEN}' }, timeout: 9s, body_limit: 64kb }
  Slow: { class: http, config: { url: '${url}/api', network: private, timeout: 50ms } }
  Dripping: { class: http, config: { url: '${url}/api', network: private, body_timeout: 50ms } }
  Down: { class: http, config: { url: 'http://127.0.0.1:1/', network: private } }
event:
  stocked: { schema: { type: object, required: [sku], properties: { sku: { type: string } } } }
schema:
  Item: { type: object, properties: { sku: { type: string } } }
action:
  Items: { class: proxy, config: { connection: Stock, path: '/items/:sku/x' } }
  Slow: { class: proxy, config: { connection: Slow, path: /slow } }
  Dripping: { class: proxy, config: { connection: Dripping, path: /dripping } }
routes:
  /items/:sku:
    methods:
      GET: { public: true, action: Items }
      PUT: { public: true, action: Items, rate: any }
      DELETE: { public: true, action: Items, rate: any }
  /files/*path:
    methods:
      GET: { public: true, action: { class: proxy, config: { connection: Stock, path: '/files/*path' } } }
  /dotted/:name:
    methods:
      GET: { public: true, action: { class: proxy, config: { connection: Stock, path: '/.:name/x' } } }
  /search:
    methods:
      GET:
        public: true
        parameters: { type: object, properties: { page: { type: integer, default: 1 }, tag: { type: array, items: { type: string } }, own: {} } }
        action: { class: proxy, config: { connection: Stock, path: /search, query: [page, tag] } }
  /open:
    methods:
      GET: { public: true, action: { class: proxy, config: { connection: Stock, path: /search, query: [q] } } }
  /headers:
    methods:
      GET:
        public: true
        action:
          class: proxy
          config: { connection: Stock, path: /headers, headers: { request: [x-own, If-None-Match], response: [X-Own, etag] } }
  /typed:
    methods:
      GET: { public: true, response: Item, action: { class: proxy, config: { connection: Stock, path: /typed } } }
      POST:
        public: true
        rate: any
        dispatch: stocked
        action: { class: proxy, config: { connection: Stock, path: /typed } }
  /slow: { methods: { GET: { public: true, action: Slow } } }
  /dripping: { methods: { GET: { public: true, action: Dripping } } }
  /down: { methods: { GET: { public: true, action: { class: proxy, config: { connection: Down, path: / } } } } }
  /own: { methods: { GET: { public: true, action: src/own.ts } } }
rate:
  any: { limit: 1000, window: 1s, by: address }
`
const own = `export default class Own {
  async handle(_request: any, context: any): Promise<any> {
    const response = await context.connection('Stock').fetch('/items/7')
    return { status: response.status, item: await response.json() }
  }
}
`

interface Received {
  readonly request: IncomingMessage
  readonly body: string
}

describe('the action class proxy', () => {
  let upstream: Server
  let server: ProjectServer
  let answer: RequestListener
  let received: Received[] = []
  const lastRequest = () => received.at(-1)!.request
  const json: RequestListener = (_request, response) =>
    response.setHeader('content-type', 'application/json').end('{"sku":"7"}')

  before(async () => {
    upstream = createServer((request, response) => {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', () => {
        received.push({ request, body: Buffer.concat(parts).toString() })
        answer(request, response)
      })
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => upstream.once('listening', resolve))
    answer = json
    const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
    const files = { 'waypost.yml': project(url), 'src/own.ts': own }
    server = await openProjectServer({ files, variables: { STOCK_TOKEN: 'upstream-s3cret' } })
  })
  after(async () => {
    await server[Symbol.asyncDispose]()
    upstream.closeAllConnections()
    upstream.close()
  })
  const get = (path: string, headers: Record<string, string> = {}) => {
    received = []
    return send(server.port, { path, headers })
  }

  test('passes on method, path and body, and adds the credentials of the connection', async () => {
    answer = json
    const { status, headers, text } = await get('/items/a%20b%2Fc%3Fd%23e%5C')
    assert.deepEqual([status, headers['content-type'], text], [200, 'application/json', '{"sku":"7"}'])
    assert.equal(lastRequest().url, '/api/items/a%20b%2Fc%3Fd%23e%5C/x')
    assert.equal(lastRequest().headers.authorization, 'Bearer upstream-s3cret')
    await send(server.port, { path: '/items/7', method: 'PUT', body: { copies: 2 } })
    assert.deepEqual([lastRequest().method, received.at(-1)!.body], ['PUT', '{"copies":2}'])
    assert.equal(lastRequest().headers['content-type'], 'application/json')
    await send(server.port, { path: '/items/7', method: 'DELETE' })
    assert.deepEqual(
      [lastRequest().method, received.at(-1)!.body, lastRequest().headers['content-type']],
      ['DELETE', '', undefined],
    )
    assert.equal((await send(server.port, { path: '/items/7', method: 'HEAD' })).text, '')
  })

  for (const value of [
    '..',
    '.',
    '%2e%2e',
    '%2E.',
    '.%2e',
    '%252e%252e',
    '%25252e%2e',
    '..%2F..%2Fadmin',
    'a%2F..%2Fb',
    '..%5Cx',
    '..%255Cx',
    'a%252F..',
  ])
    test(`rejects the path parameter ${value}`, async () => {
      const { status } = await get(`/items/${value}`)
      assert.deepEqual([status, received.length], [400, 0])
    })

  test('passes on the rest of a path as several segments, none of which leads out', async () => {
    answer = json
    await get('/files/a%20b/c%3Fd/e.txt')
    assert.equal(lastRequest().url, '/api/files/a%20b/c%3Fd/e.txt')
    received = []
    for (const path of ['/files/a/..%2fb', '/files/a/%252e%252e/b'])
      assert.equal((await get(path)).status >= 400, true, path)
    assert.equal(received.length, 0)
  })

  test('rejects a parameter that makes a segment a dot segment', async () => {
    assert.equal((await get('/dotted/.')).status, 400)
    assert.equal(received.length, 0)
    assert.equal((await get('/dotted/..')).status, 400)
    assert.equal((await get('/dotted/a')).status, 200)
    assert.equal(lastRequest().url, '/api/.a/x')
  })

  test('passes on only the listed query parameters', async () => {
    answer = json
    await get('/search?tag=a%26b&tag=c&own=1&other=2')
    assert.equal(lastRequest().url, '/api/search?page=1&tag=a%26b&tag=c')
    assert.equal((await get('/search?page=x')).status, 400)
    await get('/open?q=a+b%23&other=1')
    assert.equal(lastRequest().url, '/api/search?q=a+b%23')
    await get('/open')
    assert.equal(lastRequest().url, '/api/search')
  })

  test('passes on only allowed headers, in both directions', async () => {
    answer = (_request, response) => {
      response.writeHead(200, {
        'content-type': 'text/plain',
        connection: 'close, etag',
        'keep-alive': 'timeout=5',
        'x-own': 'yes',
        etag: '"1"',
        'set-cookie': 'a=b',
        'access-control-allow-origin': '*',
        'content-security-policy': "default-src 'none'",
        'x-secret': 'no',
        server: 'upstream',
      })
      response.end('plain')
    }
    const { headers, text } = await get('/headers', {
      authorization: 'Basic b3duOm93bg==',
      cookie: 'a=b',
      forwarded: 'for=1.2.3.4',
      'x-forwarded-for': '1.2.3.4',
      'x-forwarded-host': 'evil.example',
      'x-own': 'yes',
      'x-other': 'no',
      'if-none-match': '"1"',
      connection: 'keep-alive, If-None-Match',
      te: 'trailers',
      upgrade: 'h2c',
      'proxy-authorization': 'Basic b3duOm93bg==',
      accept: 'text/plain',
      'accept-language': 'de',
    })
    assert.equal(text, 'plain')
    const sent = lastRequest().headers
    assert.deepEqual([sent['x-own'], sent.accept, sent['accept-language']], ['yes', 'text/plain', 'de'])
    assert.equal(sent.authorization, 'Bearer upstream-s3cret')
    assert.match(sent.host!, /^127\.0\.0\.1:/)
    for (const name of [
      'cookie',
      'forwarded',
      'x-forwarded-for',
      'x-forwarded-host',
      'x-other',
      'if-none-match',
      'te',
      'upgrade',
      'proxy-authorization',
    ])
      assert.equal(sent[name], undefined, name)
    assert.deepEqual([headers['x-own'], headers['content-type']], ['yes', 'text/plain'])
    for (const name of ['etag', 'set-cookie', 'access-control-allow-origin', 'x-secret', 'server'])
      assert.equal(headers[name], undefined, name)
    assert.notEqual(headers['content-security-policy'], "default-src 'none'")
  })

  test('passes on errors and 304; a redirect and 401 of the upstream service are 502', async () => {
    for (const status of [201, 304, 400, 403, 404, 409, 418, 500, 503]) {
      answer = (_request, response) => response.writeHead(status).end()
      assert.equal((await get('/items/7')).status, status)
    }
    for (const status of [301, 302, 303, 307, 308, 401, 407]) {
      answer = (_request, response) =>
        response.writeHead(status, { location: 'http://127.0.0.1/secret', 'www-authenticate': 'Basic' }).end()
      const { status: answered, headers, body } = await get('/items/7')
      assert.deepEqual(
        [answered, headers.location, headers['www-authenticate'], received.length],
        [502, undefined, undefined, 1],
      )
      assert.match(body.detail, /^The upstream service (cannot handle the request|is not available)$/)
    }
  })

  test('a request that is larger than body_limit does not reach the upstream service', async () => {
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ text: 'x'.repeat(1024 * 1024) })
    received = []
    const { status } = await send(server.port, { method: 'PUT', path: '/items/7', body, headers })
    assert.deepEqual([status, received.length], [413, 0])
  })

  test('answers 502 if the upstream service cannot be reached, and 504 if it does not respond', async () => {
    const { status, body } = await get('/down')
    assert.deepEqual([status, body.detail], [502, 'The upstream service is not available'])
    assert.ok(server.logs.some((line) => /ECONNREFUSED|bad port/.test(String(line['reason']))))
    answer = (request) => void request.socket.destroy()
    assert.equal((await get('/items/7')).status, 502)
    answer = () => undefined
    assert.equal((await get('/slow')).status, 504)
  })

  test('a body that drips too slowly, or exceeds the limit, is cut off', async () => {
    const closed = new Set<string>() // a late request of another test may be closed too
    answer = (request, response) => {
      const timer = setInterval(() => response.write('.'), 5)
      response.on('close', () => {
        clearInterval(timer)
        closed.add(request.url!)
      })
    }
    await assert.rejects(get('/dripping'), /aborted|ECONNRESET|socket hang up/)
    answer = (request, response) => {
      const timer = setInterval(() => response.write(Buffer.alloc(16 * 1024)), 1)
      response.on('close', () => {
        clearInterval(timer)
        closed.add(request.url!)
      })
    }
    await assert.rejects(get('/items/7'), /aborted|ECONNRESET|socket hang up/)
    answer = (_request, response) => response.end(gzipSync(Buffer.alloc(64 * 1024 + 1)))
    assert.equal((await get('/items/7')).status, 200)
    answer = (_request, response) =>
      response.setHeader('content-encoding', 'gzip').end(gzipSync(Buffer.alloc(64 * 1024 + 1)))
    await assert.rejects(get('/items/7'), /aborted|ECONNRESET|socket hang up/)
    answer = (_request, response) => response.end(Buffer.alloc(64 * 1024 + 1))
    assert.equal((await get('/items/7')).status, 502)
    await until('the upstream responses are closed', () =>
      ['/api/dripping', '/api/items/7/x'].every((url) => closed.has(url)),
    )
  })

  test('streams: the first part arrives before the last is sent, and a caller who leaves ends the upstream request', async () => {
    let finish: () => void = () => undefined
    let isClosed = false
    answer = (_request, response) => {
      response.write('first')
      finish = () => response.end('last')
      response.on('close', () => (isClosed = true))
    }
    const response = await fetch(`${server.url}/items/7`)
    const reader = response.body!.getReader()
    assert.equal(Buffer.from((await reader.read()).value).toString(), 'first')
    finish()
    assert.equal(Buffer.from((await reader.read()).value).toString(), 'last')
    await until('the upstream response is closed', () => isClosed)
    isClosed = false
    const leaving = new AbortController()
    const left = await fetch(`${server.url}/items/7`, { signal: leaving.signal })
    leaving.abort()
    await assert.rejects(left.text())
    await until('the upstream response is closed', () => isClosed)
  })

  test('a declared response is serialized by its schema, and dispatched', async () => {
    answer = (_request, response) => response.setHeader('content-type', 'application/json').end('{"sku":"7","cost":12}')
    assert.deepEqual((await get('/typed')).body, { sku: '7' })
    answer = (_request, response) => response.setHeader('content-type', 'text/html').end('<h1>no')
    assert.equal((await get('/typed')).status, 502)
    answer = json
    const { status } = await send(server.port, { path: '/typed', method: 'POST', body: {} })
    assert.equal(status, 200)
    const messages = await server.host.system.guardDb.selectFrom('waypost_message').select(['event', 'data']).execute()
    assert.deepEqual(
      messages.map(({ event, data }) => [event, JSON.parse(data)]),
      [['stocked', { sku: '7' }]],
    )
  })

  test('an action uses the client of the connection', async () => {
    answer = json
    assert.deepEqual((await get('/own')).body, { status: 200, item: { sku: '7' } })
    assert.equal(lastRequest().url, '/api/items/7')
  })
})
