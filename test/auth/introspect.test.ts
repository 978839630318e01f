import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { decodeJwt } from 'jose'
import { addUser } from '../../src/auth/index.ts'
import { chooseKinds } from '../support/forms.ts'
import { basic, bearer, issuer, type TestRequest } from '../support/server.ts'
import { openWorld, password, setStatus, type Credentials, type World } from './world.ts'

const inactive = { active: false }

for (const kind of chooseKinds('sqlite')) {
  describe(`introspection on ${kind}`, () => {
    let world: World
    let stranger: Credentials
    before(async () => {
      world = await openWorld(kind)
      await addUser(world.system, { name: 'bob', password, scopes: ['note', 'todo'] })
      stranger = await world.addClient({ name: 'strange', user: 'bob' })
    })
    after(() => world.close())

    async function begin(client: Credentials = world.app): Promise<{ access: string; refresh: string }> {
      const { body } = await world.token(client, { grant_type: 'client_credentials' })
      return { access: body.access_token, refresh: body.refresh_token }
    }
    const ask = (token: string, client: Credentials = world.app, form: Readonly<Record<string, string>> = {}) =>
      world.send('POST /authorization/introspect', {
        headers: basic(client.id, client.secret),
        form: { token, ...form },
      })

    test('returns the data of an access token, and that it is active', async () => {
      const { access } = await begin()
      const { exp, iat, jti } = decodeJwt(access)
      const answer = await ask(access)
      assert.equal(answer.status, 200)
      assert.equal(answer.headers.get('cache-control'), 'no-store')
      assert.deepEqual(answer.body, {
        active: true,
        scope: 'note todo',
        client_id: world.app.id,
        username: 'ann',
        token_type: 'bearer',
        exp,
        iat,
        sub: world.annId,
        aud: issuer,
        iss: issuer,
        jti,
      })
    })

    test('returns the data of a refresh token, and that it is not an access token', async () => {
      const { refresh } = await begin()
      const { exp, iat, ...rest } = (await ask(refresh)).body
      assert.deepEqual(rest, {
        active: true,
        scope: 'note todo',
        client_id: world.app.id,
        username: 'ann',
        token_type: 'refresh_token',
        sub: world.annId,
        aud: issuer,
        iss: issuer,
      })
      assert.equal(exp - iat, 30 * 86_400)
    })

    test('accepts client credentials in the body, and any hint', async () => {
      const { access, refresh } = await begin()
      const form = { token: access, client_id: world.app.id, client_secret: world.app.secret }
      assert.equal((await world.send('POST /authorization/introspect', { form })).body.active, true)
      for (const hint of ['access_token', 'refresh_token', 'nonsense', '']) {
        for (const token of [access, refresh]) {
          assert.equal((await ask(token, world.app, { token_type_hint: hint })).body.active, true, hint)
        }
      }
    })

    test('describes tokens of another client only to clients of the same owner', async () => {
      const { access, refresh } = await begin()
      const login = (await world.logIn()).body
      for (const token of [access, refresh]) {
        assert.equal((await ask(token, world.other)).body.client_id, world.app.id)
        assert.deepEqual((await ask(token, stranger)).body, inactive)
      }
      for (const token of [login.token, login.refresh_token]) assert.deepEqual((await ask(token)).body, inactive)
    })

    const ends: readonly { name: string; end(token: string, client: Credentials): Promise<unknown> }[] = [
      {
        name: 'was revoked',
        end: (token, client) =>
          world.send('POST /authorization/revoke', { headers: basic(client.id, client.secret), form: { token } }),
      },
      {
        name: 'was revoked by another process, of which the feed has not told yet',
        end: (token) =>
          token.includes('.')
            ? world.system.db
                .updateTable('waypost_token')
                .set({ revoked_at: 1 })
                .where('jti', '=', decodeJwt(token).jti!)
                .execute()
            : world.system.db.updateTable('waypost_token_family').set({ revoked_at: 1 }).execute(),
      },
    ]
    for (const { name, end } of ends) {
      test(`immediately reports that a token ${name}`, async () => {
        const { access, refresh } = await begin()
        for (const token of [access, refresh]) {
          assert.equal((await ask(token)).body.active, true)
          await end(token, world.app)
          assert.deepEqual((await ask(token)).body, inactive)
        }
      })
    }

    test('reports tokens of a disabled user or client as inactive, and the remaining scopes otherwise', async () => {
      const carl = await addUser(world.system, { name: 'carl', scopes: ['note', 'todo'] })
      const client = await world.addClient({ user: 'carl' })
      const watcher = await world.addClient({ user: 'carl' })
      const { access, refresh } = await begin(client)
      await world.system.db
        .deleteFrom('waypost_user_scope')
        .where('user_id', '=', carl.id)
        .where('scope', '=', 'todo')
        .execute()
      for (const token of [access, refresh]) assert.equal((await ask(token, watcher)).body.scope, 'note')
      await setStatus(world.system, 'client', { id: client.id, status: 'disabled' })
      for (const token of [access, refresh]) assert.deepEqual((await ask(token, watcher)).body, inactive)
      await setStatus(world.system, 'client', { id: client.id, status: 'active' })
      await setStatus(world.system, 'user', { id: carl.id, status: 'disabled' })
      for (const token of [access, refresh]) assert.deepEqual((await ask(token, watcher)).body, inactive)
    })

    test('reports used refresh tokens and expired tokens as inactive', async () => {
      const { access, refresh } = await begin()
      await world.token(world.app, { grant_type: 'refresh_token', refresh_token: refresh })
      assert.deepEqual((await ask(refresh)).body, inactive)
      assert.equal((await ask(access)).body.active, true)
      world.clock.forward(3_600_000)
      assert.deepEqual((await ask(access)).body, inactive)
    })

    test('returns only "inactive" for an invalid token', async () => {
      const { access } = await begin()
      const [header, payload] = access.split('.')
      const forged = `${Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')}.${payload}.`
      const strange = `${Buffer.from('{"alg":"ES256","kid":{"toString":1}}').toString('base64url')}.${payload}.AAAA`
      for (const token of ['x', 'a.b.c', '\0', '%', `${header}.${payload}.AAAA`, forged, strange, 'x'.repeat(10_000)]) {
        const answer = await ask(token)
        assert.equal(answer.status, 200, token)
        assert.deepEqual(answer.body, inactive)
      }
    })

    const refused: readonly {
      name: string
      request: (world: World) => TestRequest
      query?: string
      status: number
      error: string
    }[] = [
      { name: 'nobody', request: () => ({ form: { token: 'x' } }), status: 401, error: 'invalid_client' },
      {
        name: 'a wrong secret',
        request: ({ app }) => ({ headers: basic(app.id, 'wrong'), form: { token: 'x' } }),
        status: 401,
        error: 'invalid_client',
      },
      {
        name: 'a client without a secret',
        request: ({ publicId }) => ({ form: { token: 'x', client_id: publicId } }),
        status: 401,
        error: 'invalid_client',
      },
      {
        name: 'an access token in the place of a client',
        request: () => ({ headers: bearer('x'), form: { token: 'x' } }),
        status: 401,
        error: 'invalid_client',
      },
      {
        name: 'no token',
        request: ({ app }) => ({ headers: basic(app.id, app.secret), form: {} }),
        status: 400,
        error: 'invalid_request',
      },
      {
        name: 'two tokens',
        request: ({ app }) => ({ headers: basic(app.id, app.secret), form: 'token=x&token=y' }),
        status: 400,
        error: 'invalid_request',
      },
      {
        name: 'a token in the query',
        query: '?token=x',
        request: ({ app }) => ({ headers: basic(app.id, app.secret), form: { token: 'x' } }),
        status: 400,
        error: 'invalid_request',
      },
      {
        name: 'JSON',
        request: ({ app }) => ({ headers: basic(app.id, app.secret), json: { token: 'x' } }),
        status: 400,
        error: 'invalid_request',
      },
    ]
    for (const { name, request, query = '', status, error } of refused) {
      test(`rejects ${name}`, async () => {
        const answer = await world.send(`POST /authorization/introspect${query}`, request(world))
        assert.equal(answer.status, status, answer.text)
        assert.equal(answer.body.error, error)
        assert.equal(answer.headers.has('www-authenticate'), status === 401)
        assert.equal(answer.headers.get('cache-control'), 'no-store')
      })
    }
  })
}
