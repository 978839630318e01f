import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'
import { until } from '../support/until.ts'

const yml = `
routes:
  /v1:
    scopes: [shop]
    steps: [{ count: src/count.ts }, { tenant: src/tenant.ts }]
    routes:
      /order:
        methods:
          GET: { public: true, parameters: { tenant: { type: string, maxLength: 8 } }, action: src/show.ts }
          POST: { dispatch: ordered, responses: { 201: { additionalProperties: true } }, action: src/show.ts }
      /open:
        without: [tenant]
        methods: { GET: { public: true, action: src/show.ts } }
      /late:
        timeout: 200ms
        steps: [{ hang: src/hang.ts }]
        methods: { GET: { public: true, without: [tenant], action: src/show.ts } }
      /never:
        timeout: 200ms
        steps: [{ never: src/never.ts }]
        methods: { GET: { public: true, without: [tenant], action: src/show.ts } }
      /table:
        methods: { GET: { public: true, steps: [{ cached: src/cached.ts }], action: src/show.ts } }
  /seen:
    steps: [{ note: src/note.ts }]
    methods:
      POST:
        public: true
        request: { type: object, required: [name], properties: { name: { type: string, maxLength: 20 } } }
        responses: { 201: { type: object, properties: { name: { type: string } } } }
        dispatch: seen
        action: { class: sql-query, config: { query: INSERT INTO app_seen (name) VALUES (:name) RETURNING name } }
  /plain: { methods: { GET: { public: true, action: src/show.ts } } }
event:
  ordered: { schema: { type: object } }
  seen: { schema: { type: object, properties: { name: { type: string } } } }
`

const step = (body: string, more = '') => `
const seen = ((globalThis as any).waypostSteps ??= [])
export default class Step {
  async handle(request: any, context: any): Promise<any> {
    ${body}
  }
  ${more}
}
`

const files = {
  'waypost.yml': yml,
  'src/show.ts': step(`seen.push('action')\nreturn { state: { ...context.state } }`),
  'src/count.ts': step(
    `seen.push('count')\nreturn seen.length`,
    `async after(request: any, context: any, { status, ms }: any) { seen.push('counted ' + status + ' ' + (ms >= 0)) }`,
  ),
  'src/tenant.ts': step(
    `const { tenant = 'a' } = request.query
     seen.push('tenant')
     if (tenant === 'none') throw context.problem(404, 'No such tenant')
     if (tenant === 'gone') return context.respond(410, { why: 'moved' })
     if (tenant === 'broken') throw new Error('a secret')
     if (tenant === 'nothing') throw undefined
     if (tenant === 'other') return context.respond(200, { state: 'cached' })
     return { id: tenant, caller: context.principal?.user.name ?? null }`,
    `after() { seen.push('tenant after'); throw new Error('after failed') }`,
  ),
  'src/hang.ts': step(
    `seen.push('hang')\nawait new Promise((resolve) => context.signal.addEventListener('abort', resolve))`,
  ),
  'src/never.ts': step(
    `seen.push('never')\nreturn new Promise((end) => ((globalThis as any).endSteps = end))`,
    `after(_: any, __: any, { status }: any) { seen.push('never ' + status) }`,
  ),
  'src/note.ts': step(
    `const system = context.connection('System')
     await system.insertInto('app_seen').values({ name: 'step ' + seen.length }).execute()
     seen.push((await system.selectFrom('app_seen').select('name').orderBy('name').execute()).map(({ name }) => name).join())`,
  ),
  'migrations/System/20260101-seen.yml': `create_table:
  app_seen:
    columns: { id: id, name: text(20) }
    unique: [[name]]
`,
  'src/cached.ts': step(`return context.state.tenant.id === 'a' ? 'cached' : undefined`),
}

