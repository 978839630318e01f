import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { openListener, type Listener } from '../../src/runtime/index.ts'
import { until } from '../support/until.ts'
import { send } from '../support/send.ts'

interface Site extends AsyncDisposable {
  readonly listener: Listener
  /** The paths that were asked for, in order. */
  readonly begun: readonly string[]
  /** Answers the oldest request for `/slow`. */
  answerSlow(): void
  /** Opens a connection; it collects what comes. */
  open(): Promise<Caller>
  readonly full: readonly number[]
  onRequest: (request: IncomingMessage) => void
}

interface Caller {
  readonly socket: Socket
  received(): string
  /** Waits until what came matches. */
  until(pattern: RegExp): Promise<void>
  readonly closed: Promise<unknown>
}

async function openSite(most = 1000): Promise<Site> {
  const begun: string[] = []
  const slow: ServerResponse[] = []
  const sockets: Socket[] = []
  const full: number[] = []
  const listener = await openListener({
    host: '127.0.0.1',
    port: 0,
    connections: { maxConnections: most, onFull: (limit) => full.push(limit) },
    generation: {
      routes: undefined,
      handle(request: IncomingMessage, response: ServerResponse) {
        const { url } = request
        site.onRequest(request)
        begun.push(url!)
        if (url === '/slow') slow.push(response)
        else response.end(`<${url}>`)
      },
      close: async () => undefined,
    },
  })
  const site: Site = {
    listener,
    begun,
    full,
    onRequest: () => undefined,
    answerSlow: () => slow.shift()!.end('<slow>'),
    async open() {
      const socket = connect(listener.port, '127.0.0.1')
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

/** Bytes that JavaScript holds on to, here and outside of its heap. */
function measureMemory(): number {
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`

test('requests on one connection are answered one after another, in order', async () => {
  await using site = await openSite()
  const caller = await site.open()
  caller.socket.write(get('/slow') + get('/a') + get('/slow') + get('/b'))
  // What another connection is answered proves that these have been read.
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
  test(`100 connections that pipeline ${name} and read nothing cost less than 100 MB`, async () => {
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

test('a connection on which large requests wait is closed; one with few of them is answered', async () => {
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
  patient.socket.write((get('/more') + post).repeat(20) + get('/end')) // far more in all than may wait
  await patient.until(/<\/end>/)
})

test('a new connection beyond the limit replaces the one that was idle longest', async () => {
  await using site = await openSite(3)
  const [busy, first, second] = [await site.open(), await site.open(), await site.open()]
  busy.socket.write(get('/slow'))
  first.socket.write(get('/first')) // so that the second was idle longer
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

test('while every connection is busy new ones are refused, until one is free', async () => {
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
