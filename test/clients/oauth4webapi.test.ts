import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import * as oauth from 'oauth4webapi'
import { defaultKinds } from '../support/forms.ts'
import { callback, openClientWorld, type ClientWorld } from './world.ts'

const loopback = 'http://127.0.0.1:61023/callback'
/** All that is set: that http will do, since these servers are on this machine. */
const insecure = { [oauth.allowInsecureRequests]: true } as const // oxlint-disable-line typescript/no-deprecated -- so that it stands out

interface Case {
  readonly name: string
  readonly redirectUri: string
  choose(world: ClientWorld): { client: oauth.Client; authentication: oauth.ClientAuth }
}

const cases: readonly Case[] = [
  {
    name: 'a confidential client with client_secret_basic',
    redirectUri: callback,
    choose: ({ web }) => ({ client: { client_id: web.id }, authentication: oauth.ClientSecretBasic(web.secret) }),
  },
  {
    name: 'a confidential client with client_secret_post',
    redirectUri: callback,
    choose: ({ web }) => ({ client: { client_id: web.id }, authentication: oauth.ClientSecretPost(web.secret) }),
  },
  {
    name: 'a public client on the user’s machine',
    redirectUri: loopback,
    choose: ({ native }) => ({ client: { client_id: native.id }, authentication: oauth.None() }),
  },
]

for (const kind of defaultKinds) {
  describe(`oauth4webapi, ${kind}`, () => {
    let world: ClientWorld
    let server: oauth.AuthorizationServer
    before(async () => {
      world = await openClientWorld(kind)
      server = await discover(world)
    })
    after(() => world.close())

    test('a route names its authorization server, which can be discovered', async () => {
      const route = new URL(`${world.issuer}/todo`)
      const call = () => oauth.protectedResourceRequest('x', 'GET', route, undefined, undefined, insecure)
      await assert.rejects(call(), (thrown) => {
        assert.ok(thrown instanceof oauth.WWWAuthenticateChallengeError)
        const named = thrown.cause[0]?.parameters['resource_metadata']
        assert.equal(named, `${world.issuer}/.well-known/oauth-protected-resource`)
        return true
      })
      const resource = new URL(world.issuer)
      const response = await oauth.resourceDiscoveryRequest(resource, insecure)
      const { authorization_servers: servers } = await oauth.processResourceDiscoveryResponse(resource, response)
      assert.deepEqual(servers, [server.issuer])
    })

    for (const { name, redirectUri, choose } of cases) {
      test(`${name}: code with PKCE, refresh, revocation`, async () => {
        const { client, authentication } = choose(world)
        const verifier = oauth.generateRandomCodeVerifier()
        const state = oauth.generateRandomState()
        const back = await world.browse(
          writeAuthorizeUrl(server, {
            client_id: client.client_id,
            redirect_uri: redirectUri,
            response_type: 'code',
            scope: 'note todo',
            state,
            code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
            code_challenge_method: 'S256',
          }),
        )
        const parameters = oauth.validateAuthResponse(server, client, back, state)
        const exchange = () =>
          oauth
            .authorizationCodeGrantRequest(server, client, authentication, parameters, redirectUri, verifier, insecure)
            .then((response) => oauth.processAuthorizationCodeResponse(server, client, response))
        const tokens = await exchange()
        assert.deepEqual([tokens.token_type, tokens.expires_in, tokens.scope], ['bearer', 3600, 'note todo'])
        assert.deepEqual(await callTodo(world, tokens.access_token), { user: 'ann', scopes: ['note', 'todo'] })

        const refresh = (token = '', more: Record<string, string> = {}) =>
          oauth
            .refreshTokenGrantRequest(server, client, authentication, token, {
              ...insecure,
              additionalParameters: more,
            })
            .then((response) => oauth.processRefreshTokenResponse(server, client, response))
        const renewed = await refresh(tokens.refresh_token)
        assert.notEqual(renewed.refresh_token, tokens.refresh_token)
        assert.equal((await refresh(tokens.refresh_token)).refresh_token, renewed.refresh_token)
        const narrow = await refresh(renewed.refresh_token, { scope: 'todo' })
        assert.equal(narrow.scope, 'todo')

        const response = await oauth.revocationRequest(
          server,
          client,
          authentication,
          narrow.refresh_token ?? '',
          insecure,
        )
        await oauth.processRevocationResponse(response)
        await assert.rejects(refresh(narrow.refresh_token), isError('invalid_grant'))
        await assert.rejects(callTodo(world, narrow.access_token), { name: 'WWWAuthenticateChallengeError' })
        await assert.rejects(exchange(), isError('invalid_grant'))
      })
    }

    test('client credentials and introspection, with each way to authenticate', async () => {
      for (const { name, choose } of cases.slice(0, 2)) {
        const { client, authentication } = choose(world)
        const issued = await oauth.clientCredentialsGrantRequest(server, client, authentication, {}, insecure)
        const tokens = await oauth.processClientCredentialsResponse(server, client, issued)
        assert.equal(tokens.scope, 'note todo', name)
        const introspect = async () =>
          oauth.processIntrospectionResponse(
            server,
            client,
            await oauth.introspectionRequest(server, client, authentication, tokens.access_token, insecure),
          )
        const { active, username, client_id: id } = await introspect()
        assert.deepEqual([active, username, id], [true, 'bob', client.client_id])
        const response = await oauth.revocationRequest(server, client, authentication, tokens.access_token, insecure)
        await oauth.processRevocationResponse(response)
        assert.deepEqual(await introspect(), { active: false })
      }
    })

    test('a resource server elsewhere verifies access tokens by the published keys (RFC 9068)', async () => {
      const { client, authentication } = cases[0]!.choose(world)
      const issued = await oauth.clientCredentialsGrantRequest(server, client, authentication, {}, insecure)
      const { access_token: token } = await oauth.processClientCredentialsResponse(server, client, issued)
      const validate = (text: string, audience = world.issuer) =>
        oauth.validateJwtAccessToken(
          server,
          new Request('https://resource.example.com/', { headers: { authorization: `Bearer ${text}` } }),
          audience,
          insecure,
        )
      const { iss, aud, client_id: id, scope } = await validate(token)
      assert.deepEqual([iss, aud, id, scope], [world.issuer, world.issuer, client.client_id, 'note todo'])
      await assert.rejects(validate(token, 'https://resource.example.com'), /unexpected JWT "aud"/)
      const [head = '', body = ''] = token.split('.')
      await assert.rejects(validate(`${head}.${body}.${Buffer.alloc(64).toString('base64url')}`), /signature/)
    })
  })
}

async function discover({ issuer }: ClientWorld): Promise<oauth.AuthorizationServer> {
  const url = new URL(issuer)
  const response = await oauth.discoveryRequest(url, { ...insecure, algorithm: 'oauth2' })
  return oauth.processDiscoveryResponse(url, response)
}

function writeAuthorizeUrl(server: oauth.AuthorizationServer, parameters: Readonly<Record<string, string>>): URL {
  const url = new URL(server.authorization_endpoint ?? '')
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url
}

async function callTodo({ issuer }: ClientWorld, token: string): Promise<unknown> {
  const url = new URL(`${issuer}/todo`)
  const response = await oauth.protectedResourceRequest(token, 'GET', url, undefined, undefined, insecure)
  return response.json()
}

function isError(error: string) {
  return { name: 'ResponseBodyError', status: 400, error }
}
