import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { openBrowser, openPage } from '../support/browser.ts'
import { makePkce } from '../support/client-site.ts'
import { basic, bearer } from '../support/server.ts'
import { issuer, openBrowserWorld, password, type BrowserWorld } from './authorize-world.ts'
import { longTest } from '../support/forms.ts'

const withoutScripts = { javaScriptEnabled: false, viewport: { width: 390, height: 844 } }

describe('the authorization code flow in a browser', { timeout: 600_000 }, () => {
  let browser: Browser
  let world: BrowserWorld
  before(async () => {
    browser = await openBrowser()
    world = await openBrowserWorld()
  })
  after(async () => {
    await browser.close()
    await world[Symbol.asyncDispose]()
  })

  /** A browser without JavaScript, and nobody logged in. */
  const open = () => openPage(browser, world.server.url, withoutScripts)
  const lastAnswer = () => Object.fromEntries(world.site.answers.at(-1)!.searchParams)

  test('leads a user without JavaScript from login and consent back to the client, with a code that is good', async () => {
    const client = await world.addClient({})
    const { verifier, challenge } = makePkce()
    await using opened = await open()
    const { page } = opened
    await page.goto(world.authorizeUrl(client.id, { code_challenge: challenge }))
    assert.equal(await page.title(), 'Sign in to Acme Cloud')
    await page.getByText(`to continue to ${world.clientName}`).waitFor()

    await logIn(page, 'ann', 'wrong password')
    await page.getByRole('alert').getByText('Wrong username or password').waitFor()
    assert.equal(await page.getByLabel('Username').inputValue(), 'ann')
    assert.equal(await page.getByLabel('Password').inputValue(), '')
    await page.locator('#password:focus').waitFor()

    await logIn(page, 'ann')
    await page.getByRole('heading', { name: `Allow ${world.clientName} to use your account?` }).waitFor()
    await page.getByText('Signed in as ann').waitFor()
    assert.deepEqual(await page.getByRole('listitem').allInnerTexts(), ['todo'])
    await page.getByText(new URL(world.site.origin).host).waitFor()
    await page.getByRole('button', { name: 'Allow' }).click()

    await page.getByRole('heading', { name: 'Back at the client' }).waitFor()
    const { code = '', ...rest } = lastAnswer()
    assert.deepEqual(rest, { state: 'a b&c=ü', iss: issuer })
    const token = await redeem(client, { code, code_verifier: verifier })
    const created = await fetch(`${world.server.url}/todo`, {
      method: 'POST',
      headers: { ...bearer(token), 'content-type': 'application/json' },
      body: JSON.stringify({ title: 'By code', content: '' }),
    })
    assert.equal(created.status, 201)
  })

  test('informs the client when the user denies, and asks again the next time', async () => {
    const client = await world.addClient({})
    await using opened = await open()
    const { page } = opened
    await page.goto(world.authorizeUrl(client.id))
    await logIn(page, 'ann')
    for (let time = 0; time < 2; time++) {
      await page.goto(world.authorizeUrl(client.id))
      await page.getByRole('button', { name: 'Deny' }).click()
      await page.getByRole('heading', { name: 'Back at the client' }).waitFor()
      const { error, state, iss, code } = lastAnswer()
      assert.deepEqual([error, state, iss, code], ['access_denied', 'a b&c=ü', issuer, undefined])
    }
  })

  // In CI, test/auth/authorize has the same requests.
  longTest('is skipped after the user has allowed the scopes, and shown for additional ones', async () => {
    const client = await world.addClient({})
    await using opened = await open()
    const { page } = opened
    await page.goto(world.authorizeUrl(client.id))
    await logIn(page, 'ann')
    await page.getByRole('button', { name: 'Allow' }).click()
    const { code } = lastAnswer()
    await page.goto(world.authorizeUrl(client.id))
    await page.getByRole('heading', { name: 'Back at the client' }).waitFor()
    assert.ok(lastAnswer()['code'] !== code && lastAnswer()['code'] !== undefined)
    await page.goto(world.authorizeUrl(client.id, { scope: 'todo note' }))
    assert.deepEqual(await page.getByRole('listitem').allInnerTexts(), ['todo', 'note'])
  })

  // In CI, test/auth/authorize has the same requests.
  longTest('asks each time for a public client on this device, and explains why', async () => {
    const client = await world.addClient({ public: true })
    await using opened = await open()
    const { page } = opened
    await page.goto(world.authorizeUrl(client.id))
    await logIn(page, 'ann')
    for (let time = 0; time < 2; time++) {
      await page.goto(world.authorizeUrl(client.id))
      await page.getByText('Any program on this device can claim to be Acme Tasks').waitFor()
      await page.getByRole('button', { name: 'Allow' }).click()
      await page.getByRole('heading', { name: 'Back at the client' }).waitFor()
    }
  })

  // In CI, test/auth/authorize has the same requests.
  longTest('another account continues the request of the first one', async () => {
    const client = await world.addClient({ user: 'ann' })
    await using opened = await open()
    const { page } = opened
    await page.goto(world.authorizeUrl(client.id, { prompt: 'consent' }))
    await logIn(page, 'ann')
    await page.getByRole('button', { name: 'Use another account' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    assert.equal(await page.getByLabel('Username').inputValue(), '')
    await logIn(page, 'bob')
    await page.getByText('Signed in as bob').waitFor()
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.getByRole('heading', { name: 'Back at the client' }).waitFor()
    assert.ok(lastAnswer()['code'])
  })

  test('going back and forth after a login, and loading again, sends no form again', async () => {
    const client = await world.addClient({})
    await using opened = await open()
    const { page } = opened
    const posted = watchForms(page)
    await page.goto('about:blank')
    await page.goto(world.authorizeUrl(client.id))
    await logIn(page, 'ann')
    await page.getByRole('button', { name: 'Deny' }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Deny' }).click()
    await page.getByRole('heading', { name: 'Back at the client' }).waitFor()
    for (let step = 0; step < 5 && page.url() !== 'about:blank'; step++) {
      await page.goBack()
      if (page.url() !== 'about:blank') await page.getByText('Signed in as ann').waitFor()
    }
    assert.equal(page.url(), 'about:blank')
    await page.goForward()
    await page.getByText('Signed in as ann').waitFor()
    assert.deepEqual(posted, ['/authorization/login', '/authorization/consent'])
  })

  test('a wrong password is not sent again: loading again and going back show the form', async () => {
    const client = await world.addClient({})
    await using opened = await open()
    const { page } = opened
    const posted = watchForms(page)
    await page.goto(world.authorizeUrl(client.id))
    await logIn(page, 'ann', 'wrong password')
    await page.getByRole('alert').waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    assert.equal(await page.getByRole('alert').count(), 0)
    await logIn(page, 'ann', 'wrong password')
    await page.getByRole('alert').waitFor()
    await page.goBack()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    assert.equal(await page.getByRole('alert').count(), 0)
    await logIn(page, 'ann')
    await page.getByRole('button', { name: 'Deny' }).waitFor()
    await page.goBack()
    await page.getByText('Signed in as ann').waitFor()
    assert.deepEqual(posted, Array<string>(3).fill('/authorization/login'))
  })

  test('a page of another origin can neither frame it nor submit its forms', async () => {
    const client = await world.addClient({})
    await using opened = await openPage(browser, world.server.url)
    const { page } = opened
    const url = world.authorizeUrl(client.id).replaceAll('&', '&amp;')
    world.site.show(`<!doctype html><title>Trap</title><iframe src="${url}"></iframe>
      <form method="post" action="${world.server.url}/authorization/login"><button>Win</button></form>`)
    await page.goto(`${world.site.origin}/page`)
    const [frame] = page.frames().slice(1)
    assert.equal(frame?.url(), 'chrome-error://chromewebdata/')
    await page.getByRole('button', { name: 'Win' }).click()
    await page.getByRole('heading', { name: 'This form was sent by another site' }).waitFor()
  })

  test('a page of the client that opened it in a window keeps in touch with it, up to its end', async () => {
    const client = await world.addClient({})
    world.site.show(`<!doctype html><title>App</title><script>
      addEventListener('message', ({ origin, data }) => { if (origin === location.origin) document.title = data })
      function ask() { window.open(${JSON.stringify(world.authorizeUrl(client.id))}) }</script>
      <button onclick="ask()">Authorize</button>`)
    await using opened = await openPage(browser, world.server.url)
    const { page } = opened
    await page.goto(`${world.site.origin}/page`)
    const opening = page.waitForEvent('popup')
    await page.getByRole('button', { name: 'Authorize' }).click()
    const asked = await opening
    await logIn(asked, 'ann')
    await asked.getByRole('button', { name: 'Allow' }).click()
    await asked.getByRole('heading', { name: 'Back at the client' }).waitFor()
    await asked.evaluate("window.opener.postMessage('Authorized', location.origin)")
    await page.waitForFunction("document.title === 'Authorized'")
  })

  test('an app can be reached by a custom scheme', async () => {
    const redirectUri = 'com.example.app:/cb'
    const client = await world.addClient({ redirectUris: [redirectUri], public: true })
    await using opened = await openPage(browser, world.server.url)
    const { page, complaints } = opened
    await page.goto(world.authorizeUrl(client.id, { redirect_uri: redirectUri }))
    await logIn(page, 'ann')
    await page.getByText('You will then be redirected to a program on this device, com.example.app.').waitFor()
    const failing = page.waitForEvent('requestfailed')
    await page.getByRole('button', { name: 'Allow' }).click()
    const failed = await failing
    // There is no such app here. What the policy forbids would not have got as far as being asked for.
    assert.match(failed.url(), /^com\.example\.app:\/cb\?code=/)
    assert.deepEqual(complaints, [])
  })

  test('names of clients stay text', async () => {
    const name = `<img src=x onerror="document.title='owned'">&lt;`
    const client = await world.addClient({ name })
    await using opened = await openPage(browser, world.server.url)
    const { page, complaints } = opened
    await page.goto(world.authorizeUrl(client.id))
    await page.getByText(`to continue to ${name}`).waitFor()
    await logIn(page, 'ann')
    await page.getByRole('heading', { name: `Allow ${name} to use your account?` }).waitFor()
    assert.equal(await page.locator('img').count(), 0)
    assert.equal(await page.title(), 'Allow access to your Acme Cloud account')
    assert.deepEqual(complaints, [])
  })

  async function redeem(client: { id: string; secret: string }, form: Record<string, string>): Promise<string> {
    const response = await fetch(`${world.server.url}/authorization/token`, {
      method: 'POST',
      headers: basic(client.id, client.secret),
      body: new URLSearchParams({ grant_type: 'authorization_code', redirect_uri: world.site.redirectUri, ...form }),
    })
    assert.equal(response.status, 200)
    return ((await response.json()) as { access_token: string }).access_token
  }
})

/** The paths that forms are sent to from now on; what a browser only looks for in its cache is not sent. */
function watchForms(page: Page): readonly string[] {
  const posted: string[] = []
  page.on('response', (response) => {
    if (response.request().method() === 'POST') posted.push(new URL(response.url()).pathname)
  })
  return posted
}

async function logIn(page: Page, user: string, secret = password): Promise<void> {
  await page.getByLabel('Username').fill(user)
  await page.getByLabel('Password').fill(secret)
  await page.getByRole('button', { name: 'Sign in' }).click()
}
