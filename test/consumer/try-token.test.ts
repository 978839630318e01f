import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { decodeJwt } from 'jose'
import { docsClientId } from '../../src/auth/index.ts'
import { setStatus } from '../auth/world.ts'
import { signInToPortal } from '../auth/authorize/visitor.ts'
import { defaultKinds } from '../support/forms.ts'
import { openPeople, sendAs, type People } from './people.ts'

for (const kind of defaultKinds) {
  describe(`a token for trying calls on ${kind}`, () => {
    let people: People
    before(async () => {
      people = await openPeople(kind, { config: { portal: true } })
    })
    after(() => people.close())

    test('has the scopes of its user except consumer and those of administration, for 15 minutes', async () => {
      const { send } = await people.come('operator', ['consumer', 'todo', 'note', 'backend.deploy'])
      const { status, body, headers } = await send('POST /consumer/token')
      assert.equal(status, 201)
      assert.equal(headers.get('cache-control'), 'no-store')
      assert.deepEqual(Object.keys(body).toSorted(), ['access_token', 'expires_in', 'scope', 'token_type'])
      assert.deepEqual([body.token_type, body.expires_in], ['bearer', 900])
      assert.deepEqual(body.scope.split(' ').toSorted(), ['note', 'todo'])
      const { client_id: client, exp, iat } = decodeJwt(body.access_token)
      assert.deepEqual([client, exp! - iat!], [docsClientId, 900])
      assert.equal(await people.use(body.access_token), 200)
      const tried = sendAs(people, body.access_token)
      for (const path of ['consumer/account', 'consumer/token', 'backend/account'])
        assert.equal((await tried(`GET /${path}`)).status, 403, path)
    })

    test('has the scopes that were asked for', async () => {
      const { send } = await people.come('ann')
      const { body } = await send('POST /consumer/token', { scopes: ['note', 'consumer', 'note'] })
      assert.equal(body.scope, 'note consumer')
      const tried = sendAs(people, body.access_token)
      assert.equal((await tried('GET /consumer/account')).status, 200)
      for (const line of ['GET /consumer/client', 'GET /consumer/token', 'POST /consumer/token'])
        assert.equal((await tried(line)).status, 403, line)
      assert.equal((await send('POST /consumer/token', { scopes: [] })).body.scope, '')
    })

    test('cannot have a scope of administration, or one that the token of the request lacks', async () => {
      const root = await people.come('operator', ['consumer', 'todo', 'note', 'backend.deploy'])
      const narrow = await people.narrow(root, 'consumer note')
      const asked = [
        await root.send('POST /consumer/token', { scopes: ['todo', 'backend.deploy'] }),
        await root.send('POST /consumer/token', { scopes: ['order'] }),
        await narrow('POST /consumer/token', { scopes: ['todo'] }),
      ]
      for (const { status, body } of asked) {
        assert.equal(status, 403)
        assert.match(body.type, /#WP_AUTH_TRY_SCOPE$/)
      }
      assert.equal((await narrow('POST /consumer/token')).body.scope, 'note')
      for (const scopes of ['todo', [''], ['a b'], [1], Array.from({ length: 101 }, () => 'todo')])
        assert.ok([400, 403].includes((await root.send('POST /consumer/token', { scopes })).status), String(scopes))
      assert.equal((await root.send('POST /consumer/token', { scopes: ['todo'], expires: '1y' })).status, 400)
    })

    test('is for users, not for third-party clients', async () => {
      await people.come('lender')
      const { token } = await people.lend('lender')
      const { status, body } = await sendAs(people, token)('POST /consumer/token')
      assert.deepEqual([status, body.type.split('#')[1]], [403, 'WP_CONSUMER_LOGIN_NEEDED'])
    })

    test('is listed and can be revoked; a change of the password ends it', async () => {
      const user = await people.come('reviser')
      const portal = sendAs(people, await signInToPortal(people, 'reviser'))
      const first = (await portal('POST /consumer/token')).body.access_token
      const second = (await portal('POST /consumer/token')).body.access_token
      const { entry } = (await user.send('GET /consumer/token')).body
      const listed = entry.filter(({ client }: { client: { id: string } }) => client.id === docsClientId)
      assert.equal(listed.length, 2)
      assert.equal((await portal(`DELETE /consumer/token/${decodeJwt(first).jti}`)).status, 204)
      assert.deepEqual([await people.use(first), await people.use(second)], [401, 200])
      const words = { old: 'correct horse battery', new: 'a better horse battery' }
      assert.equal((await portal('PUT /consumer/account/password', words)).status, 204)
      assert.equal(await people.use(second), 401)
    })

    test('can be requested 30 times a minute', async () => {
      const { send } = await people.come('eager')
      const statuses = await Promise.all(
        Array.from({ length: 32 }, async () => (await send('POST /consumer/token')).status),
      )
      assert.deepEqual(
        statuses.toSorted((one, other) => one - other),
        Array.from({ length: 32 }, (_, index) => (index < 30 ? 201 : 429)),
      )
      const refused = await send('POST /consumer/token')
      assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/)
      people.clock.forward(60_001)
      assert.equal((await send('POST /consumer/token')).status, 201)
    })

    test('is not issued while the client of the API reference is disabled', async () => {
      const { send } = await people.come('late')
      await setStatus(people.system, 'client', { id: docsClientId, status: 'disabled' })
      const { status, body } = await send('POST /consumer/token')
      assert.deepEqual([status, body.type.split('#')[1]], [409, 'WP_AUTH_TRY_CLIENT'])
      await setStatus(people.system, 'client', { id: docsClientId, status: 'active' })
      assert.equal((await send('POST /consumer/token')).status, 201)
    })
  })
}