describe('the steps of methods', () => {
  let server: ProjectServer
  const seen: string[] = ((globalThis as { waypostSteps?: string[] }).waypostSteps ??= [])
  before(async () => {
    server = await openProjectServer({ files })
  })
  after(() => server[Symbol.asyncDispose]())
  const get = async (path: string, method = 'GET', headers = {}) => {
    seen.length = 0
    const { status, body } = await send(server.port, { method, path, headers, undescribed: 'steps respond too' })
    return { status, body }
  }

  test('run in order before the action, those of groups first, and their results are its state', async () => {
    const { status, body } = await get('/v1/order?tenant=b')
    assert.equal(status, 200)
    assert.deepEqual(body.state, { count: 1, tenant: { id: 'b', caller: null } })
    assert.deepEqual(seen.slice(0, 3), ['count', 'tenant', 'action'])
    const { body: table } = await get('/v1/table')
    assert.deepEqual(Object.keys(table.state), ['count', 'tenant', 'cached'])
    assert.equal(table.state.cached, 'cached')
    assert.deepEqual((await get('/plain')).body, { state: {} })
  })

  test('run after the token, its scopes and the request were checked', async () => {
    assert.equal((await get('/v1/order', 'POST')).status, 401)
    assert.equal((await get('/v1/order', 'POST', await server.authorize('other', ['else']))).status, 403)
    assert.equal((await get('/v1/order?tenant=123456789')).status, 400)
    assert.deepEqual(seen, [])
    const { body } = await get('/v1/order', 'POST', await server.authorize('shopper', ['shop']))
    assert.equal(body.state.tenant.caller, 'shopper')
  })

  test('end a request with a problem, a response or a failure, without the action', async () => {
    assert.equal((await get('/v1/order?tenant=none')).body.detail, 'No such tenant')
    assert.deepEqual(await get('/v1/order?tenant=gone'), { status: 410, body: { why: 'moved' } })
    const { status, body } = await get('/v1/order?tenant=broken')
    assert.equal(status, 500)
    assert.doesNotMatch(JSON.stringify(body), /secret/)
    assert.ok(!seen.includes('action'))
    assert.equal((await get('/v1/order?tenant=nothing')).status, 500)
    assert.deepEqual((await get('/v1/order?tenant=other')).body, { state: 'cached' })
    assert.ok(!seen.includes('action'))
  })

  test('are removed by name', async () => {
    assert.deepEqual(Object.keys((await get('/v1/open')).body.state), ['count'])
  })

  test('know how the request ended, the last one first; what fails then is logged', async () => {
    await get('/v1/order?tenant=none')
    await until('the work of steps after the response', () => seen.includes('counted 404 true'))
    assert.deepEqual(seen, ['count', 'tenant', 'tenant after', 'counted 404 true'])
    await until('the work of steps after the response', () =>
      server.logs.some(({ msg }) => msg === 'a step failed after the response'),
    )
    await get('/v1/order')
    await until('the work of steps after the response', () => seen.includes('counted 200 true'))
  })

  test('share the time limit of the method; nothing follows a step that is late', async () => {
    const { status } = await get('/v1/late')
    assert.equal(status, 503)
    await until('the work of steps after the response', () => seen.includes('counted 503 true'))
    assert.deepEqual(seen.slice(0, 2), ['count', 'hang'])
    assert.ok(!seen.includes('action'))
  })

  test('that never end are not waited for, neither by callers nor by what follows the response', async () => {
    assert.equal((await get('/v1/never')).status, 503)
    await until('the work of steps after the response', () => seen.includes('counted 503 true'))
    assert.deepEqual(seen, ['count', 'never', 'never 503', 'counted 503 true'])
    assert.equal((await get('/v1/order')).status, 200)
    ;(globalThis as { endSteps?: () => void }).endSteps!() // the server waits for it when it stops
  })

  test('run before the transaction of the action begins: what they wrote stays if it is rolled back', async () => {
    const post = (name: string) => {
      return send(server.port, { method: 'POST', path: '/seen', body: { name }, undescribed: 'the table has a rule' })
    }
    seen.length = 0
    assert.equal((await post('a')).status, 201)
    assert.equal((await post('a')).status, 409)
    await post('b')
    assert.equal(seen.at(-1), 'a,step 0,step 1,step 2')
  })
})
