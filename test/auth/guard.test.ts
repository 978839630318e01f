import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { SignJWT, UnsecuredJWT } from 'jose'
import { loginClientId, openKeyRing, type KeyRing } from '../../src/auth/index.ts'
import { openIdentity } from '../../src/host/index.ts'
import { defaultKinds } from '../support/forms.ts'
import { basic, bearer, issuer, type TestAnswer } from '../support/server.ts'
import { forge, forgeries, type Forgery } from './forge.ts'
import { until } from '../support/until.ts'
import { change, openWorld, setStatus, type World } from './world.ts'

/** Where a rejected client finds out how to get a token (RFC 9728 §5.1). */
const metadata = `resource_metadata="${issuer}/.well-known/oauth-protected-resource"`
const hour = 3_600_000

const malformed = [
  'x',
  'a.b',
  'a.b.c',
  '....',
  'e30.e30.e30',
  'eyJhbGciOiJFUzI1NiJ9..',
  '~',
  'eyJraWQiOnt9fQ.e30.x',
  'A'.repeat(8000),
]

for (const kind of defaultKinds) {
  describe(`the guard on ${kind}`, () => {
    let world: World
    let second: World
    let keys: KeyRing
    before(async () => {
      world = await openWorld(kind)
      second = { ...world, ...(await world.startSecond()) }
      keys = await openKeyRing(world.system, (await openIdentity(world.host)).secrets)
    })
    after(async () => {
      await second.close()
      await world.close()
    })

    const issue = async (scope = '', client = world.app): Promise<string> =>
      (await world.token(client, { grant_type: 'client_credentials', scope })).body.access_token
    const get = (path: string, token: string, from = world) => from.send(`GET ${path}`, { headers: bearer(token) })
    const status = async (path: string, token: string, from = world) => (await get(path, token, from)).status

    const make = (forgery: Forgery) => forge({ world, keys }, forgery)

    test('admits a token of the kind that these tests create', async () => {
      const answer = await get('/todo', await make({ name: 'good' }))
      assert.deepEqual([answer.status, answer.body], [200, { user: 'ann', scopes: ['todo'] }])
    })

    for (const forgery of forgeries) {
      test(`rejects a token ${forgery.name}`, async () => {
        assertInvalidToken(await get('/todo', await make(forgery)))
      })
    }

    test('rejects a token without a signature, and one that is signed with the public key as a secret', async () => {
      const good = await make({ name: 'good' })
      const claims = JSON.parse(Buffer.from(good.split('.')[1]!, 'base64url').toString()) as Record<string, unknown>
      assertInvalidToken(await get('/todo', new UnsecuredJWT(claims).encode()))
      const [header, payload] = good.split('.')
      assertInvalidToken(await get('/todo', `${header}.${payload}.`))
      const secret = createPublicKey(keys.signer.key).export({ format: 'pem', type: 'spki' })
      const hmac = new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid: keys.signer.kid })
      assertInvalidToken(await get('/todo', await hmac.sign(Buffer.from(secret))))
      const der = sign('sha256', Buffer.from(`${header}.${payload}`), keys.signer.key).toString('base64url')
      assertInvalidToken(await get('/todo', `${header}.${payload}.${der}`)) // DER is no JWS signature
    })

    test('accepts one text of a token only: the smaller S, and no unused bits', async () => {
      const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
      const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
      for (let count = 0; count < 8; count++) {
        const token = (await world.token(world.app, { grant_type: 'client_credentials' })).body.access_token as string
        const begin = token.slice(0, token.lastIndexOf('.') + 1)
        const signature = Buffer.from(token.slice(begin.length), 'base64url')
        const s = order - BigInt(`0x${signature.toString('hex', 32)}`)
        const other = Buffer.concat([signature.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex')])
        const last = alphabet[alphabet.indexOf(token.at(-1)!) + 1]!
        for (const variant of [begin + other.toString('base64url'), token.slice(0, -1) + last, `${token}=`]) {
          assertInvalidToken(await get('/todo', variant))
        }
        assert.equal((await get('/todo', token)).status, 200)
      }
    })

    test('rejects malformed tokens', async () => {
      for (const token of malformed) assertInvalidToken(await get('/todo', token))
    })

    const headers: readonly { header: string; status: number; challenge: string }[] = [
      { header: '', status: 401, challenge: `Bearer realm="waypost", ${metadata}` },
      { header: 'Basic eDp5', status: 401, challenge: `Bearer realm="waypost", ${metadata}` },
      { header: 'BearerX', status: 401, challenge: `Bearer realm="waypost", ${metadata}` },
      { header: 'Bearer', status: 401, challenge: `Bearer realm="waypost", ${metadata}` },
      { header: 'bearer  ', status: 401, challenge: `Bearer realm="waypost", ${metadata}` },
      { header: 'Bearer a b', status: 400, challenge: `Bearer realm="waypost", error="invalid_request", ${metadata}` },
      { header: 'Bearer "x"', status: 400, challenge: `Bearer realm="waypost", error="invalid_request", ${metadata}` },
      {
        header: 'Bearer x, Bearer y',
        status: 400,
        challenge: `Bearer realm="waypost", error="invalid_request", ${metadata}`,
      },
    ]
    for (const { header, status, challenge } of headers) {
      test(`responds to the header "${header}" with ${status}`, async () => {
        const answer = await world.send('GET /todo', header === '' ? {} : { headers: { authorization: header } })
        assert.equal(answer.status, status)
        assert.equal(answer.headers.get('www-authenticate'), challenge)
        assert.equal(answer.headers.get('content-type'), 'application/problem+json')
      })
    }

    test('names the missing scope, with and without a token', async () => {
      const without = await world.send('GET /either')
      assert.match(without.body.detail, /with the scope todo or note$/)
      const answer = await get('/todo', await issue('note'))
      assert.equal(answer.status, 403)
      assert.equal(
        answer.headers.get('www-authenticate'),
        `Bearer realm="waypost", error="insufficient_scope", scope="todo", ${metadata}`,
      )
      assert.equal(answer.body.detail, 'The token has note; the route requires todo')
    })

    test('admits a token with one of the scopes, and any valid token if no scope is required', async () => {
      const token = await issue('note')
      assert.deepEqual(await Promise.all(['/either', '/any'].map((path) => status(path, token))), [200, 200])
    })

    test('reads the scheme in any case, and no token from the query or from a form', async () => {
      const token = await issue()
      for (const scheme of ['bearer', 'BEARER', 'Bearer  ']) {
        assert.equal((await world.send('GET /any', { headers: { authorization: `${scheme} ${token}` } })).status, 200)
      }
      assert.equal((await world.send(`GET /any?access_token=${token}`)).status, 401)
    })

    test('allows an invalid token on a public route, and reports the principal of a valid one', async () => {
      for (const header of ['Bearer x', 'Bearer', 'Basic eDp5', `Bearer ${await make(forgeries[0]!)}`]) {
        const answer = await world.send('GET /open', { headers: { authorization: header } })
        assert.deepEqual([answer.status, answer.body], [200, {}])
      }
      assert.equal((await get('/open', await issue())).body.user, 'ann')
    })

    test('rejects a refresh token and the secret of a client', async () => {
      const { body } = await world.logIn()
      assertInvalidToken(await get('/any', body.refresh_token))
      assert.equal((await world.send('GET /any', { headers: basic(world.app.id, world.app.secret) })).status, 401)
    })

    test('rejects a revoked token immediately here, and soon on another server', async () => {
      const token = await issue()
      assert.deepEqual(await Promise.all([status('/any', token), status('/any', token, second)]), [200, 200])
      const headers = basic(world.app.id, world.app.secret)
      const answer = await world.send('POST /authorization/revoke', { headers, form: { token } })
      assert.equal(answer.status, 200)
      assertInvalidToken(await get('/any', token), 'was revoked')
      await until('the other one refuses it', async () => (await status('/any', token, second)) === 401)
    })

    const changes: readonly {
      name: string
      path: string
      status: number
      detail: RegExp
      undo(): Promise<unknown>
      make(): Promise<unknown>
    }[] = [
      {
        name: 'a user that lost a scope',
        path: '/todo',
        status: 403,
        detail: /"ann" or the client does not have the scope todo/,
        make: () =>
          change(world.system, [{ kind: 'user', subject: world.annId }], (trx) =>
            trx.deleteFrom('waypost_user_scope').where('scope', '=', 'todo').execute(),
          ),
        undo: () =>
          change(world.system, [{ kind: 'user', subject: world.annId }], (trx) =>
            trx.insertInto('waypost_user_scope').values({ user_id: world.annId, scope: 'todo' }).execute(),
          ),
      },
      {
        name: 'a user that was disabled',
        path: '/any',
        status: 401,
        detail: /a disabled user/,
        make: () => setStatus(world.system, 'user', { id: world.annId, status: 'disabled' }),
        undo: () => setStatus(world.system, 'user', { id: world.annId, status: 'active' }),
      },
      {
        name: 'a client that was disabled',
        path: '/any',
        status: 401,
        detail: /a disabled client/,
        make: () => setStatus(world.system, 'client', { id: world.app.id, status: 'disabled' }),
        undo: () => setStatus(world.system, 'client', { id: world.app.id, status: 'active' }),
      },
    ]
    for (const { name, path, detail, make, undo, ...expected } of changes) {
      test(`rejects ${name} on every server, and admits it again after that is reverted`, async () => {
        const token = await issue()
        const everywhere = (wanted: number) => async () =>
          (await status(path, token)) === wanted && (await status(path, token, second)) === wanted
        await until('it is let in', everywhere(200))
        await make()
        await until('it is refused', everywhere(expected.status))
        assert.match((await get(path, token)).body.detail, detail)
        await undo()
        await until('it is let in again', everywhere(200))
      })
    }

    test('does not query the database for a cached token', async () => {
      world.clock.freeze() // keeps the feed fresh on slow machines
      await world.server.feed.catchUp() // after the changes of the previous tests
      const token = await issue()
      assert.equal(await status('/todo', token), 200)
      // The feed does not announce this change. That it has no effect proves that nothing was read.
      await world.system.db
        .updateTable('waypost_token')
        .set({ revoked_at: 1 })
        .where('scope', '=', 'note todo')
        .execute()
      assert.equal(await status('/todo', token), 200)
      assert.equal(await status('/todo', token, second), 401)
    })

    test('verifies tokens of a key that another server has just made', async () => {
      const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const kid = 'key_NEWNEWNEWNEW'
      await world.system.db
        .insertInto('waypost_key')
        .values({
          id: kid,
          public_jwk: JSON.stringify(pair.publicKey.export({ format: 'jwk' })),
          private_jwk: '',
          created_at: 1,
          retired_at: null,
        })
        .execute()
      const token = await make({ name: 'new', header: { kid }, key: pair.privateKey })
      assert.deepEqual(await Promise.all([1, 2, 3].map(() => status('/any', token))), [200, 200, 200])
      await change(world.system, [{ kind: 'key', subject: kid }], (trx) =>
        trx.deleteFrom('waypost_key').where('id', '=', kid).execute(),
      )
      await until('it is refused', async () => (await status('/any', token)) === 401)
    })

    test('rejects an expired token, also from the cache', async () => {
      const token = await issue()
      assert.equal(await status('/any', token), 200)
      world.clock.forward(hour - 2000)
      assert.equal(await status('/any', token), 200)
      world.clock.forward(3000)
      assertInvalidToken(await get('/any', token), 'has expired')
      assertInvalidToken(await get('/any', token, second), 'has expired')
    })

    test('counts login tokens as those of the login client', async () => {
      const { body } = await world.logIn()
      assert.equal(await status('/any', body.token), 200)
      await setStatus(world.system, 'client', { id: loginClientId, status: 'disabled' })
      await until('it is refused', async () => (await status('/any', body.token)) === 401)
      const renewed = await world.send('PUT /consumer/login', { json: { refresh_token: body.refresh_token } })
      assert.equal(renewed.status, 401)
      await setStatus(world.system, 'client', { id: loginClientId, status: 'active' })
    })
  })
}

function assertInvalidToken(answer: TestAnswer, reason = ''): void {
  assert.equal(answer.status, 401, answer.text)
  assert.equal(answer.headers.get('www-authenticate'), `Bearer realm="waypost", error="invalid_token", ${metadata}`)
  assert.equal(answer.body.status, 401)
  assert.ok(answer.body.detail.includes(reason), answer.body.detail)
}
