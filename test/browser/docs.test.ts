import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { addUser } from '../../src/auth/index.ts'
import { nastyProject } from '../runtime/openapi/nasty-project.ts'
import { findFlaws, storeScreenshot, openBrowser, openPage } from '../support/browser.ts'
import { openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { readTemplate } from '../support/template.ts'
import { isLong, longTest } from '../support/forms.ts'

const nastyFiles = { ...nastyProject, 'a.ts': 'export default class A { handle() { return {} } }\n' }
const operations = [
  'Lists the open to-dos, newest first',
  'Creates a to-do',
  'Shows one to-do',
  'Changes a to-do',
  'Removes a to-do',
]
const sizes = [
  { name: 'a phone', viewport: { width: 360, height: 780 }, isMobile: true, hasTouch: true },
  { name: 'a tablet', viewport: { width: 768, height: 1024 }, isMobile: true, hasTouch: true },
  { name: 'a desktop', viewport: { width: 1440, height: 900 } },
]

/** More than fit into a window. */
const manyScopes = Array.from({ length: 12 }, (_, count) => `area-${count}`)

describe('/docs in a browser', { timeout: 600_000 }, () => {
  let browser: Browser
  let server: ProjectServer
  before(async () => {
    browser = await openBrowser()
    server = await openProjectServer({ files: readTemplate('todo'), isDevelopment: true })
  })
  after(async () => {
    await browser.close()
    await server[Symbol.asyncDispose]()
  })

  for (const [index, { name, ...size }] of sizes.entries()) {
    const colours = ['dark', 'light'] as const
    for (const colorScheme of isLong ? colours : [colours[index % 2]!]) {
      test(`shows every operation on ${name}, ${colorScheme}, loads no external resources and reports no errors`, async () => {
        await using opened = await openPage(browser, server.url, { ...size, colorScheme })
        const { page, complaints } = opened
        await page.goto(`${server.url}/docs`)
        for (const operation of operations) await scrollTo(page, operation)
        for (const noise of ['Integer numbers.', 'OpenAPI 3.1', /[0-9a-f]{12}/, 'Not stated'])
          assert.equal(await page.locator('main').getByText(noise).filter({ visible: true }).count(), 0)
        assert.equal(await page.title(), 'API reference')
        assert.equal(await page.evaluate<number>('document.documentElement.scrollWidth'), size.viewport.width)
        assert.deepEqual(await isDark(page), colorScheme === 'dark')
        assert.deepEqual(complaints, [])
      })
    }
  }

  test('shows complex schemas', async () => {
    await using hard = await openProjectServer({ files: nastyFiles, isDevelopment: true })
    await using opened = await openPage(browser, hard.url, { viewport: { width: 1440, height: 900 } })
    const { page, complaints } = opened
    await page.goto(`${hard.url}/docs`)
    for (const operation of ['Shows a file', 'Create a search', 'Get weird path a b']) {
      await scrollTo(page, operation)
    }
    assert.deepEqual(complaints, [])
  })

  // In CI, portal-reference.test.ts finds operations.
  longTest('shows a large API on a page for each tag, with an overview, and keeps the token', async () => {
    const names = Array.from({ length: 26 }, (_, index) => `thing${index}`)
    const methods = ['GET', 'POST', 'PUT', 'DELETE'].map((method) => `${method}: { response: Thing, action: a.ts }`)
    const routes = names.map((name) => `  /${name}: { scopes: [a], methods: { ${methods.join(', ')} } }`)
    const schema = 'schema:\n  Thing: { type: object, properties: { id: { type: integer } } }\n'
    await using large = await openProjectServer({
      files: { ...nastyFiles, 'waypost.yml': `routes:\n${routes.join('\n')}\n${schema}` },
    })
    await using opened = await openPage(browser, large.url, { viewport: { width: 1280, height: 900 } })
    const { page, complaints } = opened
    await page.goto(`${large.url}/docs`)
    const token = page.getByPlaceholder('Token').first()
    await token.fill('abc')
    await page.getByText('thing25: 4 operations').waitFor()
    assert.equal(await page.getByText('Post thing7').count(), 0)
    await page.getByRole('link', { name: 'thing7', exact: true }).click()
    await scrollTo(page, 'Post thing7')
    assert.equal(await page.getByText('thing8').count(), 0)
    assert.equal(await token.inputValue(), 'abc')
    await page.getByRole('button', { name: 'thing7', exact: true }).first().click() // the choice of pages
    await page.getByRole('option', { name: 'thing9', exact: true }).click()
    await scrollTo(page, 'Delete the thing9')
    assert.equal(await token.inputValue(), 'abc')
    for (const text of ['Integer numbers.', 'OpenAPI 3.1'])
      assert.equal(await page.getByText(text).filter({ visible: true }).count(), 0)
    await page.goto(`${large.url}/docs#thing12`)
    await scrollTo(page, 'Replace the thing12')
    await page.goBack()
    await scrollTo(page, 'Delete the thing9')
    assert.deepEqual(complaints, [])
  })

  test('sends a request with the entered token, and shows the response', async () => {
    const { authorization } = await server.authorize('ann', ['todo'])
    await using opened = await openPage(browser, server.url, { viewport: { width: 1280, height: 900 } })
    const { page, complaints } = opened
    await page.goto(`${server.url}/docs`)
    await page.getByPlaceholder('Token').first().fill(authorization.replace('Bearer ', ''))
    await scrollTo(page, 'Creates a to-do')
    await page.getByRole('button', { name: 'Test Request (post /todo)' }).click()
    await page.getByRole('button', { name: /^Send/ }).first().click()
    await page.getByText('To-do created').first().waitFor()
    await page.getByText('201 Created').first().waitFor()
    const { entry } = (await (await fetch(`${server.url}/todo`)).json()) as { entry: { title: string }[] }
    assert.equal(entry[0]?.title, 'title')
    assert.deepEqual(complaints, [])
  })

  test('authorizes in a separate window and sends a request with the received token', async () => {
    await addUser(server.host.system, {
      name: 'bob',
      password,
      scopes: ['consumer', 'todo', 'backend.read', ...manyScopes],
    })
    await using opened = await openPage(browser, server.url, { viewport: { width: 1280, height: 900 } })
    const { page, complaints } = opened
    await page.goto(`${server.url}/docs`)
    const asking = await openWindow(page, 'Authorize via oauth2')
    const address = asking.url()
    await logIn(asking)
    await asking.setViewportSize({ width: 800, height: 600 })
    for (const name of ['Allow', 'Deny']) {
      const button = await asking.getByRole('button', { name }).boundingBox()
      assert.ok(button !== null && button.y + button.height <= 600, `${name} needs no scrolling in this window`)
    }
    const said = (await asking.locator('main').textContent()) ?? ''
    assert.match(said, /return to the API reference/)
    assert.doesNotMatch(said, /Any program|program on this device/)
    await storeScreenshot(asking, 'consent to the reference 800 light')
    await allow(asking)
    await trySending(page)
    assert.deepEqual(complaints, [])
    const elsewhere = new URL(address)
    elsewhere.searchParams.set('redirect_uri', 'http://127.0.0.1:1/docs/signed-in')
    await page.goto(elsewhere.href)
    assert.match((await page.locator('main').textContent()) ?? '', /Any program on this device can claim to be/)
  })

  test('asks for a token if the reference is private, explains why a token is rejected, and accepts a valid one', async () => {
    await using closed = await openPrivate()
    const { authorization } = await closed.authorize('ann', [])
    await using opened = await openPage(browser, closed.url, { viewport: { width: 390, height: 844 } })
    const { page, complaints } = opened
    await page.goto(`${closed.url}/docs`)
    await page.getByLabel('Access token').fill('nonsense')
    await page.getByRole('button', { name: 'Show reference' }).click()
    await page.getByRole('alert').getByText('The access token is not valid for this server').waitFor()
    await page.getByLabel('Access token').fill(authorization.replace('Bearer ', ''))
    await page.getByRole('button', { name: 'Show reference' }).click()
    await scrollTo(page, 'Creates a to-do')
    assert.deepEqual(
      complaints.filter((one) => !one.includes('401 (Unauthorized)')),
      [],
    )
  })

  // In CI, portal-reference.test.ts signs in to a private reference.
  longTest('admits users who sign in to a private reference, and shows a denial', async () => {
    await using closed = await openPrivate()
    await addUser(closed.host.system, { name: 'bob', password, scopes: ['todo'] })
    await using opened = await openPage(browser, closed.url, { viewport: { width: 390, height: 844 } })
    const { page } = opened
    await page.goto(`${closed.url}/docs`)
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    assert.deepEqual(await findFlaws(page), [])
    const denying = await openWindow(page, 'Sign in')
    await logIn(denying)
    await denying.getByRole('button', { name: 'Deny' }).click()
    await page.getByRole('alert').getByText('The user denied access').waitFor()
    await allow(await openWindow(page, 'Sign in'))
    await scrollTo(page, 'Creates a to-do')
    assert.notEqual(await page.getByPlaceholder('Token').first().inputValue(), '')
  })

  // In CI, the test of the window authorizes too.
  longTest('authorizes where callers reach the server by another address than it listens at', async () => {
    await using served = await openProjectServer({ files: readTemplate('todo') })
    await addUser(served.host.system, { name: 'bob', password, scopes: ['todo'] })
    const issuer = 'http://localhost:3000'
    const proxied = await openBrowser([`--host-resolver-rules=MAP localhost 127.0.0.1:${served.port}`])
    try {
      await using opened = await openPage(proxied, issuer, { viewport: { width: 1280, height: 900 } })
      const { page, complaints } = opened
      await page.goto(`${issuer}/docs`)
      const asking = await openWindow(page, 'Authorize via oauth2')
      await logIn(asking)
      await allow(asking)
      await trySending(page)
      assert.deepEqual(complaints, [])
    } finally {
      await proxied.close()
    }
  })
})

const password = 'correct horse battery'

/** A server whose reference is for those only who have a token. */
function openPrivate(): Promise<ProjectServer> {
  const todo = readTemplate('todo')
  const files = { ...todo, 'waypost.yml': `${todo['waypost.yml']}config: { docs: private }\n` }
  return openProjectServer({ files, isDevelopment: true })
}

async function logIn(page: Page): Promise<void> {
  await page.getByLabel('Username').fill('bob')
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

async function openWindow(page: Page, button: string): Promise<Page> {
  const opening = page.waitForEvent('popup')
  await page.getByRole('button', { name: button }).first().click()
  return opening
}

/** Allows what is asked; the window closes then. */
async function allow(opened: Page): Promise<void> {
  const closing = opened.waitForEvent('close')
  await opened.getByRole('button', { name: 'Allow' }).click()
  await closing
}

/** Waits for the token, and sends a request that needs one. */
async function trySending(page: Page): Promise<void> {
  const field = page.getByPlaceholder('Token').first()
  await page.waitForFunction((input) => (input as { value?: string }).value !== '', await field.elementHandle())
  assert.equal(await page.getByRole('button', { name: 'Refresh' }).count(), 0) // there is nothing to refresh it with
  await scrollTo(page, 'Creates a to-do')
  await page.getByRole('button', { name: 'Test Request (post /todo)' }).click()
  await page.getByRole('button', { name: /^Send/ }).first().click()
  await page.getByText('201 Created').first().waitFor()
}

/** Brings an operation into view: the viewer draws those that are near. */
async function scrollTo(page: Page, operation: string): Promise<void> {
  const heading = page.getByRole('heading', { name: operation })
  const isThere = async () => (await heading.count()) > 0
  await page.locator('#reference h1').first().waitFor()
  for (let step = 0; step < 200 && !(await isThere()); step++) {
    await page.evaluate('window.scrollBy(0, 300)')
    await page.waitForTimeout(30)
  }
  await heading.first().scrollIntoViewIfNeeded()
}

async function isDark(page: Page): Promise<boolean> {
  const colour = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
  const [red = 255] = [...colour.matchAll(/\d+/g)].map(Number)
  return red < 128
}
