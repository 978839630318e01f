import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { after, before, describe, test } from 'node:test'
import { openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { send, type Answer } from '../support/send.ts'
import { until } from '../support/until.ts'

// Fastify's own package for errors, as @fastify/multipart and others use it
const fromFastify = createRequire(createRequire(import.meta.url).resolve('fastify'))
const errorPackage = readFileSync(fromFastify.resolve('@fastify/error'), 'utf8')

const plugin = `import { definePlugin } from 'waypost'
import createError from '@fastify/error'

const open = { public: true }
const TooLarge = createError('FST_REQ_FILE_TOO_LARGE', 'request file too large', 413)
const Busy = createError('FST_BUSY', 'the spool at /var/spool is busy', 503)
const withMembers = (members, message = 'no such book') => Object.assign(new Error(message), members)

export default definePlugin({
  name: 'shelf',
  async routes(app, host) {
    const thrown = {
      missing: () => withMembers({ statusCode: 404 }),
      conflict: () => withMembers({ status: 409 }),
      large: () => new TooLarge(),
      invalid: () => withMembers({ statusCode: 422 }),
      limited: () => withMembers({ statusCode: 429, headers: { 'retry-after': '7' } }),
      busy: () => new Busy(),
      closed: () => withMembers({ statusCode: 503, expose: true }, 'Closed until Monday'),
      hidden: () => withMembers({ statusCode: 403, expose: false }, 'the rule of /etc/secret'),
      failed: () => withMembers({ statusCode: 500, expose: true }, 'password of the database'),
      bug: () => new Error('password of the database'),
      odd: () => withMembers({ statusCode: 200 }, 'password of the database'),
      parsed: () => new SyntaxError('password of the database'),
      plain: () => ({ statusCode: 418, message: 'a teapot' }),
      nothing: () => undefined,
      null: () => null,
      text: () => 'password of the database',
      down: () => { host.connection('Nowhere') },
    }
    for (const [name, make] of Object.entries(thrown)) {
      app.get('/throw/' + name, { config: open }, async () => { throw make() })
      app.get('/send/' + name, { config: open }, (request, reply) => reply.send(make()))
    }
    app.get('/coded', { config: open }, (request, reply) => reply.code(410).send(new Error('it is gone')))
    app.get('/hooked', { config: open, preHandler: async () => { throw withMembers({ statusCode: 402 }, 'pay first') } }, async () => 1)
    app.get('/a/:id', {
      config: open,
      schema: {
        params: { type: 'object', properties: { id: { type: 'integer' } } },
        querystring: { type: 'object', properties: { loud: { type: 'boolean', default: false }, tag: { type: 'array', items: { type: 'number' } } } },
        headers: { type: 'object', properties: { 'x-depth': { type: 'integer' } } },
      },
    }, async ({ params, query, headers }) => ({ ...params, ...query, depth: headers['x-depth'] ?? null }))
    app.addSchema({ $id: 'named', type: 'object', required: ['pages'], additionalProperties: false,
      properties: { pages: { type: 'integer' }, title: { type: 'string', default: 'untitled' } } })
    app.post('/book', { config: open, schema: { body: { $ref: 'named#' } } }, async ({ body }) => body)
    const properties = { year: { type: 'integer' }, constructor: { type: 'string' }, valueOf: { type: 'string' } }
    app.addSchema({ $id: 'names', type: 'object', properties })
    app.post('/names', { config: open, schema: { body: { $ref: 'names#' }, querystring: { type: 'object', properties }, response: { 200: { $ref: 'names#' } } } },
      async ({ body, query }) => ({ ...body, ...query, at: new Date(0) }))
    app.get('/required', { config: open, schema: { querystring: { type: 'object', required: ['toString'] } } }, async () => 1)
    app.get('/lenient/:id', { config: open, attachValidation: true, schema: { params: { type: 'object', properties: { id: { type: 'integer' } } } } },
      async ({ validationError }) => ({ invalid: validationError?.validation?.[0]?.keyword ?? null }))
    app.post('/small', { config: open, bodyLimit: 20 }, async ({ body }) => body)
    app.post('/text', { config: open }, async ({ body }) => ({ text: body }))
    await app.register(async (own) => {
      own.addContentTypeParser('text/csv', { parseAs: 'string', bodyLimit: 30 }, (request, body, done) => done(null, body.split(',')))
      own.post('/csv', { config: open }, async ({ body }) => body)
      own.post('/upload', { config: open, schema: { consumes: ['multipart/form-data'], produces: ['text/csv'], body: { type: 'object' }, response: { 200: { type: 'string' } } } }, async () => '')
      own.post('/either', { config: open, schema: { body: { content: {
        'application/json': { schema: { type: 'object', properties: { n: { type: 'integer' } } } }, 'text/csv': { schema: { type: 'array' } } } } } },
        async ({ body }) => body)
    })
    await app.register(async (own) => {
      own.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => done(null, body))
      own.post('/signed', { config: open }, async ({ body }) => ({ bytes: body.length, is: Buffer.isBuffer(body) }))
    })
    await app.register(async (own) => {
      own.setErrorHandler((error, request, reply) => {
        if (error.message === 'again') throw withMembers({ statusCode: 409 }, 'thrown by the handler')
        return reply.code(error.statusCode ?? 500).send({ own: error.code ?? error.message })
      })
      own.get('/own/:what', { config: open }, async ({ params }) => { throw withMembers({ statusCode: 418 }, params.what) })
      own.get('/own-private', { config: { scopes: ['shelf'] } }, async () => 1)
    })
    app.get('/call', { config: open }, async () => host.call('GET /near', {}, undefined))
    app.get('/call-missing', { config: open }, async () => host.call('GET /nowhere', {}, undefined))
  },
})
`

type Content = Record<string, { schema: { type: string } }>

interface Operation {
  readonly requestBody: { readonly content: Content }
  readonly responses: Record<string, { readonly content: Content }>
}

const files = {
  'package.json': '{ "type": "module" }',
  'node_modules/@fastify/error/package.json': '{ "name": "@fastify/error", "main": "index.js" }',
  'node_modules/@fastify/error/index.js': errorPackage,
  'plugins/shelf.ts': plugin,
  'src/near.ts': `export default class { handle({ params }) { return { near: params.id ?? true } } }\n`,
  'waypost.yml': `plugins: [./plugins/shelf.ts]
routes:
  /near: { methods: { GET: { public: true, action: src/near.ts } } }
  /strict/:id:
    path: { type: object, properties: { id: { type: integer } } }
    methods:
      POST: { public: true, action: src/near.ts, request: { type: object, properties: { n: { type: integer, default: 1 } } } }
`,
}

describe('routes of plugins', () => {
  let server: ProjectServer
  const reports: { path: string; aborted?: unknown; status: number }[] = []
  before(async () => {
    server = await openProjectServer({ files, onResponse: (answered) => void reports.push(answered) })
  })
  after(() => server[Symbol.asyncDispose]())
  const get = async (path: string, headers = {}) => send(server.port, { path, headers })
  const post = async (path: string, body: string, type = 'application/json') =>
    send(server.port, { method: 'POST', path, body, headers: { 'content-type': type } })
  const problemOf = ({ status, headers, body }: Answer) => {
    assert.equal(headers['content-type'], 'application/problem+json', JSON.stringify(body))
    const problem = body as { status: number; title: string; detail: string; errors?: unknown }
    assert.equal(problem.status, status)
    return problem
  }

  for (const way of ['throw', 'send']) {
    test(`${way} errors with Fastify's conventions for statuses`, async () => {
      const statusOf = async (name: string) => problemOf(await get(`/${way}/${name}`)).status
      const expected = {
        missing: 404,
        conflict: 409,
        large: 413,
        invalid: 422,
        limited: 429,
        busy: 503,
        closed: 503,
        hidden: 403,
        failed: 500,
        bug: 500,
        odd: 500,
        parsed: 500,
      }
      for (const [name, status] of Object.entries(expected)) assert.equal(await statusOf(name), status, name)
      const { detail, title } = problemOf(await get(`/${way}/missing`))
      assert.deepEqual([detail, title], ['no such book', 'Not Found'])
      assert.equal(problemOf(await get(`/${way}/closed`)).detail, 'Closed until Monday')
      assert.equal((await get(`/${way}/limited`)).headers['retry-after'], '7')
    })
  }

  test('never show messages of server errors, nor of errors that say so', async () => {
    for (const name of ['busy', 'hidden', 'failed', 'bug', 'odd', 'parsed', 'text', 'nothing', 'null', 'down']) {
      const answered = await get(`/throw/${name}`)
      problemOf(answered)
      assert.doesNotMatch(JSON.stringify(answered.body), /password|spool|secret|destructure/, name)
      assert.ok(answered.status >= 400, name)
    }
    const logged = server.logs.filter((line) => line['msg'] === 'request failed')
    assert.ok(logged.some((line) => /spool/.test(JSON.stringify(line))))
    assert.match(problemOf(await get('/throw/busy')).detail, /logged as request/)
    assert.equal(problemOf(await get('/throw/plain')).status, 418)
  })

  test('keep a status that was set before an error is sent, and those of hooks', async () => {
    const gone = problemOf(await get('/coded'))
    assert.deepEqual([gone.status, gone.detail], [410, 'it is gone'])
    assert.deepEqual(problemOf(await get('/hooked')).detail, 'pay first')
  })

  test('convert, fill and remove values as Fastify does; routes of the project stay strict', async () => {
    assert.deepEqual((await get('/a/7?tag=3')).body, { id: 7, loud: false, tag: [3], depth: null })
    assert.deepEqual((await get('/a/7?loud=true&tag=1&tag=2', { 'x-depth': '2' })).body, {
      id: 7,
      loud: true,
      tag: [1, 2],
      depth: 2,
    })
    const invalid = problemOf(await get('/a/seven'))
    assert.equal(invalid.status, 400)
    assert.deepEqual(invalid.errors, [{ path: 'params/id', message: 'must be integer' }])
    assert.deepEqual((await post('/book', '{ "pages": "12", "more": 1 }')).body, { pages: 12, title: 'untitled' })
    assert.deepEqual(problemOf(await post('/book', '{}')).errors, [{ path: 'body/pages', message: 'is required' }])
    assert.deepEqual((await get('/lenient/x')).body, { invalid: 'type' })
    assert.equal(problemOf(await post('/strict/1', '{ "n": "1" }')).status, 400)
    assert.deepEqual((await post('/strict/1', '{ "n": 1 }')).body, { near: 1 })
  })

  test('know own properties only, also those with names of Object.prototype', async () => {
    const { text } = await post('/names', '{ "year": "1" }')
    assert.equal(text, '{"year":1}')
    const named = await post('/names?constructor=a', '{ "valueOf": "b", "other": 1 }')
    assert.equal(named.text, '{"constructor":"a","valueOf":"b"}')
    const wrong = await post('/names?year=x', '{ "constructor": {} }')
    assert.deepEqual(problemOf(wrong).errors, [{ path: 'body/constructor', message: 'must be string' }])
    const missing = problemOf(await get('/required'))
    assert.deepEqual(missing.errors, [{ path: 'querystring/toString', message: 'is required' }])
  })

  test('have their own error handlers, which know the status of errors of Waypost', async () => {
    const own = await get('/own/pot')
    assert.deepEqual([own.status, own.body], [418, { own: 'pot' }])
    assert.equal(problemOf(await get('/own/again')).detail, 'thrown by the handler')
    const refused = await get('/own-private')
    assert.deepEqual([refused.status, refused.body], [401, { own: 'WP_AUTH_NO_TOKEN' }])
  })

  test('have limits, text bodies and parsers of their own, which messages name', async () => {
    assert.match(problemOf(await post('/small', '{ "text": "longer than twenty" }')).detail, /larger than 20 bytes/)
    assert.match(problemOf(await post('/csv', 'a,'.repeat(40), 'text/csv')).detail, /larger than 30 bytes/)
    assert.deepEqual((await post('/csv', 'a,b', 'text/csv')).body, ['a', 'b'])
    assert.deepEqual((await post('/text', 'plain', 'text/plain')).body, { text: 'plain' })
    assert.deepEqual((await post('/signed', '{"a":1}')).body, { bytes: 7, is: true })
    const wrong = problemOf(await post('/csv', 'a', 'image/png'))
    assert.equal(wrong.status, 415)
    assert.match(wrong.detail, /application\/json, text\/csv or text\/plain/)
    assert.doesNotMatch(problemOf(await post('/text', 'a', 'text/csv')).detail, /csv/)
  })

  test('are described with the media types that they accept', async () => {
    const { paths } = (await get('/openapi.json')).body as Record<string, Record<string, { post: Operation }>>
    const typesOf = (path: string) => Object.keys(paths![path]!.post.requestBody.content)
    assert.deepEqual(typesOf('/text'), ['application/json', 'text/plain'])
    assert.deepEqual(typesOf('/csv'), ['application/json', 'text/csv', 'text/plain'])
    assert.deepEqual(typesOf('/upload'), ['multipart/form-data'])
    assert.deepEqual(Object.keys(paths!['/upload']!.post.responses['200']!.content), ['text/csv'])
    assert.deepEqual(
      Object.values(paths!['/either']!.post.requestBody.content).map(({ schema }) => schema.type),
      ['object', 'array'],
    )
    assert.deepEqual((await post('/either', '{"n":"3"}')).body, { n: 3 })
    assert.equal((await post('/either', 'a', 'text/csv')).status, 200)
  })

  test('a call of an operation is reported once, as answered', async () => {
    reports.length = 0
    assert.equal(((await get('/call')).body as { status: number }).status, 200)
    assert.equal(((await get('/call-missing')).body as { status: number }).status, 404)
    await until('four requests are reported', () => reports.length >= 4)
    assert.deepEqual(
      reports.map(({ path, status, aborted }) => [path, status, aborted]),
      [
        ['/near', 200, undefined],
        ['/call', 200, undefined],
        ['/nowhere', 404, undefined],
        ['/call-missing', 200, undefined],
      ],
    )
  })
})
