// Access tokens that are signed with RS256, and the change between algorithms on a running System.
import assert from 'node:assert/strict'
import { createPublicKey, type JsonWebKey } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify, SignJWT, type JWTPayload } from 'jose'
import { openKeyRing, pruneKeys, retireOtherKeys, rotateKey } from '../../src/auth/index.ts'
import { openIdentity } from '../../src/host/index.ts'
import { issueHostToken, rotateHostKey } from '../../src/operate/index.ts'
import { chooseKinds } from '../support/forms.ts'
import { describeSystems, openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { asCommand, basic, bearer, issuer, type TestServer } from '../support/server.ts'
import { openWorld, type World } from './world.ts'

const minute = 60_000
const rs256 = { config: { token_algorithm: 'RS256' } }

for (const kind of chooseKinds('sqlite')) {
  describe(`the algorithm of access tokens on ${kind}`, () => {
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
    const serve = (server: TestServer, options: object) => server.serve({ kind, ...options })
    const issue = async (server: TestServer = world): Promise<string> => {
      const form = { grant_type: 'client_credentials' }
      const answer = await server.send('POST /authorization/token', {
        headers: basic(world.app.id, world.app.secret),
        form,
      })
      return answer.body.access_token
    }
    const use = async (token: string, server: TestServer) =>
      (await server.send('GET /any', { headers: bearer(token) })).status
    const algorithmOf = (token: string) => decodeProtectedHeader(token).alg
    const published = async (server: TestServer = world) =>
      (await server.send('GET /.well-known/jwks.json')).body.keys as { alg: string; kid: string }[]

    test('is that of the release of each server, and every server verifies both', async () => {
      const old = await issue()
      assert.equal(algorithmOf(old), 'ES256')
      await serve(world, rs256) // the second server still serves the release before
      const young = await issue()
      const late = await issue(second)
      assert.deepEqual([algorithmOf(young), algorithmOf(late)], ['RS256', 'ES256'])
      for (const server of [world, second])
        for (const token of [old, young, late]) assert.equal(await use(token, server), 200)
      const keys = await published()
      assert.deepEqual(keys.map(({ alg }) => alg).toSorted(), ['ES256', 'RS256'])
      await serve(second, rs256)
      assert.equal(decodeProtectedHeader(await issue(second)).kid, decodeProtectedHeader(young).kid)
    })

    test('is RS256 for verifiers that know no other, with a published key of 2048 bits', async () => {
      const token = await issue()
      const keys = createRemoteJWKSet(new URL(`${world.url}/.well-known/jwks.json`))
      const { payload } = await jwtVerify(token, keys, {
        algorithms: ['RS256'],
        issuer,
        audience: issuer,
        typ: 'at+jwt',
      })
      assert.equal(payload['client_id'], world.app.id)
      const rsa = (await published()).find(({ alg }) => alg === 'RS256')!
      assert.deepEqual(Object.keys(rsa), ['kty', 'n', 'e', 'kid', 'alg', 'use'])
      assert.equal(Buffer.from((rsa as unknown as { n: string }).n, 'base64url').length, 256)
      const asked = await world.send('POST /authorization/introspect', {
        form: { token },
        headers: basic(world.app.id, world.app.secret),
      })
      assert.equal(asked.body.active, true)
    })

    test('is that of the key: a token cannot choose another', async () => {
      const token = await issue()
      const [header = '', payload = '', signature = ''] = token.split('.')
      const rewrite = (more: object) => {
        const changed = { ...JSON.parse(Buffer.from(header, 'base64url').toString()), ...more }
        return `${Buffer.from(JSON.stringify(changed)).toString('base64url')}.${payload}.${signature}`
      }
      const es256 = (await published()).find(({ alg }) => alg === 'ES256')!
      for (const more of [{ alg: 'PS256' }, { alg: 'ES256' }, { alg: 'RS512' }, { alg: 'none' }, { kid: es256.kid }])
        assert.equal(await use(rewrite(more), world), 401, JSON.stringify(more))
      // The public key as the secret of an HMAC.
      const jwk = (await published()).find(({ alg }) => alg === 'RS256') as unknown as JsonWebKey
      const pem = createPublicKey({ key: jwk, format: 'jwk' }).export({ format: 'pem', type: 'spki' })
      const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as JWTPayload
      const { kid = '' } = decodeProtectedHeader(token)
      const hmac = new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid })
      assert.equal(await use(await hmac.sign(Buffer.from(pem)), world), 401)
      // Another text of the same signature.
      const last = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
      const at = last.indexOf(signature.at(-1)!)
      const variant = `${header}.${payload}.${signature.slice(0, -1)}${last[at ^ 1]}`
      assert.equal(await use(variant, world), 401)
    })

    test('of the release before keeps verifying until its last token has expired, and is then gone', async () => {
      const { secrets } = await openIdentity(world.host)
      const before = await serve(world, {}).then(() => issue())
      await serve(world, rs256)
      await issue()
      const now = () => world.clock.now()
      const signing = async () =>
        (await world.system.db.selectFrom('waypost_key').select('public_jwk').where('retired_at', 'is', null).execute())
          .map(({ public_jwk: jwk }): string => JSON.parse(jwk).alg)
          .toSorted((a, b) => a.localeCompare(b))
      await world.system.db.updateTable('waypost_key').set({ created_at: now() }).execute()
      await retireOtherKeys(world.system, { now: now(), algorithm: 'RS256' })
      assert.deepEqual(await signing(), ['ES256', 'RS256'], 'servers may still change to the release')
      await retireOtherKeys(world.system, { now: now() + 11 * minute, algorithm: 'RS256' })
      assert.deepEqual(await signing(), ['RS256'])
      await Promise.all([world, second].map(({ server }) => server.feed.catchUp()))
      for (const server of [world, second]) assert.equal(await use(before, server), 200)
      assert.equal((await published()).length, 2)
      // A server that still serves the other release makes another key.
      await serve(second, {})
      assert.equal(algorithmOf(await issue(second)), 'ES256')
      await serve(second, rs256)
      world.clock.forward(20 * minute)
      await retireOtherKeys(world.system, { now: now(), algorithm: 'RS256' })
      world.clock.forward(61 * minute)
      await pruneKeys(world.system, now())
      assert.deepEqual(
        (await published()).map(({ alg }) => alg),
        ['RS256'],
      )
      const rotation = await rotateKey(world.system, secrets, { now: now(), algorithm: 'RS256' })
      assert.deepEqual([rotation.algorithm, rotation.retired.length], ['RS256', 1])
    })

    test('servers that begin to use it together make one key', async () => {
      await world.system.db.deleteFrom('waypost_key').execute()
      const { secrets } = await openIdentity(world.host)
      const rings = await Promise.all([1, 2, 3].map(() => openKeyRing(world.system, secrets)))
      const signers = await Promise.all(rings.map((ring) => ring.newest('RS256')))
      assert.equal(new Set(signers.map(({ kid }) => kid)).size, 1)
    })
  })
}

