import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { addUser, docsClientId, makeFirstRunCode } from '../../src/auth/index.ts'
import { installation } from '../../src/kit/index.ts'
import { loadActiveId } from '../../src/release/index.ts'
import { findFlaws, storeScreenshot } from '../support/browser.ts'
import {
  checkLooks,
  goTo,
  logIn,
  logInAgain,
  openBackendWorld,
  openSignedIn,
  origin,
  password,
  type BackendWorld,
} from './backend-world.ts'
import { checkPrinted } from './printed.ts'
import { isLong, longTest } from '../support/forms.ts'
import { readTemplate } from '../support/template.ts'
import { until } from '../support/until.ts'

const titles = {
  '/': 'Overview',
  '/releases': 'Releases',
  '/servers': 'Servers',
  '/users': 'Users',
  '/users/ann': 'ann',
  '/clients': 'Clients',
  [`/clients/${docsClientId}`]: 'API reference',
  '/scopes': 'Scopes',
  '/tokens': 'Tokens',
}

describe('the pages of the backend', { timeout: 600_000 }, () => {
  let world: BackendWorld
  before(async () => {
    world = await openBackendWorld()
  })
  after(() => world[Symbol.asyncDispose]())

  test('sign in with the login page, silently after a reload, and out; load at most 233 KB of JavaScript', async () => {
    await using opened = await world.open()
    const { page, complaints } = opened
    await page.goto(`${origin}/backend`)
    await logIn(page)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    assert.equal(page.url(), `${origin}/backend/ui/`)
    const scripts = new Set<string>()
    page.on('request', (request) => {
      if (/\/assets\/.*\.js$/.test(request.url())) scripts.add(path.basename(new URL(request.url()).pathname))
    })
    await page.reload()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    const sizes = [...scripts].map((name) => statSync(path.join(installation, 'dist/ui/assets', `${name}.gz`)).size)
    const bytes = sizes.reduce((sum, one) => sum + one, 0)
    assert.ok(bytes > 50_000 && bytes <= 233 * 1024, `${bytes} bytes: ${[...scripts].join(', ')}`)

    await page.getByRole('button', { name: 'Account' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByLabel('Username').waitFor()
    await page.goto(`${origin}/backend/ui/`)
    await logIn(page)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    assert.deepEqual(complaints, [])
  })

  // In CI, access.test.ts has the same window.
  longTest(
    'an expired session asks to sign in again in a window; the page stays, and the request is repeated',
    async () => {
      await using opened = await world.open()
      const { page } = opened
      await openSignedIn(page)
      await page.getByText(/^Waypost \d/).waitFor()
      await page.evaluate('window.isSamePage = true')
      await page.keyboard.press('Control+K')
      await page.getByRole('combobox').fill('overv')
      world.clock.forward(9 * 3_600_000)
      await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))") // repeats what the page has loaded
      const dialog = page.getByRole('dialog', { name: 'Your session has expired' })
      await dialog.waitFor()
      const isCovered = (flaw: string) => flaw.startsWith('color-contrast') // of what is under the dialog: undecided
      assert.deepEqual(
        (await findFlaws(page)).filter((flaw) => !isCovered(flaw)),
        [],
      )
      const opening = page.context().waitForEvent('page')
      await dialog.getByRole('button', { name: 'Sign in' }).click()
      const window = await opening
      const closing = window.waitForEvent('close')
      await logInAgain(window)
      await closing
      await dialog.waitFor({ state: 'detached' })
      assert.equal(await page.getByRole('combobox').inputValue(), 'overv')
      await page.keyboard.press('Enter')
      await page.getByText(/^Waypost \d/).waitFor()
      assert.equal(await page.evaluate('window.isSamePage'), true)
    },
  )

  // In CI, a user with backend.read below is told so on one page, and auth/authorize refuses access.
  longTest('a user without access is told so', async () => {
    await addUser(world.server.host.system, { name: 'bob', password, scopes: ['todo'] })
    await using opened = await world.open()
    const { page } = opened
    await page.goto(`${origin}/backend`)
    await logIn(page, 'bob')
    await page.getByRole('alert').getByText('Your account has no access to the backend.').waitFor()
    assert.deepEqual(await findFlaws(page), [])
    await page.getByRole('button', { name: 'Use another account' }).click()
    await logIn(page)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
  })

  test('are accessible in both colour schemes, also 390 pixels wide', async () => {
    await using opened = await world.open()
    const { page, complaints } = opened
    await openSignedIn(page)
    await checkLooks(page, titles)
    await goTo(page, '/settings', 'Settings')
    const groups = page.locator('.settings-group')
    await page.getByText('Retention').waitFor()
    const count = await groups.count()
    await checkPrinted(page, async () => assert.equal(await groups.and(page.locator(':visible')).count(), count))
    assert.deepEqual(complaints, [])
  })

  // In CI, test/server/serve/system-variables.test.ts reports it.
  longTest('the overview names the variable whose change failed, and links to the variables', async () => {
    const { server } = world
    await using opened = await world.open({ viewport: { width: 1440, height: 900 } })
    const { page, complaints } = opened
    const error = 'the variable "STOCK_URL" is not a URL'
    const { id } = server.release
    const now = new Date(world.clock.now()).toISOString()
    const failed = { name: 'host-1', version: '1.0.0', release: id, wanted: id, state: 'failed', error }
    const entry = [{ ...failed, state_at: now, heartbeat_at: now }]
    await page.route('**/backend/server', (route) => route.fulfill({ json: { entry, now } }))
    await openSignedIn(page)
    await page.getByText(`host-1 still uses the previous values of variables. ${error}`).waitFor()
    await page.getByRole('link', { name: 'Show variables' }).click()
    await page.getByRole('heading', { name: 'Variables', level: 1 }).waitFor()
    assert.deepEqual(complaints, [])
  })

  // In CI, backend/rollback.test.ts surveys, e2e/release-commands.test.ts rolls back.
  longTest('a rollback shows what it changes, and the overview the traffic', async () => {
    const { server } = world
    const before = server.release.id
    const text = readTemplate('todo')['waypost.yml']!
    const after = await server.deploy({
      'waypost.yml': `${text}\nscope:\n  archive: { description: Archived to-dos }\n`,
    })
    for (const path of ['/todo', '/todo', '/todo/1']) await fetch(server.url + path)
    await server.server.recordStatistics()
    await using opened = await world.open({ viewport: { width: 1440, height: 900 } })
    const { page, complaints } = opened
    await openSignedIn(page)
    const row = page.getByRole('row', { name: 'GET /todo/:todo_id' })
    await row.waitFor()
    await storeScreenshot(page, 'backend overview traffic')

    await page.getByRole('link', { name: 'Releases' }).click()
    await page.getByRole('button', { name: `Actions: ${before.slice(0, 8)}` }).click()
    await page.getByRole('menuitem', { name: `Roll back to ${before.slice(0, 8)}` }).click()
    const dialog = page.getByRole('dialog', { name: `Roll back to ${before.slice(0, 8)}?` })
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.keyboard.press('Control+k')
    await page.keyboard.type('Roll back')
    await page.getByRole('option', { name: 'Roll back…' }).click()
    await dialog.getByText('archive').waitFor()
    await storeScreenshot(page, 'backend rollback')
    assert.deepEqual(await findFlaws(page), [])
    await dialog.getByRole('button', { name: `Roll back to ${before.slice(0, 8)}` }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('row', { name: new RegExp(`^${before.slice(0, 8)} active`) }).waitFor()
    assert.equal(await loadActiveId(server.host.system), before)
    await storeScreenshot(page, 'backend releases after')

    await page.getByRole('link', { name: after.id.slice(0, 8), exact: true }).click()
    await page.getByRole('heading', { name: `Release ${after.id.slice(0, 8)}` }).waitFor()
    await page.getByText('archive').waitFor()
    const short = after.id.slice(0, 8)
    await page.getByRole('navigation', { name: 'Breadcrumb' }).getByText(short, { exact: true }).waitFor()
    assert.match(await page.title(), new RegExp(`^${short} `))
    await page.getByRole('button', { name: `Activate ${short} again` }).click()
    await page
      .getByRole('dialog', { name: `Activate ${short} again?` })
      .getByRole('button', { name: 'Cancel' })
      .click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await storeScreenshot(page, 'backend release')
    assert.deepEqual(await findFlaws(page), [])

    await page.goto(`${origin}/backend/ui/releases/${before}`)
    await page.locator('#content').getByText('active', { exact: true }).waitFor()
    await page.getByRole('heading', { name: `Changes since release ${short}` }).waitFor()
    await page.getByText('archive').waitFor()
    await storeScreenshot(page, 'backend release active')
    assert.deepEqual(await findFlaws(page), [])
    assert.deepEqual(complaints, [])

    await addUser(server.host.system, { name: 'ray', password, scopes: ['backend.read'] })
    await using reader = await world.open()
    await reader.page.goto(`${origin}/backend/ui/releases/${after.id}`)
    await logIn(reader.page, 'ray')
    await reader.page.getByRole('heading', { name: 'What activating it would change' }).waitFor()
    assert.equal(await reader.page.getByRole('button', { name: /Activate|Roll back/ }).count(), 0)
    await reader.page.getByRole('link', { name: 'Releases', exact: true }).first().click()
    await reader.page.getByRole('row', { name: short }).waitFor()
    assert.equal(await reader.page.getByRole('button', { name: 'Actions' }).count(), 0)
  })

  const build = [
    'Routes',
    'Schemas',
    'Actions',
    'Tables',
    'Events',
    'Cronjobs',
    'Connections',
    'Static files',
    'Settings',
    'Publish',
  ]
  const read = ['Overview', ...build, 'Releases', 'Servers', 'Variables']
  const access: Readonly<Record<string, readonly string[]>> = {
    'backend.read': read,
    'backend.operate': ['Cronjobs', 'Deliveries', 'Subscriptions'],
    'backend.admin': ['Audit', 'Users', 'Clients', 'Scopes', 'Tokens'],
    ...(isLong
      ? {
          'backend.data': ['Tables'],
          'backend.write': [],
          'backend.deploy': [],
          'backend.operate backend.deploy': ['Cronjobs', 'Deliveries', 'Subscriptions'],
          'backend.read backend.deploy': read,
        }
      : {}),
  }
  for (const [scopes, titles] of Object.entries(access)) {
    const declare = scopes === 'backend.read' ? test : longTest
    declare(`a user with ${scopes} opens every page that the navigation shows, without a refused request`, async () => {
      const name = scopes.replaceAll(/\W/g, '-')
      await addUser(world.server.host.system, { name, password, scopes: scopes.split(' ') })
      await using opened = await world.open({ viewport: { width: 1440, height: 900 } })
      const { page, complaints } = opened
      const refused: string[] = []
      page.on('response', (response) => {
        if (response.status() === 403) refused.push(`${response.request().method()} ${response.url()}`)
      })
      await page.goto(`${origin}/backend`)
      await logIn(page, name)
      const links = page.getByRole('navigation').locator('.nav-link')
      if (titles.length === 0) {
        const missing = page.locator('#content')
        await missing.getByText(`Your scope ${scopes} works with`).waitFor()
        await missing.getByText('The pages also need backend.read.').waitFor()
        await missing.getByText(`waypost user:scopes ${name} --add backend.read`).waitFor()
        assert.deepEqual(await findFlaws(page), [])
      }
      await page.locator('#content :is(h1, h2)').first().waitFor()
      assert.deepEqual(await links.allTextContents(), titles)
      for (const title of titles) {
        await links.filter({ hasText: title }).click()
        await page.locator('#content h1').filter({ hasText: title }).waitFor()
        // Placeholders have become content. Requests that show nothing new, such as those that repeat, may be running.
        const placeholders = page.locator('#content :is(.mantine-Skeleton-root, [aria-busy=true])')
        await until('the page is complete', async () => (await placeholders.count()) === 0)
        assert.equal(await page.locator('#content [role=alert]').count(), 0, title)
      }
      const isForbidden = !titles.includes('Users')
      await page.goto(`${origin}/backend/ui/users`)
      if (isForbidden) {
        const text = titles.length === 0 ? 'A scope is missing' : 'This page needs the scope backend.admin.'
        await page.locator('#content').getByText(text).waitFor()
      }
      assert.deepEqual(refused, [])
      assert.deepEqual(complaints, [])
    })
  }
})

test(
  'the first administrator enters the code that the server printed, and is signed in',
  { skip: !isLong && 'on-a-server begins with it', timeout: 600_000 },
  async () => {
    await using world = await openBackendWorld({ withoutAdministrator: true })
    const code = (await makeFirstRunCode(world.server.host)) ?? ''
    for (const colorScheme of ['light', 'dark'] as const) {
      await using opened = await world.open({ colorScheme, viewport: { width: 390, height: 844 } })
      await opened.page.goto(`${origin}/backend`)
      await storeScreenshot(opened.page, `backend first run 390 ${colorScheme}`)
      assert.deepEqual(await findFlaws(opened.page), [])
    }
    await using opened = await world.open()
    const { page, complaints } = opened
    await page.goto(`${origin}/backend`)
    await page.getByLabel('Code').fill(code)
    await page.getByLabel('Username').fill('root')
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Create administrator' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    assert.deepEqual(complaints, [])
  },
)
