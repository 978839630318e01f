import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { docsClientId } from '../../src/auth/index.ts'
import { actionFile, openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'

const yaml = (docs: string, more = '') => `
routes:
  /todo:
    scopes: [todo]
    methods:
      GET: { public: true, description: Lists to-dos, action: src/list.ts }
      POST: { description: Creates a to-do, action: src/list.ts }
${more}config: { docs: ${docs} }
`
const files = (docs: string, more?: string) => ({
  'waypost.yml': yaml(docs, more),
  'src/list.ts': actionFile('    return {}'),
})
const html = { accept: 'text/html,application/xhtml+xml' }

describe('/openapi.json and /docs', () => {
  let server: ProjectServer
  before(async () => {
    const variables = { WAYPOST_BASE_URL: 'https://api.acme.test/v1' }
    server = await openProjectServer({ files: files('public'), variables })
  })
  after(() => server[Symbol.asyncDispose]())

  test('the document describes the routes that are served, where callers reach them', async () => {
    const { status, headers, body } = await send(server.port, { path: '/openapi.json' })
    assert.deepEqual([status, headers['content-type']], [200, 'application/json; charset=utf-8'])
    assert.deepEqual(Object.keys(body.paths['/todo']), ['get', 'post'])
    assert.deepEqual(body.servers, [{ url: 'https://api.acme.test/v1' }])
  })

  test('clients with the current document get 304, until another release is served', async () => {
    const first = await send(server.port, { path: '/openapi.json' })
    const known = { 'if-none-match': `"other", W/${first.headers.etag}` }
    const again = await send(server.port, { path: '/openapi.json', headers: known })
    assert.deepEqual([again.status, again.text, again.headers.etag], [304, '', first.headers.etag])
    await server.deploy(files('public', '  /ping: { methods: { GET: { public: true, action: src/list.ts } } }\n'))
    const changed = await send(server.port, { path: '/openapi.json', headers: known })
    assert.deepEqual([changed.status, Object.keys(changed.body.paths)], [200, ['/ping', '/todo']])
    assert.notEqual(changed.headers.etag, first.headers.etag)
  })

  test('the page loads no external resources, runs only its own scripts, and cannot be framed', async () => {
    const pages = ['/docs', '/docs/operation/getTodo?tab=try', '/docs/what/ever']
    const nonces = await Promise.all(
      pages.map(async (path) => {
        const { status, headers, text } = await send(server.port, { path, headers: html })
        assert.deepEqual([status, headers['content-type']], [200, 'text/html; charset=utf-8'], path)
        const policy = String(headers['content-security-policy'])
        assert.match(policy, /^default-src 'none';.* frame-ancestors 'none'$/)
        assert.match(policy, /connect-src 'self' https:\/\/api\.acme\.test;/)
        assert.doesNotMatch(policy, /unsafe|\*/)
        assert.equal(headers['x-frame-options'], 'DENY')
        const [, nonce = ''] = /script-src 'nonce-([^']+)' 'strict-dynamic';/.exec(policy) ?? []
        assert.ok(nonce.length >= 22 && text.includes(`<script nonce="${nonce}" type="module"`), policy)
        // Below the path of the server; the configuration names its URL.
        for (const [, url = ''] of text.matchAll(/ (?:src|href)="([^"]+)"/g))
          assert.match(url, /^(\/v1\/docs\/assets\/|data:,$)/)
        assert.doesNotMatch(text, /<style>| on[a-z]+=/)
        return nonce
      }),
    )
    assert.equal(new Set(nonces).size, pages.length)
  })

  test('the page learns about the server, and nothing of its routes', async () => {
    const { text } = await send(server.port, { path: '/docs', headers: html })
    const [, json = ''] = /<script type="application\/json"[^>]*>(.*?)<\/script>/.exec(text) ?? []
    const { version, ...rest } = JSON.parse(json)
    assert.equal(typeof version, 'string')
    assert.deepEqual(rest, {
      base: '/v1',
      issuer: 'https://api.acme.test/v1',
      origin: 'https://api.acme.test',
      clientId: docsClientId,
      redirectPath: '/docs/signed-in',
      service: 'api.acme.test',
      description: '',
      accent: null,
      canRegister: false,
      docs: 'public',
      isDevelopment: false,
    })
    assert.doesNotMatch(text, /todo/)
  })

  test('its files are compressed and never change', async () => {
    const { text } = await send(server.port, { path: '/docs', headers: html })
    const [, script = ''] = /src="\/v1(\/docs\/assets\/[^"]+)"/.exec(text) ?? []
    const headers = { 'accept-encoding': 'br' }
    const { headers: got } = await send(server.port, { method: 'HEAD', path: script, headers })
    assert.deepEqual(
      [got['content-encoding'], got['cache-control'], got['content-type']],
      ['br', 'public, max-age=31536000, immutable', 'text/javascript; charset=utf-8'],
    )
  })

  test('the window that authorizes the reference stays connected to its opener to the end', async () => {
    const page = await send(server.port, { path: '/docs', headers: html })
    assert.equal(page.headers['cross-origin-opener-policy'], 'same-origin-allow-popups')
    const { status, headers, text } = await send(server.port, { path: '/docs/signed-in?code=secret&state=x' })
    assert.deepEqual([status, headers['content-type']], [200, 'text/html; charset=utf-8'])
    assert.deepEqual(
      [headers['cross-origin-opener-policy'], headers['cache-control'], headers['referrer-policy']],
      ['unsafe-none', 'no-store', 'no-referrer'],
    )
    assert.match(String(headers['content-security-policy']), /^default-src 'none';.* frame-ancestors 'none'/)
    assert.doesNotMatch(text, /secret|<script|https?:/)
  })

  for (const path of ['/openapi.json', '/docs', '/docs/operation/a', '/docs/signed-in']) {
    test(`HEAD ${path} has the headers of GET and no body`, async () => {
      const { status, headers, text } = await send(server.port, { method: 'HEAD', path })
      assert.deepEqual([status, text], [200, ''])
      assert.equal(headers['x-content-type-options'], 'nosniff')
    })
  }
})

