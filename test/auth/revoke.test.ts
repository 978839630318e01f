import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { revokeTokens } from '../../src/auth/index.ts'
import { defaultKinds } from '../support/forms.ts'
import { basic, bearer, type TestRequest } from '../support/server.ts'
import { until } from '../support/until.ts'
import { openWorld, type Credentials, type World } from './world.ts'

for (const kind of defaultKinds) {
  describe(`revocation on ${kind}`, () => {
    let world: World
    before(async () => {
      world = await openWorld(kind)
    })
    after(() => world.close())

    async function begin(client: Credentials = world.app): Promise<{ access: string; refresh: string }> {
      const { body } = await world.token(client, { grant_type: 'client_credentials' })
      assert.equal(await use(body.access_token), 200) // now it is cached
      return { access: body.access_token, refresh: body.refresh_token }
    }
    const use = async (token: string) => (await world.send('GET /any', { headers: bearer(token) })).status
    const renew = async (token: string, client: Credentials = world.app) =>
      (await world.token(client, { grant_type: 'refresh_token', refresh_token: token })).status
    const revoke = (token: string, client: Credentials = world.app) =>
      world.send('POST /authorization/revoke', { headers: basic(client.id, client.secret), form: { token } })

    test('of an access token revokes it immediately, and no other token', async () => {
      const { access, refresh } = await begin()
      const answer = await revoke(access)
      assert.equal(answer.status, 200)
      assert.equal(answer.headers.get('cache-control'), 'no-store')
      assert.equal(await use(access), 401)
      assert.equal(await renew(refresh), 200)
    })

    test('of a refresh token revokes every token of its family immediately', async () => {
      const first = await begin()
      const { body } = await world.token(world.app, { grant_type: 'refresh_token', refresh_token: first.refresh })
      assert.equal(await use(body.access_token), 200)
      assert.equal((await revoke(first.refresh)).status, 200)
      assert.deepEqual(await Promise.all([first.access, body.access_token].map(use)), [401, 401])
      assert.equal(await renew(body.refresh_token), 400)
    })

    test('of an unknown or revoked token succeeds', async () => {
      const { access } = await begin()
      const tokens = ['x', 'a.b.c', '\0', access, access, `${access}x`, 'eyJhbGciOiJub25lIn0.eyJqdGkiOiJcdTAwMDAifQ.']
      for (const token of tokens) assert.equal((await revoke(token)).status, 200, token)
    })

    test('accepts any hint, right or wrong, and client credentials in the body', async () => {
      for (const hint of ['access_token', 'refresh_token', 'nonsense', '']) {
        const { access, refresh } = await begin()
        for (const token of [access, refresh]) {
          const client = { client_id: world.app.id, client_secret: world.app.secret }
          const form = { ...client, token, token_type_hint: hint }
          assert.equal((await world.send('POST /authorization/revoke', { form })).status, 200)
        }
        assert.deepEqual([await use(access), await renew(refresh)], [401, 400], hint)
      }
    })

    test('counts on every other server', async () => {
      await using second = await world.startSecond()
      const { access } = await begin()
      const useThere = async () => (await second.send('GET /any', { headers: bearer(access) })).status
      assert.equal(await useThere(), 200)
      await revoke(access)
      await until('it is refused', async () => (await useThere()) === 401)
    })

    test('does not affect tokens of another client', async () => {
      const { access, refresh } = await begin()
      assert.equal((await revoke(access, world.other)).status, 200)
      assert.equal((await revoke(refresh, world.other)).status, 200)
      assert.equal(await use(access), 200)
      assert.equal(await renew(refresh), 200)
    })

    test('of a login token requires the token itself: its id is not enough', async () => {
      const { body } = await world.logIn()
      const [, payload = ''] = body.token.split('.')
      const forged = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`
      const ask = (token: string) =>
        world.send('POST /authorization/revoke', { form: { token, client_id: '00000000-0000-4000-8000-000000000001' } })
      const strange = `${Buffer.from('{"alg":"ES256","kid":{"toString":1}}').toString('base64url')}.${payload}.AAAA`
      for (const one of [forged, strange]) assert.equal((await ask(one)).status, 200)
      assert.equal(await use(body.token), 200)
      assert.equal((await ask(body.token)).status, 200)
      assert.equal(await use(body.token), 401)
    })

    const refused: readonly { name: string; request: TestRequest; query?: string; status: number; error: string }[] = [
      { name: 'without a client', request: { form: { token: 'x' } }, status: 401, error: 'invalid_client' },
      {
        name: 'with a wrong secret',
        request: { headers: basic('00000000-0000-4000-8000-000000000002', 'x'), form: { token: 'x' } },
        status: 401,
        error: 'invalid_client',
      },
      {
        name: 'without a token',
        request: { form: { client_id: '00000000-0000-4000-8000-000000000001' } },
        status: 400,
        error: 'invalid_request',
      },
      {
        name: 'with the token in the query',
        query: '?token=x',
        request: { form: { client_id: '00000000-0000-4000-8000-000000000001', token: 'x' } },
        status: 400,
        error: 'invalid_request',
      },
      { name: 'as JSON', request: { json: { token: 'x' } }, status: 400, error: 'invalid_request' },
    ]
    for (const { name, request, query = '', status, error } of refused) {
      test(`is rejected ${name}`, async () => {
        const answer = await world.send(`POST /authorization/revoke${query}`, request)
        assert.equal(answer.status, status, answer.text)
        assert.equal(answer.body.error, error)
        assert.equal(answer.headers.get('cache-control'), 'no-store')
      })
    }

    test('of a user or of a client revokes all their tokens, and reports how many were valid', async () => {
      const client = await world.addClient({})
      const [first, second] = [await begin(client), await begin(client)]
      const login = await world.logIn()
      assert.equal(await revokeTokens(world.system, { clientId: client.id }, world.clock.now()), 2)
      assert.equal(await renew(first.refresh, client), 400)
      await world.server.feed.catchUp()
      assert.deepEqual(await Promise.all([first.access, second.access, login.body.token].map(use)), [401, 401, 200])
      assert.ok((await revokeTokens(world.system, { userId: world.annId }, world.clock.now())) >= 1)
      await world.server.feed.catchUp()
      assert.equal(await use(login.body.token), 401)
      assert.equal(await revokeTokens(world.system, { userId: world.annId }, world.clock.now()), 0)
    })

    test('of a family leaves no token behind that is issued in it at the same moment', async () => {
      for (let round = 0; round < 10; round++) {
        const { refresh } = await begin()
        const [renewed] = await Promise.all([
          world.token(world.app, { grant_type: 'refresh_token', refresh_token: refresh }),
          revoke(refresh),
        ])
        if (renewed.status === 200) assert.equal(await use(renewed.body.access_token), 401)
      }
    })
  })
}
