import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import * as client from 'openid-client'
import { defaultKinds, longTest } from '../support/forms.ts'
import { password } from '../auth/world.ts'
import { callback, openClientWorld, type ClientWorld } from './world.ts'

const loopback = 'http://127.0.0.1:53682/callback'

interface Case {
  readonly name: string
  readonly redirectUri: string
  discover(world: ClientWorld): Promise<client.Configuration>
}

/** Nothing is set but that http will do: that these servers are on this machine. */
const insecure: client.DiscoveryRequestOptions = {
  execute: [client.allowInsecureRequests], // oxlint-disable-line typescript/no-deprecated -- so that it stands out
  algorithm: 'oauth2',
}
type Known = { readonly id: string; readonly secret?: string }
const discover = ({ issuer }: ClientWorld, { id, secret }: Known, authentication?: client.ClientAuth) =>
  client.discovery(new URL(issuer), id, secret, authentication, insecure)

const cases: readonly Case[] = [
  {
    name: 'a confidential client with what it does by itself',
    redirectUri: callback,
    discover: (world) => discover(world, world.web),
  },
  {
    name: 'a confidential client with client_secret_basic',
    redirectUri: callback,
    discover: (world) => discover(world, { id: world.web.id }, client.ClientSecretBasic(world.web.secret)),
  },
  {
    name: 'a confidential client with client_secret_post',
    redirectUri: callback,
    discover: (world) => discover(world, { id: world.web.id }, client.ClientSecretPost(world.web.secret)),
  },
  {
    name: 'a public client on the user’s machine',
    redirectUri: loopback,
    discover: (world) => discover(world, world.native, client.None()),
  },
]