test('with a portal, /docs leads to its reference', async () => {
  const variables = { WAYPOST_BASE_URL: 'https://api.acme.test/v1' }
  await using server = await openProjectServer({
    files: { ...files('public'), 'waypost.yml': yaml('public').replace('{ docs: public }', '{ portal: true }') },
    variables,
  })
  for (const [path, location] of [
    ['/docs', '/v1/portal/reference'],
    ['/docs/', '/v1/portal/reference'],
    ['/docs/operation/getTodo', '/v1/portal/reference/getTodo'],
    ['/docs/operation/..%2F..%2F%2Fevil.example', '/v1/portal/reference/..%2F..%2F%2Fevil.example'],
    ['/docs/assets/a.js', '/v1/portal/reference'],
  ] as const) {
    const { status, headers } = await send(server.port, { path })
    assert.deepEqual([status, headers.location], [302, location], path)
  }
  assert.equal((await send(server.port, { path: '/docs/signed-in' })).status, 200)
})

test('private ones require any valid token; a browser gets the page that asks for it', async () => {
  await using server = await openProjectServer({ files: files('private') })
  const token = await server.authorize('ann', [])
  const ask = async (path: string, headers: Record<string, string> = {}) => {
    const { status, headers: got, body } = await send(server.port, { path, headers })
    return [status, got['content-type']?.split(';')[0], body?.type]
  }
  const noToken = 'urn:waypost:errors#WP_AUTH_NO_TOKEN'
  assert.deepEqual(await ask('/openapi.json'), [401, 'application/problem+json', noToken])
  assert.deepEqual(await ask('/docs'), [401, 'application/problem+json', noToken])
  assert.deepEqual(await ask('/docs', html), [401, 'text/html', undefined])
  assert.deepEqual(await ask('/docs/operation/getTodo'), [401, 'application/problem+json', noToken])
  assert.deepEqual(await ask('/docs/operation/getTodo', html), [401, 'text/html', undefined])
  assert.deepEqual(await ask('/openapi.json', token), [200, 'application/json', undefined])
  assert.deepEqual(await ask('/docs', { ...html, ...token }), [200, 'text/html', undefined])
  const page = await send(server.port, { path: '/docs', headers: html })
  assert.equal(page.headers['www-authenticate'], 'Bearer realm="waypost"')
  assert.doesNotMatch(page.text, /todo/)
})

test('disabled ones return 404', async () => {
  await using server = await openProjectServer({ files: files('off') })
  for (const path of ['/openapi.json', '/docs', '/docs/', '/docs/operation/getTodo', '/docs/signed-in']) {
    assert.equal((await send(server.port, { path })).status, 404, path)
  }
})

test('in development / leads to /docs, unless the project has a route there or no reference', async () => {
  const root = (method: string) => `  /: { methods: { ${method}: { public: true, action: src/list.ts } } }\n`
  const where = async (server: ProjectServer) => {
    const { status, headers } = await send(server.port, { path: '/' })
    return [status, headers.location]
  }
  await using server = await openProjectServer({ files: files('private'), isDevelopment: true })
  assert.deepEqual(await where(server), [302, '/docs'])
  await server.deploy(files('public', root('GET')))
  assert.deepEqual(await where(server), [200, undefined])
  await server.deploy(files('public', root('POST')))
  assert.deepEqual(await where(server), [405, undefined])
  await server.deploy(files('off'))
  assert.deepEqual(await where(server), [404, undefined])
  await using production = await openProjectServer({ files: files('public') })
  assert.deepEqual(await where(production), [404, undefined])
})
