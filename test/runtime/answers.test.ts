import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { actionFile, openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'

const yml = `
routes:
  /created: { methods: { POST: { public: true, responses: { 202: Item, 201: Item, 409: Conflict }, action: src/item.ts } } }
  /open: { methods: { GET: { public: true, action: src/open.ts } } }
  /respond: { methods: { GET: { public: true, responses: { 200: Item, 409: Conflict }, action: src/respond.ts } } }
  /nothing: { methods: { GET: { public: true, action: src/nothing.ts }, DELETE: { public: true, responses: { 204: }, action: src/nothing.ts } } }
  /missing: { methods: { GET: { public: true, response: Item, action: src/missing.ts } } }
  /dates: { methods: { GET: { public: true, response: Dated, action: src/dates.ts } } }
  /wrong: { methods: { GET: { public: true, response: Item, action: src/wrong.ts } } }
  /loop: { methods: { GET: { public: true, action: src/loop.ts } } }
  /raw/:kind:
    path: { kind: { type: string } }
    methods:
      GET: { public: true, action: src/raw.ts }
  /declared/:kind:
    path: { kind: { type: string } }
    methods:
      GET: { public: true, response: {}, action: src/raw.ts }
  /either: { methods: { GET: { public: true, responses: { 200: Item, 204: }, action: src/either.ts } } }
  /page/:kind:
    path: { kind: { type: string } }
    methods:
      GET: { public: true, html: trusted, action: src/raw.ts }
  /headers: { methods: { GET: { public: true, response: Item, action: src/headers.ts } } }
  /status/:status:
    path: { status: { type: number } }
    methods:
      GET: { public: true, action: src/status.ts }
schema:
  Item:
    type: object
    required: [id, tags]
    properties:
      id: { type: integer }
      tags: { type: array, items: { type: object, properties: { name: { type: string } } } }
      note: { type: [string, 'null'] }
  Conflict: { type: object, properties: { reason: { type: string } } }
  Dated: { type: object, required: [at], properties: { at: { type: string, format: date-time } } }
`

const item = `{ id: 1, tags: [{ name: 'a', secret: 'x' }], note: null, password: 'hash' }`

const files = {
  'waypost.yml': yml,
  'src/item.ts': actionFile(`return ${item}`),
  'src/open.ts': actionFile(`return { ...${item}, list: [1, 'b', null] }`),
  'src/respond.ts': actionFile(
    `if (request.query.with === 'headers') return context.respond(200, ${item}, { 'x-total': 7, etag: '"a"', 'content-security-policy': "default-src 'none'" })
     if (request.query.with === 'undeclared') return context.respond(418, { any: 1 })
     return context.respond(409, { reason: 'taken', secret: 'x' })`,
  ),
  'src/nothing.ts': actionFile('return undefined'),
  'src/either.ts': actionFile(`if (request.query.all !== undefined) return ${item}`),
  'src/missing.ts': actionFile('return { id: 1 }'),
  'src/dates.ts': actionFile('return { at: new Date(0) }'),
  'src/wrong.ts': actionFile(`return { id: 'not a number: secret', tags: [] }`),
  'src/loop.ts': actionFile('const loop: any = {}; loop.loop = loop; return loop'),
  'src/headers.ts': actionFile(`return context.respond(200, ${item}, { 'x-bad': 'a\\r\\nset-cookie: b=1' })`),
  'src/status.ts': actionFile('return context.respond(request.params.status, { status: request.params.status })'),
  'src/raw.ts': actionFile(
    `const { kind } = request.params
     if (kind === 'buffer') return Buffer.from([0, 1, 255])
     if (kind === 'bytes') return new TextEncoder().encode('bytes')
     if (kind === 'stream') return Readable.from(['a', 'b'])
     if (kind === 'web') return new Blob(['we', 'b']).stream()
     if (kind === 'blob') return new Blob(['a,b'], { type: 'text/csv' })
     if (kind === 'untyped') return context.respond(200, new Blob(['<b>']), { 'content-type': 'text/html' })
     if (kind === 'array') return new TextEncoder().encode('array').buffer
     if (kind === 'generator') return count()
     if (kind === 'fetched') return new Response('secret')
     if (kind === 'html') return context.respond(200, Buffer.from('<script>'), { 'content-type': 'text/html' })
     if (kind === 'text') return context.respond(200, 'a,b', { 'content-type': 'text/csv' })
     if (kind === 'hal') return context.respond(200, { a: 1 }, { 'content-type': 'application/hal+json' })
     if (kind === 'parameter') return context.respond(200, '<script>', { 'content-type': 'text/html; x=/json' })
     if (kind === 'list') return context.respond(200, Readable.from(['<script>']), { 'content-type': 'application/json, text/html' })
     if (kind === 'second') return context.respond(200, '<script>', { 'content-type': 'application/json;charset=utf-8,text/html' })
     if (kind === 'quoted') return context.respond(200, { a: 1 }, { 'content-type': 'text/html;a="+json"' })
     if (kind === 'object') return context.respond(200, { a: '<script>' }, { 'content-type': 'text/html' })
     if (kind === 'own') return context.respond(200, Buffer.from('x'), { 'content-type': 'image/png', 'content-security-policy': "default-src 'self'" })
     if (kind === 'late') return context.respond(200, Readable.from(broken('first')), { 'content-type': 'text/plain' })
     return context.respond(200, Readable.from(broken()), { 'content-type': 'text/plain' })`,
    `import { Readable } from 'node:stream'
     async function* count() { yield 'one '; yield new TextEncoder().encode('two') }
     async function* broken(first?: string) {
       if (first !== undefined) { yield first; await new Promise((resolve) => setTimeout(resolve, 50)) }
       throw new Error('secret in a stream')
     }`,
  ),
}

const answered = { id: 1, tags: [{ name: 'a' }], note: null }
const jsonType = 'application/json; charset=utf-8'

describe('the result of a route', () => {
  let server: ProjectServer
  before(async () => {
    server = await openProjectServer({ files })
  })
  after(() => server[Symbol.asyncDispose]())
  const get = (path: string, method = 'GET') => send(server.port, { path, method })

  test('is sent with the lowest declared 2xx, without properties that its schema does not declare', async () => {
    const { status, body, headers } = await get('/created', 'POST')
    assert.equal(status, 201)
    assert.deepEqual(body, answered)
    assert.equal(headers['content-type'], jsonType)
  })

  test('is sent unchanged if no schema is declared', async () => {
    const { status, body } = await get('/open')
    assert.equal(status, 200)
    assert.deepEqual(body.list, [1, 'b', null])
    assert.equal(body.password, 'hash')
  })

  test('uses status and headers of context.respond', async () => {
    const taken = await get('/respond')
    assert.equal(taken.status, 409)
    assert.deepEqual(taken.body, { reason: 'taken' })
    const given = await get('/respond?with=headers')
    assert.deepEqual([given.status, given.headers['x-total'], given.headers.etag], [200, '7', '"a"'])
    assert.equal(given.headers['content-security-policy'], "default-src 'none'")
    assert.deepEqual(given.body, answered)
    assert.deepEqual((await get('/respond?with=undeclared')).body, { any: 1 })
    assert.equal((await get('/respond?with=undeclared')).status, 418)
  })

  test('is 204 without a result', async () => {
    for (const method of ['GET', 'DELETE']) {
      const { status, text, headers } = await get('/nothing', method)
      assert.deepEqual([status, text, headers['content-type']], [204, '', undefined], method)
    }
  })

  test('is 204 without a result if 204 is declared beside another status', async () => {
    assert.deepEqual([(await get('/either')).status, (await get('/either?all')).status], [204, 200])
  })

  test('writes a Date as a date-time', async () => {
    assert.deepEqual((await get('/dates')).body, { at: '1970-01-01T00:00:00.000Z' })
  })

  test('to HEAD has the headers of the response to GET and no body', async () => {
    for (const path of ['/open', '/raw/buffer']) {
      const full = await get(path)
      const head = await get(path, 'HEAD')
      assert.deepEqual([head.status, head.text], [full.status, ''])
      for (const name of ['content-type', 'content-length', 'content-security-policy']) {
        assert.equal(head.headers[name], full.headers[name], name)
      }
    }
    assert.equal((await get('/raw/stream', 'HEAD')).status, 200)
    assert.equal((await get('/nothing', 'HEAD')).status, 204)
  })

  for (const [path, inLog] of [
    ['/missing', /The result of src\/missing.ts does not match the schema of response 200: .*result\/tags is required/],
    ['/wrong', /src\/wrong.ts does not match the schema of response 200/],
    ['/loop', /circular/],
    ['/headers', /Invalid character in header content \["x-bad"\]/],
    ['/status/99', /returned the invalid status "99"/],
    ['/status/100', /returned the invalid status "100"/],
    ['/status/600', /returned the invalid status "600"/],
    ['/status/200.5', /returned the invalid status "200.5"/],
    ['/raw/early', /secret in a stream/],
    ['/raw/fetched', /it is a fetch Response; return its body instead/],
  ] as const) {
    test(`is a 500 with only an id when it cannot be sent: ${path}`, async () => {
      const { status, body, headers, text } = await get(path)
      assert.equal(status, 500)
      assert.equal(headers['content-type'], 'application/problem+json')
      assert.deepEqual(Object.keys(body).sort(), ['detail', 'status', 'title', 'type'])
      const id = /request (\w+)\.$/.exec(body.detail)?.[1]
      assert.doesNotMatch(text, /secret|src\/|tags/)
      assert.equal(headers['x-bad'] ?? headers['set-cookie'], undefined)
      const line = server.logs.find((one) => one['reqId'] === id)
      assert.match(String((line?.['err'] as Error | undefined)?.message), inLog)
    })
  }

  for (const [kind, type, text] of [
    ['buffer', 'application/octet-stream', Buffer.from([0, 1, 255]).toString('utf8')],
    ['bytes', 'application/octet-stream', 'bytes'],
    ['stream', 'application/octet-stream', 'ab'],
    ['web', 'application/octet-stream', 'web'],
    ['blob', 'text/csv', 'a,b'],
    ['untyped', 'text/html', '<b>'],
    ['array', 'application/octet-stream', 'array'],
    ['generator', 'application/octet-stream', 'one two'],
    ['html', 'text/html', '<script>'],
    ['text', 'text/csv', 'a,b'],
    ['object', 'text/html', '{"a":"<script>"}'],
    ['own', 'image/png', 'x'],
    ['parameter', 'text/html; x=/json', '<script>'],
    ['list', 'application/json, text/html', '<script>'],
    ['second', 'application/json;charset=utf-8,text/html', '<script>'],
    ['quoted', 'text/html;a="+json"', '{"a":1}'],
  ] as const) {
    test(`that is not JSON is sandboxed unless its method declares html: trusted (${kind})`, async () => {
      const closed = await get(`/raw/${kind}`)
      assert.deepEqual([closed.status, closed.headers['content-type'], closed.text], [200, type, text])
      assert.equal(closed.headers['x-content-type-options'], 'nosniff')
      assert.equal(closed.headers['content-security-policy'], 'sandbox')
      assert.equal(closed.headers['x-frame-options'], 'SAMEORIGIN')
      const open = await get(`/page/${kind}`)
      assert.deepEqual([open.status, open.text], [200, text])
      assert.equal(open.headers['content-security-policy'], kind === 'own' ? "default-src 'self'" : undefined)
    })
  }

  for (const [path, accept, status] of [
    ['/open', 'application/json', 200],
    ['/open', '*/*', 200],
    ['/open', 'text/html, application/*;q=0.5', 200],
    ['/open', 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8', 200],
    ['/respond?with=headers', 'application/json;q=0, */*', 406],
    ['/respond?with=headers', 'text/html', 406],
    ['/respond?with=headers', 'Application/XML', 406],
    ['/respond?with=headers', 'application/*', 200],
    ['/open', 'text/html', 200],
    ['/open', 'application/json;q=0', 200],
    ['/open', 'nonsense', 200],
    ['/open', '', 200],
    ['/raw/hal', 'application/json', 200],
    ['/raw/text', 'text/csv', 200],
    ['/raw/text', 'application/json', 200],
    ['/raw/stream', 'image/png', 200],
    ['/declared/text', 'application/json', 406],
    ['/declared/text', 'text/*', 200],
    ['/declared/stream', 'image/png', 406],
    ['/nothing', 'text/html', 204],
    ['/respond', 'text/html', 409],
    ['/nowhere', 'text/html', 404],
  ] as const) {
    test(`to ${path} with Accept: ${accept} is ${status}`, async () => {
      const { status: found, headers, body } = await send(server.port, { path, headers: { accept } })
      assert.equal(found, status)
      if (status !== 406) return
      assert.equal(headers['content-type'], 'application/problem+json')
      assert.match(body.detail, /^The response is \w+\/[\w-]+, which the Accept header/)
    })
  }

  test('of a changing method is sent regardless of the Accept header', async () => {
    const { status } = await send(server.port, { path: '/created', method: 'POST', headers: { accept: 'text/html' } })
    assert.equal(status, 201)
  })

  test('with its own JSON type keeps it', async () => {
    const { headers, body } = await get('/raw/hal')
    assert.match(headers['content-type']!, /^application\/hal\+json/)
    assert.equal(headers['content-security-policy'], undefined)
    assert.deepEqual(body, { a: 1 })
  })

  test('is cut off when its stream fails in the middle, and the server continues', async () => {
    await assert.rejects(get('/raw/late'), { code: 'ECONNRESET' })
    assert.equal((await get('/open')).status, 200)
  })
})

describe('the result of a route in dev', () => {
  let server: ProjectServer
  before(async () => {
    server = await openProjectServer({ files, isDevelopment: true })
  })
  after(() => server[Symbol.asyncDispose]())

  test('that has too much is sent without it, and the log names each field', async () => {
    const { body } = await send(server.port, { path: '/created', method: 'POST' })
    assert.deepEqual(body, answered)
    const warning = server.logs.find((one) => one['dropped'] !== undefined)
    assert.deepEqual([warning?.['action'], warning?.['dropped']], ['src/item.ts', ['tags/0/secret', 'password']])
  })

  test('that is invalid or incomplete is a 500, and the log shows where', async () => {
    for (const [path, reason] of [
      ['/missing', 'result/tags is required'],
      ['/wrong', 'result/id must be integer'],
    ] as const) {
      assert.equal((await send(server.port, { path })).status, 500)
      const file = `src${path}.ts`
      const found = server.logs.find((one) =>
        JSON.stringify(one).includes(`${file} does not match the schema of response 200: ${reason}`),
      )
      assert.ok(found, `${file} ${reason}`)
    }
  })

  test('is validated after its conversion to JSON', async () => {
    assert.equal((await send(server.port, { path: '/dates' })).status, 200)
  })
})
