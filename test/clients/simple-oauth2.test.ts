import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { AuthorizationCode, ClientCredentials, ResourceOwnerPassword, type ModuleOptions } from 'simple-oauth2'
import { chooseKinds, isLong } from '../support/forms.ts'
import { bearer } from '../support/server.ts'
import { makePkce } from '../support/client-site.ts'
import { password, type Credentials } from '../auth/world.ts'
import { callback, openClientWorld, type ClientWorld } from './world.ts'

type Options = NonNullable<ModuleOptions['options']>

/** Everything that this client can be set to do and that a server is to understand. */
const everySetting: readonly Options[] = (['header', 'body'] as const).flatMap((authorizationMethod) =>
  (['strict', 'loose'] as const).flatMap((credentialsEncodingMode) =>
    [' ', ','].map((scopeSeparator) => ({ authorizationMethod, credentialsEncodingMode, scopeSeparator })),
  ),
)
/** In CI, one with each value: auth/client-authentication.test.ts has the ways to authenticate. */
const settings = isLong ? everySetting : [everySetting[1]!, everySetting[6]!]
/** It discovers nothing: the paths are what it has to be told. */
const paths = { tokenPath: '/authorization/token', revokePath: '/authorization/revoke' }

function configure({ issuer }: ClientWorld, { id, secret }: Credentials, options: Options): ModuleOptions {
  return { client: { id, secret }, auth: { tokenHost: issuer, ...paths }, options }
}

for (const kind of chooseKinds('sqlite')) {
  describe(`simple-oauth2, ${kind}`, () => {
    let world: ClientWorld
    before(async () => {
      world = await openClientWorld(kind)
    })
    after(() => world.close())

    for (const options of isLong ? [{}, ...settings] : settings) {
      test(`with ${JSON.stringify(options)}: client credentials, refresh, revocation`, async () => {
        const client = new ClientCredentials(configure(world, world.web, options))
        const issued = await client.getToken({ scope: ['todo', 'note'] })
        const { scopeSeparator = ' ' } = options
        assert.equal(issued.token['scope'], `todo${scopeSeparator}note`)
        assert.equal(issued.token['expires_in'], 3600)
        assert.equal(issued.expired(), false)
        assert.equal(issued.expired(3700), true)
        assert.equal((await callTodo(issued.token)).status, 200)

        const renewed = await issued.refresh({ scope: ['note'] })
        assert.equal(renewed.token['scope'], 'note')
        assert.equal((await callTodo(renewed.token)).status, 403)
        const full = await renewed.refresh()
        assert.equal((await callTodo(full.token)).status, 200)
        await full.revokeAll()
        assert.equal((await callTodo(full.token)).status, 401)
        await assert.rejects(full.refresh(), isRefused(400, 'invalid_grant'))
      })

      test(`with ${JSON.stringify(options)}: authorization code`, async () => {
        const { client, form, issued } = await authorize(configure(world, world.web, options), callback)
        assert.equal(issued.token['scope'], `note${options.scopeSeparator ?? ' '}todo`)
        assert.deepEqual((await callTodo(issued.token)).body, { user: 'ann', scopes: ['note', 'todo'] })
        await assert.rejects(client.getToken(form), isRefused(400, 'invalid_grant'))
        assert.equal((await callTodo(issued.token)).status, 401, 'the code came twice')
      })
    }

    test('a public client, whose secret is empty', async () => {
      for (const authorizationMethod of ['header', 'body'] as const) {
        const config = configure(world, { ...world.native, secret: '' }, { authorizationMethod })
        const { issued } = await authorize(config, 'http://127.0.0.1:50001/callback')
        assert.equal((await callTodo((await issued.refresh()).token)).status, 200)
      }
    })

    async function authorize(config: ModuleOptions, redirectUri: string) {
      const client = new AuthorizationCode({
        ...config,
        auth: { ...config.auth, authorizePath: '/authorization/authorize' },
      })
      const { verifier, challenge } = makePkce()
      const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
      const request = { redirect_uri: redirectUri, scope: ['note', 'todo'], state: 'a b', ...pkce }
      const back = await world.browse(client.authorizeURL(request))
      assert.equal(back.searchParams.get('state'), 'a b')
      const code = back.searchParams.get('code') ?? ''
      const form = { code, redirect_uri: redirectUri, code_verifier: verifier }
      return { client, form, issued: await client.getToken(form) }
    }

    test('the password grant, for a client that has it', async () => {
      const app = await world.addClient({ grants: ['password', 'refresh_token'] })
      const client = new ResourceOwnerPassword(configure(world, app, {}))
      const issued = await client.getToken({ username: 'ann', password, scope: 'todo' })
      assert.deepEqual((await callTodo((await issued.refresh()).token)).body, { user: 'ann', scopes: ['todo'] })
      const wrong = client.getToken({ username: 'ann', password: 'wrong', scope: 'todo' })
      await assert.rejects(wrong, isRefused(400, 'invalid_grant'))
    })

    test('a wrong secret', async () => {
      for (const options of settings) {
        const client = new ClientCredentials(configure(world, { ...world.web, secret: 'not the secret' }, options))
        await assert.rejects(client.getToken({}), isRefused(401, 'invalid_client'))
      }
    })

    function callTodo(token: Readonly<Record<string, unknown>>) {
      return world.send('GET /todo', { headers: bearer(String(token['access_token'])) })
    }
  })
}

/** Its errors carry what was answered. */
function isRefused(status: number, error: string) {
  return (thrown: unknown) => {
    const { output, data } = thrown as { output: { statusCode: number }; data: { payload: { error: string } } }
    assert.deepEqual([output.statusCode, data.payload.error], [status, error])
    return true
  }
}
