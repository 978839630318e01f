import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { actionFile, openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'

const yml = `
routes:
  /shared: { methods: { GET: { public: true, response: Item, cache: { max_age: 60s, public: true }, action: src/item.ts } } }
  /own: { methods: { GET: { public: true, response: Item, cache: { max_age: 1h }, action: src/item.ts } } }
  /asked: { methods: { GET: { public: true, cache: { max_age: 0s }, action: src/item.ts } } }
  /kind/:kind:
    path: { kind: { type: string } }
    methods:
      GET: { public: true, cache: { max_age: 60s }, action: src/kind.ts }
  /tagged: { methods: { GET: { public: true, responses: { 200: Item, 304: }, action: src/tagged.ts } } }
  /dated: { methods: { GET: { public: true, responses: { 200: Item, 304: }, action: src/dated.ts } } }
  /streamed: { methods: { GET: { public: true, action: src/streamed.ts } } }
  /plain: { methods: { GET: { public: true, response: Item, action: src/item.ts } } }
  /version/:state:
    path: { state: { type: string } }
    methods:
      GET: { public: true, action: src/change.ts }
      PUT: { public: true, action: src/change.ts }
schema:
  Item: { type: object, properties: { id: { type: integer } } }
`

const files = {
  'waypost.yml': yml,
  'src/item.ts': actionFile('return { id: 1, secret: Math.random() }'),
  'src/kind.ts': actionFile(
    `const { kind } = request.params
     if (kind === 'bytes') return Buffer.from('abc')
     if (kind === 'stream') return new Blob(['abc']).stream()
     if (kind === 'own') return context.respond(200, { id: 1 }, { 'cache-control': 'no-store', etag: 'W/"7"', vary: 'Cookie' })
     if (kind === 'missing') throw context.problem(404, 'No such kind')
     if (kind === 'gone') return context.respond(410, { id: 1 })
     return undefined`,
  ),
  'src/tagged.ts': actionFile(
    `return context.respond(200, { id: 1 }, { etag: '"7"', 'content-language': 'en', 'x-total': '3' })`,
  ),
  'src/dated.ts': actionFile(
    `return context.respond(200, { id: 1 }, { 'last-modified': 'Sat, 28 Nov 2026 10:00:00 GMT' })`,
  ),
  'src/streamed.ts': actionFile(
    `const stream = new ReadableStream({ pull(to) { to.enqueue('x'); to.close() }, cancel() { state.cancelled = true } })
     return context.respond(200, stream, { etag: '"s"', 'content-type': 'text/plain' })`,
    'export const state: any = (globalThis as any).waypostCaching ??= {}',
  ),
  'src/change.ts': actionFile(
    `const { state } = request.params
     context.precondition(state === 'new' ? undefined : state === 'weak' ? 'W/"3"' : state === 'wrong' ? '3' : '"3"')
     return { changed: true }`,
  ),
}

const byAction = 'an ETag that the action sets cannot be known before'

const byCode = 'problems that an action throws cannot be known before'

describe('caching', () => {
  let server: ProjectServer
  before(async () => {
    server = await openProjectServer({ files })
  })
  after(() => server[Symbol.asyncDispose]())
  const get = (
    path: string,
    headers: Record<string, string> = {},
    more: { method?: string; undescribed?: string } = {},
  ) => send(server.port, { path, headers, method: 'GET', ...more })

  test('sets Cache-Control, Vary and a strong ETag of the body that is sent', async () => {
    const shared = await get('/shared')
    assert.equal(shared.headers['cache-control'], 'public, max-age=60')
    assert.equal(shared.headers['vary'], 'Authorization')
    assert.match(String(shared.headers['etag']), /^"[\w-]{20,}"$/)
    assert.equal((await get('/shared')).headers['etag'], shared.headers['etag'], 'undeclared properties do not count')
    assert.equal((await get('/own')).headers['cache-control'], 'private, max-age=3600')
    assert.equal((await get('/asked')).headers['cache-control'], 'private, no-cache')
    const bytes = await get('/kind/bytes')
    assert.match(String(bytes.headers['etag']), /^"[\w-]{20,}"$/)
    assert.equal((await get('/kind/stream')).headers['etag'], undefined)
  })

  test('returns 304 without a body to a caller that has the response, also for HEAD', async () => {
    const { etag } = (await get('/shared')).headers
    for (const method of ['GET', 'HEAD']) {
      for (const tags of [etag!, `W/${etag}`, `"other", ${etag}`, '*']) {
        const known = await get('/shared', { 'if-none-match': tags }, { method })
        assert.equal(known.status, 304, `${method} ${tags}`)
        assert.equal(known.text, '')
        assert.equal(known.headers['etag'], etag)
        assert.equal(known.headers['cache-control'], 'public, max-age=60')
        assert.equal(known.headers['content-type'], undefined)
        assert.equal(known.headers['content-length'], undefined)
      }
    }
    for (const tags of ['"other"', etag!.replaceAll('"', ''), '', '"', `${etag}x`])
      assert.equal((await get('/shared', { 'if-none-match': tags })).status, 200, tags)
    const head = await get('/shared', {}, { method: 'HEAD' })
    assert.deepEqual([head.status, head.headers['etag'], head.text], [200, etag, ''])
  })

  test('keeps what the action sets, and says nothing about errors', async () => {
    const own = await get('/kind/own')
    assert.deepEqual(
      [own.headers['cache-control'], own.headers['etag'], own.headers['vary']],
      ['no-store', 'W/"7"', 'Cookie, Authorization'],
    )
    assert.equal((await get('/kind/own', { 'if-none-match': '"7"' })).status, 304)
    for (const [kind, control] of [
      ['missing', 'no-store'],
      ['gone', undefined],
    ] as const) {
      const { headers } = await get(`/kind/${kind}`, {}, { undescribed: 'the status is not declared' })
      assert.deepEqual([headers['cache-control'], headers['etag']], [control, undefined], kind)
    }
    const empty = await get('/kind/empty')
    assert.deepEqual(
      [empty.status, empty.headers['cache-control'], empty.headers['etag']],
      [204, 'private, max-age=60', undefined],
    )
  })

  test('a response to a token is not for caches that several callers share', async () => {
    const { headers } = await get('/shared', await server.authorize('dev', []))
    assert.equal(headers['cache-control'], 'private, max-age=60')
  })

  test('an ETag or Last-Modified that the action of any GET sets leads to 304', async () => {
    const tagged = await get('/tagged', { 'if-none-match': '"7"' })
    assert.equal(tagged.status, 304)
    assert.deepEqual([tagged.headers['content-language'], tagged.headers['x-total']], [undefined, '3'])
    assert.equal((await get('/tagged', { 'if-none-match': '"8"' })).status, 200)
    const since = (date: string, more = {}) => get('/dated', { 'if-modified-since': date, ...more })
    assert.equal((await since('Sat, 28 Nov 2026 10:00:00 GMT')).status, 304)
    assert.equal((await since('Sat, 28 Nov 2026 09:59:59 GMT')).status, 200)
    for (const wrong of ['2026-11-28', 'yesterday', 'Sat, 99 Nov 2026 10:00:00 GMT'])
      assert.equal((await since(wrong)).status, 200)
    const both = await since('Sat, 28 Nov 2026 10:00:00 GMT', { 'if-none-match': '"7"' })
    assert.equal(both.status, 200, 'If-None-Match decides if both are sent')
    assert.equal((await get('/plain', { 'if-none-match': '*' })).status, 200, 'there is nothing to compare')
    const streamed = await get('/streamed', { 'if-none-match': '"s"' }, { undescribed: byAction })
    assert.deepEqual([streamed.status, streamed.text], [304, ''])
    const state = (globalThis as unknown as { waypostCaching: { cancelled?: true } }).waypostCaching
    assert.equal(state.cancelled, true, 'the stream is closed')
  })

  test('context.precondition refuses a change of another version', async () => {
    const change = async (state: string, headers: Record<string, string>) =>
      (await send(server.port, { method: 'PUT', path: `/version/${state}`, headers, body: {}, undescribed: byCode }))
        .status
    assert.equal(await change('3', {}), 200)
    assert.equal(await change('3', { 'if-match': '"3"' }), 200)
    assert.equal(await change('3', { 'if-match': '"2", "3"' }), 200)
    assert.equal(await change('3', { 'if-match': '*' }), 200)
    assert.equal(await change('3', { 'if-match': '"2"' }), 412)
    assert.equal(await change('3', { 'if-match': 'W/"3"' }), 412, 'compares strongly')
    assert.equal(await change('weak', { 'if-match': 'W/"3"' }), 412)
    assert.equal(await change('3', { 'if-match': '3' }), 400)
    assert.equal(await change('3', { 'if-none-match': '*' }), 412)
    assert.equal(await change('3', { 'if-none-match': 'W/"3"' }), 412)
    assert.equal(await change('3', { 'if-none-match': '"2"' }), 200)
    assert.equal(await change('new', { 'if-none-match': '*' }), 200)
    assert.equal(await change('new', { 'if-match': '*' }), 412)
    assert.equal(await change('wrong', {}), 500)
    assert.ok(server.logs.some((line) => JSON.stringify(line).includes('needs an ETag in double quotes')))
    const read = await get('/version/3', { 'if-none-match': '"3"' })
    assert.equal(read.status, 200, 'a read is not refused')
  })
})
