import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { addUser } from '../../src/auth/index.ts'
import { longTest } from '../support/forms.ts'
import { actionFile, openProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'
import { openServeSite } from '../server/serve/site.ts'

const route = 'routes: { /a: { methods: { GET: { public: true, action: src/a.ts } } } }\n'
const project = (config = '{}', routes = route) => ({
  'waypost.yml': `${routes}config: ${config}\n`,
  'src/a.ts': actionFile('    return {}'),
})
const page = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const json = { accept: 'application/json' }

for (const isDevelopment of [false, true]) {
  describe(`below the path of the base URL, ${isDevelopment ? 'in dev' : 'with serve'}`, () => {
    // In CI with serve, which has the same routes.
    const declare = isDevelopment ? longTest : test
    const variables = { WAYPOST_BASE_URL: 'https://api.example.com/v1' }
    const open = (config: string, more = {}) =>
      openProjectServer({ files: project(config), variables: { ...variables, ...more }, isDevelopment })

    declare('addresses of an action have the path of the base URL, unless they are complete', async () => {
      const routes =
        'routes: { /moved: { methods: { GET: { public: true, parameters: { to: { type: string } }, action: src/a.ts } } } }\n'
      const body =
        "const to = request.query.to; return context.respond(201, {}, { Location: to, 'Content-Location': to })"
      await using server = await openProjectServer({
        files: { ...project('{}', routes), 'src/a.ts': actionFile(body) },
        variables,
        isDevelopment,
      })
      for (const [to, location] of [
        ['/order/7?a=/v1', '/v1/order/7?a=/v1'],
        ['/v1/order/7', '/v1/order/7'],
        ['/v10', '/v1/v10'],
        ['https://other.example/order', 'https://other.example/order'],
        ['//other.example/order', '//other.example/order'],
        ['order/7', 'order/7'],
      ]) {
        const { headers } = await send(server.port, { path: `/moved?to=${encodeURIComponent(to!)}` })
        assert.deepEqual([headers.location, headers['content-location']], [location, location])
      }
    })

    declare('a page of Waypost with a slash at its end leads to the one without it, with its query', async () => {
      await using server = await open('{ portal: true }')
      await addUser(server.host.system, { name: 'ann', scopes: ['backend.admin'] })
      // As a browser resolves it, with a proxy that removes the path of the base URL.
      const follow = async (path: string, method = 'GET') => {
        const { status, headers } = await send(server.port, { path, method })
        assert.equal(status, 302, path)
        return new URL(headers.location!, `https://api.example.com/v1${path}`).href
      }
      for (const [path, to] of [
        ['/docs?a=b', '/portal/reference?a=b'],
        ['/docs/?a=b%20c&d', '/portal/reference?a=b%20c&d'],
        ['/openapi.json/', '/openapi.json'],
        ['/backend/?code=1', '/backend?code=1'],
        ['/backend?code=1', '/backend/ui/?code=1'],
        ['/backend/ui?code=1', '/backend/ui/?code=1'],
        ['/portal?next=x', '/portal/?next=x'],
        ['/consumer/account/', '/consumer/account'],
        ['/authorization/authorize/?client_id=x', '/authorization/authorize?client_id=x'],
        ['/health/live/', '/health/live'],
      ] as const) {
        assert.equal(await follow(path), `https://api.example.com/v1${to}`)
        assert.equal(await follow(path, 'HEAD'), `https://api.example.com/v1${to}`)
      }
      for (const path of ['/portal/', '/backend/ui/']) {
        assert.equal((await send(server.port, { path, headers: page })).status, 200, path)
      }
      await server.deploy(project('{}'))
      assert.equal(await follow('/docs/?a=b%20c&d'), 'https://api.example.com/v1/docs?a=b%20c&d')
      assert.equal((await send(server.port, { path: '/docs', headers: page })).status, 200)
    })

    declare('other paths with a slash at their end are not found', async () => {
      await using server = await open('{ docs: off }', { WAYPOST_BACKEND: 'off' })
      for (const path of ['/a/', '/docs/', '/docs//', '/backend/', '/portal/', '/consumer/', '//example.com/docs/']) {
        assert.equal((await send(server.port, { path })).status, 404, path)
      }
      assert.equal((await send(server.port, { path: '/consumer/account/', method: 'POST' })).status, 404)
    })

    test('/ leads to the portal, until there is an API to the backend, and only callers that accept HTML', async () => {
      await using server = await open('{}')
      const where = async (headers = {}) => {
        const answer = await send(server.port, { path: '/?a=b', headers })
        return [answer.status, answer.headers.location]
      }
      assert.deepEqual(await where(page), isDevelopment ? [302, '/v1/docs?a=b'] : [404, undefined])
      await server.deploy(project('{ portal: true }'))
      assert.deepEqual(await where(page), [302, '/v1/portal/?a=b'])
      assert.deepEqual(await where({ accept: '*/*' }), [302, '/v1/portal/?a=b'])
      await server.deploy(project('{}', ''))
      assert.deepEqual(await where(page), [302, '/v1/backend?a=b'])
      assert.deepEqual(await where(json), [404, undefined])
      assert.deepEqual(await where({ accept: 'application/json, text/plain' }), [404, undefined])
      await server.deploy(project('{}', route.replace('/a:', '/:')))
      assert.deepEqual(await where(page), [200, undefined])
    })
  })
}

test('a server without a release leads to its backend, also on another host, or says that it has no API', async () => {
  await using site = await openServeSite()
  const ask = async (more: Readonly<Record<string, string>>, headers = {}) => {
    const { port } = await site.start({}, more)
    return send(port, { path: '/', headers })
  }
  assert.equal((await ask({}, page)).headers.location, '/backend')
  const elsewhere = { WAYPOST_BACKEND_URL: 'https://admin.example.com' }
  assert.equal((await ask(elsewhere, page)).headers.location, 'https://admin.example.com/backend')
  for (const answer of [await ask({ WAYPOST_BACKEND: 'off' }, page), await ask({}, json)]) {
    assert.equal(answer.status, 404)
    assert.match(answer.body.type, /#WP_RUNTIME_EMPTY$/)
    assert.match(answer.body.detail, /no API yet/)
  }
})
