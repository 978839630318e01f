// What opens over the pages: menus of rows, dialogs and pickers.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Locator } from 'playwright-core'
import { addUser } from '../../src/auth/index.ts'
import { findFlaws, openPage } from '../support/browser.ts'
import { isLong } from '../support/forms.ts'
import {
  checkOverlay,
  goTo,
  openBackendWorld,
  openSignedIn,
  origin,
  password,
  type BackendWorld,
} from './backend-world.ts'

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
  '/routes/POST%20%2Ftodo': {
    title: 'POST /todo',
    dialogs: ['Rename path…', 'Delete POST /todo', 'Edit Todo-Input', 'New event…', 'New rate…'],
  },
  '/settings?tab=rates': { title: 'Settings', dialogs: ['New rate'] },
  '/schemas': { title: 'Schemas', dialogs: ['New schema'] },
  '/schemas/Todo': { title: 'Todo', dialogs: ['Rename…', 'Delete Todo'] },
  '/actions': { title: 'Actions', dialogs: ['New action'] },
  '/events': { title: 'Events', dialogs: ['New event'] },
  '/events/todo_created': { title: 'todo_created', dialogs: ['Rename…', 'New scope…'] },
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

describe('what opens over a page', { timeout: 600_000 }, () => {
  let world: BackendWorld
  before(async () => {
    world = await openBackendWorld()
    await addUser(world.server.host.system, { name: 'bob', password, scopes: ['todo'] })
  })
  after(() => world[Symbol.asyncDispose]())

  const check = (role: 'dialog' | 'menu' | 'listbox', opener: Locator, open?: () => Promise<void>) =>
    checkOverlay(role, opener, {
      ...(open && { open }),
      look: async (name) => assert.deepEqual(await findFlaws(opener.page(), overlay), [], name),
    })

  test('dialogs and menus are accessible, and give the focus back', async () => {
    await using opened = await world.open({ viewport: { width: 1440, height: 1600 } })
    const { page, complaints } = opened
    await openSignedIn(page)
    for (const [path, { title, dialogs = [], menus = [] }] of Object.entries(pages)) {
      await goTo(page, path, title)
      const content = page.locator('#content')
      for (const name of dialogs) await check('dialog', content.getByRole('button', { name, exact: true }))
      for (const name of menus) {
        const opener = content.getByRole('button', { name }).first()
        await check('menu', opener)
        await opener.click()
        const items = await page.getByRole('menuitem').allTextContents()
        assert.ok(items.length > 0)
        await page.keyboard.press('Escape')
        for (const item of items) {
          const choose = async () => {
            await opener.click()
            await page.getByRole('menuitem', { name: item, exact: true }).click()
          }
          await check('dialog', opener, choose)
        }
      }
    }
    assert.deepEqual(complaints, [])
  })

  test('so do the menus of a field and of the account, and the palette', async () => {
    await using opened = await world.open({ viewport: { width: 1440, height: 1600 } })
    const { page, complaints } = opened
    await openSignedIn(page)
    await goTo(page, '/schemas/Todo', 'Todo')
    await check('menu', page.getByRole('button', { name: 'Actions for title' }))
    const frame = page.getByRole('banner')
    await check('menu', frame.getByRole('button', { name: 'Account' }))
    await check('dialog', page.locator('button.search'))
    assert.deepEqual(complaints, [])
  })

  test('open pickers are accessible', async () => {
    await using opened = await world.open({ viewport: { width: 1440, height: 2400 } })
    const { page, complaints } = opened
    await openSignedIn(page)
    for (const [path, { title, places }] of Object.entries(pickers)) {
      await goTo(page, path, title)
      for (const place of places) await check('listbox', page.locator(`[data-at="${place}"]`).first())
    }
    assert.deepEqual(complaints, [])
  })

  test('those of /docs too', async () => {
    for (const isMobile of isLong ? [false, true] : [true]) {
      const viewport = isMobile ? { width: 390, height: 800 } : { width: 1280, height: 900 }
      await using opened = await openPage(world.browser, origin, { viewport })
      const { page, complaints } = opened
      await page.goto(`${origin}/docs`)
      await page.locator('.operations').first().waitFor()
      await check('menu', page.getByRole('button', { name: 'Appearance' }))
      await check('dialog', page.locator('button.search'))
      if (isMobile) await check('dialog', page.getByRole('button', { name: 'Open navigation' }))
      assert.deepEqual(complaints, [])
    }
  })
})
