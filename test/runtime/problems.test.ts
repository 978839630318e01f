import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { actionFile, openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { send, type Answer, type Sent } from '../support/send.ts'

const thrown = {
  error: `throw new Error('secret words')`,
  text: `throw 'secret words'`,
  nothing: 'throw undefined',
  null: 'throw null',
  object: `throw { statusCode: 404, message: 'secret words' }`,
  syntax: `JSON.parse('secret words')`,
  http: `throw Object.assign(new Error('secret words of https://internal/?key=1'), { statusCode: 401, code: 'ERR_HTTP' })`,
  validation: `throw Object.assign(new Error('secret words'), { validation: [{ instancePath: '/a', keyword: 'type', message: 'secret words', params: {} }] })`,
  fastify: `throw Object.assign(new Error('secret words'), { statusCode: 413, code: 'FST_ERR_CTP_BODY_TOO_LARGE' })`,
  aggregate: `throw new AggregateError([new Error('secret words')], 'secret words')`,
  cause: `const error: any = new Error('secret words'); error.cause = error; throw error`,
  headers: `throw Object.assign(new Error('secret words'), { headers: { 'x-secret': 'secret words' }, status: 418 })`,
  disguised: `const error = new Error('secret words'); error.name = 'FastifyError'; throw error`,
  connection: `context.connection('Secret words')`,
  event: `await context.dispatch('secret_words', {})`,
  data: `const loop: any = {}; loop.self = loop; await context.dispatch('known', loop)`,
  ...Object.fromEntries(
    ['40001', '40P01', '55P03'].map((code) => [
      `sqlstate${code}`,
      `throw Object.assign(new Error('geheim'), { code: '${code}' })`,
    ]),
  ),
  problem500: `throw context.problem(500, 'secret words')`,
  problem200: `throw context.problem(200, 'secret words')`,
  problemNaN: `throw context.problem(NaN, 'secret words')`,
} as const

const yml = `
routes:
  /thing:
    methods:
      GET: { public: true, action: src/ok.ts }
      PUT: { public: true, action: src/ok.ts }
  /thing/:id:
    path: { id: { type: string } }
    methods:
      GET: { public: true, action: src/params.ts }
      DELETE: { public: true, action: src/ok.ts }
  /thing/new:
    methods:
      POST: { public: true, action: src/ok.ts }
  /problem/:status:
    path: { status: { type: integer } }
    methods:
      GET: { public: true, responses: { 200: { type: object }, 404: { type: object } }, action: src/problem.ts }
  /throw/:what:
    path: { what: { type: string } }
    methods:
      GET: { public: true, action: src/throw.ts }
event: { known: { description: Known } }
`

const files = {
  'waypost.yml': yml,
  'src/ok.ts': actionFile('return { ok: true }'),
  'src/params.ts': actionFile('return request.params'),
  'src/problem.ts': actionFile(`throw context.problem(request.params.status, 'Because of "this"')`),
  'src/throw.ts': actionFile(
    `const thrown: Record<string, () => unknown> = {${Object.entries(thrown)
      .map(([name, code]) => `${name}: async () => { ${code} }`)
      .join(', ')}}
     await thrown[request.params.what]!()`,
  ),
}

interface Case {
  readonly sent: Sent
  readonly status: number
  readonly code?: string
  readonly allow?: string
  readonly body?: unknown
}

const long = 'x'.repeat(1024)

const cases: readonly Case[] = [
  { sent: { path: '/nowhere' }, status: 404, code: 'WP_RUNTIME_NOT_FOUND' },
  { sent: { path: '/' }, status: 404, code: 'WP_RUNTIME_NOT_FOUND' },
  { sent: { path: '/Thing' }, status: 404, code: 'WP_RUNTIME_NOT_FOUND' },
  { sent: { path: '/thing/' }, status: 404, code: 'WP_RUNTIME_NOT_FOUND' },
  { sent: { path: '//thing' }, status: 404, code: 'WP_RUNTIME_NOT_FOUND' },
  { sent: { path: '/thing/a/b' }, status: 404, code: 'WP_RUNTIME_NOT_FOUND' },
  { sent: { path: '/thing/../thing' }, status: 404, code: 'WP_RUNTIME_NOT_FOUND' },
  { sent: { method: 'POST', path: '/nowhere', body: { a: 1 } }, status: 404, code: 'WP_RUNTIME_NOT_FOUND' },
  { sent: { path: '/thing?a=1&b' }, status: 200, body: { ok: true } },
  { sent: { path: '/%74hing' }, status: 200, body: { ok: true } },
  { sent: { path: '/thing/a%2Fb' }, status: 200, body: { id: 'a/b' } },
  { sent: { path: '/thing/%C3%A9%20%25' }, status: 200, body: { id: 'é %' } },
  { sent: { path: '/thing/%2e%2e' }, status: 200, body: { id: '..' } },
  { sent: { path: '/thing/%00' }, status: 400 },
  { sent: { path: `/thing/${long}` }, status: 200, body: { id: long } },
  { sent: { path: `/thing/${long}y` }, status: 414 },
  { sent: { path: '/thing/%zz' }, status: 400 },
  { sent: { path: '/thing/%c3' }, status: 400 },
  { sent: { path: '/thing/%' }, status: 400 },
  { sent: { method: 'DELETE', path: '/thing' }, status: 405, code: 'WP_RUNTIME_METHOD', allow: 'GET, PUT, HEAD' },
  { sent: { method: 'POST', path: '/thing', body: { a: 1 } }, status: 405, allow: 'GET, PUT, HEAD' },
  { sent: { method: 'PATCH', path: '/thing/7' }, status: 405, allow: 'GET, DELETE, HEAD' },
  { sent: { path: '/thing/new' }, status: 405, allow: 'POST' },
  { sent: { method: 'DELETE', path: '/thing/new' }, status: 405, allow: 'POST' },
  { sent: { method: 'PROPFIND', path: '/thing' }, status: 405, allow: 'GET, HEAD, PUT' },
  { sent: { method: 'TRACE', path: '/thing' }, status: 405, allow: 'GET, HEAD, PUT' },
  { sent: { method: 'QUERY', path: '/thing' }, status: 405, code: 'WP_RUNTIME_METHOD', allow: 'GET, HEAD, PUT' },
  { sent: { method: 'QUERY', path: '/nowhere' }, status: 404, code: 'WP_RUNTIME_NOT_FOUND' },
  { sent: { path: '/problem/404' }, status: 404 },
  { sent: { path: '/problem/409' }, status: 409 },
  { sent: { path: '/problem/502' }, status: 502 },
]

describe('a problem', () => {
  let server: ProjectServer
  before(async () => {
    server = await openProjectServer({ files })
  })
  after(() => server[Symbol.asyncDispose]())

  for (const { sent, status, code, allow, body } of cases) {
    test(`${sent.method ?? 'GET'} ${sent.path.slice(0, 40)} is ${status}`, async () => {
      const answer = await send(server.port, sent)
      assert.equal(answer.status, status, answer.text)
      if (body !== undefined) assert.deepEqual(answer.body, body)
      if (status < 400) return
      assertProblem(answer)
      if (code !== undefined) assert.equal(answer.body.type, `urn:waypost:errors#${code}`)
      if (allow !== undefined) {
        assert.deepEqual(answer.headers.allow?.split(', ').toSorted(), allow.split(', ').toSorted())
      }
    })
  }

  test('that an action creates contains its values', async () => {
    const { body } = await send(server.port, { path: '/problem/409' })
    assert.deepEqual(body, { type: 'about:blank', title: 'Conflict', status: 409, detail: 'Because of "this"' })
    const unavailable = await send(server.port, { path: '/problem/503' })
    assert.deepEqual([unavailable.status, unavailable.body.detail], [503, 'Because of "this"'])
  })

  for (const what of Object.keys(thrown).filter((name) => name.startsWith('sqlstate'))) {
    test(`that PostgreSQL reports because of others can be sent again: ${what}`, async () => {
      const answer = await send(server.port, { path: `/throw/${what}` })
      assertProblem(answer)
      assert.deepEqual([answer.status, answer.headers['retry-after']], [503, '1'])
      assert.doesNotMatch(answer.text, /geheim/)
      assert.ok(server.logs.some((one) => one['level'] === 40 && /geheim/.test(JSON.stringify(one['err']))))
    })
  }

  for (const what of Object.keys(thrown).filter((name) => !name.startsWith('sqlstate'))) {
    test(`that an action throws by accident stays in the log: ${what}`, async () => {
      const answer = await send(server.port, { path: `/throw/${what}` })
      assert.equal(answer.status, 500)
      assertProblem(answer)
      assert.doesNotMatch(JSON.stringify([answer.text, answer.headers]), /secret|https/i)
      assert.deepEqual(Object.keys(answer.body).sort(), ['detail', 'status', 'title', 'type'])
      const id = /request (\w+)\.$/.exec(answer.body.detail)?.[1]
      const line = server.logs.find((one) => one['reqId'] === id && one['level'] === 50)
      assert.ok(line, 'it is logged under its id')
      if (what !== 'nothing' && what !== 'null' && what !== 'data')
        assert.match(JSON.stringify(line['err']), /secret.words/i)
    })
  }

  test('that is logged names the lines of the project', async () => {
    await send(server.port, { path: '/throw/error' })
    const line = server.logs.findLast((one) => one['level'] === 50)
    assert.match(String((line?.['err'] as { stack?: string } | undefined)?.stack), / \(?src\/throw\.ts:4:\d+/)
  })
})

function assertProblem({ status, headers, body }: Answer): void {
  assert.equal(headers['content-type'], 'application/problem+json')
  assert.equal(headers['cache-control'], 'no-store')
  assert.equal(headers['x-content-type-options'], 'nosniff')
  assert.deepEqual(Object.keys(body).slice(0, 4), ['type', 'title', 'status', 'detail'])
  assert.equal(body.status, status)
}
