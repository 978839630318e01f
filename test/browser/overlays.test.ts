// What opens over the pages: menus of rows, dialogs and pickers.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { addUser } from '../../src/auth/index.ts'
import { findFlaws, openPage } from '../support/browser.ts'
import { isLong, longTest } from '../support/forms.ts'
import { until } from '../support/until.ts'
import { goTo, openBackendWorld, openSignedIn, origin, password, type BackendWorld } from './backend-world.ts'

const overlay = '[role="dialog"], [role="menu"], [role="listbox"]'

/** The buttons of each page that open dialogs, and those that open menus. */
const pages: Readonly<Record<string, { title: string; dialogs?: readonly string[]; menus?: readonly string[] }>> = {
  '/users': { title: 'Users', dialogs: ['New user'], menus: ['Actions: bob'] },
  '/users/bob': { title: 'bob', dialogs: ['New password', 'Revoke access', 'Disable'] },
  '/clients': { title: 'Clients', dialogs: ['New client'], menus: ['Actions: API reference'] },
  '/tokens': { title: 'Tokens', dialogs: ['Revoke a token'], menus: ['Actions: '] },
  '/variables': { title: 'Variables', dialogs: ['Set variable'] },
  '/subscriptions': { title: 'Subscriptions', dialogs: ['Add subscription'] },
  '/deliveries': { title: 'Deliveries', dialogs: ['Replay dead deliveries'] },
  '/scopes': { title: 'Scopes', dialogs: ['New scope'] },
  '/routes': { title: 'Routes', dialogs: ['New route'] },
  '/routes/POST%20%2Ftodo': { title: 'POST /todo', dialogs: ['Edit Todo-Input'], menus: ['More actions'] },
  '/schemas': { title: 'Schemas', dialogs: ['New schema'] },
  '/schemas/Todo': { title: 'Todo', dialogs: [], menus: ['More actions'] },
  '/actions': { title: 'Actions', dialogs: ['New action'] },
  '/events': { title: 'Events', dialogs: ['New event'] },
  '/events/todo_created': { title: 'todo_created', dialogs: ['New scope…'], menus: ['More actions'] },
  '/cronjobs': { title: 'Cronjobs', dialogs: ['New cronjob'] },
  '/connections': { title: 'Connections', dialogs: ['New connection'] },
}

/** The places of values with a picker, by page. */
const pickers = {
  '/events/todo_created': {
    title: 'todo_created',
    places: ['/event/todo_created/schema', '/event/todo_created/scopes'],
  },
  '/settings': { title: 'Settings', places: ['/config/scopes_default'] },
}

/** Outside of the long form: a list, an entry and an editor. Dialogs and menus of the others are of the same kinds. */
const chosen = new Set(['/users', '/variables', '/routes/POST%20%2Ftodo', '/events/todo_created'])

describe('what opens over a page', { timeout: 600_000 }, () => {
  let world: BackendWorld
  before(async () => {
    world = await openBackendWorld()
    await addUser(world.server.host.system, { name: 'bob', password, scopes: ['todo'] })
  })
  after(() => world[Symbol.asyncDispose]())

  const isFocused = async (one: Locator) => (await one.and(one.page().locator(':focus')).count()) === 1

  /** Opens something, checks it, and closes it with the keyboard: what opened it has the focus again. */
  async function check(page: Page, role: 'dialog' | 'menu' | 'listbox', opener: Locator, open?: () => Promise<void>) {
    const name = `${page.url()} ${(await opener.getAttribute('aria-label')) ?? (await opener.textContent())}`
    await (open ?? (() => opener.click()))()
    const opened = page.getByRole(role).first()
    await opened.waitFor()
    assert.deepEqual(await findFlaws(page, overlay), [], name)
    await page.keyboard.press('Escape')
    await opened.waitFor({ state: 'detached' })
    await until(`the focus returns: ${name}`, () => isFocused(opener))
  }

  test('dialogs, menus and pickers are accessible, and give the focus back', async () => {
    await using opened = await world.open({ viewport: { width: 1440, height: 1600 } })
    const { page, complaints } = opened
    await openSignedIn(page)
    for (const [path, { title, dialogs = [], menus = [] }] of Object.entries(pages)) {
      if (!isLong && !chosen.has(path)) continue
      await goTo(page, path, title)
      const content = page.locator('#content')
      for (const name of dialogs) await check(page, 'dialog', content.getByRole('button', { name, exact: true }))
      for (const name of menus) {
        const opener = content.getByRole('button', { name }).first()
        await check(page, 'menu', opener)
        await opener.click()
        await page.getByRole('menuitem').first().waitFor()
        const items = await page.getByRole('menuitem').allTextContents()
        assert.ok(items.length > 0)
        await page.keyboard.press('Escape')
        // Outside of the long form one of each menu: they open dialogs of the same kind.
        for (const item of isLong ? items : items.slice(-1)) {
          const choose = async () => {
            await opener.click()
            await page.getByRole('menuitem', { name: item, exact: true }).click()
          }
          await check(page, 'dialog', opener, choose)
        }
      }
    }
    await page.setViewportSize({ width: 1440, height: 2400 })
    for (const [path, { title, places }] of Object.entries(pickers)) {
      await goTo(page, path, title)
      for (const place of places) await check(page, 'listbox', page.locator(`[data-at="${place}"]`).first())
    }
    assert.deepEqual(complaints, [])
  })

  // In CI, the test above opens the same components.
  longTest('those of /docs too', async () => {
    for (const isMobile of [false, true]) {
      const viewport = isMobile ? { width: 390, height: 800 } : { width: 1280, height: 900 }
      await using opened = await openPage(world.browser, origin, { viewport })
      const { page, complaints } = opened
      await page.goto(`${origin}/docs`)
      await page.locator('.operations').first().waitFor()
      await check(page, 'menu', page.getByRole('button', { name: 'Appearance' }))
      await check(page, 'dialog', page.locator('button.search'))
      if (isMobile) await check(page, 'dialog', page.getByRole('button', { name: 'Open navigation' }))
      assert.deepEqual(complaints, [])
    }
  })
})
