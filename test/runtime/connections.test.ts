import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import Fastify from 'fastify'
import type { ConnectionLimits } from '../../src/runtime/connections.ts'
import { LeanRequest } from '../../src/runtime/lean-messages.ts'
import { decoratePrincipal } from '../../src/runtime/authorization.ts'
import type { Principal } from '../../src/contract/index.ts'
import { openListener, openOpsListener, type Listener } from '../../src/runtime/index.ts'
import { until } from '../support/until.ts'
import { actionFile, openProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'

interface Site extends AsyncDisposable {
  readonly listener: Listener
  /** The requested paths, in order. */
  readonly begun: readonly string[]
  /** Answers the oldest request for `/slow`. */
  answerSlow(): void
  /** Opens a connection that collects what it receives, by default from 127.0.0.1. */
  open(localAddress?: string): Promise<Caller>
  readonly full: readonly number[]
  onRequest: (request: IncomingMessage) => void
  respond: (response: ServerResponse, url: string) => void
}

interface Caller {
  readonly socket: Socket
  received(): string
  /** Waits until the received data matches. */
  until(pattern: RegExp): Promise<void>
  readonly closed: Promise<unknown>
}

async function openSite(most = 1000, unread: ConnectionLimits['unread'] = {}): Promise<Site> {
  const begun: string[] = []
  const slow: ServerResponse[] = []
  const sockets: Socket[] = []
  const full: number[] = []
  const listener = await openListener({
    host: '127.0.0.1',
    port: 0,
    connections: { maxConnections: most, onFull: (limit) => full.push(limit), unread },
    generation: {
      routes: undefined,
      call: () => Promise.reject(new Error('not used')),
      handle(request: IncomingMessage, response: ServerResponse) {
        const { url } = request
        site.onRequest(request)
        begun.push(url!)
        if (url === '/slow') slow.push(response)
        else site.respond(response, url!)
      },
      close: async () => undefined,
    },
  })
  const site: Site = {
    listener,
    begun,
    full,
    onRequest: () => undefined,
    respond: (response, url) => response.end(`<${url}>`),
    answerSlow: () => slow.shift()!.end('<slow>'),
    async open(localAddress = '127.0.0.1') {
      const socket = connect({ port: listener.port, host: '127.0.0.1', localAddress })
      sockets.push(socket)
      let text = ''
      const closed = new Promise((resolve) => socket.on('close', resolve))
      socket.setEncoding('utf8').on('data', (part: string) => (text += part))
      socket.on('error', () => undefined)
      await once(socket, 'connect')
      return {
        socket,
        closed,
        received: () => text,
        async until(pattern) {
          while (!pattern.test(text)) await once(socket, 'data', { signal: AbortSignal.timeout(60_000) })
        },
      }
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await listener.close(0)
    },
  }
  return site
}

/** Bytes retained by JavaScript, in the heap and outside. */
function measureMemory(): number {
  const { heapUsed, external, arrayBuffers } = process.memoryUsage()
  return heapUsed + Math.max(external, arrayBuffers) // only external memory contains the bytes being sent
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** The same after garbage collection. */
function measureLive(): number {
  collectGarbage()
  collectGarbage()
  return measureMemory()
}

const sum = (values: readonly number[]) => values.reduce((total, one) => total + one, 0)

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`

test('requests on one connection are answered one after another, in order', async () => {
  await using site = await openSite()
  const caller = await site.open()
  caller.socket.write(get('/slow') + get('/a') + get('/slow') + get('/b'))
  // A response on another connection proves that these requests have been read.
  await site.open().then(async (other) => (other.socket.write(get('/other')), other.until(/<\/other>/)))
  assert.deepEqual(site.begun, ['/slow', '/other'])
  site.answerSlow()
  await caller.until(/<\/a>/)
  while (site.begun.length < 4) await new Promise(setImmediate)
  assert.deepEqual(site.begun, ['/slow', '/other', '/a', '/slow'])
  site.answerSlow()
  await caller.until(/<\/b>/)
  assert.deepEqual(caller.received().match(/<[^>]+>/g), ['<slow>', '</a>', '<slow>', '</b>'])
  caller.socket.write(get('/again'))
  await caller.until(/<\/again>/)
})

test('a connection on which too many requests wait is closed, and no other', async () => {
  await using site = await openSite()
  const [patient, flooding] = [await site.open(), await site.open()]
  patient.socket.write(get('/slow') + get('/a').repeat(32))
  flooding.socket.write(get('/slow') + get('/b').repeat(2000))
  await flooding.closed
  assert.deepEqual(
    site.begun.filter((path) => path === '/b'),
    [],
  )
  site.answerSlow()
  await patient.until(/(<\/a>[^<]*){32}/)
})

const floods: readonly (readonly [name: string, request: string])[] = [
  ['small requests', get('/slow')],
  ['long headers', `GET /slow HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(16_000)}\r\n\r\n`],
  ['bodies', `POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n${'x'.repeat(60_000)}`],
]
for (const [name, request] of floods) {
  test(`100 connections that pipeline ${name} and read no response cost less than 100 MB`, async () => {
    await using site = await openSite()
    const flood = Buffer.from(request.repeat(33))
    const sockets: Socket[] = []
    site.onRequest = ({ socket }) => sockets.push(socket)
    const before = measureMemory()
    const callers = await Promise.all(Array.from({ length: 100 }, () => site.open()))
    for (const { socket } of callers) socket.pause().write(flood)
    const read = () => sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0)
    let last = -1
    await until('the server reads no more', async () => {
      const was = last
      await pause(100)
      last = read()
      return sockets.length === 100 && was === last
    })
    assert.ok(measureMemory() - before < 100e6, `${(measureMemory() - before) / 1e6} MB`)
    assert.ok(last <= 100 * 384 * 1024, `${last} bytes were read`)
  })
}

test('clients that request large responses and read nothing cost less than 100 MB; a slow reader is served', async () => {
  await using site = await openSite()
  const large = 'x'.repeat(900_000)
  const sockets = new Set<Socket>()
  site.onRequest = ({ socket }) => void sockets.add(socket)
  site.respond = (response) => response.end(`${large}${site.begun.length}`)
  const before = measureLive()
  const slow = await site.open('127.0.0.2')
  const callers = [slow, ...(await Promise.all(Array.from({ length: 200 }, () => site.open())))]
  let taken = 0
  slow.socket.on('data', (part: string) => {
    taken += part.length
    slow.socket.pause()
    setTimeout(() => slow.socket.resume(), 1)
  })
  for (const { socket } of callers) socket.pause().write(get('/large').repeat(8))
  slow.socket.resume()
  await until('it costs less than 100 MB', () => sockets.size > 70 && measureLive() - before < 100e6)
  await until('the slow client has got it all', () => taken > 8 * large.length)
  assert.equal(slow.socket.destroyed, false)
})

test('the next request of a connection waits until its client takes the response, and those of others do not', async () => {
  await using site = await openSite()
  const large = 'x'.repeat(900_000)
  const unread = new Map<Socket, number>()
  site.onRequest = ({ socket }) => unread.set(socket, Math.max(unread.get(socket) ?? 0, socket.writableLength))
  site.respond = (response) => response.end(large)
  const callers = await Promise.all(Array.from({ length: 40 }, () => site.open()))
  for (const { socket } of callers) socket.pause().write(get('/first') + get('/next').repeat(31))
  await until('many responses are unread', () => sum([...unread.keys()].map((one) => one.writableLength)) > 16e6)
  const reader = await site.open()
  reader.socket.write(get('/next').repeat(10))
  await until('all of them can be read', () => reader.received().length > 10 * large.length)
  assert.equal(Math.max(...unread.values()), 0, 'no request was run beside an unread response')
})

test('connections that pipeline take turns, so that they do not delay others', async () => {
  await using site = await openSite()
  let turn = 0
  let isCounting = true
  const count = () => void ((turn += 1), isCounting && setImmediate(count))
  count()
  const answered = new Map<number, number>()
  site.onRequest = ({ url }) => void (url === '/next' && answered.set(turn, (answered.get(turn) ?? 0) + 1))
  const callers = await Promise.all(Array.from({ length: 40 }, () => site.open()))
  for (const caller of callers) {
    caller.socket.write(get('/hello'))
    await caller.until(/<\/hello>/)
  }
  for (const { socket } of callers) socket.write(get('/first') + get('/next').repeat(32))
  for (const caller of callers) await caller.until(/(<\/next>[^<]*){32}/)
  isCounting = false
  const most = Math.max(...answered.values())
  assert.ok(most <= 32 + 40, `${most} in one turn`)
})

test('the ops port answers the requests of a connection one after another', async () => {
  let running = 0
  let most = 0
  const listener = await openOpsListener({
    host: '127.0.0.1',
    port: 0,
    checkReadiness: async () => undefined,
    async measure() {
      running += 1
      most = Math.max(most, running)
      await new Promise(setImmediate)
      running -= 1
      return '<metrics>'
    },
    onError: assert.ifError,
  })
  const socket = connect(listener.port, '127.0.0.1').setEncoding('utf8')
  let text = ''
  socket.on('data', (part: string) => (text += part)).write(get('/metrics').repeat(20))
  await until('all are answered', () => text.split('<metrics>').length === 21)
  socket.destroy()
  await listener.close()
  assert.equal(most, 1)
})

test('a body in chunks of one byte is joined', async () => {
  await using site = await openSite()
  const parts: Buffer[] = []
  const ended = new Promise((resolve) => {
    site.onRequest = (request) => request.on('data', (part: Buffer) => parts.push(part)).on('end', resolve)
  })
  const text = Array.from({ length: 200_000 }, (_, index) => index % 10).join('')
  const caller = await site.open()
  caller.socket.write('POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n')
  caller.socket.write(text.replaceAll(/\d/g, '1\r\n$&\r\n'))
  caller.socket.write(`1388\r\n${'x'.repeat(5000)}\r\n3\r\nend\r\n0\r\n\r\n`)
  await ended
  assert.equal(Buffer.concat(parts).toString(), `${text}${'x'.repeat(5000)}end`)
  assert.ok(parts.length < 20_000, `${parts.length} parts`)
})

test('a body that is sent bit by bit is read bit by bit', async () => {
  await using site = await openSite()
  const parts: string[] = []
  site.onRequest = (request) => request.on('data', (part: Buffer) => parts.push(part.toString()))
  const caller = await site.open()
  caller.socket.write('POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n')
  for (const part of ['one', 'two', 'three']) {
    caller.socket.write(`${part.length}\r\n${part}\r\n`)
    await until(`${part} is read`, () => parts.at(-1) === part)
  }
})

test('a connection with large waiting requests is closed; one with few is answered', async () => {
  await using site = await openSite()
  const post = `POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n${'x'.repeat(60_000)}`
  const [patient, flooding] = [await site.open(), await site.open()]
  patient.socket.write(get('/slow') + post + get('/last'))
  flooding.socket.write(get('/slow') + post.repeat(20))
  await flooding.closed
  while (site.begun.length < 2) await pause(1)
  site.answerSlow()
  site.answerSlow()
  await patient.until(/<\/a>[^<]*<\/last>/)
  patient.socket.write((get('/more') + post).repeat(20) + get('/end')) // far more than may wait
  await patient.until(/<\/end>/)
})

test('a new connection beyond the limit replaces the one that was idle longest', async () => {
  await using site = await openSite(3)
  const [busy, first, second] = [await site.open(), await site.open(), await site.open()]
  busy.socket.write(get('/slow'))
  first.socket.write(get('/first')) // so that the second has been idle longer
  await first.until(/<\/first>/)
  const third = await site.open()
  third.socket.write(get('/third'))
  await third.until(/<\/third>/)
  await second.closed
  const fourth = await site.open()
  fourth.socket.write(get('/fourth'))
  await fourth.until(/<\/fourth>/)
  await first.closed
  assert.deepEqual(site.full, [3], 'it is told once a minute')
  site.answerSlow()
  await busy.until(/<slow>/)
})

const post = (length: number, sent: string) =>
  `POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n${sent}`

test('a new connection beyond the limit replaces the one whose body has been arriving longest, callers with tokens last', async () => {
  await using site = await openSite(3)
  site.onRequest = (request) => {
    if (request.headers['authorization'] !== undefined) (request as LeanRequest).isAuthorized = true
  }
  const [known, complete, slow] = [await site.open(), await site.open(), await site.open()]
  known.socket.write(post(100, 'x').replace('Host', 'Authorization: Bearer a\r\nHost'))
  complete.socket.write(post(4, 'done'))
  slow.socket.write(post(100, 'x'))
  await until('all have begun', () => site.begun.length === 3)
  const next = await site.open()
  next.socket.write(post(100, 'x'))
  await slow.closed
  await until('it has begun', () => site.begun.length === 4)
  const last = await site.open()
  await next.closed
  last.socket.write(get('/slow'))
  await until('it has begun', () => site.begun.length === 5)
  assert.equal((await send(site.listener.port, { path: '/after' })).text, '</after>')
  await known.closed
  site.answerSlow() // of the closed connection
  site.answerSlow()
  await complete.until(/<slow>/)
})

test('a body that has barely begun to arrive after ten checks ends its connection, unless it has a valid token', async () => {
  await using stalling = await openStalling()
  const { site, check } = stalling
  site.onRequest = (request) => {
    if (request.headers['authorization'] !== undefined) (request as LeanRequest).isAuthorized = true
  }
  const large = 17 * 1024
  const [slow, known, arriving, complete] = [await site.open(), await site.open(), await site.open(), await site.open()]
  slow.socket.write(post(large, 'x'))
  known.socket.write(post(100, 'x').replace('Host', 'Authorization: Bearer a\r\nHost'))
  arriving.socket.write(post(100_000, 'x'.repeat(large)))
  complete.socket.write(post(4, 'done'))
  await until('all have begun', () => site.begun.length === 4)
  await send(site.listener.port, { path: '/read' }) // by now, what was sent before has been read
  for (let time = 0; time < 10; time += 1) check()
  await slow.closed
  for (const one of [known, arriving, complete]) assert.equal(one.socket.destroyed, false)
})

test('callers are known to be authorized, whichever routes have found out', async () => {
  const app = Fastify({ serverFactory: (handler) => createServer({ IncomingMessage: LeanRequest }, handler) })
  decoratePrincipal(app)
  app.addHook('onRequest', async (request) => {
    const { authorization } = request.headers
    if (authorization !== undefined) request.principal = { scopes: [authorization] } as unknown as Principal
  })
  app.post('/', async ({ principal, raw }) => [principal?.scopes, (raw as LeanRequest).isAuthorized === true])
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const post = { method: 'POST', path: '/' }
  assert.deepEqual((await send(port, post)).body, [null, false])
  assert.deepEqual((await send(port, { ...post, headers: { authorization: 'a' } })).body, [['a'], true])
  await app.close()
})

test('while every connection is busy new ones are rejected, until one is free', async () => {
  await using site = await openSite(2)
  const [one, two] = [await site.open(), await site.open()]
  for (const { socket } of [one, two]) socket.write(get('/slow'))
  while (site.begun.length < 2) await new Promise(setImmediate)
  const refused = await site.open()
  await refused.closed
  assert.equal(refused.received(), '')
  site.answerSlow()
  await one.until(/<slow>/)
  assert.equal((await send(site.listener.port, { path: '/again' })).text, '</again>')
})

const mb = 1024 * 1024
const big = Buffer.alloc(20 * mb, 'x')

/** A caller that reads nothing before it is told to, with its connection on the server. */
interface PausedCaller extends Caller {
  readonly served: Socket
}

/** A site whose checks for stalled clients are made by a test. Clients of `/big` get more than sockets buffer. */
async function openStalling(limits: ConnectionLimits['unread'] = {}) {
  let check: () => void = () => assert.fail('no check')
  const site = await openSite(1000, { ...limits, repeat: (given) => ((check = given), () => undefined) })
  const served: Socket[] = []
  site.onRequest = ({ socket }) => served.push(socket)
  site.respond = (response, url) => {
    if (url === '/stream') response.write(big)
    else response.end(url === '/big' ? big : `<${url}>`)
  }
  return {
    site,
    [Symbol.asyncDispose]: () => site[Symbol.asyncDispose](),
    check: () => check(),
    async request(path: string): Promise<PausedCaller> {
      const caller = await site.open()
      const before = served.length
      caller.socket.pause().write(get(path))
      await until(`${path} is requested`, () => served.length > before)
      return { ...caller, served: served.at(-1)! }
    },
  }
}

test('a response is ended whose client takes nothing for 30 checks; a client that reads after 20 gets all of it', async () => {
  await using stalling = await openStalling()
  const { request, check } = stalling
  const [silent, slow, streaming] = [await request('/big'), await request('/big'), await request('/stream')]
  const late = await request('/big')
  for (let count = 0; count < 20; count += 1) check()
  assert.deepEqual(
    [silent, slow, streaming, late].map(({ served }) => served.destroyed),
    [false, false, false, false],
  )
  late.socket.resume()
  await until('the late client has it all', () => late.received().length > big.length)
  late.socket.write(get('/next'))
  await late.until(/<\/next>$/)
  await until('the others are ended', () => {
    check()
    slow.socket.read(1)
    return [silent, slow, streaming].every(({ served }) => served.destroyed)
  })
  assert.equal(late.served.destroyed, false)
})

test('a client that takes a little between the checks is not cut off', async () => {
  await using stalling = await openStalling()
  const { request, check } = stalling
  const caller = await request('/big')
  let taken = 0
  const take = async () => {
    const before = taken
    while (taken - before < 6 * mb && taken < big.length) {
      const part = caller.socket.read() as string | null
      if (part === null) await pause(1)
      else taken += part.length
    }
  }
  for (let times = 0; times < 4; times += 1) {
    for (let count = 0; count < 25; count += 1) check()
    await take()
  }
  assert.ok(taken >= big.length, `${taken} bytes`)
})

test('while unread responses fill memory, requests are rejected before they are answered', async () => {
  await using stalling = await openStalling({ maxBytesToAccept: 10 * mb })
  const { site, request, check } = stalling
  for (const path of ['/big', '/stream']) {
    const silent = await request(path)
    check()
    const { status, headers } = await send(site.listener.port, { path: '/work' })
    assert.deepEqual([status, headers['retry-after']], [503, '1'])
    assert.equal((await send(site.listener.port, { path: '/health/live' })).status, 200)
    silent.socket.resume()
    await until('it is read', () => silent.received().length > big.length)
    check()
    assert.equal((await send(site.listener.port, { path: '/after' })).status, 200)
    silent.socket.destroy()
  }
  assert.deepEqual(site.begun, ['/big', '/health/live', '/after', '/stream', '/health/live', '/after'])
})

test('responses of requests that began before memory was full are not kept for clients that do not read', async () => {
  await using stalling = await openStalling({ maxBytesToKeep: 30 * mb })
  const { request } = stalling
  const [first, second] = [await request('/big'), await request('/big')]
  await until('the second is ended', () => second.served.destroyed)
  first.socket.resume()
  await until('the first is read', () => first.received().length > big.length)
})

test('whoever was accepted and reads after 20 checks gets the whole response, also while memory is full', async () => {
  await using stalling = await openStalling({ maxBytesToAccept: 30 * mb })
  const { site, request, check } = stalling
  const admitted = [await request('/big'), await request('/big')]
  const pipelining = await site.open()
  pipelining.socket.write(get('/a') + get('/b').repeat(31))
  assert.equal((await send(site.listener.port, { path: '/work' })).status, 503)
  for (let count = 0; count < 20; count += 1) check()
  for (const { socket } of admitted) socket.resume()
  for (const late of admitted) await until('it is read', () => late.received().length > big.length)
})

test('callers of one network may not fill memory for those of others', async () => {
  await using stalling = await openStalling({ maxBytesOfNetwork: 10 * mb })
  const { site, request } = stalling
  await request('/big')
  assert.equal((await send(site.listener.port, { path: '/work' })).status, 503)
  const other = await site.open('127.0.0.2')
  other.socket.write(get('/work'))
  await other.until(/<\/work>/)
})

test('of requests that were accepted at once, those whose results do not fit in memory get 503, others all of it', async () => {
  const waiting: (() => void)[] = []
  Object.assign(globalThis, { waitingForTest: waiting })
  after(() => Reflect.deleteProperty(globalThis, 'waitingForTest'))
  const action = actionFile(`
    await new Promise((resolve) => globalThis.waitingForTest.push(resolve))
    return { text: 'x'.repeat(${10 * mb}) }`)
  const yml = 'routes: { /big: { methods: { GET: { public: true, action: src/big.ts } } } }\n'
  await using server = await openProjectServer({ files: { 'waypost.yml': yml, 'src/big.ts': action } })
  const callers = Array.from({ length: 12 }, () => {
    const socket = connect(server.port, '127.0.0.1').setEncoding('latin1').pause()
    let text = ''
    socket.on('data', (part: string) => (text += part))
    socket.write('GET /big HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    return { socket, closed: once(socket, 'close'), read: () => text }
  })
  await until('all have been accepted', () => waiting.length === callers.length)
  for (const resolve of waiting) {
    resolve()
    await new Promise(setImmediate)
  }
  const answers = await Promise.all(
    callers.map(async ({ socket, closed, read }) => {
      socket.resume()
      await closed
      return [/^HTTP\/1.1 (\d+)/.exec(read())![1], read().length > 10 * mb, /retry-after: 1\r/i.test(read())].join()
    }),
  )
  assert.deepEqual([...new Set(answers)].sort(), ['200,true,false', '503,false,true'])
  assert.ok(answers.filter((one) => one.startsWith('200')).length >= 6, answers.join(' '))
})
