import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import zlib from 'node:zlib'
import { actionFile, openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'
import { until } from '../support/until.ts'

const yml = `
config: { compression: true }
routes:
  /kind/:kind:
    path: { kind: { type: string } }
    methods:
      GET: { public: true, action: src/kind.ts }
  /never: { methods: { GET: { public: true, compression: false, action: src/large.ts } } }
  /cached: { methods: { GET: { public: true, cache: { max_age: 60s, public: true }, action: src/large.ts } } }
  /plain: { methods: { PUT: { public: true, compression: false, action: src/row.ts } } }
  /row:
    methods:
      GET: { public: true, responses: { 200: {}, 304: }, action: src/row.ts }
      PUT: { public: true, action: src/row.ts }
`

const files = {
  'waypost.yml': yml,
  'src/large.ts': actionFile(`return { text: 'ä'.repeat(5000) }`),
  'src/row.ts': actionFile(
    `context.precondition('"3"')
     if (request.headers['if-none-match'] === '"3"') return context.respond(304, undefined, { etag: '"3"' })
     return context.respond(200, { text: 'x'.repeat(50_000) }, { etag: '"3"' })`,
  ),
  'src/kind.ts': actionFile(
    `const { kind } = request.params
     const as = (body: unknown, type: string, more = {}) => context.respond(200, body, { 'content-type': type, ...more })
     const long = 'a,b,c;'.repeat(1000)
     if (kind === 'small') return { text: 'x'.repeat(900) }
     if (kind === 'huge') return { text: 'x'.repeat(500_000) }
     if (kind === 'csv') return as(long, 'text/csv; charset=utf-8')
     if (kind === 'svg') return as(Buffer.from(long), 'image/svg+xml')
     if (kind === 'png') return as(Buffer.from(long), 'image/png')
     if (kind === 'unknown') return Buffer.from(long)
     if (kind === 'gzipped') return as(gzipSync(randomBytes(3000)), 'text/plain')
     if (kind === 'encoded') return as(gzipSync(Buffer.from(long)), 'text/plain', { 'content-encoding': 'gzip' })
     if (kind === 'kept') return as(long, 'text/plain', { 'cache-control': 'no-transform' })
     if (kind === 'weak') return as(long, 'text/plain', { etag: 'W/"1"', vary: 'Cookie' })
     if (kind === 'events') return as(Readable.from(['data: ' + long + '\\n\\n']), 'text/event-stream')
     if (kind === 'stream') return as(Readable.from([long, long]), 'text/plain', { 'content-length': String(long.length * 2) })
     if (kind === 'failing') return as(Readable.from(failing()), 'text/csv', { etag: '"1"' })
     if (kind === 'broken') return as(Readable.from(broken()), 'text/plain')
     return as(slow(), 'application/jsonl')`,
    `import { gzipSync } from 'node:zlib'
     import { randomBytes } from 'node:crypto'
     import { Readable } from 'node:stream'
     async function* failing() { throw new Error('there is no such file') }
     async function* broken() { yield 'first'; await new Promise((resolve) => { state.next = resolve }); throw new Error('broken in a stream') }
     export const state: any = (globalThis as any).waypostSlow ??= {}
     async function* slow() {
       try { yield '{"id":1}\\n'; await new Promise((resolve) => { state.next = resolve }); yield '{"id":2}\\n' } finally { state.ended = true }
     }`,
  ),
}

const decoders = { zstd: zlib.zstdDecompress, br: zlib.brotliDecompress, gzip: zlib.gunzip }
const state = () => (globalThis as unknown as { waypostSlow: { next?: () => void; ended?: true } }).waypostSlow

describe('compression', () => {
  let server: ProjectServer
  before(async () => {
    server = await openProjectServer({ files })
  })
  after(() => server[Symbol.asyncDispose]())

  /** Requests without decoding. */
  const get = (path: string, accept?: string, headers: Record<string, string> = {}, method = 'GET') => {
    return fetch(server.url + path, { method, headers: { 'accept-encoding': accept ?? 'identity', ...headers } })
  }
  /** Requests as bytes, because `fetch` decodes. `head` has a line for each header. */
  const bytesOf = (path: string, accept: string): Promise<{ head: string; body: Buffer }> =>
    new Promise((resolve, reject) => {
      const { port } = server
      const call = request({ host: '127.0.0.1', port, path, headers: { 'accept-encoding': accept } }, (response) => {
        const parts: Buffer[] = []
        const head = Object.entries(response.headers).map(([name, value]) => `${name}: ${String(value)}`)
        response.on('data', (part: Buffer) => parts.push(part)).on('error', reject)
        response.on('end', () => resolve({ head: head.join('\n'), body: Buffer.concat(parts) }))
      })
      call.on('error', reject).end()
    })

  for (const [coding, decode] of Object.entries(decoders)) {
    test(`${coding}: texts, bytes and streams, small and large`, async () => {
      for (const kind of ['csv', 'svg', 'huge', 'stream']) {
        const plain = await bytesOf(`/kind/${kind}`, 'identity')
        const coded = await bytesOf(`/kind/${kind}`, coding)
        assert.match(coded.head, new RegExp(`^content-encoding: ${coding}\\r?$`, 'mi'), kind)
        assert.ok(coded.body.length < plain.body.length / 5, kind)
        const decoded = await promisify(decode)(coded.body)
        assert.deepEqual(decoded, plain.body, kind)
        const length = /content-length: (\d+)/i.exec(coded.head)?.[1]
        if (kind !== 'stream') assert.equal(Number(length), coded.body.length, kind)
        for (const { head } of [plain, coded]) assert.match(head, /^vary: Accept-Encoding\r?$/im, kind)
      }
    })
  }

  test('the caller decides which coding; without a preference the best one', async () => {
    const codingOf = async (accept: string) =>
      (await bytesOf('/kind/csv', accept)).head.match(/content-encoding: (\w+)/i)?.[1]
    assert.equal(await codingOf('gzip, deflate, br, zstd'), 'zstd')
    assert.equal(await codingOf('gzip, br'), 'br')
    assert.equal(await codingOf('gzip;q=1, br;q=0.5'), 'gzip')
    assert.equal(await codingOf('GZIP'), 'gzip')
    assert.equal(await codingOf('zstd;q=0, *'), 'br')
    assert.equal(await codingOf('*;q=0.5, br;q=0.0, zstd;q=0'), 'gzip')
    for (const none of ['', 'identity', 'deflate', 'br;q=0', 'sdch', ';;,', 'x'.repeat(5000)])
      assert.equal(await codingOf(none), undefined, none.slice(0, 20))
  })

  test('what is small, compressed already or would become larger stays as it is', async () => {
    for (const kind of ['small', 'png', 'unknown', 'gzipped', 'kept', 'events']) {
      const { head } = await bytesOf(`/kind/${kind}`, 'br')
      assert.doesNotMatch(head, /content-encoding/i, kind)
    }
    assert.match((await bytesOf('/kind/encoded', 'br')).head, /content-encoding: gzip/i)
    assert.doesNotMatch((await bytesOf('/never', 'br')).head, /content-encoding|vary/i)
  })

  test('HEAD has the headers of GET', async () => {
    const headersOf = async (method: string) => {
      const { headers } = await get('/cached', 'br', {}, method)
      return ['content-encoding', 'content-length', 'etag', 'vary', 'cache-control'].map((name) => headers.get(name))
    }
    assert.deepEqual(await headersOf('HEAD'), await headersOf('GET'))
  })

  test('a compressed response has a strong ETag of its own, and conditions with it work', async () => {
    const plain = (await get('/cached')).headers.get('etag')!
    const coded = (await get('/cached', 'br')).headers.get('etag')!
    assert.equal(coded, plain.replace(/"$/, ';br"'))
    const known = await get('/cached', 'br', { 'if-none-match': `"other", ${coded}` })
    assert.deepEqual([known.status, known.headers.get('etag')], [304, coded])
    assert.deepEqual(
      [known.headers.get('content-encoding'), known.headers.get('cache-control')],
      [null, 'public, max-age=60'],
    )
    assert.equal(known.headers.get('vary'), 'Authorization, Accept-Encoding')
    for (const accept of ['identity', 'gzip']) {
      const changed = await get('/cached', accept, { 'if-none-match': coded })
      assert.equal(changed.status, 200, `the tag of another coding is not that of ${accept}`)
    }
    const other = await get('/cached', 'gzip', { 'if-none-match': plain })
    assert.deepEqual([other.status, other.headers.get('etag')], [304, plain])
    assert.equal((await get('/kind/weak', 'br')).headers.get('etag'), 'W/"1"')
    assert.equal((await get('/kind/weak', 'br')).headers.get('vary'), 'Cookie, Accept-Encoding')

    const row = await get('/row', 'zstd')
    assert.equal(row.headers.get('etag'), '"3;zstd"')
    const change = (tag: string) =>
      send(server.port, { method: 'PUT', path: '/row', headers: { 'if-match': tag }, body: {} })
    assert.equal((await change('"3;zstd"')).status, 200, 'a row that was read compressed can be changed')
    assert.equal((await change('"3"')).status, 200)
    const plain3 = await send(server.port, {
      method: 'PUT',
      path: '/plain',
      headers: { 'if-match': '"3;br"' },
      body: {},
    })
    assert.equal(plain3.status, 200, 'also by a method that does not compress')
    const stale = await send(server.port, {
      method: 'PUT',
      path: '/row',
      headers: { 'if-match': '"2;zstd"' },
      body: {},
      undescribed: 'an action throws it',
    })
    assert.equal(stale.status, 412)
    const same = await get('/row', 'zstd', { 'if-none-match': '"3;zstd"' })
    assert.deepEqual([same.status, same.headers.get('etag')], [304, '"3;zstd"'], 'also if the action decides')
  })

  test('each part of a stream arrives when it is written, and a client that leaves ends it', async () => {
    for (const coding of Object.keys(decoders)) {
      const controller = new AbortController()
      const response = await fetch(`${server.url}/kind/slow`, {
        headers: { 'accept-encoding': coding },
        signal: controller.signal,
      })
      assert.equal(response.headers.get('content-encoding'), coding)
      const reader = response.body!.getReader()
      const read = async () => new TextDecoder().decode((await reader.read()).value)
      assert.equal(await read(), '{"id":1}\n')
      delete state().ended
      controller.abort()
      await until(`the stream waits`, () => state().next !== undefined)
      state().next!()
      await until(`the stream has ended`, () => state().ended === true)
    }
  })

  test('a stream that fails before its first byte is a problem without the headers of its body', async () => {
    const response = await get('/kind/failing', 'br')
    assert.equal(response.status, 500)
    assert.match(await response.text(), /request/)
    assert.deepEqual([response.headers.get('content-encoding'), response.headers.get('etag')], [null, null])
  })

  test('a stream that breaks cuts the response off', async () => {
    delete state().next
    const response = await get('/kind/broken', 'br')
    assert.equal(response.status, 200)
    await until('the stream waits', () => state().next !== undefined)
    state().next!()
    await assert.rejects(response.text())
  })
})
