import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { until } from '../support/until.ts'
import { actionFile, openProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'
import { openSite, measureMemory, get, mb, big, openStalling } from './connection-site.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** The same after garbage collection. */
function measureLive(): number {
  collectGarbage()
  collectGarbage()
  return measureMemory()
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
    const { status, headers } = await send(site.gateway.port, { path: '/work' })
    assert.deepEqual([status, headers['retry-after']], [503, '1'])
    assert.equal((await send(site.gateway.port, { path: '/health/live' })).status, 200)
    silent.socket.resume()
    await until('it is read', () => silent.received().length > big.length)
    check()
    assert.equal((await send(site.gateway.port, { path: '/after' })).status, 200)
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
  assert.equal((await send(site.gateway.port, { path: '/work' })).status, 503)
  for (let count = 0; count < 20; count += 1) check()
  for (const { socket } of admitted) socket.resume()
  for (const late of admitted) await until('it is read', () => late.received().length > big.length)
})

test('callers of one network may not fill memory for those of others', async () => {
  await using stalling = await openStalling({ maxBytesOfNetwork: 10 * mb })
  const { site, request } = stalling
  await request('/big')
  assert.equal((await send(site.gateway.port, { path: '/work' })).status, 503)
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
  const warnings = server.logs.filter(({ msg }) => String(msg).startsWith('result is large'))
  assert.deepEqual(
    warnings.map(({ level, action, characters }) => [level, action, characters]),
    [[40, 'src/big.ts', 10 * mb + '{"text":""}'.length]],
  )
})