describeSystems('a deployment that changes the algorithm', chooseKinds('sqlite'), ({ newSystem }) => {
  let server: ProjectServer
  const yaml = 'routes: {}\nscope: { note: {} }\n'
  before(async () => {
    server = await openProjectServer({ files: { 'waypost.yml': yaml }, systemUrl: await newSystem(), keepsFiles: true })
  })
  after(() => server[Symbol.asyncDispose]())

  test('applies to `token:issue` and `key:rotate`, and can be undone', async () => {
    await server.authorize('ann', ['note'])
    const issue = async () => {
      const command = asCommand(server.host)
      const { access_token: token } = await issueHostToken(command, {
        user: 'ann',
        scopes: ['note'],
        expires: undefined,
      })
      return decodeProtectedHeader(token).alg
    }
    assert.equal(await issue(), 'ES256')
    await server.deploy({ 'waypost.yml': `${yaml}config: { token_algorithm: RS256 }\n` })
    assert.equal(await issue(), 'RS256')
    const rotation = await rotateHostKey(asCommand(server.host))
    assert.deepEqual([rotation.algorithm, rotation.retired.length], ['RS256', 2])
    assert.equal(await issue(), 'RS256')
    await server.deploy({ 'waypost.yml': yaml })
    assert.equal(await issue(), 'ES256')
  })
})
