import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openProjectServer, type ProjectServer } from '../../../test/support/project-server.ts'
import { send } from '../../../test/support/send.ts'

const project = `
event:
  paid: { schema: PaidOrder }
  pinged:
schema:
  PaidOrder: { type: object, required: [id], properties: { id: { type: integer }, total: { type: integer, default: 5 } }, additionalProperties: false }
rate:
  any: { limit: 1000, window: 1s, by: address }
routes:
  /version: { methods: { GET: { public: true, action: { class: respond, config: { body: { version: 1, tags: [a] } } } } } }
  /robots.txt: { methods: { GET: { public: true, action: { class: respond, config: { text: "User-agent: *\\n" } } } } }
  /page: { methods: { GET: { public: true, action: { class: respond, config: { text: <b>, type: text/html, headers: { X-Own: 'yes' } } } } } }
  /old: { methods: { GET: { public: true, action: { class: respond, config: { status: 308, headers: { location: /version } } } } } }
  /gone: { methods: { GET: { public: true, action: { class: respond, config: { status: 410, body: { detail: Gone } } } } } }
  /nothing: { methods: { GET: { public: true, action: { class: respond } } } }
  /paid: { methods: { POST: { public: true, rate: any, action: { class: dispatch, config: { event: paid } } } } }
  /pinged: { methods: { POST: { public: true, rate: any, action: { class: dispatch, config: { event: pinged } } } } }
`

describe('the action classes respond and dispatch', () => {
  let server: ProjectServer
  before(async () => {
    server = await openProjectServer({ files: { 'waypost.yml': project }, isDevelopment: true })
  })
  after(() => server[Symbol.asyncDispose]())
  const get = (path: string) => send(server.port, { path })
  const messages = async () => {
    const rows = await server.host.system.guardDb
      .selectFrom('waypost_message')
      .select(['event', 'data'])
      .orderBy('id')
      .execute()
    return rows.map(({ event, data }) => [event, JSON.parse(data)])
  }

  test('respond answers with its JSON or text', async () => {
    const json = await get('/version')
    assert.deepEqual(
      [json.status, json.body, json.headers['content-type']],
      [200, { version: 1, tags: ['a'] }, 'application/json; charset=utf-8'],
    )
    const text = await get('/robots.txt')
    assert.deepEqual(
      [text.status, text.text, text.headers['content-type']],
      [200, 'User-agent: *\n', 'text/plain; charset=utf-8'],
    )
    const page = await get('/page')
    assert.deepEqual([page.text, page.headers['content-type'], page.headers['x-own']], ['<b>', 'text/html', 'yes'])
    assert.equal(page.headers['content-security-policy'], 'sandbox')
    const old = await get('/old')
    assert.deepEqual([old.status, old.headers.location, old.text], [308, '/version', ''])
    const gone = await get('/gone')
    assert.deepEqual([gone.status, gone.body], [410, { detail: 'Gone' }])
    const nothing = await get('/nothing')
    assert.deepEqual([nothing.status, nothing.text], [204, ''])
  })

  test('dispatch validates the body by the schema of the event, stores it and answers 202', async () => {
    const { status, body } = await send(server.port, { path: '/paid', body: { id: 7 } })
    assert.deepEqual([status, body], [202, { event: 'paid' }])
    for (const wrong of [{}, { id: 'x' }, { id: 1, more: 1 }, []])
      assert.equal((await send(server.port, { path: '/paid', body: wrong })).status, 400)
    assert.equal((await send(server.port, { path: '/pinged', body: { any: [1] } })).status, 202)
    assert.deepEqual(await messages(), [
      ['paid', { id: 7, total: 5 }],
      ['pinged', { any: [1] }],
    ])
  })

  test('/openapi.json describes both like coded actions', async () => {
    const { body } = await get('/openapi.json')
    const paid = body.paths['/paid'].post
    assert.match(JSON.stringify(paid.requestBody), /PaidOrder/)
    assert.ok(paid.responses['202'].content['application/json'].schema)
    const version = body.paths['/version'].get.responses['200']
    assert.match(JSON.stringify(version), /version/)
    assert.ok(body.paths['/nothing'].get.responses['204'])
  })
})
