import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify, type JSONWebKeySet } from 'jose'
import { issueTokens, openKeyRing, openTokenIssuer, pruneKeys, rotateKey } from '../../src/auth/index.ts'
import { defaultSettings } from '../../src/kit/index.ts'
import { openIdentity } from '../../src/host/index.ts'
import { rotateHostKey } from '../../src/operate/index.ts'
import { makeSecrets } from '../../src/store/index.ts'
import { asCommand, basic, bearer, issuer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { openWorld, type World } from './world.ts'
import { chooseKinds } from '../support/forms.ts'

const minute = 60_000

for (const kind of chooseKinds('postgresql')) {
  describe(`signing keys on ${kind}`, () => {
    let world: World
    let second: TestServer
    before(async () => {
      world = await openWorld(kind)
      second = await world.startSecond()
    })
    after(async () => {
      await second.close()
      await world.close()
    })

    async function issue(): Promise<string> {
      return (await world.token(world.app, { grant_type: 'client_credentials' })).body.access_token
    }
    const kidOf = (token: string) => decodeProtectedHeader(token).kid
    const load = async (server: TestServer): Promise<JSONWebKeySet> =>
      (await server.send('GET /.well-known/jwks.json')).body
    const kids = async (server: TestServer = world) => (await load(server)).keys.map(({ kid }) => kid)
    const use = async (token: string, server: TestServer) =>
      (await server.send('GET /any', { headers: bearer(token) })).status
    const signsWith = async (server: TestServer) =>
      kidOf((await server.send('POST /consumer/login', { json: login })).body.token)
    const login = { username: 'ann', password: 'correct horse battery' }

    test('are published without private parts, for everyone who verifies tokens', async () => {
      const token = await issue()
      const answer = await world.send('GET /.well-known/jwks.json')
      assert.equal(answer.status, 200)
      assert.match(answer.headers.get('content-type') ?? '', /^application\/json\b/)
      assert.match(answer.headers.get('cache-control') ?? '', /^public, max-age=\d$|^public, max-age=10$/)
      assert.deepEqual(Object.keys(answer.body), ['keys'])
      for (const key of answer.body.keys) {
        assert.deepEqual(Object.keys(key).toSorted(), ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'])
      }
      const { payload } = await jwtVerify(token, createLocalJWKSet(answer.body), { issuer, audience: issuer })
      assert.equal(payload['client_id'], world.app.id)
    })

    test('are rotated on every server, and the old key verifies the tokens that it signed', async () => {
      const old = await issue()
      assert.equal(await use(old, second), 200) // now it is in the cache of the second server
      const rotation = await rotateHostKey(asCommand(world.host))
      assert.deepEqual(rotation.retired, [kidOf(old)])
      for (const server of [world, second]) {
        await until('it signs with the new key', async () => (await signsWith(server)) === rotation.key)
      }
      const young = await issue()
      assert.equal(kidOf(young), rotation.key)
      for (const server of [world, second]) {
        assert.deepEqual([await use(old, server), await use(young, server)], [200, 200])
        const keys = await load(server)
        assert.equal(keys.keys[0]?.kid, rotation.key)
        for (const token of [old, young]) await jwtVerify(token, createLocalJWKSet(keys))
      }
    })

    test('of another server are known before the change feed reports them', async () => {
      const { key } = await rotateHostKey(asCommand(world.host))
      const ring = await openKeyRing(world.system, (await openIdentity(world.host)).secrets)
      assert.equal(ring.signer.kid, key)
      assert.ok((await kids()).includes(key))
      const lonely = await lateToken(ring)
      for (const server of [world, second]) assert.equal(await use(lonely, server), 200)
    })

    test('are read from System while the feed cannot be read', async () => {
      const { secrets } = await openIdentity(world.host)
      const [told, blind] = [
        await openKeyRing(world.system, secrets),
        await openKeyRing(world.system, secrets, () => false),
      ]
      const { key, retired } = await rotateHostKey(asCommand(world.host))
      assert.deepEqual([(await told.newest()).kid], retired)
      assert.equal((await blind.newest()).kid, key)
      told.markChanged()
      assert.equal((await told.newest()).kid, key)
    })

    test('that a server cannot open verify there all the same, and it signs with no other', async () => {
      const { secrets } = await openIdentity(world.host)
      const ring = await openKeyRing(world.system, secrets)
      const [old, young] = [
        ring.signer.kid,
        await rotateKey(world.system, makeSecrets('s'.repeat(40)), { now: world.clock.now() }),
      ]
      ring.markChanged()
      for (const kid of [old, young.key]) assert.notEqual(await ring.verifier(kid), undefined)
      await assert.rejects(ring.newest(), { code: 'WP_STORE_SEALED' })
      const { key } = await rotateHostKey(asCommand(world.host))
      ring.markChanged()
      assert.equal((await ring.newest()).kid, key)
      await Promise.all([world, second].map(({ server }) => server.feed.catchUp())) // otherwise they would keep failing
    })

    test('are gone when their last token has expired, not before', async () => {
      const kid = kidOf(await issue())!
      await rotateHostKey(asCommand(world.host))
      await Promise.all([world, second].map(({ server }) => server.feed.catchUp())) // the test clock advances an hour
      world.clock.forward(59 * minute)
      assert.ok((await kids()).includes(kid))
      assert.equal(await pruneKeys(world.system, world.clock.now()), 0)
      world.clock.forward(2 * minute)
      for (const server of [world, second]) assert.ok(!(await kids(server)).includes(kid))
      assert.ok((await pruneKeys(world.system, world.clock.now())) >= 1)
      const rows = await world.system.db.selectFrom('waypost_key').select('id').execute()
      assert.ok(!rows.some(({ id }) => id === kid))
      const young = await issue()
      for (const server of [world, second]) assert.equal(await use(young, server), 200)
    })

    test('are kept for tokens of a server that had not received the rotation yet', async () => {
      const ring = await openKeyRing(world.system, (await openIdentity(world.host)).secrets) // which learns of nothing
      const kid = ring.signer.kid
      await rotateHostKey(asCommand(world.host))
      world.clock.forward(20_000)
      const late = await lateToken(ring)
      assert.equal(kidOf(late), kid)
      assert.equal(await use(late, second), 200)
      world.clock.forward(59 * minute + 50_000) // only the late one is left
      assert.ok((await kids()).includes(kid))
      assert.equal((await rotateHostKey(asCommand(world.host))).removed.includes(kid), false)
      world.clock.forward(20_000)
      assert.ok(!(await kids()).includes(kid))
      assert.ok((await rotateHostKey(asCommand(world.host))).removed.includes(kid))
    })

    test('are not kept for tokens that were revoked', async () => {
      const token = await issue()
      const kid = kidOf(token)!
      await rotateHostKey(asCommand(world.host))
      world.clock.forward(minute)
      await world.system.db.updateTable('waypost_token').set({ revoked_at: world.clock.now() }).execute()
      assert.ok(!(await kids()).includes(kid))
    })

    test('are withdrawn at once on every server, with all tokens that they signed', async () => {
      await Promise.all([world, second].map(({ server }) => server.feed.catchUp())) // from previous rotations
      const { body: tokens } = await world.token(world.app, { grant_type: 'client_credentials' })
      const old = tokens.access_token
      await Promise.all([world, second].map((server) => use(old, server))) // now it is in both caches
      const rotation = await rotateHostKey(asCommand(world.host), { withdraw: true })
      assert.deepEqual(rotation.retired, [])
      assert.ok(rotation.withdrawn.includes(kidOf(old)!))
      assert.ok(rotation.tokens >= 1)
      assert.deepEqual(await kids(), [rotation.key])
      for (const server of [world, second]) {
        await until('the old token is refused', async () => (await use(old, server)) === 401)
        await until('it signs with the new key', async () => (await signsWith(server)) === rotation.key)
      }
      const asked = await world.send('POST /authorization/introspect', {
        form: { token: old },
        headers: basic(world.app.id, world.app.secret),
      })
      assert.equal(asked.body.active, false)
      const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token }
      const renewed = (await world.token(world.app, form)).body.access_token
      assert.deepEqual([await use(renewed, world), await use(renewed, second)], [200, 200])
      assert.deepEqual((await rotateHostKey(asCommand(world.host))).withdrawn, [])
    })

    test('rotated at the same moment leave one that signs', async () => {
      const rotations = await Promise.all(Array.from({ length: 6 }, () => rotateHostKey(asCommand(world.host))))
      const signing = await world.system.db
        .selectFrom('waypost_key')
        .select('id')
        .where('retired_at', 'is', null)
        .execute()
      assert.equal(signing.length, 1)
      assert.ok(rotations.some(({ key }) => key === signing[0]!.id))
      await until('it signs with the key', async () => (await signsWith(second)) === signing[0]!.id)
    })

    /** Signs a token with a key ring that no feed updates. */
    async function lateToken(keys: Awaited<ReturnType<typeof openKeyRing>>): Promise<string> {
      const { secrets } = await openIdentity(world.host)
      const { system, clock } = world.host
      const late = openTokenIssuer({ system, keys, clock, secrets, issuer, settings: () => defaultSettings })
      const grantee = { userId: world.annId, clientId: world.app.id, scopes: ['note'] }
      return (await issueTokens(late, grantee, { refresh: false })).accessToken
    }
  })
}
