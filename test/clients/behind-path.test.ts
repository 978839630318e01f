import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as client from 'openid-client'
import { addUser } from '../../src/auth/index.ts'
import { readHidden } from '../auth/authorize/visitor.ts'
import { openWorld, password } from '../auth/world.ts'
import { openPathProxy } from './path-proxy.ts'
import { callback } from './world.ts'

test('openid-client discovers and uses a server below a path of its host, whose proxy removes the path', async () => {
  await using proxy = await openPathProxy('/shop/v1')
  await using world = await openWorld('sqlite', { baseUrl: proxy.url })
  proxy.leadTo(Number(new URL(world.url).port))
  await addUser(world.system, { name: 'bob', scopes: ['todo'] })
  const grants = ['authorization_code', 'refresh_token']
  const web = await world.addClient({ user: 'bob', scopes: ['todo'], grants, redirectUris: [callback] })

  const config = await client.discovery(new URL(proxy.url), web.id, web.secret, undefined, {
    execute: [client.allowInsecureRequests], // oxlint-disable-line typescript/no-deprecated -- so that it stands out
    algorithm: 'oauth2',
  })
  const { issuer, token_endpoint: tokenEndpoint } = config.serverMetadata()
  assert.deepEqual([issuer, tokenEndpoint], [proxy.url, `${proxy.url}/authorization/token`])
  const verifier = client.randomPKCECodeVerifier()
  const state = client.randomState()
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: callback,
    state,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  })
  const back = await browse(url)
  const tokens = await client.authorizationCodeGrant(config, back, { pkceCodeVerifier: verifier, expectedState: state })
  const called = await client.fetchProtectedResource(config, tokens.access_token, new URL(`${proxy.url}/todo`), 'GET')
  assert.deepEqual(await called.json(), { user: 'ann', scopes: ['todo'] })
  const renewed = await client.refreshTokenGrant(config, tokens.refresh_token ?? '')
  await client.tokenRevocation(config, renewed.access_token)
  assert.deepEqual(await client.tokenIntrospection(config, renewed.access_token), { active: false })
})

/** Goes where links, forms and redirects lead, as a browser does: from the address that it is at. */
async function browse(start: URL): Promise<URL> {
  const cookies = new Map<string, string>()
  let at = start
  const go = async (target: string, form?: Readonly<Record<string, string>>) => {
    at = new URL(target, at)
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const post = form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }
    const response = await fetch(at, { redirect: 'manual', headers: { cookie }, ...post })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    return response
  }
  const submit = async (page: Response, action: string, fields: Readonly<Record<string, string>>) => {
    const text = await page.text()
    assert.equal(page.status, 200, text)
    const [, target = ''] = new RegExp(`action="([^"]*/authorization/${action})"`).exec(text) ?? []
    const answer = await go(target, { ...readHidden({ text }, action), ...fields })
    assert.equal(answer.status, 303)
    return answer.headers.get('location') ?? ''
  }
  const login = await go(start.href)
  const next = await submit(login, 'login', { username: 'ann', password })
  return new URL(await submit(await go(next), 'consent', { decision: 'allow' }))
}
