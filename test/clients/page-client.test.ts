// A client that is a page: what it may do is for the browser to say, which asks before it lets a page call another origin.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { password } from '../auth/world.ts'
import { openBrowser, openPage } from '../support/browser.ts'
import { openPageSite } from './page-site.ts'
import { openClientWorld } from './world.ts'

/** What such a page does with the library, as its manual says; what it found out stands in its title at the end. */
function writeScript(origin: string, { issuer, clientId }: { issuer: string; clientId: string }): string {
  return `
    import * as oauth from '/oauth4webapi.js'
    const insecure = { [oauth.allowInsecureRequests]: true }
    const redirectUri = '${origin}/callback'
    const client = { client_id: '${clientId}' }
    const issuer = new URL('${issuer}')
    const server = await oauth
      .discoveryRequest(issuer, { ...insecure, algorithm: 'oauth2' })
      .then((response) => oauth.processDiscoveryResponse(issuer, response))

    async function leave() {
      sessionStorage.verifier = oauth.generateRandomCodeVerifier()
      sessionStorage.state = oauth.generateRandomState()
      const url = new URL(server.authorization_endpoint)
      url.search = new URLSearchParams({
        client_id: client.client_id,
        redirect_uri: redirectUri,
        response_type: 'code',
        scope: 'todo',
        state: sessionStorage.state,
        code_challenge: await oauth.calculatePKCECodeChallenge(sessionStorage.verifier),
        code_challenge_method: 'S256',
      })
      location.assign(url)
    }

    async function comeBack() {
      const { verifier, state } = sessionStorage
      const answer = oauth.validateAuthResponse(server, client, new URL(location.href), state)
      const none = oauth.None()
      const tokens = await oauth
        .authorizationCodeGrantRequest(server, client, none, answer, redirectUri, verifier, insecure)
        .then((response) => oauth.processAuthorizationCodeResponse(server, client, response))
      const renewed = await oauth
        .refreshTokenGrantRequest(server, client, none, tokens.refresh_token, insecure)
        .then((response) => oauth.processRefreshTokenResponse(server, client, response))
      const call = () =>
        oauth.protectedResourceRequest(renewed.access_token, 'GET', new URL('/todo', issuer), undefined, undefined, insecure)
      const { user } = await (await call()).json()
      await oauth
        .revocationRequest(server, client, none, renewed.refresh_token, insecure)
        .then((response) => oauth.processRevocationResponse(response))
      const refused = await call().catch((error) => error.cause[0].parameters.error)
      return [user, refused].join(', ')
    }

    try {
      if (location.pathname === '/') await leave()
      else document.title = await comeBack()
    } catch (error) {
      document.title = 'failed: ' + error
    }`
}

test('oauth4webapi in a page of another origin: code with PKCE, refresh, a route, revocation', async () => {
  const browser = await openBrowser()
  try {
    let about = { issuer: '', clientId: '' }
    await using site = await openPageSite((origin) => writeScript(origin, about))
    await using world = await openClientWorld('sqlite', { cors: [site.origin] })
    about = { issuer: world.issuer, clientId: world.native.id }
    await using opened = await openPage(browser, site.origin)
    const { page } = opened
    await page.goto(site.origin)
    await logIn(page)
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.waitForFunction("location.pathname === '/callback' && document.title !== 'App'")
    assert.equal(await page.title(), 'ann, invalid_token')
  } finally {
    await browser.close()
  }
})

async function logIn(page: Page): Promise<void> {
  await page.getByLabel('Username').fill('ann')
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}
