import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { deriveAccent } from '../../src/kit/index.ts'
import { portalClientId } from '../../src/auth/index.ts'
import { openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'

const routes = 'routes: { /a: { methods: { GET: { public: true, action: src/a.ts } } } }\n'
const action = 'export default class A { async handle() { return { a: 1 } } }\n'

function project(config: Readonly<Record<string, unknown>>) {
  return { 'waypost.yml': `${routes}config: ${JSON.stringify(config)}\n`, 'src/a.ts': action }
}

const worker = { 'service-worker': 'script' }

describe('the files of the portal', () => {
  let server: ProjectServer
  const texts = { title: '</script>A', description: '<!--<script>B' }
  const config = { portal: true, accent: '#FFCC00', registration: true, docs: 'private', ...texts }
  before(async () => {
    const variables = { WAYPOST_BASE_URL: 'https://api.example.com/v1', WAYPOST_BACKEND: 'off' }
    server = await openProjectServer({ files: project(config), variables })
  })
  after(() => server[Symbol.asyncDispose]())

  const get = (path: string, headers: Readonly<Record<string, string>> = {}) => send(server.port, { path, headers })

  test('the page is the same for every path, and its scripts need the nonce of its response', async () => {
    const nonces = await Promise.all(
      ['/portal/', '/portal/clients/x?a=b', '/portal/signed-in?code=x'].map(async (path) => {
        const { status, headers, text } = await get(path)
        assert.equal(status, 200)
        assert.equal(headers['cache-control'], 'no-store')
        assert.equal(headers['cross-origin-opener-policy'], 'same-origin')
        assert.equal(headers['cross-origin-embedder-policy'], 'require-corp')
        assert.equal(headers['x-frame-options'], 'DENY')
        const policy = String(headers['content-security-policy'])
        assert.doesNotMatch(policy, /unsafe|\*/)
        const [, nonce = ''] = /script-src 'nonce-([^']+)' 'strict-dynamic';/.exec(policy) ?? []
        assert.ok(nonce.length >= 22 && policy.includes(`style-src 'self' 'nonce-${nonce}'`), policy)
        assert.ok(text.includes(`<script nonce="${nonce}" type="module"`))
        return nonce
      }),
    )
    assert.equal(new Set(nonces).size, nonces.length)
  })

  test('the page tells its scripts about the server, and no setting can end their element', async () => {
    const { text } = await get('/portal/')
    const [, json = ''] = /<script type="application\/json"[^>]*>(.*?)<\/script>/.exec(text) ?? []
    const { version, ...rest } = JSON.parse(json)
    assert.equal(typeof version, 'string')
    assert.deepEqual(rest, {
      base: '/v1',
      issuer: 'https://api.example.com/v1',
      origin: 'https://api.example.com',
      clientId: portalClientId,
      redirectPath: '/portal/signed-in',
      service: texts.title,
      description: texts.description,
      accent: deriveAccent('#ffcc00'),
      canRegister: true,
      docs: 'private',
      isDevelopment: false,
    })
    assert.doesNotMatch(json, /</)
  })

  test('its scripts are found below its path, and /portal leads to it', async () => {
    const [, script = ''] = /src="\/v1(\/portal\/assets\/[^"]+)"/.exec((await get('/portal/')).text) ?? []
    assert.equal((await get(script)).headers['cache-control'], 'public, max-age=31536000, immutable')
    const { status, headers } = await get('/portal')
    assert.deepEqual([status, headers.location], [302, '/v1/portal/'])
  })

  test('service workers are rejected on its origin, also without a backend', async () => {
    assert.equal((await get('/backend')).status, 404)
    assert.equal((await get('/a', worker)).status, 403)
    assert.equal((await get('/a')).status, 200)
  })

  test('a deployment turns it off and on again', async () => {
    await server.deploy(project({ ...config, portal: false }))
    for (const path of ['/portal', '/portal/', '/portal/clients', '/portal/assets/a.js'])
      assert.equal((await get(path)).status, 404, path)
    assert.equal((await get('/a', worker)).status, 200)
    await server.deploy(project({ portal: true }))
    const { text } = await get('/portal/')
    assert.match(text, /"service":"api.example.com"/)
    assert.match(text, /"accent":null/)
    assert.equal((await get('/a', worker)).status, 403)
  })
})

test('the portal is on the host of the API, not on that of the backend', async () => {
  const variables = { WAYPOST_BASE_URL: 'https://api.example.com', WAYPOST_BACKEND_URL: 'https://admin.example.com' }
  await using server = await openProjectServer({ files: project({ portal: true }), variables })
  const ask = (host: string, path: string, more = {}) => send(server.port, { path, headers: { host, ...more } })
  assert.equal((await ask('admin.example.com', '/portal/')).status, 421)
  assert.equal((await ask('api.example.com', '/portal/')).status, 200)
  assert.equal((await ask('api.example.com', '/a', worker)).status, 403)
  await server.deploy(project({}))
  assert.equal((await ask('api.example.com', '/a', worker)).status, 200)
})