for (const kind of defaultKinds) {
  describe(`openid-client, ${kind}`, () => {
    let world: ClientWorld
    before(async () => {
      world = await openClientWorld(kind)
    })
    after(() => world.close())

    for (const { name, redirectUri, discover } of cases) {
      // In CI, the next test authenticates in each way.
      const declare = name.includes('client_secret') ? longTest : test
      declare(`${name}: code with PKCE, refresh, revocation`, async () => {
        const config = await discover(world)
        assert.equal(config.serverMetadata().issuer, world.issuer)
        assert.equal(config.serverMetadata().supportsPKCE(), true)
        const tokens = await authorize(world, config, { redirectUri, scope: 'todo' })
        assert.equal(tokens.token_type, 'bearer')
        assert.equal(tokens.expires_in, 3600)
        assert.equal(tokens.scope, 'todo')
        assert.deepEqual(await callTodo(world, config, tokens.access_token), { user: 'ann', scopes: ['todo'] })

        const before = tokens.refresh_token ?? ''
        const renewed = await client.refreshTokenGrant(config, before)
        const again = await client.refreshTokenGrant(config, before)
        assert.ok(renewed.refresh_token !== undefined && renewed.refresh_token !== before, 'it rotates')
        assert.equal(again.refresh_token, renewed.refresh_token, 'a lost answer is given once more')
        assert.deepEqual(await callTodo(world, config, renewed.access_token), { user: 'ann', scopes: ['todo'] })

        await client.tokenRevocation(config, renewed.access_token)
        await assert.rejects(callTodo(world, config, renewed.access_token), isChallenge('invalid_token'))
        await client.tokenRevocation(config, renewed.refresh_token)
        await assert.rejects(client.refreshTokenGrant(config, renewed.refresh_token), isError('invalid_grant', 400))
      })
    }

    test('client credentials, and introspection of the token before and after its revocation', async () => {
      for (const { name, discover } of cases.slice(0, 3)) {
        const config = await discover(world)
        const tokens = await client.clientCredentialsGrant(config, { scope: 'todo note' })
        assert.equal(tokens.scope, 'todo note', name)
        const { sub, exp = 0, iat = 0, jti, ...said } = await client.tokenIntrospection(config, tokens.access_token)
        assert.deepEqual(said, {
          active: true,
          scope: 'todo note',
          client_id: world.web.id,
          username: 'bob',
          token_type: 'bearer',
          aud: world.issuer,
          iss: world.issuer,
        })
        assert.deepEqual([typeof sub, typeof jti, exp - iat], ['string', 'string', 3600])
        await client.tokenRevocation(config, tokens.access_token, { token_type_hint: 'access_token' })
        assert.deepEqual(await client.tokenIntrospection(config, tokens.access_token), { active: false })
      }
    })

    test('rejections arrive as the client’s own errors', async () => {
      const config = await cases[0]!.discover(world)
      const stranger = await discover(world, { ...world.web, secret: 'not the secret' })
      const bare = await discover(world, world.native, client.None())
      const asked = client.clientCredentialsGrant(config, { scope: 'nothing' })
      await assert.rejects(asked, isError('invalid_scope', 400))
      // The one answer with a challenge: the client reads that before the body.
      await assert.rejects(client.clientCredentialsGrant(stranger), {
        name: 'WWWAuthenticateChallengeError',
        status: 401,
      })
      await assert.rejects(client.clientCredentialsGrant(bare), isError('unauthorized_client', 400))
      const { access_token: narrow } = await client.clientCredentialsGrant(config, { scope: 'note' })
      await assert.rejects(callTodo(world, config, narrow), isChallenge('insufficient_scope'))
    })

    test('a user who denies, and a response of another server', async () => {
      const config = await cases[0]!.discover(world)
      const denied = authorize(world, config, {
        redirectUri: callback,
        scope: 'todo',
        prompt: 'consent',
        decision: 'deny',
      })
      await assert.rejects(denied, { name: 'AuthorizationResponseError', error: 'access_denied' })
      const mixedUp = authorize(world, config, {
        redirectUri: callback,
        scope: 'todo',
        onTheWay: (url) => url.searchParams.set('iss', 'https://other.example.com'),
      })
      await assert.rejects(mixedUp, isCausedBy(/^unexpected "iss"/))
      const cut = authorize(world, config, {
        redirectUri: callback,
        scope: 'todo',
        onTheWay: (url) => url.searchParams.delete('iss'),
      })
      await assert.rejects(cut, isCausedBy(/"iss" \(issuer\) missing/))
    })

    test('the password grant, for a client that has it', async () => {
      const app = await world.addClient({ grants: ['password'] })
      const config = await discover(world, app)
      const form = { username: 'ann', password, scope: 'todo' }
      const tokens = await client.genericGrantRequest(config, 'password', form)
      assert.deepEqual(await callTodo(world, config, tokens.access_token), { user: 'ann', scopes: ['todo'] })
      const wrong = client.genericGrantRequest(config, 'password', { ...form, password: 'wrong' })
      await assert.rejects(wrong, isError('invalid_grant', 400))
    })
  })
}

interface Request {
  readonly redirectUri: string
  readonly scope: string
  readonly prompt?: 'consent'
  readonly decision?: 'allow' | 'deny'
  /** Changes the answer before the client sees it. */
  onTheWay?(url: URL): void
}

async function authorize(world: ClientWorld, config: client.Configuration, request: Request) {
  const { redirectUri, scope, prompt, decision, onTheWay } = request
  const verifier = client.randomPKCECodeVerifier()
  const state = client.randomState()
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope,
    state,
    ...(prompt === undefined ? {} : { prompt }),
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  })
  const back = await world.browse(url, decision)
  assert.equal(back.href.split('?')[0], redirectUri)
  onTheWay?.(back)
  return client.authorizationCodeGrant(config, back, { pkceCodeVerifier: verifier, expectedState: state })
}

async function callTodo(world: ClientWorld, config: client.Configuration, token: string): Promise<unknown> {
  const response = await client.fetchProtectedResource(config, token, new URL(`${world.issuer}/todo`), 'GET')
  return response.json()
}

function isError(error: string, status: number) {
  return { name: 'ResponseBodyError', error, status }
}

function isChallenge(error: string) {
  return (thrown: unknown) => {
    assert.ok(thrown instanceof client.WWWAuthenticateChallengeError, String(thrown))
    const [challenge] = thrown.cause
    assert.equal(challenge?.scheme, 'bearer')
    assert.equal(challenge.parameters['error'], error)
    return true
  }
}

function isCausedBy(message: RegExp) {
  return (thrown: unknown) => {
    assert.match(((thrown as Error).cause as Error).message, message)
    return true
  }
}
