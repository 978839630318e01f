import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { addUser, backendScopes } from '../../src/auth/index.ts'
import { installation } from '../../src/kit/index.ts'
import { until } from '../support/until.ts'
import { checkLooks, checkPage, goTo } from './backend-world.ts'
import { logIn, openPortal, openPortalWorld, origin, password, root, type PortalWorld } from './portal-world.ts'
import { longTest } from '../support/forms.ts'

describe('the portal', { timeout: 600_000 }, () => {
  let world: PortalWorld
  before(async () => {
    world = await openPortalWorld()
  })
  after(() => world[Symbol.asyncDispose]())

  test('shows visitors what the API is, and asks them to sign in where it is about their account', async () => {
    await using opened = await world.open()
    const { page, complaints } = opened
    const scripts = new Set<string>()
    page.on('request', (request) => {
      if (/\/assets\/.*\.js$/.test(request.url())) scripts.add(path.basename(new URL(request.url()).pathname))
    })
    await page.goto(`${origin}${root}`)
    await page.getByRole('heading', { name: 'Corner Shop', level: 1 }).waitFor()
    await page.getByText('Orders and stock of the corner shop, for partners.').waitFor()
    const sizes = [...scripts].map((name) => statSync(path.join(installation, 'dist/ui/assets', `${name}.gz`)).size)
    const bytes = sizes.reduce((sum, one) => sum + one, 0)
    assert.ok(bytes > 50_000 && bytes <= 200 * 1024, `${bytes} bytes: ${[...scripts].join(', ')}`)
    await checkPage(page, 'portal of a visitor')
    await page.setViewportSize({ width: 390, height: 2400 })
    await goTo(page, '/reference', 'API reference', root)
    assert.deepEqual(await findSmallTargets(page), [])
    await goTo(page, '/nothing', 'Page not found', root)
    await until('the title is set', async () => (await page.title()).startsWith('Page not found · '))

    await page.goto(`${origin}${root}/clients`)
    await page.locator('#content').getByText('Sign in to see this page.').waitFor()
    await page.locator('#content').getByRole('button', { name: 'Sign in' }).click()
    await logIn(page, 'bea')
    await page.locator('#content').getByRole('heading', { name: 'Clients', level: 1 }).waitFor()
    assert.equal(page.url(), `${origin}${root}/clients`)
    assert.deepEqual(complaints, [])
  })

  test('is where the address of the API leads', async () => {
    const { status, headers } = await world.call('/', { redirect: 'manual' })
    assert.deepEqual([status, headers.get('location')], [302, '/portal/'])
  })

  // In CI, backend.test.ts does, with the same code, and the next test signs out.
  longTest('signs in silently after a reload, and out', async () => {
    await using opened = await world.open()
    const { page, complaints } = opened
    await openPortal(page)
    await page.reload()
    await page.getByRole('button', { name: 'Account' }).click()
    await page.getByText('bea', { exact: true }).waitFor()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByLabel('Username').waitFor()
    await page.goto(`${origin}${root}/`)
    await page.getByRole('banner').getByRole('button', { name: 'Sign in' }).waitFor()
    assert.deepEqual(complaints, [])
  })

  test('signing out in one window ends the access of the others, also of the backend, which keep what was typed', async () => {
    const scopes = ['consumer', 'todo', ...backendScopes]
    await addUser(world.server.host.system, { name: 'ann', password, scopes })
    await using opened = await world.open()
    const { page: portal } = opened
    await openPortal(portal, '/', 'ann')
    const backend = await portal.context().newPage()
    await backend.goto(`${origin}/backend/ui/users`)
    await backend.getByRole('button', { name: 'New user' }).click()
    const name = backend.getByRole('dialog').getByLabel('Name', { exact: true })
    await name.fill('mallory')
    await portal.getByRole('button', { name: 'Account' }).click()
    await portal.getByRole('menuitem', { name: 'Sign out' }).click()
    const ended = backend.getByRole('dialog', { name: 'You are signed out' })
    await ended.waitFor()
    await backend.keyboard.press('Escape')
    await backend.mouse.click(5, 5)
    await ended.waitFor()
    // It covers everything else, once it has faded in.
    const style = `(({ opacity, backgroundColor }) => opacity + ' ' + backgroundColor)(
      getComputedStyle([...document.querySelectorAll('.mantine-Modal-overlay')].at(-1)))`
    await until('the page is hidden', async () => (await backend.evaluate(style)) === '1 color(srgb 1 1 1)')
    const opening = backend.context().waitForEvent('page')
    await ended.getByRole('button', { name: 'Sign in' }).click()
    await logIn(await opening, 'ann')
    await ended.waitFor({ state: 'detached' })
    assert.equal(await name.inputValue(), 'mallory')
  })

  // In CI, the test above ends windows, and consumer/account.test.ts changes a password.
  longTest(
    'a new password ends the access of the other windows at once, also of the backend; this one goes on',
    async () => {
      await addUser(world.server.host.system, { name: 'eve', password, scopes: ['consumer', 'todo', ...backendScopes] })
      await using opened = await world.open()
      const { page: portal } = opened
      await openPortal(portal, '/account', 'eve')
      const backend = await portal.context().newPage()
      await backend.goto(`${origin}/backend/ui/users`)
      await backend.getByRole('heading', { name: 'Users', level: 1 }).waitFor()
      const content = portal.locator('#content')
      await content.getByLabel('Current password', { exact: true }).fill(password)
      await content.getByLabel('New password', { exact: true }).fill('a quiet otter by the river')
      await content.getByRole('button', { name: 'Change password' }).click()
      await portal.getByRole('status').getByText('Changed the password').waitFor()
      await backend.getByRole('dialog', { name: 'You are signed out' }).waitFor()
      await goTo(portal, '/clients', 'Clients', root)
      assert.equal(await portal.getByRole('dialog').count(), 0)
    },
  )

  // In CI, the window above ends in the same way, and auth/authorize/portal-client.test.ts ends the tokens.
  longTest('disabling a user ends the access of the windows of that user at once', async () => {
    await addUser(world.server.host.system, { name: 'kim', password, scopes: ['consumer', 'todo'] })
    await addUser(world.server.host.system, { name: 'max', password, scopes: ['consumer', ...backendScopes] })
    await using opened = await world.open()
    const { page: backend } = opened
    await backend.goto(`${origin}/backend/ui/users/kim`)
    await logIn(backend, 'max')
    await backend.getByRole('heading', { name: 'kim', level: 1 }).waitFor()
    await backend.context().clearCookies() // the next window signs in as somebody else
    const portal = await backend.context().newPage()
    await openPortal(portal, '/clients', 'kim')
    await backend.getByRole('button', { name: 'Disable', exact: true }).click()
    await backend.getByRole('dialog').getByRole('button', { name: 'Disable kim' }).click()
    await backend.getByText('Disabled kim.').first().waitFor()
    await portal.getByRole('dialog', { name: 'You are signed out' }).waitFor()
    await goTo(backend, '/clients', 'Clients')
    assert.equal(await backend.getByRole('dialog').count(), 0)
  })

  // In CI, access.test.ts has the same window.
  longTest(
    'keeps what was entered when the tokens have ended: a window signs in, and the request is repeated',
    async () => {
      await using opened = await world.open()
      const { page } = opened
      await openPortal(page, '/clients')
      await page.getByRole('button', { name: 'New client' }).click()
      await page.getByRole('dialog').getByLabel('Name').fill('Night sync')
      await page.evaluate('window.isSamePage = true')
      world.clock.forward(9 * 3_600_000)
      // A query in the background may show the window first, which then covers the button.
      await page.getByRole('button', { name: 'Create client' }).dispatchEvent('click')
      const expired = page.getByRole('dialog', { name: 'Your session has expired' })
      const opening = page.context().waitForEvent('page')
      await expired.getByRole('button', { name: 'Sign in' }).click()
      await opening // it needs no password: the login page remembers the user
      await page.getByText('Copy it now.').waitFor()
      await page.getByText('Created the client Night sync').first().waitFor()
      assert.equal(await page.evaluate('window.isSamePage'), true)
    },
  )

  // In CI, auth/authorize/portal-client.test.ts ends sessions.
  longTest('shows a visitor whose session has ended, without a login page', async () => {
    await using opened = await world.open()
    const { page, complaints } = opened
    await openPortal(page)
    await page.context().clearCookies()
    await page.goto(`${origin}${root}/`)
    await page.getByRole('banner').getByRole('button', { name: 'Sign in' }).waitFor()
    assert.equal(page.url(), `${origin}${root}/`)
    assert.deepEqual(complaints, [])
  })

  // In CI, portal-access.test.ts creates one.
  longTest('creates an account from its first page', async () => {
    await using opened = await world.open()
    const { page, complaints } = opened
    await page.goto(`${origin}${root}/`)
    await page.locator('#content').getByRole('button', { name: 'Create account' }).click()
    await page.getByLabel('Username').fill('dora')
    await page.getByLabel('Password').fill('a quiet otter by the river')
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByRole('button', { name: 'Account' }).click()
    await page.getByText('dora', { exact: true }).waitFor()
    assert.equal(page.url(), `${origin}${root}/`)
    assert.deepEqual(complaints, [])
  })

  // In CI, consumer/register.test.ts refuses it.
  longTest('without registration, offers no account to visitors', async () => {
    const files = { 'waypost.yml': 'config: { portal: true, title: Corner Shop }\n' }
    await using closed = await openPortalWorld({ files })
    await using opened = await closed.open()
    const { page, complaints } = opened
    for (const address of ['/', '/clients']) {
      await page.goto(`${origin}${root}${address}`)
      await page.locator('#content').getByRole('button', { name: 'Sign in' }).waitFor()
      assert.equal(await page.getByText('Create account').count(), 0, address)
    }
    await page.locator('#content').getByRole('button', { name: 'Sign in' }).click()
    await page.getByLabel('Username').waitFor()
    assert.equal(await page.getByText('Create an account').count(), 0)
    assert.deepEqual(complaints, [])
  })

  // In CI, the first test opens such a page.
  longTest('says in the title of the window that a page is not there', async () => {
    await using opened = await world.open()
    const { page, complaints } = opened
    for (const [address, heading] of [
      ['/nothing', 'Page not found'],
      ['/reference/nothing', 'No such operation'],
    ] as const) {
      await page.goto(`${origin}${root}${address}`)
      await page.locator('#content').getByRole('heading', { name: heading, level: 1 }).waitFor()
      await until('the title is set', async () => (await page.title()).startsWith(`${heading} · `))
    }
    assert.deepEqual(complaints, [])
  })

  // In CI, portal.test.ts checks its contrast with axe below.
  longTest(
    'shows the focus in a colour that differs from the page, and GET in one that is not the accent',
    async () => {
      await using opened = await world.open({ colorScheme: 'dark' })
      const { page, complaints } = opened
      await page.goto(`${origin}${root}/reference`)
      await page.locator('.method-get').first().waitFor()
      await page.getByRole('tab', { name: 'Operations' }).focus()
      await page.keyboard.press('ArrowRight')
      await page.locator('#content .scope-list a').first().waitFor()
      const colorOf = (found: string, name: string) => page.evaluate<string>(`getComputedStyle(${found}).${name}`)
      const accent = await colorOf("document.querySelector('#content .scope-list a')", 'color')
      assert.equal(await colorOf('document.activeElement', 'outlineColor'), accent)
      await page.getByRole('tab', { name: 'Operations' }).click()
      await page.locator('.method-get').first().waitFor()
      assert.notEqual(await colorOf("document.querySelector('.method-get')", 'color'), accent)
      assert.deepEqual(complaints, [])
    },
  )

  // In CI, the first test looks at the reference, authorize-looks.test.ts at the login pages.
  longTest('has targets of at least 44 pixels on phones', async () => {
    await using opened = await world.open({ viewport: { width: 390, height: 2400 } })
    const { page, complaints } = opened
    await openPortal(page)
    for (const [address, heading] of [
      ['/', 'Corner Shop'],
      ['/reference', 'API reference'],
      ['/events/todo_created', 'todo_created'],
      ['/tokens', 'Tokens'],
      ['/account', 'Account'],
    ] as const) {
      await goTo(page, address, heading, root)
      assert.deepEqual(await findSmallTargets(page), [], address)
    }
    await page.getByRole('button', { name: 'Open navigation' }).click()
    await page.getByRole('link', { name: 'Clients', exact: true }).click()
    await page.getByRole('button', { name: 'New client' }).click()
    await page.getByRole('dialog').getByLabel('Name').waitFor()
    assert.deepEqual(await findSmallTargets(page), [], 'dialog')
    assert.deepEqual(complaints, [])
  })

  // In CI, the first test checks this page.
  longTest('is accessible in both colour schemes, also 390 pixels wide', async () => {
    await using opened = await world.open()
    const { page, complaints } = opened
    await openPortal(page)
    await checkLooks(page, { '/': 'Corner Shop' }, root)
    assert.deepEqual(complaints, [])
  })
})

/** Buttons, tabs, fields and links of the navigation that react to touches less than 21 pixels around their centre. */
async function findSmallTargets(page: Page): Promise<string[]> {
  return page.evaluate<
    string[]
  >(`[...document.querySelectorAll('button, [role=tab], .nav-link, select, input:not([type=checkbox], [type=radio])')]
    .filter((one) => {
      const { x, y, width, height } = one.getBoundingClientRect()
      if (width === 0 || one.closest('.mantine-PasswordInput-input') && one.matches('input')) return false // its frame is larger
      const [left, top] = [x + width / 2, y + height / 2]
      const hit = (dx, dy) => one.contains(document.elementFromPoint(left + dx, top + dy))
      if (!one.contains(document.elementFromPoint(left, top))) return false // covered by a dialog
      return ![[-21, 0], [21, 0], [0, -21], [0, 21]].every(([dx, dy]) => hit(dx, dy))
    })
    .map((one) => one.getAttribute('aria-label') ?? (one.textContent || one.outerHTML))`)
}
