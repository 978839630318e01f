import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { addUser, addUserScopes, loginClientId, removeUserScopes } from '../../../src/auth/index.ts'
import { endAccess } from '../../../src/auth/access/end-access.ts'
import { sha256 } from '../../../src/kit/index.ts'
import { bearer, type TestAnswer } from '../../support/server.ts'
import { until } from '../../support/until.ts'
import { countWaiting, openWorld, password, setStatus, type Credentials, type World } from '../world.ts'
import {
  callback,
  makeVisitor,
  obtainCode,
  readCode,
  requestOf,
  verifier,
  type Parameters,
  type Visitor,
} from './visitor.ts'
import { chooseKinds } from '../../support/forms.ts'

type Form = Readonly<Record<string, string>>

for (const kind of chooseKinds('postgresql')) {
  describe(`a code on ${kind}`, () => {
    let world: World
    let client: Credentials
    let other: Credentials
    let spaId: string
    let visitor: Visitor
    before(async () => {
      world = await openWorld(kind)
      const grants = ['authorization_code', 'refresh_token']
      client = await world.addClient({ grants, redirectUris: [callback] })
      other = await world.addClient({ grants, redirectUris: [callback] })
      spaId = (await world.addClient({ grants, public: true, redirectUris: [callback] })).id
      visitor = makeVisitor(world)
      await visitor.logIn(await visitor.authorize(requestOf(client)))
    })
    after(() => world.close())

    // ann owns the clients, so no consent is needed.
    const obtain = async (change: Parameters = {}, of: { id: string } = client) =>
      readCode(await visitor.authorize(requestOf(of, change)))
    const formOf = (code: string, change: Parameters = {}) => {
      const form = {
        grant_type: 'authorization_code',
        code,
        code_verifier: verifier,
        redirect_uri: callback,
        ...change,
      }
      return Object.fromEntries(Object.entries(form).filter(([, value]) => value !== undefined)) as Form
    }
    const redeem = (code: string, change: Parameters = {}, by: Credentials = client) =>
      world.token(by, formOf(code, change))
    const use = async (token: string) => (await world.send('GET /any', { headers: bearer(token) })).status

    function assertInvalid(answer: TestAnswer, error = 'invalid_grant'): void {
      assert.equal(answer.status, 400, answer.text)
      assert.equal(answer.body.error, error)
      assert.equal(answer.headers.get('cache-control'), 'no-store')
      assert.deepEqual(Object.keys(answer.body).sort(), ['error', 'error_description'])
    }

    test('has 256 bits and is stored as a hash', async () => {
      const code = await obtain()
      assert.equal(Buffer.from(code, 'base64url').length, 32)
      const rows = await world.system.db.selectFrom('waypost_code').selectAll().execute()
      assert.ok(rows.some((row) => row.hash === sha256(code)))
      assert.ok(!JSON.stringify(rows).includes(code))
    })

    test('is exchanged for tokens that work, and that can be renewed', async () => {
      const answer = await redeem(await obtain())
      assert.equal(answer.status, 200, answer.text)
      const { access_token, refresh_token, ...rest } = answer.body
      assert.deepEqual(rest, { token_type: 'bearer', expires_in: 3600, scope: 'note todo' })
      const { body } = await world.send('GET /todo', { headers: bearer(access_token) })
      assert.deepEqual(body, { user: 'ann', scopes: ['note', 'todo'] })
      const renewed = await world.token(client, { grant_type: 'refresh_token', refresh_token })
      assert.equal(renewed.body.scope, 'note todo')
    })

    test('is exchanged by a client without a secret too, which only names itself', async () => {
      const form = { ...formOf(await obtain({}, { id: spaId })), client_id: spaId }
      const answer = await world.send('POST /authorization/token', { form })
      assert.equal(answer.status, 200, answer.text)
      assert.equal(await use(answer.body.access_token), 200)
    })

    test('issues no refresh token to a client without that grant', async () => {
      const plain = await world.addClient({ grants: ['authorization_code'], redirectUris: [callback] })
      const { body } = await redeem(await obtain({}, plain), {}, plain)
      assert.deepEqual(Object.keys(body).sort(), ['access_token', 'expires_in', 'scope', 'token_type'])
    })

    test('returns scopes with the separator of the authorization request, regardless of the token request', async () => {
      assert.equal((await redeem(await obtain({ scope: 'todo,note' }))).body.scope, 'todo,note')
      assert.equal((await redeem(await obtain({ scope: 'todo note' }), { scope: 'note,x' })).body.scope, 'todo note')
    })

    const wrong: readonly (readonly [name: string, change: Parameters])[] = [
      ['no verifier', { code_verifier: undefined }],
      ['an empty verifier', { code_verifier: '' }],
      ['another verifier', { code_verifier: `${verifier.slice(1)}x` }],
      ['the challenge as its verifier', { code_verifier: createHash('sha256').update(verifier).digest('base64url') }],
      ['a short verifier', { code_verifier: verifier.slice(0, 42) }],
      ['a long verifier', { code_verifier: verifier.padEnd(129, 'x') }],
      ['a verifier with more behind it', { code_verifier: `${verifier} ` }],
      ['no redirect URI', { redirect_uri: undefined }],
      ['another redirect URI', { redirect_uri: `${callback}/` }],
      ['a redirect URI of another case', { redirect_uri: 'https://app.example.com/Callback' }],
    ]
    for (const [name, change] of wrong) {
      test(`is not exchanged with ${name}, and stays valid`, async () => {
        const code = await obtain()
        assertInvalid(await redeem(code, change))
        assert.equal((await redeem(code)).status, 200)
      })
    }

    test('is not exchanged by another client, and stays valid', async () => {
      const code = await obtain()
      assertInvalid(await redeem(code, {}, other))
      const form = { ...formOf(code), client_id: spaId }
      assertInvalid(await world.send('POST /authorization/token', { form }))
      const login = { ...formOf(code), client_id: loginClientId }
      assertInvalid(await world.send('POST /authorization/token', { form: login }), 'unauthorized_client')
      const { status, body } = await redeem(code)
      assert.equal(status, 200)
      assertInvalid(await redeem(code, {}, other))
      assert.equal(await use(body.access_token), 200, 'what another client does revokes nothing')
    })

    test('is not exchanged by a client that authenticates wrongly', async () => {
      const code = await obtain()
      const answer = await redeem(code, {}, { id: client.id, secret: 'wrong' })
      assert.deepEqual([answer.status, answer.body.error], [401, 'invalid_client'])
      const bare = await world.send('POST /authorization/token', { form: { ...formOf(code), client_id: client.id } })
      assert.equal(bare.status, 401)
      assert.equal((await redeem(code)).status, 200)
    })

    const unknown = ['', 'a', 'a'.repeat(43), 'a\0', 'é', 'a'.repeat(5000)]
    for (const code of unknown) {
      test(`is not ${JSON.stringify(code.slice(0, 50))}`, async () => {
        assertInvalid(await redeem(code), code === '' ? 'invalid_request' : 'invalid_grant')
      })
    }

    test('expires after a minute', async () => {
      const [first, second] = [await obtain(), await obtain()]
      world.clock.forward(50_000)
      assert.equal((await redeem(first)).status, 200)
      world.clock.forward(10_000)
      assertInvalid(await redeem(second))
    })

    test('that was issued to the only redirect URI may be exchanged with or without it', async () => {
      const change = { redirect_uri: undefined }
      assert.equal((await redeem(await obtain(change), change)).status, 200)
      assert.equal((await redeem(await obtain(change))).status, 200)
      assertInvalid(await redeem(await obtain(change), { redirect_uri: `${callback}/` }))
    })

    test('used twice is rejected, and all tokens issued for it are revoked', async () => {
      const code = await obtain()
      const { body } = await redeem(code)
      const form = { grant_type: 'refresh_token', refresh_token: body.refresh_token }
      const { body: renewed } = await world.token(client, form)
      assert.deepEqual(await Promise.all([body.access_token, renewed.access_token].map(use)), [200, 200])
      assertInvalid(await redeem(code))
      assert.deepEqual(await Promise.all([body.access_token, renewed.access_token].map(use)), [401, 401])
      assertInvalid(await world.token(client, { ...form, refresh_token: renewed.refresh_token }))
      assertInvalid(await redeem(code))
    })

    test('used twice revokes tokens even without a refresh token, and after the code has expired', async () => {
      const plain = await world.addClient({ grants: ['authorization_code'], redirectUris: [callback] })
      const code = await obtain({}, plain)
      const { body } = await redeem(code, {}, plain)
      world.clock.forward(120_000)
      assert.equal(await use(body.access_token), 200)
      assertInvalid(await redeem(code, {}, plain))
      assert.equal(await use(body.access_token), 401)
    })

    test('used twice without the verifier revokes no tokens', async () => {
      const code = await obtain()
      const { body } = await redeem(code)
      assertInvalid(await redeem(code, { code_verifier: undefined }))
      assert.equal(await use(body.access_token), 200)
    })

    test('redeemed by 20 requests at the same time, on two servers, succeeds once; the issued tokens are revoked', async () => {
      world.clock.freeze() // however long they wait on a busy machine, none is late
      const second = await world.startSecond()
      try {
        const code = await obtain()
        const headers = { authorization: `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}` }
        const answers = await Promise.all(
          Array.from({ length: 20 }, (_, index) =>
            (index % 2 === 0 ? world : second).send('POST /authorization/token', { headers, form: formOf(code) }),
          ),
        )
        const won = answers.filter((answer) => answer.status === 200)
        assert.equal(won.length, 1)
        for (const answer of answers) if (answer !== won[0]) assertInvalid(answer)
        const families = await world.system.db
          .selectFrom('waypost_code as code')
          .innerJoin('waypost_token_family as family', 'family.id', 'code.family_id')
          .innerJoin('waypost_token as token', 'token.family_id', 'family.id')
          .select(['family.revoked_at', 'token.revoked_at as token_revoked_at'])
          .where('code.hash', '=', sha256(code))
          .execute()
        assert.equal(families.length, 1)
        assert.ok(families[0]!.revoked_at !== null && families[0]!.token_revoked_at !== null)
        assert.equal(await use(won[0]!.body.access_token), 401)
      } finally {
        await second.close()
      }
    })

    if (kind === 'postgresql') {
      // The row lock delays both between their check and their change
      test('redeemed by two that both saw it unused is revoked by the second', async () => {
        const code = await obtain()
        const hold = Promise.withResolvers<void>()
        const held = Promise.withResolvers<void>()
        const holding = world.system.transaction(async (trx) => {
          await trx.selectFrom('waypost_code').select('hash').where('hash', '=', sha256(code)).forUpdate().execute()
          held.resolve()
          await hold.promise
        })
        await held.promise
        const redeeming = Promise.all([redeem(code), redeem(code)])
        await until('both wait', async () => (await countWaiting(world)) === 2)
        hold.resolve()
        await holding
        const answers = await redeeming
        assert.deepEqual(
          answers.map((answer) => answer.status).toSorted((one, other) => one - other),
          [200, 400],
        )
        const won = answers.find((answer) => answer.status === 200)!
        assert.equal(await use(won.body.access_token), 401)
      })
    }

    test('is not exchanged once its user or its client is disabled', async () => {
      const bob = await addUser(world.system, { name: 'bob', password, scopes: ['todo'] })
      const guest = makeVisitor(world)
      const consent = await guest.logIn(await guest.authorize(requestOf(client)), { username: 'bob' })
      const code = readCode(await guest.submit(consent, 'consent', { decision: 'allow' }))
      await setStatus(world.system, 'user', { id: bob.id, status: 'disabled' })
      assertInvalid(await redeem(code))
      const later = await world.addClient({ grants: ['authorization_code'], redirectUris: [callback] })
      const next = await obtain({}, later)
      await setStatus(world.system, 'client', { id: later.id, status: 'disabled' })
      assert.equal((await redeem(next, {}, later)).status, 401)
    })

    test('that waits is gone with all other access of its user or its client', async () => {
      const { id } = await addUser(world.system, { name: 'eve', password, scopes: ['todo'] })
      for (const whose of [{ userId: id }, { clientId: other.id }]) {
        const guest = makeVisitor(world)
        const consent = await guest.logIn(await guest.authorize(requestOf(other, { prompt: 'consent' })), {
          username: 'eve',
        })
        const code = readCode(await guest.submit(consent, 'consent', { decision: 'allow' }))
        await world.system.transaction((trx) => endAccess(world.system, trx, { of: whose, now: world.clock.now() }))
        assertInvalid(await redeem(code, {}, other))
      }
    })

    test('that is issued while the access of its user ends does not outlive it', async () => {
      const { id } = await addUser(world.system, { name: 'mallory', password, scopes: ['todo'] })
      const guest = makeVisitor(world)
      for (let round = 0; round < 5; round++) {
        const consent = await guest.logIn(await guest.authorize(requestOf(other)), { username: 'mallory' })
        const asking = Array.from({ length: 4 }, () => guest.submit(consent, 'consent', { decision: 'allow' }))
        const ending = world.system.transaction((trx) =>
          endAccess(world.system, trx, { of: { userId: id }, now: world.clock.now() }),
        )
        const [answers] = await Promise.all([Promise.all(asking), ending])
        for (const answer of answers) {
          assert.equal(answer.status, 303)
          const code = new URL(answer.headers.get('location') ?? '', world.url).searchParams.get('code')
          if (code !== null) assertInvalid(await redeem(code, {}, other))
        }
        await world.system.db.deleteFrom('waypost_consent').where('user_id', '=', id).execute()
      }
    })

    test('carries only the scopes that user and client still have; without any, the error is invalid_scope', async () => {
      const [first, second] = [await obtain(), await obtain({ scope: 'note' })]
      await removeUserScopes(world.system, world.annId, ['note'])
      try {
        assert.equal((await redeem(first)).body.scope, 'todo')
        assertInvalid(await redeem(second), 'invalid_scope')
      } finally {
        await addUserScopes(world.system, world.annId, ['note'])
      }
      assert.equal((await redeem(second)).status, 200, 'it was not consumed')
    })

    test('does not reach the token endpoint by its query', async () => {
      const code = await obtain()
      const answer = await world.send(`POST /authorization/token?code=${code}`, { form: formOf(code) })
      assertInvalid(answer, 'invalid_request')
    })

    test('of a client that lost the grant is unauthorized_client', async () => {
      const losing = await world.addClient({ grants: ['authorization_code'], redirectUris: [callback] })
      const code = await obtain({}, losing)
      await world.system.transaction(async (trx) => {
        await trx.updateTable('waypost_client').set({ grants: '' }).where('id', '=', losing.id).execute()
      })
      assertInvalid(await redeem(code, {}, losing), 'unauthorized_client')
    })
  })
}

test('a code has the lifetime that the release sets', async () => {
  await using world = await openWorld('sqlite', { config: { code_lifetime: '5m' } })
  const client = await world.addClient({ grants: ['authorization_code'], redirectUris: [callback] })
  const form = { grant_type: 'authorization_code', code_verifier: verifier, redirect_uri: callback }
  const [first, second] = [await obtainCode(world, requestOf(client)), await obtainCode(world, requestOf(client))]
  world.clock.forward(4 * 60_000)
  assert.equal((await world.token(client, { ...form, code: first })).status, 200)
  world.clock.forward(60_000)
  assert.equal((await world.token(client, { ...form, code: second })).status, 400)
})
