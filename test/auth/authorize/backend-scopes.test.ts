import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { addUser, docsClientId } from '../../../src/auth/index.ts'
import { chooseKinds } from '../../support/forms.ts'
import { issuer } from '../../support/server.ts'
import { openWorld, password, type Credentials, type World } from '../world.ts'
import { callback, makeVisitor, readAnswer, readCode, readPage, requestOf, verifier, type Visitor } from './visitor.ts'

const minute = 60_000
const admin = 'backend.admin'

for (const kind of chooseKinds('sqlite')) {
  describe(`a code with a scope of administration on ${kind}`, () => {
    let world: World
    let own: Credentials
    let ofAnother: Credentials
    let visitor: Visitor
    before(async () => {
      world = await openWorld(kind)
      const scopes = ['todo', admin, 'backend.read']
      for (const name of ['root', 'eve']) await addUser(world.system, { name, password, scopes })
      const client = { grants: ['authorization_code', 'refresh_token'], scopes, redirectUris: [callback] }
      own = await world.addClient({ ...client, user: 'root' })
      ofAnother = await world.addClient({ ...client, user: 'eve' })
      visitor = makeVisitor(world)
      await visitor.logIn(await visitor.authorize(requestOf(own)), { username: 'root' })
    })
    after(() => world.close())

    const ask = (of: { id: string }, change = {}) =>
      visitor.authorize(requestOf(of, { scope: `todo ${admin}`, ...change }))
    const redeem = async (of: Credentials, code: string) => {
      const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: callback }
      return (await world.token(of, form)).body
    }
    const enterPassword = async () => {
      const page = await ask(own, { prompt: 'login' })
      await visitor.logIn(page, { username: 'root' })
    }

    test("is for the user's own client", async () => {
      await enterPassword()
      assert.equal((await redeem(own, readCode(await ask(own)))).scope, `todo ${admin}`)
    })

    test('requires a password entered within the last 15 minutes, and explains why', async () => {
      await enterPassword()
      world.clock.forward(15 * minute - 1000)
      readCode(await ask(own))
      world.clock.forward(1000)
      const page = await ask(own)
      assert.equal(page.status, 200)
      assert.match(readPage(page), /This grants control of the server\. Enter your password again/)
      assert.match(page.text, /value="root"/)
      const silent = await ask(own, { prompt: 'none' })
      assert.equal(readAnswer(silent).parameters['error'], 'login_required')
      readCode(await ask(own, { scope: 'todo' }))
      readCode(await visitor.logIn(page, { username: 'root' }))
    })

    test('needs it without a scope parameter too, since that is all of them', async () => {
      await enterPassword()
      world.clock.forward(16 * minute)
      assert.match(readPage(await ask(own, { scope: undefined })), /Enter your password again/)
    })

    test('needs it when a consent was left open for so long', async () => {
      await enterPassword()
      const page = await ask(own, { prompt: 'consent' })
      world.clock.forward(16 * minute)
      const answer = await visitor.submit(page, 'consent', { decision: 'allow' })
      const next = await visitor.send(`GET ${answer.headers.get('location')}`)
      assert.match(readPage(next), /Enter your password again/)
    })

    test("omits those scopes for another owner's client; if no scope remains, the error is invalid_scope", async () => {
      await enterPassword()
      const page = await ask(ofAnother)
      assert.doesNotMatch(readPage(page), /backend/)
      const code = readCode(await visitor.submit(page, 'consent', { decision: 'allow' }))
      const { scope, refresh_token } = await redeem(ofAnother, code)
      assert.equal(scope, 'todo')
      const form = { grant_type: 'refresh_token', refresh_token, scope: admin }
      assert.equal((await world.token(ofAnother, form)).body.error, 'invalid_scope')
      for (const asked of [admin, `${admin},backend.read`])
        assert.equal(readAnswer(await ask(ofAnother, { scope: asked })).parameters['error'], 'invalid_scope')
    })

    test('omits those scopes for the reference, which gets all other scopes of its user', async () => {
      const page = await ask({ id: docsClientId }, { redirect_uri: `${issuer}/docs/signed-in`, scope: undefined })
      assert.match(readPage(page), /todo/)
      assert.doesNotMatch(readPage(page), /backend/)
    })

    test('does not apply after the client was transferred to another owner', async () => {
      await enterPassword()
      const code = readCode(await ask(own))
      const { user_id } = await world.system.db
        .selectFrom('waypost_client')
        .select('user_id')
        .where('id', '=', ofAnother.id)
        .executeTakeFirstOrThrow()
      await world.system.db.updateTable('waypost_client').set({ user_id }).where('id', '=', own.id).execute()
      const second = await world.startSecond() // which has not looked up the client before
      try {
        const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: callback }
        const credentials = { client_id: own.id, client_secret: own.secret }
        const answer = await second.send('POST /authorization/token', { form: { ...form, ...credentials } })
        assert.equal(answer.body.scope, 'todo')
      } finally {
        await second.close()
      }
    })
  })
}
