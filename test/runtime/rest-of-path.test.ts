import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { actionFile, openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'

const yml = `
routes:
  /v1:
    scopes: [shop]
    routes:
      /files/:id: { methods: { GET: { public: true, action: src/id.ts } } }
      /files/new: { methods: { GET: { public: true, action: src/new.ts } } }
      /files/*path:
        methods:
          GET: { public: true, action: src/rest.ts }
          PUT: { action: src/rest.ts }
  /of/:owner/*rest:
    path: { owner: { type: integer }, rest: { type: string, maxLength: 20 } }
    methods: { GET: { public: true, action: src/both.ts } }
`

const files = {
  'waypost.yml': yml,
  'src/id.ts': actionFile('return { id: request.params.id }'),
  'src/new.ts': actionFile("return 'new'"),
  'src/rest.ts': actionFile('return request.params'),
  'src/both.ts': actionFile('return request.params'),
}

describe('the rest of a path', () => {
  let server: ProjectServer
  before(async () => {
    server = await openProjectServer({ files })
  })
  after(() => server[Symbol.asyncDispose]())
  const get = async (path: string, method = 'GET', headers = {}) => {
    const { status, body } = await send(server.port, { method, path, headers })
    return [status, status === 200 ? body : undefined]
  }

  test('is a parameter with several segments, decoded once', async () => {
    assert.deepEqual(await get('/v1/files/a/b.txt'), [200, { path: 'a/b.txt' }])
    assert.deepEqual(await get('/v1/files/a%2Fb/%C3%A4%2520?x=1'), [200, { path: 'a/b/ä%20' }])
    assert.deepEqual(await get('/of/7/a/b'), [200, { owner: 7, rest: 'a/b' }])
    assert.deepEqual(await get('/of/x/a'), [400, undefined])
    assert.deepEqual(await get(`/of/7/${'a'.repeat(21)}`), [400, undefined])
  })

  test('comes after paths with a name or a parameter there, which keep their missing methods', async () => {
    assert.deepEqual(await get('/v1/files/new'), [200, 'new'])
    assert.deepEqual(await get('/v1/files/7'), [200, { id: '7' }])
    assert.deepEqual(await get('/v1/files/new/1'), [200, { path: 'new/1' }])
    assert.deepEqual(await get('/v1/files/7', 'PUT'), [405, undefined])
    assert.deepEqual(await get('/v1/files/new', 'PUT'), [405, undefined])
    assert.deepEqual(await get('/v1/files/a/b', 'PUT'), [401, undefined])
    assert.deepEqual(await get('/v1/files/a/b', 'PUT', await server.authorize('shopper', ['shop'])), [
      200,
      { path: 'a/b' },
    ])
    assert.deepEqual(await get('/v1/files/a/b', 'DELETE'), [405, undefined])
  })

  test('cannot lead anywhere else', async () => {
    for (const path of ['a/../b', '%2e%2e/b', 'a%2F..%2F..%2Fb', 'a//b', '/etc/passwd', 'a%5C..%5Cb', 'a/', 'a/./b'])
      assert.deepEqual(await get(`/v1/files/x/${path}`), [400, undefined], path)
    assert.deepEqual(await get('/v1/files/a/%00'), [400, undefined])
    assert.deepEqual(await get('/v1/files/'), [404, undefined])
    assert.deepEqual(await get('/v1/files'), [404, undefined])
    assert.deepEqual(await get(`/v1/files/${'a/'.repeat(600)}b`), [414, undefined])
    assert.equal((await get('/v1/files/a/%E0%A4'))[0], 400)
  })
})
