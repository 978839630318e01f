// What all pages share: the palette, the keyboard, and going back.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { addClient, addUser } from '../../src/auth/index.ts'
import { findFlaws, storeScreenshot } from '../support/browser.ts'
import { actionFile } from '../support/project-server.ts'
import { until } from '../support/until.ts'
import { logIn, openBackendWorld, openSignedIn, origin, password, type BackendWorld } from './backend-world.ts'
import { longTest } from '../support/forms.ts'

const many = Array.from({ length: 300 }, (_, index) => `/thing${index}`)
const files = {
  'waypost.yml': `
routes:
  /book/:id: { methods: { GET: { public: true, action: src/a.ts }, PUT: { public: true, action: src/a.ts } } }
${many.map((path) => `  ${path}: { methods: { GET: { public: true, action: src/a.ts } } }`).join('\n')}
schema: { Book: { type: object } }
event: { book_sold: {} }
`,
  'src/a.ts': actionFile('return {}'),
}

describe('the frame of the pages', { timeout: 600_000 }, () => {
  let world: BackendWorld
  before(async () => {
    world = await openBackendWorld({ files })
    const { system } = world.server.host
    const parts = { scopes: [], redirectUris: [], public: false, grants: ['client_credentials'] }
    await addClient(system, { ...parts, name: 'bookshop', user: 'ann' })
  })
  after(() => world[Symbol.asyncDispose]())

  const palette = (page: Page) => page.getByRole('combobox', { name: 'Search pages, resources and commands' })
  const options = (page: Page) => page.getByRole('option')
  const chosen = (page: Page) => page.locator('[role="option"][aria-selected="true"]')
  const focused = (page: Page) =>
    page.evaluate<string>("document.activeElement.ariaLabel ?? document.activeElement.textContent ?? ''")

  test('the palette finds pages, things and commands by the keyboard alone, in groups', async () => {
    await using opened = await world.open({ viewport: { width: 1440, height: 900 } })
    const { page, complaints } = opened
    await openSignedIn(page)
    const find = async (text: string) => {
      await page.keyboard.press('Control+K')
      await palette(page).waitFor() // it opens when it is drawn
      await page.keyboard.type(text)
    }
    await find('book')
    for (const name of ['Routes', 'Schemas', 'Events', 'Clients'])
      await page.getByRole('group', { name, exact: true }).waitFor()
    await storeScreenshot(page, 'backend palette')
    const isCovered = (flaw: string) => flaw.startsWith('color-contrast') // of what is under the dialog: undecided
    assert.deepEqual(
      (await findFlaws(page)).filter((flaw) => !isCovered(flaw)),
      [],
    )
    await page.keyboard.press('Escape')
    await palette(page).waitFor({ state: 'detached' })

    await find('thing')
    await page.getByRole('option', { name: '/thing0' }).waitFor()
    assert.ok((await options(page).count()) < 20, 'draws the best ones only')
    await palette(page).fill('put book')
    await chosen(page).getByText('/book/:id').waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'PUT /book/:id', level: 1 }).waitFor()

    await find('bookshop')
    await chosen(page).getByText('bookshop').waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'bookshop', level: 1 }).waitFor()

    await find('new client')
    await chosen(page).getByText('New client').waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByLabel('Name').waitFor()
    await until('the first field has the focus', () => page.evaluate<boolean>("document.activeElement.name === 'name'"))
    assert.equal(new URL(page.url()).search, '')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })

    await find('a')
    const first = await chosen(page).textContent()
    await page.keyboard.press('ArrowDown')
    assert.notEqual(await chosen(page).textContent(), first)
    await page.keyboard.press('ArrowUp')
    assert.equal(await chosen(page).textContent(), first)
    await palette(page).fill('xyzzy')
    await page.getByRole('status').getByText('Nothing found').waitFor()
    assert.deepEqual(complaints, [])
  })

  // In CI, backend/find-items.test.ts and backend/admin-api.test.ts have the scopes.
  longTest('the palette finds only what the user may read', async () => {
    await addUser(world.server.host.system, { name: 'ray', password, scopes: ['backend.read'] })
    await using opened = await world.open()
    const { page } = opened
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await page.goto(`${origin}/backend/ui/schemas`)
    await logIn(page, 'ray')
    await page.locator('#content h1').waitFor()
    await page.keyboard.press('Control+K')
    await palette(page).fill('book')
    await page.getByRole('option', { name: 'Book', exact: true }).waitFor()
    assert.equal(await page.getByRole('group', { name: 'Clients' }).count(), 0)
    await palette(page).fill('new')
    assert.equal(await page.getByRole('option', { name: 'New client' }).count(), 0)
    assert.deepEqual(
      asked.filter((path) => /backend\/(user|client|subscription)$/.test(path)),
      [],
    )
  })

  test('a list is used with the keyboard; going back restores its filter, order and position', async () => {
    await using opened = await world.open({ viewport: { width: 1440, height: 900 } })
    const { page, complaints } = opened
    await openSignedIn(page, '/routes')
    const search = page.getByRole('searchbox', { name: 'Search' })
    await search.fill('thing')
    await page.getByRole('button', { name: 'Route', exact: true }).click()
    await page.getByRole('row', { name: /^GET \/thing99 / }).waitFor()
    await until('both are in the address', () => new URL(page.url()).search.length > 20)
    assert.deepEqual(Object.fromEntries(new URL(page.url()).searchParams), { search: 'thing', sort: '-route' })
    const address = page.url()
    await page.getByRole('row', { name: '/book/:id' }).first().waitFor({ state: 'detached' })
    await search.focus()
    await page.keyboard.press('ArrowDown')
    assert.equal(await focused(page), 'GET/thing99')
    const outline = `getComputedStyle(document.activeElement, '::after').outlineStyle`
    assert.equal(await page.evaluate(outline), 'solid')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('j')
    await page.keyboard.press('k')
    assert.equal(await focused(page), 'GET/thing98')
    await page.keyboard.press('/')
    assert.equal(await page.evaluate('document.activeElement.type'), 'search')
    assert.equal(await search.inputValue(), 'thing')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('End')
    const last = (await focused(page)).replace('GET', '')
    assert.notEqual(last, '/thing99')
    const top = () => page.evaluate<number>("document.querySelector('#content').scrollTop")
    const before = await top()
    assert.ok(before > 500)
    // The browser reports the scroll position with the next frame.
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: `GET ${last}`, level: 1 }).waitFor()
    assert.equal(await top(), 0)
    await page.goBack()
    await page.getByRole('link', { name: `GET ${last}`, exact: true }).waitFor()
    await until('the position is restored', async () => Math.abs((await top()) - before) < 50)
    assert.equal(await search.inputValue(), 'thing')
    assert.equal(page.url(), address)
    assert.deepEqual(complaints, [])
  })

  // In CI, forced-colors.test.ts edits at this size.
  longTest(
    'zoomed to 400 percent, each place of the focus is seen, and the navigation closes with the link to the same page',
    async () => {
      await using opened = await world.open({ viewport: { width: 320, height: 256 }, forcedColors: 'active' })
      const { page, complaints } = opened
      await openSignedIn(page, '/routes')
      await page.getByRole('link', { name: /^GET \/book/ }).waitFor()
      await page.getByRole('button', { name: 'Open navigation' }).focus()
      await page.keyboard.press('Enter')
      const link = page.getByRole('dialog').getByRole('link', { name: 'Routes', exact: true })
      await link.focus()
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await page.getByRole('link', { name: 'Skip to content' }).focus()
      const isSeen = `(() => {
      const { x, y, width, height } = document.activeElement.getBoundingClientRect()
      const top = document.elementFromPoint(x + width / 2, y + height / 2)
      return document.activeElement.contains(top) || top?.contains(document.activeElement) === true
    })()`
      for (let count = 0; count < 16; count += 1) {
        assert.ok(await page.evaluate<boolean>(isSeen), await focused(page))
        await page.keyboard.press('Tab')
      }
      assert.match(await focused(page), /thing/)
      assert.deepEqual(complaints, [])
    },
  )

  // In CI, the other tests use the keyboard.
  longTest('single-key shortcuts can be turned off; arrows still move', async () => {
    await using opened = await world.open({ viewport: { width: 1440, height: 900 } })
    const { page } = opened
    await openSignedIn(page, '/users')
    await page.getByRole('button', { name: 'Actions: ann' }).focus()
    await page.keyboard.press('a')
    await until('the menu has the focus', () =>
      page.evaluate<boolean>("document.activeElement.closest('[role=menu]') !== null"),
    )
    await page.keyboard.press('Escape')
    await page.getByRole('menuitem', { name: 'Disable' }).waitFor({ state: 'detached' })
    await until('the row has the focus', async () => (await focused(page)) === 'Actions: ann')
    await page.getByRole('button', { name: 'Account' }).click()
    const shortcuts = page.getByRole('menuitemcheckbox', { name: /^Single-key shortcuts/ })
    await shortcuts.click()
    assert.equal(await shortcuts.getAttribute('aria-checked'), 'false')
    await page.reload()
    await page.getByRole('link', { name: 'ann', exact: true }).focus()
    await page.keyboard.press('a')
    await page.keyboard.press('/')
    assert.equal(await page.getByRole('menuitem').count(), 0)
    assert.equal(await focused(page), 'ann')
    await page.keyboard.press('ArrowUp')
    assert.equal(await page.evaluate('document.activeElement.type'), 'search')
  })
})
