import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { addUser, backendScopes } from '../../src/auth/index.ts'
import { chooseKinds } from '../support/forms.ts'
import { bearer } from '../support/server.ts'
import { openWorld, password, setStatus, type Credentials, type World } from './world.ts'

for (const kind of chooseKinds('sqlite')) {
  describe(`the password grant on ${kind}`, () => {
    let world: World
    let trusted: Credentials
    before(async () => {
      world = await openWorld(kind)
      trusted = await world.addClient({ name: 'trusted', grants: ['password', 'refresh_token'] })
    })
    after(() => world.close())
    const form = { grant_type: 'password', username: 'ann', password }
    const wrong = { ...form, password: 'wrong wrong' }

    test('is off unless a client was given it', async () => {
      const answer = await world.token(world.app, form)
      assert.deepEqual([answer.status, answer.body.error], [400, 'unauthorized_client'])
      const builtIn = await world.send('POST /authorization/token', {
        form: { ...form, client_id: '00000000-0000-4000-8000-000000000001' },
      })
      assert.equal(builtIn.body.error, 'unauthorized_client')
    })

    test('looks at all of a password, however long it is', async () => {
      const longest = 'ap'.repeat(512)
      await addUser(world.system, { name: 'long', password: longest, scopes: ['todo'] })
      const ask = async (text: string) =>
        (await world.token(trusted, { grant_type: 'password', username: 'long', password: text })).status
      assert.equal(await ask(longest), 200)
      assert.equal(await ask(`${longest}p`), 400)
    })

    test('returns tokens for a name and password, with the scopes that client and user share', async () => {
      const { status, body } = await world.token(trusted, form)
      assert.equal(status, 200)
      assert.deepEqual([body.token_type, body.expires_in, body.scope], ['bearer', 3600, 'note todo'])
      const said = (await world.send('GET /todo', { headers: bearer(body.access_token) })).body
      assert.deepEqual(said, { user: 'ann', scopes: ['note', 'todo'] })
      const next = await world.token(trusted, { grant_type: 'refresh_token', refresh_token: body.refresh_token })
      assert.equal(next.status, 200)
      assert.equal((await world.token(trusted, { ...form, scope: 'todo,consumer' })).body.scope, 'todo')
      const none = await world.token(trusted, { ...form, scope: 'consumer' })
      assert.deepEqual([none.status, none.body.error], [400, 'invalid_scope'])
    })

    test('works for a client without a secret, and issues no refresh token to a client without that grant', async () => {
      const { id } = await world.addClient({ name: 'native', public: true, grants: ['password'] })
      const { status, body } = await world.send('POST /authorization/token', { form: { ...form, client_id: id } })
      assert.equal(status, 200)
      assert.equal(body.refresh_token, undefined)
    })

    test('returns the same error for a wrong password, an unknown name and a disabled user', async () => {
      const gone = await addUser(world.system, { name: 'gone', password, scopes: ['todo'] })
      await setStatus(world.system, 'user', { id: gone.id, status: 'disabled' })
      const answers = [
        await world.token(trusted, wrong),
        await world.token(trusted, { ...form, username: 'nobody' }),
        await world.token(trusted, { ...form, username: 'a\0b' }),
        await world.token(trusted, { ...form, username: 'gone' }),
      ]
      for (const { status, body } of answers) {
        assert.equal(status, 400)
        assert.deepEqual(body, answers[0]!.body)
      }
      assert.equal(answers[0]!.body.error, 'invalid_grant')
    })

    test('needs a name and a password', async () => {
      for (const missing of ['username', 'password']) {
        const answer = await world.token(trusted, { ...form, [missing]: '' })
        assert.deepEqual([answer.status, answer.body.error], [400, 'invalid_request'])
        assert.match(answer.body.error_description, new RegExp(missing))
        const { status } = await world.send(`POST /authorization/token?${missing}=x`, { form })
        assert.equal(status, 400)
      }
    })

    test('grants no administration scope to a client of another owner', async () => {
      const scopes = [...backendScopes, 'todo']
      const [boss] = await Promise.all(
        ['boss', 'rival'].map((name) => addUser(world.system, { name, password, scopes })),
      )
      const [own, foreign] = await Promise.all(
        ['boss', 'rival'].map((user) => world.addClient({ user, scopes, grants: ['password'] })),
      )
      const ask = (client: Credentials, scope = '') => world.token(client, { ...form, username: 'boss', scope })
      assert.deepEqual((await ask(own!)).body.scope.split(' ').toSorted(), scopes.toSorted())
      assert.equal((await ask(foreign!)).body.scope, 'todo')
      assert.equal((await ask(foreign!, 'backend.admin')).body.error, 'invalid_scope')
      assert.ok(boss)
    })

    test('is throttled together with all other logins, with an OAuth2 error', async () => {
      for (const username of ['ann', 'nobody at all']) {
        world.clock.forward(15 * 60_000)
        for (let count = 0; count < 5; count++) {
          assert.equal((await world.token(trusted, { ...wrong, username })).status, 400)
          const login = { json: { username, password: 'wrong wrong' } }
          assert.equal((await world.send('POST /consumer/login', login)).status, 401)
        }
        const answer = await world.token(trusted, { ...form, username })
        assert.deepEqual([answer.status, answer.body.error], [429, 'temporarily_unavailable'], username)
        assert.deepEqual(Object.keys(answer.body), ['error', 'error_description'])
        const seconds = Number(answer.headers.get('retry-after'))
        assert.ok(seconds > 0 && seconds <= 900, String(seconds))
        assert.equal(answer.headers.get('cache-control'), 'no-store')
      }
      world.clock.forward(15 * 60_000)
      assert.equal((await world.token(trusted, form)).status, 200)
    })
  })
}
