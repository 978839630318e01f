// The API reference at /docs, without a portal.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { addUser } from '../../src/auth/index.ts'
import { nastyProject } from '../runtime/openapi/nasty-project.ts'
import { findFlaws, storeScreenshot, openBrowser, openPage } from '../support/browser.ts'
import { openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { readTemplate } from '../support/template.ts'
import { isLong, longTest } from '../support/forms.ts'
import { checkLooks, checkPage } from './backend-world.ts'

const nastyFiles = { ...nastyProject, 'a.ts': 'export default class A { handle() { return {} } }\n' }
const operations = {
  listTodos: 'Lists the open to-dos, newest first',
  createTodo: 'Creates a to-do',
  getTodo: 'Shows one to-do',
  replaceTodo: 'Changes a to-do',
  deleteTodo: 'Removes a to-do',
}
const sizes = [
  { name: 'a phone', viewport: { width: 360, height: 780 }, isMobile: true, hasTouch: true },
  { name: 'a tablet', viewport: { width: 768, height: 1024 }, isMobile: true, hasTouch: true },
  { name: 'a desktop', viewport: { width: 1440, height: 900 } },
]

/** More than fit into a window. */
const manyScopes = Array.from({ length: 12 }, (_, count) => `area-${count}`)
const maxBytes = 216 * 1024

const answer = (page: Page) => page.getByRole('region', { name: 'Response', exact: true })

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
      const declare = index === 0 ? test : longTest
      declare(
        `shows every operation on ${name}, ${colorScheme}, loads at most 216 KB of JavaScript, nothing from elsewhere, and reports no errors`,
        async () => {
          await using opened = await openPage(browser, server.url, { ...size, colorScheme })
          const { page, complaints } = opened
          const scripts = new Set<string>()
          page.on('request', (request) => void (request.url().endsWith('.js') && scripts.add(request.url())))
          await page.goto(`${server.url}/docs`)
          for (const operation of Object.values(operations))
            await page.locator('.operations').getByText(operation).waitFor()
          const bytes = await measureScripts(scripts)
          assert.ok(bytes > 50_000 && bytes <= maxBytes, `${bytes} bytes: ${[...scripts].join(', ')}`)
          await page.waitForFunction('document.title.startsWith("API reference · ")')
          assert.equal(await page.evaluate<number>('document.documentElement.scrollWidth'), size.viewport.width)
          assert.deepEqual(await isDark(page), colorScheme === 'dark')
          await page.locator('.operations').getByText('Creates a to-do').click()
          await page.getByRole('heading', { name: 'Creates a to-do', level: 1 }).waitFor()
          await page.reload()
          await page.getByRole('heading', { name: 'Creates a to-do', level: 1 }).waitFor()
          assert.equal(page.url(), `${server.url}/docs/operation/createTodo`)
          await page.getByRole('navigation', { name: 'Breadcrumb' }).getByText('API reference').click()
          await page.getByRole('heading', { name: 'API reference', level: 1 }).waitFor()
          assert.deepEqual(complaints, [])
        },
      )
    }
  }

  // docs-content.test.ts checks each page of it.
  longTest('is accessible, wide and narrow, light and dark', async () => {
    await using opened = await openPage(browser, server.url, { viewport: { width: 1440, height: 900 } })
    const { page, complaints } = opened
    await page.goto(`${server.url}/docs`)
    await page.locator('.operations').first().waitFor()
    const paths = Object.entries(operations).map(([id, title]) => [`/operation/${id}`, title])
    await checkLooks(
      page,
      {
        '/': 'API reference',
        '/?tab=authentication': 'API reference',
        '/?tab=errors': 'API reference',
        ...Object.fromEntries(paths),
        '/operation/createTodo?tab=try': 'Creates a to-do',
        '/operation/listTodos?tab=try': operations.listTodos,
        '/operation/nothing': 'No such operation',
      },
      '/docs',
    )
    await page.emulateMedia({ contrast: 'more', reducedMotion: 'reduce' })
    assert.deepEqual(await findFlaws(page), [])
    assert.deepEqual(complaints, [])
  })

  // In CI, forced-colors.test.ts looks at pages with the same styles.
  longTest('forced colors leave all text readable, and show the current page and tab', async () => {
    await using opened = await openPage(browser, server.url, {
      viewport: { width: 1440, height: 3600 },
      forcedColors: 'active',
      reducedMotion: 'reduce',
    })
    const { page, complaints } = opened
    await page.goto(`${server.url}/docs/operation/createTodo`)
    await page.getByRole('heading', { name: 'Responses' }).waitFor()
    assert.deepEqual(await findFlaws(page), [])
    // Fills are not painted, so a border says it.
    const border = (selector: string, side: string) =>
      page.evaluate<string>(
        `getComputedStyle(document.querySelector(${JSON.stringify(selector)})).getPropertyValue('border-${side}-width')`,
      )
    assert.equal(await border('.docs-nav [aria-current="page"]', 'left'), '4px')
    assert.equal(await border('.docs-nav .docs-link:not([aria-current])', 'left'), '0px')
    assert.equal(await border('[role=tab][aria-selected=true]', 'bottom'), '4px')
    assert.notEqual(await border('[role=tab][aria-selected=false]', 'bottom'), '4px')
    assert.deepEqual(complaints, [])
  })

  // In CI, docs-content.test.ts finds one of hundreds.
  longTest('finds operations with the keyboard', async () => {
    await using opened = await openPage(browser, server.url, { viewport: { width: 1280, height: 900 } })
    const { page, complaints } = opened
    await page.goto(`${server.url}/docs`)
    await page.locator('.operations').first().waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search for an operation' }).fill('removes')
    await page.getByRole('option', { name: /DELETE.*Removes a to-do/ }).waitFor()
    await storeScreenshot(page, 'docs search')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Removes a to-do', level: 1 }).waitFor()
    await page.keyboard.press('Tab')
    assert.equal(await page.evaluate('document.activeElement !== document.body'), true)
    const current = page.locator('.docs-nav [aria-current="page"]')
    assert.match((await current.textContent())!, /Removes a to-do/)
    // Links of the viewer that was here before
    await page.goto(`${server.url}/docs#tag/todo/PUT/todo/{todo_id}`)
    await page.getByRole('heading', { name: 'Changes a to-do', level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search for an operation' }).fill('errors')
    await page.keyboard.press('Enter')
    await page.getByText('application/problem+json').waitFor()
    assert.deepEqual(complaints, [])
  })

  // In CI, docs-content.test.ts has this and the large API.
  longTest('shows complex schemas', async () => {
    await using hard = await openProjectServer({ files: nastyFiles, isDevelopment: true })
    await using opened = await openPage(browser, hard.url, { viewport: { width: 1440, height: 900 } })
    const { page, complaints } = opened
    await page.goto(`${hard.url}/docs`)
    const links = page.locator('.operations a')
    await links.first().waitFor()
    const paths = await Promise.all((await links.all()).map((one) => one.getAttribute('href')))
    for (const path of paths) {
      await page.goto(hard.url + path!)
      await page.getByRole('heading', { name: 'Responses' }).waitFor()
    }
    assert.deepEqual(complaints, [])
  })

  longTest('a large API has closed groups, and renders what is near', async () => {
    const names = Array.from({ length: 26 }, (_, index) => `thing${index}`)
    const methods = ['GET', 'POST', 'PUT', 'DELETE'].map((method) => `${method}: { response: Thing, action: a.ts }`)
    const routes = names.map((name) => `  /${name}: { scopes: [a], methods: { ${methods.join(', ')} } }`)
    const schema = 'schema:\n  Thing: { type: object, properties: { id: { type: integer } } }\n'
    await using large = await openProjectServer({
      files: { ...nastyFiles, 'waypost.yml': `routes:\n${routes.join('\n')}\n${schema}` },
      isDevelopment: true,
    })
    await using opened = await openPage(browser, large.url, { viewport: { width: 1280, height: 900 } })
    const { page, complaints } = opened
    await page.goto(`${large.url}/docs`)
    await page.getByText('104 operations').waitFor()
    const groups = page.locator('.docs-group')
    assert.equal(await groups.count(), 26)
    assert.equal(await page.locator('.docs-link').count(), 0)
    await groups.nth(3).locator('summary').click()
    await page.locator('.docs-link').nth(3).waitFor()
    await page.locator('.docs-link').first().click()
    await page.locator('#content').getByRole('heading', { name: 'Responses' }).waitFor()
    assert.equal(await page.locator('.docs-link').count(), 4)
    await page.goto(`${large.url}/docs/operation/replaceThing12`)
    await page.getByRole('heading', { name: 'Replace the thing12', level: 1 }).waitFor()
    assert.equal(await page.locator('.docs-link[aria-current="page"]').count(), 1)
    assert.deepEqual(complaints, [])
  })

  test('sends a request with the entered token, and shows the response', async () => {
    const { authorization } = await server.authorize('ann', ['todo'])
    await using opened = await openPage(browser, server.url, { viewport: { width: 1280, height: 900 } })
    const { page, complaints } = opened
    await page.goto(`${server.url}/docs/operation/createTodo?tab=try`)
    await page.getByText('This operation needs a token').waitFor()
    await enterToken(page, 'nonsense', 'Use token')
    await page.getByRole('alert').getByText('The access token is not valid for this server').waitFor()
    await page.getByText('Send the request to see the response').waitFor() // entering a token sends no request
    await enterToken(page, authorization, 'Use token') // with "Bearer"
    await page.getByText(/^Token of ann/).waitFor()
    if (isLong) await checkPage(page, 'docs with a token') // docs-content.test.ts checks this sheet
    await sendTodo(page)
    const { entry } = (await (await fetch(`${server.url}/todo`)).json()) as { entry: { title: string }[] }
    assert.equal(entry[0]?.title, 'title')
    await page.getByRole('tab', { name: 'Reference' }).click()
    await page.getByText('Your token has this access.').waitFor()
    await page.getByRole('tab', { name: 'Try it' }).click()
    await page.getByLabel('Token', { exact: true }).selectOption('')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await answer(page).getByText('WP_AUTH_NO_TOKEN').waitFor()
    await page.getByRole('button', { name: 'Remove' }).click()
    await page.getByText('This operation needs a token').waitFor()
    assert.deepEqual(withoutRefused(complaints), [])
  })

  test('authorizes in a separate window and sends a request with the received token', async () => {
    await addUser(server.host.system, {
      name: 'bob',
      password,
      scopes: ['consumer', 'todo', 'backend.read', ...manyScopes],
    })
    await using opened = await openPage(browser, server.url, { viewport: { width: 1280, height: 900 } })
    const { page, complaints } = opened
    await page.goto(`${server.url}/docs/operation/createTodo?tab=try`)
    await page.getByLabel('Body').fill('{ "title": "typed before", "content": "" }')
    const asking = await openWindow(page, 'Get a token')
    await asking.getByLabel('Username').waitFor() // it opens empty
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
    await page.getByText(/^Token of bob/).waitFor()
    await sendTodo(page)
    assert.match(await (await fetch(`${server.url}/todo`)).text(), /typed before/)
    assert.deepEqual(complaints, [])
    const elsewhere = new URL(address)
    elsewhere.searchParams.set('redirect_uri', 'http://127.0.0.1:1/docs/signed-in')
    await page.goto(elsewhere.href)
    assert.match((await page.locator('main').textContent()) ?? '', /Any program on this device can claim to be/)
  })

  // In CI, test/runtime/docs.test.ts keeps it private, and the tests above enter tokens.
  longTest(
    'asks for a token if the reference is private, explains why a token is rejected, and accepts a valid one',
    async () => {
      await using closed = await openPrivate()
      const { authorization } = await closed.authorize('ann', [])
      await using opened = await openPage(browser, closed.url, { viewport: { width: 390, height: 844 } })
      const { page, complaints } = opened
      await page.goto(`${closed.url}/docs`)
      await page.getByRole('heading', { name: 'This reference is private', level: 1 }).waitFor()
      await checkPage(page, 'docs private')
      await enterToken(page, 'nonsense', 'Show reference')
      await page.getByRole('alert').getByText('The access token is not valid for this server').waitFor()
      await enterToken(page, authorization, 'Show reference')
      await page.locator('.operations').getByText('Creates a to-do').waitFor()
      const downloading = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Download openapi.json' }).click()
      assert.equal((await downloading).suggestedFilename(), 'openapi.json')
      assert.deepEqual(withoutRefused(complaints), [])
    },
  )

  // In CI, test/runtime/docs.test.ts keeps it private, and a test above signs in with a window.
  longTest('admits users who sign in to a private reference, and shows a denial', async () => {
    await using closed = await openPrivate()
    await addUser(closed.host.system, { name: 'bob', password, scopes: ['todo'] })
    await using opened = await openPage(browser, closed.url, { viewport: { width: 390, height: 844 } })
    const { page } = opened
    await page.goto(`${closed.url}/docs`)
    const denying = await openWindow(page, 'Get a token')
    await logIn(denying)
    await denying.getByRole('button', { name: 'Deny' }).click()
    await page.getByRole('alert').getByText('The user denied access').waitFor()
    await allow(await openWindow(page, 'Get a token'))
    await page.locator('.operations').getByText('Creates a to-do').waitFor()
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
      await page.goto(`${issuer}/docs/operation/createTodo?tab=try`)
      const asking = await openWindow(page, 'Get a token')
      await logIn(asking)
      await allow(asking)
      await page.getByText(/^Token of bob/).waitFor()
      await sendTodo(page)
      assert.deepEqual(complaints, [])
    } finally {
      await proxied.close()
    }
  })
})

const password = 'correct horse battery'

async function measureScripts(urls: ReadonlySet<string>): Promise<number> {
  let bytes = 0
  for (const url of urls) {
    const { headers } = await fetch(url, { method: 'HEAD', headers: { 'accept-encoding': 'gzip' } })
    bytes += Number(headers.get('content-length'))
  }
  return bytes
}

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

async function enterToken(page: Page, text: string, button: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Token' }).fill(text)
  await page.getByRole('button', { name: button }).click()
}

/** Sends the request that creates a to-do, with the token of the page. */
async function sendTodo(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.locator('.try-status').getByText('201', { exact: true }).waitFor()
}

/** Requests that are refused appear in the console of the browser. */
function withoutRefused(complaints: readonly string[]): readonly string[] {
  return complaints.filter((text) => !text.includes('401 (Unauthorized)'))
}

async function isDark(page: Page): Promise<boolean> {
  const colour = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
  const [red = 255] = [...colour.matchAll(/\d+/g)].map(Number)
  return red < 128
}
