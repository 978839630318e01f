import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { Pool } from 'undici'
import { openTestProject } from '../../src/project/index.ts'
import { openGateway, type Generation, type Gateway } from '../../src/runtime/index.ts'
import type { GatewayOptions } from '../../src/runtime/gateway.ts'
import { actionFile, openProjectServer, writeFiles } from '../support/project-server.ts'
import { send } from '../support/send.ts'
import { until } from '../support/until.ts'
import { isLong } from '../support/forms.ts'

/** Used as a grace period: if a test waits for its end, the test fails. */
const forever = 3_600_000
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** A generation that responds with its name; to `/slow` only when released. */
function makeGeneration(name: string) {
  const events: string[] = []
  const slow: ServerResponse[] = []
  const generation: Generation = {
    routes: undefined,
    call: () => Promise.reject(new Error('not used')),
    handle(request: IncomingMessage, response: ServerResponse) {
      events.push(request.url!)
      if (request.url === '/slow') slow.push(response)
      else response.end(name)
    },
    async close() {
      events.push('closed')
    },
  }
  return {
    ...generation,
    generation,
    events,
    answerSlow: () => slow.splice(0).forEach((response) => response.end(name)),
  }
}

async function open(
  generation: Generation,
  { port = 0, ...options }: Partial<GatewayOptions> = {},
): Promise<Gateway & AsyncDisposable> {
  const gateway = await openGateway({ host: '127.0.0.1', port, generation, ...options })
  return { ...gateway, [Symbol.asyncDispose]: () => gateway.close(0) }
}

test('requests in flight end on their generation, which is closed then', async () => {
  const [old, next] = [makeGeneration('old'), makeGeneration('new')]
  await using gateway = await open(old.generation)
  const slow = send(gateway.port, { path: '/slow' })
  await until('it is asked', () => old.events.includes('/slow'))
  gateway.swap(next.generation)
  assert.equal((await send(gateway.port, { path: '/' })).text, 'new')
  assert.deepEqual(old.events, ['/slow'])
  old.answerSlow()
  assert.equal((await slow).text, 'old')
  await until('it is closed', () => old.events.includes('closed'))
  assert.deepEqual(next.events, ['/'])
})

test('a generation without requests is closed at the swap, and each only once', async () => {
  const generations = Array.from({ length: 5 }, (_, index) => makeGeneration(String(index)))
  const gateway = await open(generations[0]!.generation)
  for (const { generation } of generations.slice(1)) gateway.swap(generation)
  await until('all but the last are closed', () =>
    generations.slice(0, 4).every(({ events }) => events.includes('closed')),
  )
  assert.deepEqual(generations[4]!.events, [])
  await Promise.all([gateway.close(), gateway.close()])
  for (const { events } of generations) assert.deepEqual(events, ['closed'])
  const late = makeGeneration('late')
  gateway.swap(late.generation)
  await until('it is closed', () => late.events.includes('closed'))
})

test('a caller who disconnects does not keep a generation', async () => {
  const [old, next] = [makeGeneration('old'), makeGeneration('new')]
  await using gateway = await open(old.generation)
  const leaving = new AbortController()
  const slow = send(gateway.port, { path: '/slow', signal: leaving.signal })
  await until('it is asked', () => old.events.includes('/slow'))
  gateway.swap(next.generation)
  leaving.abort()
  await assert.rejects(slow)
  await until('it is closed', () => old.events.includes('closed'))
})

test('queued requests on a closed connection do not keep a generation', async () => {
  const [old, next] = [makeGeneration('old'), makeGeneration('new')]
  await using gateway = await open(old.generation)
  const socket = connect(gateway.port, '127.0.0.1')
  socket.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(3))
  await until('it is asked', () => old.events.length === 1)
  gateway.swap(next.generation)
  socket.destroy()
  await until('it is closed', () => old.events.includes('closed'))
})

