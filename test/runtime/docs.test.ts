import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { platform } from 'node:os'
import { after, before, describe, test } from 'node:test'
import { actionFile, openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'
import { until } from '../support/until.ts'

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

  test('the page loads no external resources and cannot be framed', async () => {
    const { status, headers, text } = await send(server.port, { path: '/docs', headers: html })
    assert.deepEqual([status, headers['content-type']], [200, 'text/html; charset=utf-8'])
    const policy = String(headers['content-security-policy'])
    assert.match(policy, /default-src 'none'; script-src 'self';.*frame-ancestors 'none'/)
    assert.match(policy, /connect-src 'self' https:\/\/api\.acme\.test;/)
    assert.doesNotMatch(policy, /unsafe-eval|script-src[^;]*unsafe/)
    assert.doesNotMatch(text, /https?:\/\//)
    assert.doesNotMatch(text, /<script>|<style>| on[a-z]+=/)
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

  test('the viewer is sent compressed to clients that accept it, and once', async () => {
    const path = '/docs/viewer.js'
    const plain = await send(server.port, { path })
    assert.deepEqual([plain.status, plain.headers['content-encoding']], [200, undefined])
    assert.match(plain.text, /createApiReference/)
    const response = await fetch(server.url + path, { headers: { 'accept-encoding': 'gzip' } })
    assert.equal(response.headers.get('content-encoding'), 'gzip')
    assert.match(String(response.headers.get('vary')), /\bAccept-Encoding$/)
    assert.equal(await response.text(), plain.text)
    const headers = { 'if-none-match': String(plain.headers.etag) }
    assert.equal((await send(server.port, { path, headers })).status, 304)
    for (const [accepted, encoding] of [
      ['br, gzip;q=0.5', 'gzip'],
      ['GZIP', 'gzip'],
      ['gzip;q=0', undefined],
      ['gzip; q=0.000, br', undefined],
      ['not-gzip', undefined],
    ] as const) {
      const { headers: got } = await send(server.port, {
        method: 'HEAD',
        path,
        headers: { 'accept-encoding': accepted },
      })
      assert.equal(got['content-encoding'], encoding, accepted)
    }
  })

  test(
    'callers who leave before they have the viewer leave no file open',
    { skip: platform() !== 'linux' },
    async () => {
      const countFiles = () => readdirSync('/proc/self/fd').length
      const leave = async () => {
        const socket = connect(server.port, '127.0.0.1')
        socket.write('GET /docs/viewer.js HTTP/1.1\r\nHost: a\r\n\r\n')
        await once(socket, 'data')
        socket.resetAndDestroy()
      }
      await leave()
      const before = countFiles()
      for (let turn = 0; turn < 20; turn += 1) await Promise.all(Array.from({ length: 10 }, leave))
      await until('their connections are closed', () => countFiles() <= before)
    },
  )

  for (const path of [
    '/openapi.json',
    '/docs',
    '/docs/viewer.js',
    '/docs/page.js',
    '/docs/page.css',
    '/docs/signed-in',
  ]) {
    test(`HEAD ${path} has the headers of GET and no body`, async () => {
      const { status, headers, text } = await send(server.port, { method: 'HEAD', path })
      assert.deepEqual([status, text], [200, ''])
      assert.equal(headers['x-content-type-options'], 'nosniff')
    })
  }
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
  assert.deepEqual(await ask('/openapi.json', token), [200, 'application/json', undefined])
  assert.deepEqual(await ask('/docs', { ...html, ...token }), [200, 'text/html', undefined])
  const page = await send(server.port, { path: '/docs', headers: html })
  assert.equal(page.headers['www-authenticate'], 'Bearer realm="waypost"')
  assert.doesNotMatch(page.text, /todo/)
})

test('disabled ones return 404', async () => {
  await using server = await openProjectServer({ files: files('off') })
  for (const path of ['/openapi.json', '/docs', '/docs/viewer.js', '/docs/signed-in']) {
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
