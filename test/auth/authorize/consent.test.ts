import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { addUser, addUserScopes, docsClientId, removeUserScopes } from '../../../src/auth/index.ts'
import { chooseKinds } from '../../support/forms.ts'
import { issuer, type TestAnswer } from '../../support/server.ts'
import { send } from '../../support/send.ts'
import { openWorld, password, type Credentials, type World } from '../world.ts'
import {
  callback,
  makeVisitor,
  readAnswer,
  readCode,
  readHidden,
  readPage,
  requestOf,
  verifier,
  writeQuery,
  type Parameters,
  type Visitor,
} from './visitor.ts'

const grants = ['authorization_code']
const local = 'http://127.0.0.1:51004/callback'

for (const kind of chooseKinds('sqlite')) {
  describe(`consent on ${kind}`, () => {
    let world: World
    let visitor: Visitor
    let client: Credentials
    let bobId: string
    before(async () => {
      world = await openWorld(kind)
      bobId = (await addUser(world.system, { name: 'bob', password, scopes: ['consumer', 'note', 'todo', 'mail'] })).id
      visitor = makeVisitor(world)
      const any = await world.addClient({ grants, redirectUris: [callback] })
      await visitor.logIn(await visitor.authorize(requestOf(any)), { username: 'bob' })
    })
    beforeEach(async () => {
      client = await world.addClient({
        name: 'Shop <b>&',
        scopes: ['consumer', 'note', 'todo'],
        grants,
        redirectUris: [callback],
      })
    })
    after(() => world.close())

    const ask = (change: Parameters = {}, of: Pick<Credentials, 'id'> = client) =>
      visitor.authorize(requestOf(of, change))
    const allow = async (change: Parameters = {}, of: Pick<Credentials, 'id'> = client) =>
      visitor.submit(await ask(change, of), 'consent', { decision: 'allow' })
    const isAsked = async (change: Parameters = {}, of: Pick<Credentials, 'id'> = client) => {
      const answer = await ask(change, of)
      if (answer.status === 303) readCode(answer)
      return answer.status === 200 && /Allow .* to use your account/.test(readPage(answer))
    }

    test('is requested by a page that shows the client, the scopes, the user and the next step', async () => {
      const page = await ask({ scope: 'todo consumer' })
      const said = readPage(page)
      for (const part of ['Shop <b>&', 'bob', 'todo', 'consumer', 'View your account', 'app.example.com'])
        assert.ok(said.includes(part), `${part} in ${said}`)
      assert.match(said, /Registered by ann on [A-Z][a-z]+ \d{1,2}, 20\d\d /)
      assert.ok(!said.includes('note'))
      assert.ok(!page.text.includes('<b>'))
    })

    test('given leads to the client with a code, by 303', async () => {
      const { to, parameters } = readAnswer(await allow())
      assert.equal(to, callback)
      assert.deepEqual(Object.keys(parameters).sort(), ['code', 'iss', 'state'])
    })

    test('denied redirects to the client with access_denied, and is requested again', async () => {
      const answer = await visitor.submit(await ask(), 'consent', { decision: 'deny' })
      const { error_description: _, ...rest } = readAnswer(answer).parameters
      assert.deepEqual(rest, { error: 'access_denied', state: 'x', iss: issuer })
      assert.equal(await isAsked(), true)
    })

    test('is remembered for the scopes that were granted', async () => {
      await allow({ scope: 'note todo' })
      assert.equal(await isAsked({ scope: 'note todo' }), false)
      assert.equal(await isAsked({ scope: 'todo' }), false)
      assert.equal(await isAsked({ scope: 'todo,note' }), false)
      assert.equal(await isAsked({ scope: 'consumer' }), true)
      assert.equal(await isAsked({ scope: undefined }), true)
      await allow({ scope: 'consumer' })
      assert.equal(await isAsked({ scope: undefined }), false)
    })

    test('granted to one client does not apply to other clients or users', async () => {
      await allow()
      assert.equal(await isAsked({}, await world.addClient({ grants, redirectUris: [callback] })), true)
      const { name } = await addUser(world.system, { name: `eve-${client.id}`, password, scopes: ['note', 'todo'] })
      const eve = makeVisitor(world)
      const page = await eve.logIn(await eve.authorize(requestOf(client)), { username: name })
      assert.match(readPage(page), /Allow Shop/)
    })

    test('is requested again by prompt=consent, and never by prompt=none', async () => {
      const silent = await ask({ prompt: 'none' })
      assert.equal(readAnswer(silent).parameters['error'], 'consent_required')
      await allow()
      assert.equal(await isAsked({ prompt: 'consent' }), true)
      readCode(await allow({ prompt: 'consent' }))
      readCode(await ask({ prompt: 'none' }))
    })

    test('that is withdrawn is requested again', async () => {
      await allow()
      await world.system.db.deleteFrom('waypost_consent').where('client_id', '=', client.id).execute()
      assert.equal(await isAsked(), true)
    })

    const devices: readonly (readonly [uri: string, isPublic: boolean, isRemembered: boolean])[] = [
      [local, true, false],
      ['http://localhost/callback', true, false],
      ['http://[::1]:8080/callback', true, false],
      ['com.example.app:/callback', true, false],
      ['https://localhost:8443/callback', true, false],
      ['https://app.localhost/callback', true, false],
      ['https://127.0.0.2/callback', true, false],
      [callback, true, true],
      [local, false, true],
      ['com.example.app:/callback', false, true],
    ]
    for (const [uri, isPublic, isRemembered] of devices) {
      test(`is ${isRemembered ? '' : 'never '}remembered for a client with${isPublic ? 'out' : ''} a secret at ${uri}`, async () => {
        const app = await world.addClient({ grants, public: isPublic, redirectUris: [uri] })
        const change = { redirect_uri: uri }
        readCode(await allow(change, app))
        assert.equal(await isAsked(change, app), !isRemembered)
        const silent = readAnswer(await ask({ ...change, prompt: 'none' }, app)).parameters
        assert.equal('code' in silent, isRemembered)
        const row = world.system.db.selectFrom('waypost_consent').select('scope').where('client_id', '=', app.id)
        assert.equal((await row.execute()).length, isRemembered ? 1 : 0)
      })
    }

    test("is not needed for the owner's own client, unless any program could use its id", async () => {
      const own = { user: 'bob', grants, scopes: ['note', 'todo'] }
      assert.equal(await isAsked({}, await world.addClient({ ...own, redirectUris: [callback] })), false)
      const app = await world.addClient({ ...own, public: true, redirectUris: [local] })
      assert.equal(await isAsked({ redirect_uri: local }, app), true)
      assert.match(readPage(await ask({ redirect_uri: local }, app)), /Any program on this device/)
    })

    test('for the reference covers all scopes of the user, and is requested too', async () => {
      const change = { redirect_uri: `${issuer}/docs/signed-in`, scope: undefined }
      const said = readPage(await ask(change, { id: docsClientId }))
      for (const scope of ['consumer', 'mail', 'note', 'todo']) assert.ok(said.includes(scope), scope)
      assert.match(said, /You will then return to the API reference\./)
      assert.doesNotMatch(said, /Any program on this device/)
      readCode(await allow(change, { id: docsClientId }))
    })

    const forged: readonly (readonly [name: string, csrf: () => Promise<string>])[] = [
      ['no token', async () => ''],
      ['another token', async () => `${'a'.repeat(43)}.a`],
      ["another browser's token", async () => tokenOf(await makeVisitor(world).authorize(requestOf(client)))],
      ['the token of a login page', async () => tokenOf(await ask({ prompt: 'login' }))],
    ]
    const tokenOf = (page: TestAnswer) => readHidden(page, 'login')['csrf']!
    for (const [name, csrf] of forged) {
      test(`is rejected with ${name}`, async () => {
        for (const decision of ['allow', 'deny']) {
          const answer = await visitor.submit(await ask(), 'consent', { decision, csrf: await csrf() })
          assert.equal(answer.status, 403)
          assert.equal(answer.headers.get('location'), null)
        }
        assert.equal(await isAsked(), true)
      })
    }

    for (const name of ['consent', 'login', 'logout', 'register', 'first-run']) {
      test(`is rejected, as every form, from a page of another site: ${name}`, async () => {
        const page = await ask()
        const form = { ...readHidden(page, 'consent'), decision: 'allow' }
        const cookie = [...visitor.cookies].map(([key, value]) => `${key}=${value}`).join('; ')
        const submit = (headers: Readonly<Record<string, string>>) =>
          send(world.server.port, {
            method: 'POST',
            path: `/authorization/${name}`,
            headers: { cookie, 'content-type': 'application/x-www-form-urlencoded', ...headers },
            body: new URLSearchParams(form).toString(),
          })
        const window = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
        for (const headers of [
          { origin: 'https://evil.example' },
          { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site', ...window },
          { origin: 'null', 'sec-fetch-site': 'cross-site', ...window },
          { 'sec-fetch-site': 'same-site', ...window },
        ]) {
          const answer = await submit(headers)
          assert.equal(answer.status, 403, JSON.stringify(headers))
          assert.ok(answer.text.includes('sent by another site'))
        }
        if (name !== 'consent') return
        for (const origin of ['null', new URL(issuer).origin]) {
          const answer = await submit({ origin, 'sec-fetch-site': 'same-origin', ...window })
          assert.equal(answer.status, 303, answer.text)
        }
      })
    }

    test('is rejected if the caller has the form but not the session', async () => {
      const page = await ask()
      const thief = makeVisitor(world)
      thief.cookies.set('__Host-waypost-form', visitor.cookies.get('__Host-waypost-form')!)
      assert.equal((await thief.submit(page, 'consent', { decision: 'allow' })).status, 403)
    })

    test('is rejected without a decision', async () => {
      const page = await ask()
      assert.equal((await visitor.submit(page, 'consent')).status, 400)
      assert.equal((await visitor.submit(page, 'consent', { decision: 'perhaps' })).status, 400)
    })

    test('applies to the scopes that the page showed; scopes added since are shown first', async () => {
      const page = await ask({ scope: undefined })
      assert.doesNotMatch(readPage(page), /mail/)
      await world.system.db.insertInto('waypost_client_scope').values({ client_id: client.id, scope: 'mail' }).execute()
      const again = await visitor.submit(page, 'consent', { decision: 'allow' })
      assert.match(again.headers.get('location') ?? '', /^\/authorization\/authorize\?/)
      const shown = await visitor.send(`GET ${again.headers.get('location')}`)
      assert.match(readPage(shown), /mail/)
      readCode(await visitor.submit(shown, 'consent', { decision: 'allow' }))
    })

    test('checks the request again: a form that was changed leads nowhere else', async () => {
      const page = await ask()
      const changed = new URLSearchParams(readHidden(page, 'consent')['request'])
      changed.set('redirect_uri', 'https://example.com/')
      const fields = { decision: 'allow', request: changed.toString() }
      assert.equal((await visitor.submit(page, 'consent', fields)).status, 400)
    })

    test('to one client does not cover another one with the same scopes: its own page is shown first', async () => {
      const other = await world.addClient({ scopes: ['note', 'todo'], grants, redirectUris: [callback] })
      const page = await ask()
      const fields = { decision: 'allow', request: writeQuery(requestOf(other)) }
      const answer = await visitor.submit(page, 'consent', fields)
      assert.equal(answer.headers.get('location'), `/authorization/authorize?${fields.request}`)
      assert.equal(await isAsked({}, other), true)
    })

    test('given after the session has ended leads to the login page', async () => {
      const guest = makeVisitor(world)
      const page = await guest.logIn(await guest.authorize(requestOf(client)), { username: 'bob' })
      world.clock.forward(8 * 86_400_000)
      const answer = await guest.submit(page, 'consent', { decision: 'allow' })
      assert.equal(answer.status, 303)
      assert.match(readPage(await guest.send(`GET ${answer.headers.get('location')}`)), /Sign in/)
      await visitor.logIn(await ask(), { username: 'bob' })
    })

    const grantings: readonly (readonly [scope: string | undefined, granted: string])[] = [
      [undefined, 'consumer note todo'],
      ['todo', 'todo'],
      ['todo note todo', 'todo note'],
      ['todo,note', 'todo,note'],
      ['note, mail, openid', 'note'],
      ['TODO todo', 'todo'],
    ]
    for (const [scope, granted] of grantings) {
      test(`to ${scope ?? 'no scope'} grants ${granted}: the requested scopes that the client and the user have`, async () => {
        const code = readCode(await allow({ scope }))
        const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: callback }
        assert.equal((await world.token(client, form)).body.scope, granted)
      })
    }

    test('fails with invalid_scope if no scope remains', async () => {
      await removeUserScopes(world.system, bobId, ['note'])
      try {
        const error = async (scope?: string) => readAnswer(await ask({ scope })).parameters['error']
        assert.equal(await error('note'), 'invalid_scope')
        assert.equal(await error('mail'), 'invalid_scope')
      } finally {
        await addUserScopes(world.system, bobId, ['note'])
      }
    })
  })
}
