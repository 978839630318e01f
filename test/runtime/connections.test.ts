import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { openOpsServer } from '../../src/runtime/index.ts'
import { until } from '../support/until.ts'
import { openSite, measureMemory, get } from './connection-site.ts'

const sum = (values: readonly number[]) => values.reduce((total, one) => total + one, 0)

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
  const server = await openOpsServer({
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
  const socket = connect(server.port, '127.0.0.1').setEncoding('utf8')
  let text = ''
  socket.on('data', (part: string) => (text += part)).write(get('/metrics').repeat(20))
  await until('all are answered', () => text.split('<metrics>').length === 21)
  socket.destroy()
  await server.close()
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
