import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { addUser } from '../../src/auth/index.ts'
import { openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'

describe('the files of the backend', () => {
  let server: ProjectServer
  before(async () => {
    const variables = { WAYPOST_BASE_URL: 'https://api.example.com/v1', WAYPOST_BACKEND: 'read' }
    server = await openProjectServer({ files: { 'waypost.yml': 'config: { title: "</script>A" }\n' }, variables })
    await addUser(server.host.system, { name: 'ann', scopes: ['backend.admin'] })
  })
  after(() => server[Symbol.asyncDispose]())

  const get = (path: string, headers: Readonly<Record<string, string>> = {}) => send(server.port, { path, headers })
  const scriptOf = (html: string) => /src="\/v1(\/backend\/ui\/assets\/[^"]+)"/.exec(html)?.[1] ?? ''

  test('the page is the same for every path, and its scripts need the nonce of its response', async () => {
    const [first, second] = await Promise.all([get('/backend/ui/'), get('/backend/ui/users/ann?sort=name')])
    const nonces = [first, second].map(({ status, headers, text }) => {
      assert.equal(status, 200)
      assert.equal(headers['cache-control'], 'no-store')
      assert.equal(headers['cross-origin-opener-policy'], 'same-origin')
      assert.equal(headers['cross-origin-embedder-policy'], 'require-corp')
      const policy = String(headers['content-security-policy'])
      assert.doesNotMatch(policy, /unsafe|\*/)
      const [, nonce = ''] = /script-src 'nonce-([^']+)' 'strict-dynamic';/.exec(policy) ?? []
      assert.ok(nonce.length >= 22 && policy.includes(`style-src 'self' 'nonce-${nonce}'`), policy)
      assert.ok(text.includes(`<script nonce="${nonce}" type="module"`))
      return nonce
    })
    assert.notEqual(nonces[0], nonces[1])
    assert.equal(scriptOf(first.text), scriptOf(second.text))
  })

  test('the page tells its scripts about the server, and a title cannot end their element', async () => {
    const { text } = await get('/backend/ui/')
    const [, json = ''] = /<script type="application\/json"[^>]*>(.*?)<\/script>/.exec(text) ?? []
    const { base, origin, issuer, service, isReadOnly } = JSON.parse(json)
    assert.deepEqual(
      { base, origin, issuer, service, isReadOnly },
      {
        base: '/v1',
        origin: 'https://api.example.com',
        issuer: 'https://api.example.com/v1',
        service: '</script>A',
        isReadOnly: true,
      },
    )
  })

  test('a script is compressed as the browser accepts, and never changes', async () => {
    const path = scriptOf((await get('/backend/ui/')).text)
    const raw = async (accepted: string) => {
      const answer = await fetch(`${server.url}${path}`, { headers: { 'accept-encoding': accepted } })
      assert.equal(answer.headers.get('cache-control'), 'public, max-age=31536000, immutable')
      assert.equal(answer.headers.get('vary'), 'Accept-Encoding')
      return { encoding: answer.headers.get('content-encoding'), text: await answer.text() }
    }
    const plain = await raw('identity')
    assert.equal(plain.encoding, null)
    assert.deepEqual(await raw('gzip, deflate, br'), { encoding: 'br', text: plain.text })
    assert.deepEqual(await raw('gzip;q=0.5, br;q=0'), { encoding: 'gzip', text: plain.text })
    const missing = await get('/backend/ui/assets/index-gone.js')
    assert.equal(missing.status, 404)
    assert.match(missing.body.type, /#WP_RUNTIME_UI_FILE$/)
  })

  test('/backend leads to the pages', async () => {
    const { status, headers } = await get('/backend')
    assert.deepEqual([status, headers.location], [302, '/v1/backend/ui/'])
  })
})

test('on a host of its own, the backend shares no origin with user routes', async () => {
  const variables = { WAYPOST_BASE_URL: 'https://api.example.com', WAYPOST_BACKEND_URL: 'https://admin.example.com' }
  await using server = await openProjectServer({ files: { 'waypost.yml': routes, 'src/a.ts': action }, variables })
  const ask = (host: string, path: string, more = {}) => send(server.port, { path, headers: { host, ...more } })
  assert.equal((await ask('admin.example.com', '/a')).status, 421)
  assert.equal((await ask('api.example.com', '/a')).status, 200)
  assert.equal((await ask('api.example.com', '/a', { 'service-worker': 'script' })).status, 200)
  const page = await ask('admin.example.com', '/backend/ui/')
  assert.equal(page.headers.location, 'https://api.example.com/authorization/first-run')
  await addUser(server.host.system, { name: 'ann', scopes: ['backend.admin'] })
  const policy = (await ask('admin.example.com', '/backend/ui/')).headers['content-security-policy']
  assert.match(String(policy), /connect-src 'self' https:\/\/api\.example\.com;/)
})

const routes = 'routes: { /a: { methods: { GET: { public: true, action: src/a.ts } } } }\n'
const action = 'export default class A { async handle() { return { a: 1 } } }\n'
