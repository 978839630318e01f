import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer as createSecureServer } from 'node:https'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSocketServer, type AddressInfo, type Server, type Socket } from 'node:net'
import path from 'node:path'
import { after, describe, test } from 'node:test'
import { openOutbound, type Outbound, type OutboundOptions } from '../../src/outbound/index.ts'
import { keepHeaders } from '../../src/outbound/read-response.ts'
import { abortTimeoutMs } from '../support/until.ts'
import { selfSigned } from './self-signed.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

describe('a POST to the outside', () => {
  const closers: (() => Promise<unknown>)[] = []
  after(async () => {
    for (const close of closers) await close()
  })

  async function listen(server: Server): Promise<number> {
    const sockets = new Set<Socket>()
    server.on('connection', (socket: Socket) => {
      sockets.add(socket)
      socket.on('error', () => undefined)
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    closers.push(async () => {
      for (const socket of sockets) socket.destroy()
      await once(server.close(), 'close')
    })
    return (server.address() as AddressInfo).port
  }

  const serve = (handler: Handler) => listen(createServer(handler))

  function open(options: Partial<OutboundOptions> = {}): Outbound {
    const outbound = openOutbound({ allow: () => [], loopback: true, ...options })
    closers.push(() => outbound.close())
    return outbound
  }

  function post(outbound: Outbound, port: number, options: { timeoutMs?: number; host?: string } = {}) {
    const { timeoutMs = abortTimeoutMs, host = '127.0.0.1' } = options
    return outbound.post({ url: `http://${host}:${port}/`, headers: { 'x-one': '1' }, body: '{}', timeoutMs })
  }

  test('keeps a bounded number of headers, and no cookies or credentials', () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`x-${index}`, 'v']))
    assert.equal(keepHeaders(many).length, 32)
    const long = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`x-${index}`, 'v'.repeat(9000)]))
    assert.ok(JSON.stringify(keepHeaders(long)).length < 2500)
    const secrets = ['Set-Cookie', 'authorization', 'Proxy-Authenticate', 'x-auth-token', 'X-API-Key', 'Cookie2']
    for (const name of secrets) assert.deepEqual(keepHeaders({ [name]: ['s3cret', 's3cret'] }), [[name, null]])
    assert.deepEqual(keepHeaders({ via: ['a', 'b'], none: undefined }), [['via', 'a, b']])
    assert.deepEqual(keepHeaders({ connection: 'close', 'transfer-encoding': 'chunked', te: 'x' }), [])
  })

  test('returns the response and the latency', async () => {
    const port = await serve((_request, response) => response.writeHead(202, { 'retry-after': '3' }).end('thanks'))
    const { latencyMs, headers = [], ...result } = await post(open(), port)
    assert.deepEqual(result, { status: 202, answer: 'thanks', retryAfterMs: 3000 })
    assert.deepEqual(headers[0], ['retry-after', '3'])
    assert.ok(Number.isInteger(latencyMs) && latencyMs >= 0)
  })

  test('reuses a connection, also after a response that was longer than the kept part', async () => {
    const ports = new Set<number>()
    const port = await serve((request, response) => {
      ports.add(request.socket.remotePort!)
      response.end('x'.repeat(100_000))
    })
    const outbound = open()
    for (let n = 0; n < 10; n++) assert.equal((await post(outbound, port)).answer?.length, 4096)
    // A connection may still be in use when the next request starts
    assert.ok(ports.size <= 2, `${ports.size} connections`)
  })

  test('ends at its time limit, however slowly the response arrives', async () => {
    const port = await serve((_request, response) => {
      response.writeHead(200)
      const drip = setInterval(() => response.write('.'), 20)
      response.on('close', () => clearInterval(drip))
    })
    const result = await post(open(), port, { timeoutMs: 300 })
    assert.partialDeepStrictEqual(result, { status: 200, failure: 'timeout 0.3 s' })
  })

  test('ends at its time limit, however slowly the headers arrive', async () => {
    const server = createSocketServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      const drip = setInterval(() => socket.write('x: y\r\n'), 20)
      socket.on('close', () => clearInterval(drip))
    })
    const result = await post(open(), await listen(server), { timeoutMs: 300 })
    assert.equal(result.failure, 'timeout 0.3 s')
  })

  test('ends at its time limit, even without a connection', async () => {
    const port = await listen(createSocketServer(() => undefined)) // which never starts TLS
    const result = await open().post({ url: `https://127.0.0.1:${port}/`, headers: {}, body: '', timeoutMs: 300 })
    assert.equal(result.failure, 'timeout 0.3 s')
    const unknown = open({ lookup: () => undefined })
    const unresolved = await post(unknown, port, { host: 'partner.example', timeoutMs: 300 })
    assert.equal(unresolved.failure, 'timeout 0.3 s')
  })

  test('aborts a response that does not end, and keeps only its beginning', async () => {
    let sent = 0
    const port = await serve((_request, response) => {
      const part = Buffer.alloc(64 * 1024, 'y')
      const more = () => {
        while (!response.destroyed && (sent += part.length) < 2 ** 31 && response.write(part));
      }
      response.writeHead(200).on('drain', more)
      more()
    })
    const result = await post(open(), port)
    assert.equal(result.failure, 'a response larger than 1 MB')
    assert.equal(result.answer, 'y'.repeat(4096))
    assert.ok(sent < 16 * 1024 * 1024, `${sent} bytes were sent`)
  })

  const informational = [
    { name: '100', head: ['100 Continue'] },
    { name: '102', head: ['102 Processing'] },
    { name: '103', head: ['103 Early Hints\r\nlink: </a>; rel=preload'] },
    { name: 'several', head: ['100 Continue', '103 Early Hints', '100 Continue', '102 Processing', '199 Other'] },
  ]
  for (const { name, head } of informational) {
    test(`skips informational responses: ${name}`, async () => {
      const before = head.map((line) => `HTTP/1.1 ${line}\r\n\r\n`).join('')
      let received = 0
      let connections = 0
      const port = await listen(
        createSocketServer((socket) => {
          connections += 1
          socket.on('data', () => {
            received += 1
            socket.write(before.slice(0, 20))
            setTimeout(() => {
              socket.write(
                `${before.slice(20)}HTTP/1.1 200 OK\r\ncontent-length: 24\r\n\r\nHTTP/1.1 100 Continue\r\n\r`,
              )
            }, 20)
          })
        }),
      )
      const outbound = open()
      for (let count = 0; count < 3; count++) {
        const { status, failure, answer } = await post(outbound, port)
        assert.deepEqual([status, failure, answer], [200, undefined, 'HTTP/1.1 100 Continue\r\n\r'])
      }
      const answer = await outbound.fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: 'a' })
      assert.deepEqual([answer.status, await answer.text()], [200, 'HTTP/1.1 100 Continue\r\n\r'])
      assert.equal(received, 4)
      assert.ok(connections <= 2, 'the connection stays open')
    })
  }

  test('fails at its time limit when only informational responses come', async () => {
    const port = await listen(
      createSocketServer((socket) => {
        const sending = setInterval(() => socket.write('HTTP/1.1 100 Continue\r\n\r\n'), 10)
        socket.on('close', () => clearInterval(sending))
      }),
    )
    const { status, failure } = await post(open(), port, { timeoutMs: 300 })
    assert.deepEqual([status, failure], [undefined, 'timeout 0.3 s'])
  })

  test('limits the size of headers', async () => {
    const port = await serve((_request, response) => response.writeHead(200, { long: 'z'.repeat(40_000) }).end())
    assert.match((await post(open(), port)).failure ?? '', /HEADERS_OVERFLOW|HPE_/)
  })

  test('fails when the response is cut off', async () => {
    const port = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half')
      setTimeout(() => response.destroy(), 20)
    })
    assert.partialDeepStrictEqual(await post(open(), port), { status: 200, failure: 'UND_ERR_SOCKET' })
  })

  test('rejects other protocols and invalid responses', async () => {
    const server = createSocketServer((socket) => socket.end('220 mail.example ESMTP\r\n'))
    assert.match((await post(open(), await listen(server))).failure ?? '', /does not match the HTTP\/1.1 protocol/)
  })

  test('never offers HTTP/2, in which a stalled stream delays others', async () => {
    const offered: (readonly string[])[] = []
    const server = createSecureServer({ ...selfSigned, ALPNCallback: ({ protocols }) => void offered.push(protocols) })
    const url = `https://127.0.0.1:${await listen(server)}/`
    const outbound = open()
    await outbound.post({ url, headers: {}, body: '', timeoutMs: abortTimeoutMs })
    await assert.rejects(outbound.fetch(url))
    assert.deepEqual(offered, [['http/1.1'], ['http/1.1']])
  })

  test('rejects an untrusted certificate', async () => {
    const server = createSecureServer({ ...selfSigned }, (_request, response) => response.end())
    const port = await listen(server)
    const result = await open().post({
      url: `https://127.0.0.1:${port}/`,
      headers: {},
      body: '',
      timeoutMs: abortTimeoutMs,
    })
    assert.match(result.failure ?? '', /CERT|SSL|SELF_SIGNED/)
    assert.equal(result.status, undefined)
  })

  test('keeps text as it is, without NUL and without half a character', async () => {
    const bytes = Buffer.concat([Buffer.from('\0a'), Buffer.from('€'.repeat(2000))])
    const port = await serve((_request, response) => response.end(bytes))
    const { answer } = await post(open(), port)
    assert.equal(answer, `a${'€'.repeat(1364)}`)
  })

  test('does not connect to a rejected literal address', async () => {
    const port = await serve(() => assert.fail('it was dialled'))
    const outbound = open({ loopback: false })
    for (const host of ['127.0.0.1', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]', '[::1]', '[::127.0.0.1]']) {
      assert.equal((await post(outbound, port, { host })).failure, 'WP_OUTBOUND_ADDRESS', host)
    }
  })

  test('does not connect to a name that resolves to a rejected address, whatever it resolved to before', async () => {
    let count = 0
    const port = await serve((_request, response) => response.end(String(++count)))
    let address = '127.0.0.1'
    const outbound = open({
      loopback: false,
      allow: () => ['127.0.0.2/32'],
      lookup: (_host, _options, done) => done(null, [{ address, family: 4 }]),
    })
    const other = await serveAt('127.0.0.2')
    address = '127.0.0.2'
    await outbound.checkUrl(`http://partner.example:${other}/`)
    assert.equal((await post(outbound, other, { host: 'partner.example' })).status, 200)
    address = '127.0.0.1'
    assert.equal((await post(outbound, port, { host: 'rebound.example' })).failure, 'WP_OUTBOUND_ADDRESS')
    assert.equal(count, 0)
  })

  test('does not connect to a name with any rejected address', async () => {
    const port = await serve(() => assert.fail('it was dialled'))
    const outbound = open({
      loopback: false,
      lookup: (_host, _options, done) =>
        done(null, [
          { address: '93.184.215.14', family: 4 },
          { address: '127.0.0.1', family: 4 },
        ]),
    })
    assert.equal((await post(outbound, port, { host: 'mixed.example' })).failure, 'WP_OUTBOUND_ADDRESS')
  })

  test('follows the ranges that are open now', async () => {
    const port = await serve((_request, response) => response.end())
    let ranges: readonly string[] = []
    const outbound = open({ loopback: false, allow: () => ranges })
    assert.equal((await post(outbound, port)).failure, 'WP_OUTBOUND_ADDRESS')
    ranges = ['127.0.0.0/8']
    assert.equal((await post(outbound, port)).status, 200)
  })

  test('marks results of an opened range as hidden, also failures', async () => {
    const port = await serve((_request, response) => response.end('from within'))
    const lookup: OutboundOptions['lookup'] = (_host, _options, done) =>
      done(null, [{ address: '127.0.0.1', family: 4 }])
    const outbound = open({ loopback: false, allow: () => ['127.0.0.0/8'], lookup })
    for (const host of ['127.0.0.1', 'partner.example', 'PARTNER.example', '127.1']) {
      assert.partialDeepStrictEqual(await post(outbound, port, { host }), { status: 200, hidden: true }, host)
    }
    assert.partialDeepStrictEqual(await post(outbound, 1, { host: '127.0.0.1' }), {
      failure: 'ECONNREFUSED',
      hidden: true,
    })
    assert.equal((await post(open(), port)).hidden, undefined)
  })

  test('ignores the proxy of the environment', async () => {
    let proxied = 0
    const proxy = await serve((_request, response) => response.end(String(++proxied)))
    const target = await serve((_request, response) => response.end('direct'))
    const address = `http://127.0.0.1:${proxy}`
    const variables = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy'].map((name) => [
      name,
      address,
    ])
    const child = spawn(
      process.execPath,
      [path.join(import.meta.dirname, 'post-child.ts'), `http://127.0.0.1:${target}/`],
      {
        env: { ...process.env, ...Object.fromEntries(variables), NO_PROXY: '', NODE_USE_ENV_PROXY: '1' },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    let text = ''
    child.stdout.on('data', (part: Buffer) => (text += part.toString()))
    await once(child, 'close')
    assert.equal(text, '200 direct\n')
    assert.equal(proxied, 0)
  })

  test('opens as many connections as there are posts at once', async () => {
    const held: ServerResponse[] = []
    const port = await serve((_request, response) => {
      held.push(response)
      if (held.length === 80) for (const one of held) one.end()
    })
    const outbound = open()
    const results = await Promise.all(Array.from({ length: 80 }, () => post(outbound, port)))
    assert.ok(results.every((result) => result.status === 200))
  })

  test('keeps few connections when there are very many endpoints, however long those ask to keep them', async () => {
    const sockets = new Set<Socket>()
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'keep-alive': 'timeout=600' }).end()
    })
    server.keepAliveTimeout = 600_000
    server.on('connection', (socket) => {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
    })
    await once(server.listen(0, '0.0.0.0'), 'listening')
    closers.push(async () => {
      server.closeAllConnections()
      await once(server.close(), 'close')
    })
    const { port } = server.address() as AddressInfo
    const outbound = open()
    for (let start = 0; start < 900; start += 50) {
      const hosts = Array.from({ length: 50 }, (_, n) => `127.1.${(start + n) >> 8}.${(start + n) & 255}`)
      const results = await Promise.all(hosts.map((host) => post(outbound, port, { host })))
      assert.ok(results.every(({ status }) => status === 200))
    }
    assert.ok(sockets.size < 700, `${sockets.size} connections of 900`)
  })

  test('that is under way when everything closes ends', async () => {
    const arrived = Promise.withResolvers<void>()
    const port = await serve(() => arrived.resolve())
    const outbound = open()
    const running = post(outbound, port)
    await arrived.promise
    await outbound.close()
    assert.ok((await running).failure !== undefined)
  })

  async function serveAt(host: string): Promise<number> {
    const server = createServer((_request, response) => response.end())
    await once(server.listen(0, host), 'listening')
    closers.push(async () => {
      server.closeAllConnections()
      await once(server.close(), 'close')
    })
    return (server.address() as AddressInfo).port
  }
})