test('close completes requests in flight, and returns 503 for new ones', async () => {
  const one = makeGeneration('one')
  const gateway = await open(one.generation)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  await send(gateway.port, { path: '/', agent })
  const slow = send(gateway.port, { path: '/slow', agent })
  await until('it is asked', () => one.events.includes('/slow'))
  const waiting = connect(gateway.port, '127.0.0.1') // a connection that existed before
  await once(waiting, 'connect')
  waiting.write('GET /a HTTP/1.1\r\nHost: a\r\n')
  // Each answer proves that the server has read what came before: the connection, then its first lines.
  for (let turn = 0; turn < 2; turn += 1) await send(gateway.port, { path: '/b' })

  const closed = gateway.close(forever) // a keep-alive connection does not delay it
  waiting.write('\r\n')
  const [answer] = (await once(waiting, 'data')) as [Buffer]
  assert.match(String(answer), /^HTTP\/1.1 503 [^]*retry-after: 1[^]*urn:waypost:errors#WP_RUNTIME_CLOSING/i)
  await assert.rejects(send(gateway.port, { path: '/' }), { code: 'ECONNREFUSED' })
  one.answerSlow()
  assert.equal((await slow).text, 'one')
  await closed
  assert.equal(one.events.at(-1), 'closed')
  agent.destroy()
  waiting.destroy()
})

test('close aborts requests that take longer than its limit', async () => {
  const one = makeGeneration('one')
  const gateway = await open(one.generation)
  const slow = assert.rejects(send(gateway.port, { path: '/slow' }), { code: 'ECONNRESET' })
  await until('it is asked', () => one.events.includes('/slow'))
  await gateway.close(100)
  await slow
  assert.deepEqual(one.events, ['/slow', 'closed'])
})

test('held requests wait, are answered by the next generation, and leave nothing if their caller disconnects', async () => {
  const [old, next] = [makeGeneration('old'), makeGeneration('new')]
  await using gateway = await open(old.generation)
  const letGo = gateway.hold()
  const leaving = new AbortController()
  const gone = assert.rejects(send(gateway.port, { path: '/gone', signal: leaving.signal }))
  const held = send(gateway.port, { path: '/held' })
  await pause(50)
  leaving.abort()
  await gone
  await pause(20)
  assert.deepEqual(old.events, [])
  gateway.swap(next.generation)
  letGo()
  assert.equal((await held).text, 'new')
  const last = makeGeneration('last')
  gateway.swap(last.generation)
  await until('it is closed', () => next.events.includes('closed'))
})

test('requests wait from the moment a starting server listens, whichever path they have', async () => {
  const [early, next] = [makeGeneration('early'), makeGeneration('next')]
  await using gateway = await open(early.generation, { isStarting: true })
  const paths = ['/', '/a', '/docs', '/portal/', '/backend', '/health/ready']
  const held = paths.map((path) => send(gateway.port, { path }))
  assert.equal((await send(gateway.port, { path: '/health/live' })).text, 'early')
  gateway.swap(next.generation)
  gateway.started()
  for (const answer of await Promise.all(held)) assert.equal(answer.text, 'next')
  assert.deepEqual(early.events, ['/health/live', 'closed'])
})

test('a stopping server answers connections that the system has established before it could accept them', async () => {
  const one = makeGeneration('one')
  const gateway = await open(one.generation)
  const count = 24
  const connected = new Int32Array(new SharedArrayBuffer(4))
  const callers = new Worker(new URL('waiting-callers.ts', import.meta.url), {
    workerData: { port: gateway.port, count, connected },
  })
  const answers = once(callers, 'message') as Promise<[readonly string[]]>
  gateway.drain()
  while (Atomics.load(connected, 0) < count) Atomics.wait(connected, 0, Atomics.load(connected, 0)) // accepts nothing
  await gateway.close(forever)
  for (const answer of (await answers)[0]) assert.match(answer, /^HTTP\/1\.1 200 [^]*connection: close[^]*one$/i)
  await callers.terminate()
})

test('a target in absolute form is answered as its path, and its host is checked', async () => {
  const { generation, events } = makeGeneration('answer')
  await using gateway = await open(generation, {
    refusedHost: (host) => (host === 'localhost' ? undefined : host),
  })
  const ask = async (path: string, host: string) => (await send(gateway.port, { path, headers: { host } })).status
  for (const target of ['http://localhost/a?b', 'HTTP://localhost/c', 'https://localhost', 'http://localhost?d']) {
    assert.equal(await ask(target, 'localhost'), 200, target)
    assert.equal(await ask(target, 'evil.example'), 200, target)
  }
  assert.deepEqual(events, ['/a?b', '/a?b', '/c', '/c', '/', '/', '/?d', '/?d'])
  for (const target of [
    'http://evil.example/a',
    'http://localhost@evil.example/',
    'http:///a',
    'http://LOCALHOST:1/',
    '/a',
  ])
    assert.equal(await ask(target, target === '/a' ? 'evil.example' : 'localhost'), 421, target)
  assert.equal(events.length, 8)
})

test('a request with more than one Host header is rejected', async () => {
  const { generation, events } = makeGeneration('answer')
  await using gateway = await open(generation)
  for (const target of ['/a', 'http://localhost/a']) {
    const socket = connect(gateway.port, '127.0.0.1')
    socket.end(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nHost: other.example\r\nConnection: close\r\n\r\n`)
    const response = await text(socket)
    assert.match(response, /^HTTP\/1\.1 400 /)
    assert.match(response, /WP_RUNTIME_HOSTS/)
  }
  assert.deepEqual(events, [])
})

test('a port that is taken is named, with another one to try', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as { port: number }
  await assert.rejects(open(makeGeneration('one').generation, { port }), {
    code: 'WP_RUNTIME_PORT',
    message: `Port ${port} on 127.0.0.1 is already in use`,
    hint: `Stop the process that uses it, or choose another port: --port ${port + 1}`,
  })
  await assert.rejects(openGateway({ host: '192.0.2.1', port: 0, generation: makeGeneration('one').generation }), {
    code: 'WP_RUNTIME_LISTEN',
  })
  taken.close()
})

const releaseCount = isLong ? 50 : 15

test(`${releaseCount} releases under load: no connection breaks and no request fails`, async () => {
  const yml = 'routes: { /version: { methods: { GET: { public: true, action: src/version.ts } } } }\n'
  const version = (text: string) => ({ 'src/version.ts': actionFile(`return { version: '${text}' }`) })
  await using server = await openProjectServer({ files: { 'waypost.yml': yml, ...version('a') } })
  await writeFiles(server.host.folder, version('b'))
  const releases = [
    { stored: server.release, artifacts: undefined },
    await (await openTestProject(server.host.folder)).install(server.host),
  ]

  const pool = new Pool(server.url, { connections: 8 })
  const seen = new Map<string, number>()
  let connections = 0
  pool.on('connect', () => (connections += 1))
  let isOver = false
  const callers = Array.from({ length: 16 }, async () => {
    // oxlint-disable-next-line no-unmodified-loop-condition -- set below, while these wait
    while (!isOver) {
      const { statusCode, body } = await pool.request({ method: 'GET', path: '/version' })
      const text = await body.text()
      assert.equal(statusCode, 200, text)
      seen.set(text, (seen.get(text) ?? 0) + 1)
    }
  })
  for (let swap = 1; swap <= releaseCount; swap += 1) {
    const { stored, artifacts } = releases[swap % 2]!
    await server.server.serveRelease(stored, { artifacts })
    await pause(5)
  }
  isOver = true
  await Promise.all(callers)
  await pool.close()
  assert.deepEqual([...seen.keys()].sort(), ['{"version":"a"}', '{"version":"b"}'])
  assert.equal(connections, 8)
})
