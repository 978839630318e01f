import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { revokeTokens } from '../../src/auth/index.ts'
import { itemFormats } from '../../src/runtime/media/item-formats.ts'
import { OpenStreams } from '../../src/runtime/media/open-streams.ts'
import { makeTestClock } from '../support/clock.ts'
import { actionFile, openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'
import { until } from '../support/until.ts'

test('an event is a value, or data with an id and a name, which cannot contain what would end their lines', () => {
  const write = (item: unknown) => itemFormats['text/event-stream']!.write(item, JSON.stringify)
  assert.equal(write({ id: 1, n: 'a\nb' }), 'data: {"id":1,"n":"a\\nb"}\n\n')
  assert.equal(write({ event: 'new', id: 7, data: [1] }), 'event: new\nid: 7\ndata: [1]\n\n')
  assert.equal(write({ data: null }), 'data: null\n\n')
  assert.equal(write({ data: 1, more: 2 }), 'data: {"data":1,"more":2}\n\n', 'a value that has data')
  assert.equal(write(null), 'data: null\n\n')
  for (const text of ['a\nb', 'a\rb', '\0', 'a\u2028b', 'x'.repeat(1025), {}, null, true])
    for (const name of ['id', 'event']) assert.throws(() => write({ [name]: text, data: 1 }), /its (?:id|event) /)
  assert.equal(itemFormats['application/jsonl']!.write({ data: 'a\nb' }, JSON.stringify), '{"data":"a\\nb"}\n')
})

test('a stream on which nothing was sent for 15 s is reminded, and nothing runs without streams', () => {
  const clock = makeTestClock()
  clock.freeze()
  let tick: (() => void) | undefined
  const streams = new OpenStreams(clock, (check) => {
    tick = check
    return () => (tick = undefined)
  })
  let reminded = 0
  const stream = { count: 0, remind: () => (reminded += 1) }
  streams.add(stream)
  const pass = (ms: number) => {
    clock.pass(ms)
    tick?.()
  }
  pass(14_000)
  assert.equal(reminded, 0)
  pass(1000)
  assert.equal(reminded, 1)
  pass(14_000)
  stream.count = 1
  pass(1000)
  pass(14_000)
  assert.equal(reminded, 1, 'something was sent')
  pass(1000)
  assert.equal(reminded, 2)
  streams.remove(stream)
  assert.equal(tick, undefined)
  const free = streams.reserve('ann', 1)
  assert.equal(streams.reserve('ann', 1), undefined)
  assert.ok(streams.reserve('ben', 1))
  free?.()
  assert.ok(streams.reserve('ann', 1))
})

const shared = "const shared = (globalThis as any)[Symbol.for('waypost.test.value-streams')]"
const waiting = '(signal: any) => new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()))'
const method = (more: string, file: string) => `{ methods: { GET: { ${more}, action: src/${file}.ts } } }`
const events = 'response: { content: { text/event-stream: Order } }'
const files = {
  'waypost.yml': `
config: { streams_per_principal: 3, compression: true }
schema:
  Order: { type: object, required: [id], properties: { id: { type: integer }, name: { type: string } } }
scope: { shop: {} }
routes:
  /orders: ${method(`public: true, cache: { max_age: 60s }, ${events}`, 'orders')}
  /lines: ${method('public: true, response: { content: { application/jsonl: Order } }', 'lines')}
  /wait: ${method(`scopes: [shop], ${events}`, 'wait')}
  /left: ${method(`public: true, ${events}`, 'left')}
  /open: ${method(`public: true, ${events}`, 'wait')}
  /fast: ${method(`public: true, timeout: 50ms, ${events}`, 'fast')}
  /wrong/:how: ${method(`public: true, ${events}`, 'wrong')}
  /several: ${method(
    'public: true, response: { content: { application/json: { type: array, items: Order }, text/csv: { type: string, maxLength: 9 }, text/event-stream: Order } }',
    'several',
  )}
  /image: ${method('public: true, response: { content: [image/png, image/jpeg] }', 'image')}
  /own: ${method('scopes: [shop]', 'own')}
  /text: ${method('public: true, response: { content: { text/plain: { type: string } } }', 'text')}
`.replaceAll('items: Order', 'items: { $ref: schema:///Order }'),
  'src/orders.ts': actionFile(
    `return (async function* () {
      yield { id: 1, secret: 'x' }
      yield { event: 'new', id: String(request.lastEventId ?? 'none'), data: { id: 2, name: 'a\\nb' } }
    })()`,
  ),
  'src/lines.ts': actionFile('return [{ id: 1, secret: 1 }, { id: 2 }]'),
  'src/wait.ts': actionFile(
    `const { signal } = context
    return (async function* () {
      try {
        yield { id: 1 }
        await wait(signal)
      } finally {
        shared.ended.push(request.url)
      }
    })()`,
    `${shared}\nconst wait = ${waiting}`,
  ),
  'src/left.ts': actionFile(
    `shared.runs += 1
    await wait(context.signal)
    return (async function* () {
      yield { id: 1 }
    })()`,
    `${shared}\nconst wait = ${waiting}`,
  ),
  'src/fast.ts': actionFile(
    `return (async function* () {
      try {
        for (let id = 0; ; id += 1) {
          shared.sent = id
          yield { id, name: 'x'.repeat(1000) }
          if (id % 10 === 0) await new Promise((resolve) => setImmediate(resolve))
        }
      } finally {
        shared.ended.push('fast')
      }
    })()`,
    shared,
  ),
  'src/wrong.ts': actionFile(
    `const { how } = request.params
    if (how === 'value') return { id: 1 }
    if (how === 'type') return context.respond(200, 'x', { 'content-type': 'text/html' })
    return (async function* () {
      if (how === 'problem') throw context.problem(404, 'No such order')
      yield { id: 1 }
      if (how === 'item') yield { id: 'x' }
      if (how === 'id') yield { id: 'a\\nb', data: { id: 1 } }
      throw new Error('broken')
    })()`,
  ),
  'src/several.ts': actionFile(
    `shared.runs += 1
    if (request.url.includes('none')) return 'a'
    if (request.url.includes('long')) return context.respond(200, 'x'.repeat(10), { 'content-type': 'text/csv' })
    switch (context.accepts) {
      case 'text/csv': return context.respond(200, 'id\\n1\\n', { 'content-type': 'text/csv' })
      case 'text/event-stream': return (async function* () { yield { id: 1 } })()
      default: return [{ id: 1, secret: 2 }]
    }`,
    shared,
  ),
  'src/image.ts': actionFile(
    `return request.url.includes('gif') ? new Blob(['x'], { type: 'image/gif' }) : new File(['x'], 'a.png', { type: 'image/png' })`,
  ),
  'src/own.ts': actionFile(
    `const bytes = (async function* () {
      yield 'data: 1\\n\\n'
      await new Promise(() => undefined)
    })()
    return context.respond(200, bytes, { 'content-type': 'text/event-stream' })`,
  ),
  'src/text.ts': actionFile(`return request.url.includes('number') ? 1 : 'grün'`),
}

interface Shared {
  ended: string[]
  sent: number
  runs: number
}

/** What the actions of this process share. */
const state: Shared = { ended: [], sent: 0, runs: 0 }
;(globalThis as Record<symbol, unknown>)[Symbol.for('waypost.test.value-streams')] = state

describe('a stream of values', () => {
  let server: ProjectServer
  const clock = makeTestClock()
  before(async () => {
    server = await openProjectServer({ files, clock })
  })
  after(() => server[Symbol.asyncDispose]())
  const get = (path: string, headers: Record<string, string> = {}) => send(server.port, { path, headers })
  const undescribed = (path: string, headers: Record<string, string> = {}) =>
    send(server.port, { path, headers, undescribed: 'a wrong action' })

  /** Opens a stream and waits for its first bytes. */
  const open = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${server.url}${path}`, { headers })
    assert.equal(response.status, 200)
    const reader = response.body!.getReader()
    await reader.read()
    const readToEnd = async () => {
      for (;;) if ((await reader.read()).done) return 'finished'
    }
    return { reader, ended: readToEnd().catch(() => 'cut') }
  }
  const untilEnded = (count: number) => until('the generators end', () => state.ended.length >= count)
  const endings = () => server.logs.flatMap(({ msg, ending }) => (msg === 'stream ended' ? [ending] : []))

  test('is written by its schema, and ends when its generator does', async () => {
    const answer = await get('/orders', { 'last-event-id': Buffer.from('grün 7').toString('latin1') })
    assert.equal(answer.headers['content-type'], 'text/event-stream')
    assert.equal(answer.headers['cache-control'], 'no-store')
    assert.equal(answer.headers['content-encoding'], undefined)
    assert.equal(answer.text, 'data: {"id":1}\n\nevent: new\nid: grün 7\ndata: {"id":2,"name":"a\\nb"}\n\n')
    assert.equal((await get('/lines')).text, '{"id":1}\n{"id":2}\n')
    await until('it is logged', () => endings().at(-1) === 'finished')
    const head = await send(server.port, { path: '/orders', method: 'HEAD' })
    assert.deepEqual([head.status, head.headers['content-type']], [200, 'text/event-stream'])
  })

  test('has a result of one of its declared types, chosen by Accept before the action runs', async () => {
    const typeAndText = async (accept: string) => {
      const { headers, text } = await get('/several', { accept })
      return [headers['content-type'], text]
    }
    assert.deepEqual(await typeAndText('*/*'), ['application/json; charset=utf-8', '[{"id":1}]'])
    assert.deepEqual(await typeAndText('text/csv'), ['text/csv; charset=utf-8', 'id\n1\n'])
    assert.deepEqual(await typeAndText('text/*;q=0.5, application/json;q=0.4'), ['text/csv; charset=utf-8', 'id\n1\n'])
    assert.deepEqual(await typeAndText('text/event-stream, */*;q=0.1'), ['text/event-stream', 'data: {"id":1}\n\n'])
    assert.match(String((await get('/several')).headers['vary']), /\bAccept\b/)
    const { runs } = state
    const refused = await get('/several', { accept: 'image/png, text/csv;q=0' })
    assert.equal(refused.status, 406)
    assert.match(refused.body.detail, /application\/json, text\/csv, text\/event-stream/)
    assert.equal(state.runs, runs)
  })

  test('cannot have a type or a value that is not declared', async () => {
    for (const path of [
      '/wrong/value', '/wrong/type', '/several?none', '/several?long', '/image?gif', '/text?number',
    ]) assert.equal((await undescribed(path)).status, 500, path) // prettier-ignore
    assert.match(JSON.stringify(server.logs), /its type \\"text\/html\\" is not declared, only text\/event-stream/)
    assert.match(JSON.stringify(server.logs), /it has no content type; return context.respond with one of/)
    assert.equal((await get('/image')).headers['content-type'], 'image/png')
    assert.deepEqual(
      [(await get('/text')).text, (await get('/text')).headers['content-type']],
      ['grün', 'text/plain; charset=utf-8'],
    )
    assert.equal((await get('/text', { accept: 'image/png' })).status, 406)
  })

  test('is cut at an item that is not valid; a problem before the first is a response', async () => {
    const problem = await get('/wrong/problem')
    assert.deepEqual([problem.status, problem.headers['content-type']], [404, 'application/problem+json'])
    for (const how of ['item', 'id', 'error']) {
      const response = await fetch(`${server.url}/wrong/${how}`)
      await assert.rejects(response.text(), `${how} is cut`)
    }
    assert.match(JSON.stringify(server.logs), /does not match the schema of response 200: [^"]*id must be integer/)
    assert.match(JSON.stringify(server.logs), /its id contains a line break/)
  })

  test('ends its generator and aborts the signal when the client leaves', async () => {
    state.ended = []
    const { reader } = await open('/open')
    await reader.cancel()
    await untilEnded(1)
    assert.equal(endings().at(-1), 'client left')
  })

  test('is limited for each user, and for each address without a token', async () => {
    state.ended = []
    const ann = await server.authorize('ann', ['shop'])
    const streams = await Promise.all([
      ...[1, 2, 3].map(() => open('/open')),
      ...[1, 2, 3].map(() => open('/wait', ann)),
    ])
    const refused = await get('/open')
    assert.deepEqual([refused.status, refused.headers['retry-after']], [429, '5'])
    assert.equal((await get('/wait', ann)).status, 429)
    assert.equal((await get('/several')).status, 200, 'other types do not count')
    for (const { reader } of streams) await reader.cancel()
    await untilEnded(6)
    const again = await open('/open')
    await again.reader.cancel()
    await untilEnded(7)
  })

  test('ends if its client left while the action ran', async () => {
    state.runs = 0
    const left = endings().length
    const socket = connect(server.port, '127.0.0.1')
    socket.write('GET /left HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await until('the action runs', () => state.runs === 1)
    socket.destroy()
    await until('the stream ends', () => endings().length > left)
    assert.equal(endings().at(-1), 'client left')
  })

  test('of a client that left while its token was checked does not count', async () => {
    for (let sent = 0; sent < 10; sent += 1) {
      const { authorization } = await server.authorize('leaver', ['shop']) // another token each time: it is not cached
      const socket = connect(server.port, '127.0.0.1').on('error', () => undefined)
      const request = `GET /wait HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\n\r\n`
      socket.write(request, () => setImmediate(() => socket.resetAndDestroy()))
      await once(socket, 'close')
    }
    const headers = await server.authorize('leaver', ['shop'])
    await until('a stream can be opened', async () => {
      const { status, body } = await fetch(`${server.url}/wait`, { headers })
      await body?.cancel()
      return status === 200
    })
  })

  test('waits for a client that does not read, whatever the timeout of its method', async () => {
    state.ended = []
    const socket = connect(server.port, '127.0.0.1')
    socket.write('GET /fast HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await once(socket, 'data')
    socket.pause()
    let before = -1
    await until('the generator waits', async () => {
      const same = state.sent === before
      before = state.sent
      await new Promise((resolve) => setTimeout(resolve, 200))
      return same && state.sent === before
    })
    assert.ok(state.sent < 20_000, `${state.sent} items of 1 KB in memory`)
    socket.resume()
    await until('it continues', () => state.sent > before + 100)
    socket.destroy()
    await untilEnded(1)
  })

  test('is cut when its token is revoked, expires or loses the scope', async () => {
    state.ended = []
    const ann = await server.authorize('ann', ['shop'])
    const revoked = await open('/wait', ann)
    await revokeOf(server, ann.authorization)
    assert.equal(await revoked.ended, 'cut')
    await untilEnded(1)
    assert.equal(endings().at(-1), 'access ended')
    const ben = await server.authorize('ben', ['shop'])
    const expired = await open('/wait', ben)
    const anonymous = await open('/open')
    clock.forward(3_700_000)
    assert.equal(await expired.ended, 'cut')
    await anonymous.reader.cancel()
    await untilEnded(3)
  })

  test('events that an action writes itself are cut with the access of their caller too', async () => {
    const cleo = await server.authorize('cleo', ['shop'])
    const own = await open('/own', cleo)
    await revokeOf(server, cleo.authorization)
    assert.equal(await own.ended, 'cut')
  })

  test('is cut when a release replaces its code, so that the client connects to the new one', async () => {
    state.ended = []
    const stream = await open('/open')
    await server.deploy({ 'src/text.ts': actionFile(`return 'new'`) })
    assert.equal(await stream.ended, 'cut')
    await untilEnded(1)
    assert.equal(endings().at(-1), 'code replaced')
    assert.equal((await get('/text')).text, 'new')
  })

  test('is cut when the server stops', async () => {
    state.ended = []
    const stream = await open('/open')
    const closing = server.server.close()
    assert.equal(await stream.ended, 'cut')
    await closing
    assert.deepEqual(state.ended, ['/open'])
  })
})

test('in development, saving the code of a stream cuts it, and saving other code does not', async () => {
  state.ended = []
  await using server = await openProjectServer({ files, isDevelopment: true })
  const response = await fetch(`${server.url}/open`)
  const reader = response.body!.getReader()
  assert.equal(Buffer.from((await reader.read()).value ?? '').toString(), 'data: {"id":1}\n\n')
  await server.deploy({ 'src/text.ts': actionFile(`return 'new'`) })
  assert.equal(await (await fetch(`${server.url}/text`)).text(), 'new')
  assert.deepEqual(state.ended, [])
  assert.match(await server.server.measure(), /^waypost_streams_open 1$/m)
  await server.deploy({ 'src/wait.ts': files['src/wait.ts'].replace('{ id: 1 }', '{ id: 2 }') })
  await assert.rejects(reader.read())
  await until('the generator ends', () => state.ended.length === 1)
  assert.match(await server.server.measure(), /^waypost_streams_open 0$/m)
  const next = (await fetch(`${server.url}/open`)).body!.getReader()
  assert.equal(Buffer.from((await next.read()).value ?? '').toString(), 'data: {"id":2}\n\n')
  await next.cancel()
})

/** Revokes an access token. */
async function revokeOf({ host }: ProjectServer, authorization: string): Promise<void> {
  const payload = Buffer.from(authorization.split('.')[1]!, 'base64url').toString()
  const { jti } = JSON.parse(payload) as { jti: string }
  await revokeTokens(host.system, { jti }, host.clock.now())
}
