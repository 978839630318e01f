import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { addUser } from '../../../src/auth/index.ts'
import { styleSourceOf } from '../../../src/auth/authorize/pages/page.ts'
import { chooseKinds } from '../../support/forms.ts'
import { type TestAnswer } from '../../support/server.ts'
import { openWorld, password, type Credentials, type World } from '../world.ts'
import { callback, makeVisitor, readHidden, readPage, requestOf, writeQuery } from './visitor.ts'

const spa = 'https://spa.example.com'

/** Redirect URIs, and the source expression that lets a form redirect there. */
const sources: readonly (readonly [uri: string, source: string])[] = [
  ['https://app.example.com/callback?a=1', 'https://app.example.com'],
  ['https://app.example.com:8443/callback', 'https://app.example.com:8443'],
  ['https://App.Example.com', 'https://App.Example.com'],
  ['http://127.0.0.1:51004/callback', 'http://127.0.0.1:51004'],
  ['http://localhost/callback', 'http://localhost'],
  ['http://[::1]:51004/callback', 'http:'],
  ['com.example.app:/callback', 'com.example.app:'],
]

for (const kind of chooseKinds('sqlite')) {
  describe(`responses of the authorization pages on ${kind}`, () => {
    let world: World
    let client: Credentials
    before(async () => {
      const scopes = { todo: { description: 'See and change your to-dos' } }
      world = await openWorld(kind, { config: { cors: [spa] }, scopes })
      await addUser(world.system, { name: 'bob', password, scopes: ['todo'] })
      client = await world.addClient({
        grants: ['authorization_code'],
        redirectUris: sources.map(([uri]) => uri).concat(callback),
      })
    })
    after(() => world.close())

    const policyOf = (forms: string) =>
      `default-src 'none'; style-src ${styleSourceOf('')}; form-action ${forms}; frame-ancestors 'none'; base-uri 'none'`

    function assertGuarded(answer: TestAnswer): void {
      const expected = {
        'cache-control': 'no-store',
        pragma: 'no-cache',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        // clients that opened the pages in a window wait for it to close
        'cross-origin-opener-policy': null,
      }
      for (const [name, value] of Object.entries(expected)) assert.equal(answer.headers.get(name), value, name)
      assert.match(answer.headers.get('content-security-policy') ?? '', /^default-src 'none'; .*frame-ancestors 'none'/)
      for (const [name] of answer.headers) assert.ok(!name.startsWith('access-control-'), name)
    }

    test('are not cached, framed or read by other origins', async () => {
      const ask = `GET /authorization/authorize?${writeQuery(requestOf(client))}`
      const headers = { origin: spa }
      const bob = makeVisitor(world)
      const login = await bob.authorize(requestOf(client))
      const consent = await bob.logIn(login, { username: 'bob' })
      const failed = await bob.submit(login, 'login', { username: 'bob', password: 'wrong password' })
      const answers: readonly (readonly [number, TestAnswer])[] = [
        [200, login],
        [200, consent],
        [200, await world.send(ask, { headers })],
        [400, await world.send('GET /authorization/authorize', { headers })],
        [400, await world.send(`${ask}&response_type=x`, { headers })],
        [303, await world.send(`${ask}&response_type=x&prompt=none`, { headers })],
        [303, await bob.submit(consent, 'consent', { decision: 'deny' })],
        [403, await world.send('POST /authorization/login', { headers, form: 'a=b' })],
        [403, await world.send('POST /authorization/consent', { headers, form: 'a=b' })],
        [403, await world.send('POST /authorization/logout', { headers, form: 'a=b' })],
        [415, await world.send('POST /authorization/login', { json: {} })],
        [413, await world.send('POST /authorization/login', { form: 'a'.repeat(20_000) })],
        [405, await world.send('GET /authorization/login', { headers })],
        [405, await world.send('PUT /authorization/consent', { headers, form: 'a=b' })],
        [303, failed],
        [401, await bob.follow(failed)],
        [303, await bob.submit(login, 'login', { username: 'bob', password })],
      ]
      for (const [status, answer] of answers) {
        assert.equal(answer.status, status)
        assertGuarded(answer)
      }
    })

    test('allow no origin in a preflight either, though the release allows it for its routes', async () => {
      const headers = { origin: spa, 'access-control-request-method': 'GET' }
      const route = await world.send('OPTIONS /open', { headers })
      assert.equal(route.headers.get('access-control-allow-origin'), spa)
      for (const name of ['authorize', 'login', 'consent', 'logout']) {
        const answer = await world.send(`OPTIONS /authorization/${name}`, { headers })
        for (const [header] of answer.headers) assert.ok(!header.startsWith('access-control-'), header)
      }
    })

    for (const [redirect_uri, source] of sources) {
      test(`let their forms redirect to ${redirect_uri} only`, async () => {
        const visitor = makeVisitor(world)
        const login = await visitor.authorize(requestOf(client, { redirect_uri }))
        const wrong = { username: 'bob', password: 'wrong password' }
        const failed = await visitor.follow(await visitor.submit(login, 'login', wrong))
        const consent = await visitor.logIn(login, { username: 'bob' })
        for (const page of [login, failed, consent])
          assert.equal(page.headers.get('content-security-policy'), policyOf(`'self' ${source}`))
      })
    }

    test('allow no form targets on pages without a form', async () => {
      const answer = await world.send('GET /authorization/authorize')
      assert.equal(answer.headers.get('content-security-policy'), policyOf("'none'"))
      assert.doesNotMatch(answer.text, /<form|<a |<script/)
    })

    test('describe scopes as the release does', async () => {
      const bob = makeVisitor(world)
      const consent = await bob.logIn(await bob.authorize(requestOf(client)), { username: 'bob' })
      assert.match(readPage(consent), /See and change your to-dos/)
    })
  })
}

test('prefix forms and redirects with the path of a proxy; over http, cookies have no prefix', async () => {
  const baseUrl = 'http://proxy.example.com/api/v1'
  await using world = await openWorld('sqlite', { baseUrl })
  const client = await world.addClient({ grants: ['authorization_code'], redirectUris: [callback] })
  const visitor = makeVisitor(world)
  const page = await visitor.authorize(requestOf(client))
  assert.match(page.text, /action="\/api\/v1\/authorization\/login"/)
  const fields = { ...readHidden(page, 'login'), username: 'ann', password }
  const failed = await visitor.send('POST /authorization/login', { ...fields, password: 'wrong password' })
  assert.match(failed.headers.get('location') ?? '', /^\/api\/v1\/authorization\/authorize\?/)
  const [notice = ''] = failed.headers.getSetCookie()
  assert.match(notice, /^waypost-notice=[\w.-]+; Max-Age=60; Path=\/api\/v1\/authorization; HttpOnly; SameSite=Lax$/)
  visitor.cookies.delete('waypost-notice')
  const answer = await visitor.send('POST /authorization/login', fields)
  const location = answer.headers.get('location') ?? ''
  assert.match(location, /^\/api\/v1\/authorization\/authorize\?/)
  assert.deepEqual([...visitor.cookies.keys()].sort(), ['waypost-form', 'waypost-session'])
  for (const line of [...page.headers.getSetCookie(), ...answer.headers.getSetCookie()])
    assert.match(line, /; Path=\/; HttpOnly; SameSite=Lax$/)
  const back = await visitor.send(`GET ${location.slice('/api/v1'.length)}`)
  assert.equal(new URL(back.headers.get('location') ?? '').searchParams.get('iss'), baseUrl)
})
