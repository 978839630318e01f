import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import {
  addClient,
  addUser,
  addUserScopes,
  findClient,
  findUser,
  loadUserScopes,
  openKeyRing,
  type NewClient,
  type NewUser,
} from '../../src/auth/index.ts'
import { defaultSettings } from '../../src/kit/index.ts'
import { signAccessToken, verifyAccessToken } from '../../src/auth/token/access-token.ts'
import { makeSecrets, type System } from '../../src/store/index.ts'
import { chooseKinds } from '../support/forms.ts'
import { issuer, startTestServer, type TestServer } from '../support/server.ts'

const secrets = makeSecrets('a secret of more than 32 characters')

for (const kind of chooseKinds('sqlite')) {
  describe(`users, clients and keys on ${kind}`, () => {
    let server: TestServer
    let system: System
    before(async () => {
      server = await startTestServer({ kind })
      system = server.host.system
      await addUser(system, { name: 'ann', scopes: ['note', 'todo'] })
    })
    after(() => server.close())

    const badUsers: readonly (readonly [Partial<NewUser>, string])[] = [
      [{ name: 'ann' }, 'WP_AUTH_USER_EXISTS'],
      [{ name: '' }, 'WP_AUTH_NAME'],
      [{ name: 'a b' }, 'WP_AUTH_NAME'],
      [{ name: '.' }, 'WP_AUTH_NAME'],
      [{ name: '..' }, 'WP_AUTH_NAME'],
      [{ name: 'a\n' }, 'WP_AUTH_NAME'],
      [{ name: 'a'.repeat(65) }, 'WP_AUTH_NAME'],
      [{ name: 'bob', password: '1234567' }, 'WP_AUTH_PASSWORD_WEAK'],
      [{ name: 'bob', scopes: ['a b'] }, 'WP_AUTH_SCOPE_NAME'],
      [{ name: 'bob', scopes: ['a,b'] }, 'WP_AUTH_SCOPE_NAME'],
      [{ name: 'bob', scopes: ['"'] }, 'WP_AUTH_SCOPE_NAME'],
      [{ name: 'bob', scopes: [''] }, 'WP_AUTH_SCOPE_NAME'],
    ]
    for (const [user, code] of badUsers) {
      test(`no user is added from ${JSON.stringify(user).slice(0, 60)}`, async () => {
        await assert.rejects(addUser(system, { name: 'bob', scopes: [], ...user }), { code, kind: 'user' })
        await assert.rejects(findUser(system, 'bob'), { code: 'WP_AUTH_USER_UNKNOWN' })
      })
    }

    test('a name can be added once; of concurrent callers, one succeeds', async () => {
      const adding = Array.from({ length: 5 }, (_, index) => addUser(system, { name: 'once', scopes: [`s${index}`] }))
      const results = await Promise.allSettled(adding)
      assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
      assert.equal((await loadUserScopes(system.db, (await findUser(system, 'once')).id)).length, 1)
    })

    test('an unknown name suggests the nearest name', async () => {
      await assert.rejects(findUser(system, 'anne'), { code: 'WP_AUTH_USER_UNKNOWN', hint: 'Did you mean "ann"?' })
      await assert.rejects(findUser(system, 'zzzzzz'), {
        hint: 'List the users with waypost user:list, or add this one: waypost user:add zzzzzz',
      })
    })

    test('a user gets scopes that are missing, each once', async () => {
      const { id } = await addUser(system, { name: 'grow', scopes: ['a', 'a'] })
      await addUserScopes(system, id, ['a', 'b', 'b'])
      await addUserScopes(system, id, [])
      assert.deepEqual(await loadUserScopes(system.db, id), ['a', 'b'])
    })

    const client: NewClient = { name: 'c', user: 'ann', scopes: [], grants: [], redirectUris: [], public: false }
    const badClients: readonly (readonly [Partial<NewClient>, string])[] = [
      [{ user: 'nobody' }, 'WP_AUTH_USER_UNKNOWN'],
      [{ scopes: ['todo', 'admin'] }, 'WP_AUTH_SCOPE_LACKED'],
      [{ scopes: ['TODO'] }, 'WP_AUTH_SCOPE_LACKED'],
      [{ scopes: ['a b'] }, 'WP_AUTH_SCOPE_NAME'],
      [{ grants: ['implicit'] }, 'WP_AUTH_GRANT_UNKNOWN'],
      [{ grants: ['constructor'] }, 'WP_AUTH_GRANT_UNKNOWN'],
      [{ name: '' }, 'WP_AUTH_CLIENT_NAME'],
      [{ name: 'a\nb' }, 'WP_AUTH_CLIENT_NAME'],
    ]
    for (const [change, code] of badClients) {
      test(`no client is added from ${JSON.stringify(change)}`, async () => {
        await assert.rejects(addClient(system, { ...client, ...change }), { code, kind: 'user' })
      })
    }

    test('a client has a secret of 256 bits, stored only as its hash; a public one has none', async () => {
      const { id, secret = '' } = await addClient(system, { ...client, scopes: ['todo'] })
      assert.equal(Buffer.from(secret, 'base64url').length, 32)
      const rows = await system.db.selectFrom('waypost_client').selectAll().execute()
      assert.ok(!JSON.stringify(rows).includes(secret))
      assert.equal((await findClient(system, id))?.status, 'active')
      assert.equal((await addClient(system, { ...client, public: true })).secret, undefined)
    })

    test('processes that make the first key at once understand one another', async () => {
      await system.db.deleteFrom('waypost_key').execute()
      const rings = await Promise.all([1, 2, 3].map(() => openKeyRing(system, secrets)))
      const signers = rings.map((keys) => ({ keys, clock: server.clock, issuer, settings: () => defaultSettings }))
      const grantee = { userId: 'u', clientId: 'c', scopes: [] }
      for (const signer of signers) {
        const token = await signAccessToken(signer, grantee, 60_000)
        for (const other of signers) assert.deepEqual(await verifyAccessToken(other, token.jwt), { jti: token.jti })
      }
    })

    test('a private key is sealed in System, and does not open under another secret', async () => {
      const keys = await openKeyRing(system, secrets)
      const row = await system.db
        .selectFrom('waypost_key')
        .selectAll()
        .where('id', '=', keys.signer.kid)
        .executeTakeFirstOrThrow()
      const { d = '' } = keys.signer.key.export({ format: 'jwk' })
      assert.equal(typeof d, 'string')
      assert.ok(!JSON.stringify(row).includes(d))
      assert.ok(!('d' in (JSON.parse(row.public_jwk) as object)))
      const strange = makeSecrets('quite another secret of 32 characters')
      await assert.rejects(openKeyRing(system, strange), { code: 'WP_STORE_SEALED' })
    })

    test('a token is good for as long as it was signed for, by a clock that is turned', async () => {
      const keys = await openKeyRing(system, secrets)
      const signer = { keys, clock: server.clock, issuer, settings: () => defaultSettings }
      const token = await signAccessToken(signer, { userId: 'u', clientId: 'c', scopes: ['a', 'b'] }, 90_500)
      assert.equal(token.expiresIn, 90)
      const { exp, iat = 0, scope } = decodeJwt(token.jwt)
      assert.deepEqual([exp, scope], [iat + 90, 'a b'])
      assert.equal(decodeProtectedHeader(token.jwt).kid, keys.signer.kid)
      server.clock.forward(91_000)
      const verified = await verifyAccessToken(signer, token.jwt)
      assert.ok('reason' in verified && verified.reason === 'has expired')
    })
  })
}

test('tokens have the lifetime that the release sets', async () => {
  await using server = await startTestServer({ kind: 'sqlite', config: { token_lifetime: '2m' } })
  await addUser(server.host.system, { name: 'ann', password: 'correct horse', scopes: [] })
  const { body } = await server.send('POST /consumer/login', { json: { username: 'ann', password: 'correct horse' } })
  assert.equal(body.expires_in, 120)
})
