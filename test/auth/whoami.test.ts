import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { decodeJwt } from 'jose'
import { addUser } from '../../src/auth/index.ts'
import { chooseKinds } from '../support/forms.ts'
import { basic, bearer, type TestAnswer } from '../support/server.ts'
import { openWorld, password, type World } from './world.ts'

for (const kind of chooseKinds('sqlite')) {
  describe(`whoami on ${kind}`, () => {
    let world: World
    before(async () => {
      world = await openWorld(kind)
    })
    after(() => world.close())
    const ask = (token: string): Promise<TestAnswer> =>
      world.send('GET /authorization/whoami', { headers: bearer(token) })

    test('returns the user, the client, the scopes and the expiry of the token', async () => {
      const { access_token: token } = (
        await world.token(world.app, { grant_type: 'client_credentials', scope: 'todo' })
      ).body
      const { exp = 0, iat = 0, jti } = decodeJwt(token)
      const answer = await ask(token)
      assert.equal(answer.status, 200)
      assert.equal(answer.headers.get('cache-control'), 'no-store')
      assert.deepEqual(answer.body, {
        sub: world.annId,
        user: { id: world.annId, name: 'ann' },
        client: { id: world.app.id, name: 'app' },
        scope: 'todo',
        jti,
        issued_at: new Date(iat * 1000).toISOString(),
        expires_at: new Date(exp * 1000).toISOString(),
      })
      assert.equal((await ask(`${token}   `)).status, 200)
    })

    test('requires no scope: tokens without scopes, or whose scopes were withdrawn, are accepted', async () => {
      const bare = await addUser(world.system, { name: 'bare', password, scopes: [] })
      const { token } = (await world.logIn({ json: { username: 'bare', password } })).body
      const { user, scope } = (await ask(token)).body
      assert.deepEqual([user, scope], [{ id: bare.id, name: 'bare' }, ''])
    })

    test('returns 401 for an invalid header: nginx turns any other status into a 500', async () => {
      for (const authorization of ['Bearer', 'Bearer ', 'bearer  ', 'Basic eDp5', 'Bearer a b', 'Bearer x, Bearer y']) {
        const answer = await world.send('GET /authorization/whoami', { headers: { authorization } })
        assert.equal(answer.status, 401, authorization)
        assert.match(answer.headers.get('www-authenticate') ?? '', /^Bearer realm="waypost"/)
      }
    })

    test('shows by its status that a token was revoked, unlike introspection', async () => {
      const { access_token: token } = (await world.token(world.app, { grant_type: 'client_credentials' })).body
      const introspect = () =>
        world.send('POST /authorization/introspect', {
          headers: basic(world.app.id, world.app.secret),
          form: { token },
        })
      assert.deepEqual([(await ask(token)).status, (await introspect()).status], [200, 200])
      const form = { token }
      await world.send('POST /authorization/revoke', { headers: basic(world.app.id, world.app.secret), form })
      assert.deepEqual([(await ask(token)).status, (await introspect()).status], [401, 200])
    })

    test('rejects requests without a valid token', async () => {
      const { token, refresh_token: refresh } = (await world.logIn()).body
      const without = await world.send('GET /authorization/whoami')
      assert.equal(without.status, 401)
      assert.match(without.headers.get('www-authenticate') ?? '', /^Bearer realm="waypost"(?!.*error=)/)
      for (const wrong of [`${token}x`, refresh, 'x']) assert.equal((await ask(wrong)).status, 401)
      world.clock.forward(3_600_000)
      const late = await ask(token)
      assert.equal(late.status, 401)
      assert.match(late.headers.get('www-authenticate') ?? '', /error="invalid_token"/)
      assert.equal(late.headers.get('content-type'), 'application/problem+json')
      assert.equal(late.headers.get('cache-control'), 'no-store')
    })
  })
}
