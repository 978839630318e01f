import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { backendClientId, backendRedirectPath } from '../../../src/auth/index.ts'
import { chooseKinds } from '../../support/forms.ts'
import { issuer } from '../../support/server.ts'
import { openWorld, password, type Credentials, type World } from '../world.ts'
import { callback, makeVisitor, readAnswer, readPage, requestOf, writeQuery } from './visitor.ts'

for (const kind of chooseKinds('sqlite')) {
  describe(`registration on the pages, on ${kind}`, () => {
    let world: World
    let site: Credentials
    before(async () => {
      world = await openWorld(kind, {
        config: { registration: true, title: 'Corner Shop', scopes_default: ['consumer', 'todo'] },
      })
      site = await world.addClient({ name: 'Site', grants: ['authorization_code'], redirectUris: [callback] })
    })
    after(() => world.close())
    const request = () => requestOf(site, { scope: 'todo' })
    const show = (visitor = makeVisitor(world)) => visitor.send(`GET /authorization/register?${writeQuery(request())}`)

    test('is linked from the login page, with the same request, and back', async () => {
      const visitor = makeVisitor(world)
      const login = await visitor.authorize(request())
      assert.match(readPage(login), /Sign in to Corner Shop to continue to Site/)
      const link = /href="([^"]*)">Create an account</.exec(login.text)?.[1]?.replaceAll('&amp;', '&')
      assert.equal(link, `/authorization/register?${writeQuery(request())}`)
      const page = await visitor.send(`GET ${link}`)
      assert.equal(page.status, 200)
      assert.match(readPage(page), /Create your Corner Shop account to continue to Site/)
      assert.ok(page.text.includes(`href="/authorization/authorize?${writeQuery(request()).replaceAll('&', '&amp;')}"`))
    })

    test('creates a user who is signed in, and continues with the request', async () => {
      const visitor = makeVisitor(world)
      const created = await visitor.submit(await show(visitor), 'register', { username: 'carl', password })
      assert.equal(created.status, 303, created.text)
      const consent = await visitor.send(`GET ${created.headers.get('location')}`)
      assert.match(readPage(consent), /Allow Site to use your account\?.*Signed in as carl/)
      const answer = await visitor.submit(consent, 'consent', { decision: 'allow' })
      assert.match(readAnswer(answer).parameters['code'] ?? '', /^[\w-]{43}$/)
      assert.equal((await world.logIn({ json: { username: 'carl', password } })).body.scope, 'consumer todo')
    })

    const refusals: readonly (readonly [username: string, password: string, status: number, says: RegExp])[] = [
      ['', password, 400, /Enter a username and a password\./],
      ['dora', '', 400, /Enter a username and a password\./],
      ['dora', '1234567', 400, /8 to 1,024 characters/],
      ['dora-dorn', 'Dora-Dorn', 400, /must not be the username/],
      ['dora dorn', password, 400, /Use 1 to 64 letters/],
      ['ANN', password, 409, /Choose another/],
    ]
    for (const [username, given, status, says] of refusals) {
      test(`reports the errors of "${username}" and "${given}", and keeps the name`, async () => {
        const visitor = makeVisitor(world)
        const fields = { username, password: given }
        const page = await visitor.follow(await visitor.submit(await show(visitor), 'register', fields))
        assert.equal(page.status, status, page.text)
        assert.match(/role="alert"[^>]*>([^<]*)/.exec(page.text)?.[1] ?? '', says)
        assert.ok(page.text.includes(`value="${username}"`))
        assert.ok(!page.text.includes(`value="${given}"`) || given === '')
        assert.equal(visitor.cookies.has('waypost-session') || visitor.cookies.has('__Host-waypost-session'), false)
      })
    }

    test('is not offered to those who sign in to the backend, to which new users have no access', async () => {
      const visitor = makeVisitor(world)
      const backend = requestOf(
        { id: backendClientId },
        { redirect_uri: `${issuer}${backendRedirectPath}`, scope: undefined },
      )
      const login = await visitor.authorize(backend)
      assert.match(readPage(login), /Sign in to Corner Shop/)
      assert.doesNotMatch(login.text, /register/)
      const page = await visitor.send(`GET /authorization/register?${writeQuery(backend)}`)
      assert.deepEqual([page.status, /Registration is closed/.test(readPage(page))], [404, true])
      // Also with a valid form of the page for another client.
      const form = { username: 'frank', password, request: writeQuery(backend) }
      assert.equal((await visitor.submit(await show(visitor), 'register', form)).status, 404)
      assert.equal((await world.logIn({ json: { username: 'frank', password } })).status, 401)
    })

    test('accepts a form only from its own page and with the methods of a page', async () => {
      const visitor = makeVisitor(world)
      await show(visitor)
      const form = { username: 'erin', password, csrf: 'forged', request: writeQuery(request()) }
      assert.equal((await visitor.send('POST /authorization/register', form)).status, 403)
      const put = await world.send('PUT /authorization/register')
      assert.deepEqual([put.status, put.headers.get('allow')], [405, 'GET, POST'])
    })
  })
}

test('if registration is off, no page links to it, and its page says so', async () => {
  await using world = await openWorld('sqlite')
  const site = await world.addClient({ grants: ['authorization_code'], redirectUris: [callback] })
  const visitor = makeVisitor(world)
  const login = await visitor.authorize(requestOf(site))
  assert.doesNotMatch(login.text, /register/)
  const page = await visitor.send(`GET /authorization/register?${writeQuery(requestOf(site))}`)
  assert.equal(page.status, 404)
  assert.match(readPage(page), /Registration is closed/)
  const form = { username: 'frank', password, csrf: 'x', request: writeQuery(requestOf(site)) }
  assert.equal((await visitor.send('POST /authorization/register', form)).status, 404)
})
