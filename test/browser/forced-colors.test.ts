// With forced colors, such as the contrast themes of Windows, no fill is painted that is not a system color: what is chosen,
// on or current must be visible without. Each state is compared with the other one as it is painted.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { findFlaws, storeScreenshot, type WatchedPage } from '../support/browser.ts'
import { readTemplate } from '../support/template.ts'
import { until } from '../support/until.ts'
import { goTo, openBackendWorld, openSignedIn, type BackendWorld } from './backend-world.ts'
import { longDescribe, longTest } from '../support/forms.ts'

describe('forced colors', { timeout: 300_000 }, () => {
  let world: BackendWorld
  let opened: WatchedPage
  let page: Page
  before(async () => {
    const text = readTemplate('todo')['waypost.yml']!
    const route = `routes:
  /upload:
    methods:
      POST:
        public: true
        parameters: { note: { type: string } }
        request: { content: { multipart/form-data: { properties: { file: { type: string, format: binary } } } } }
        action: src/todo/insert.ts
`
    const files = {
      'waypost.yml': `${text.replace('routes:\n', route)}scope:\n  todo: { description: Change to-dos }\n`,
    }
    world = await openBackendWorld({ files })
    opened = await world.open({
      viewport: { width: 1280, height: 4800 },
      forcedColors: 'active',
      reducedMotion: 'reduce',
    })
    page = opened.page
    await openSignedIn(page, '/')
  })
  after(async () => {
    await opened[Symbol.asyncDispose]()
    await world[Symbol.asyncDispose]()
  })

  /** Paints an element without the focus or the pointer on it, when its transition has ended. */
  const paint = async (element: Locator) => {
    await page.mouse.move(0, 0)
    await page.evaluate('document.activeElement?.blur()')
    let last = await element.screenshot()
    await until('it is painted', async () => {
      const next = await element.screenshot()
      const isStill = next.equals(last)
      last = next
      return isStill
    })
    return last
  }
  /** Fails unless a control looks different in its other state. */
  const compare = async (control: Locator, toggle: () => Promise<unknown>, name: string) => {
    const before = await paint(control)
    await toggle()
    const changed = await paint(control)
    assert.ok(!changed.equals(before), `${name}: both states look the same`)
    await toggle()
  }
  const colorOf = (element: Locator) =>
    element.evaluate((one) => one.ownerDocument.defaultView!.getComputedStyle(one).backgroundColor)

  for (const [colorScheme, declare] of [
    ['light', describe],
    ['dark', longDescribe],
  ] as const)
    void declare(colorScheme, () => {
      before(() => page.emulateMedia({ colorScheme }))

      test('scopes of a user: which ones the user has', async () => {
        await goTo(page, '/users/ann', 'ann')
        const box = (scope: string) => page.getByRole('checkbox', { name: scope, exact: true })
        const root = page.locator('.mantine-Checkbox-root')
        const consumer = box('consumer')
        await compare(root.filter({ has: consumer }), () => consumer.click(), 'a checkbox')
        assert.notEqual(await colorOf(box('todo')), await colorOf(consumer))
        const all = page.getByRole('checkbox', { name: 'All administration scopes' })
        const full = await paint(root.filter({ has: all }))
        await box('backend.write').uncheck()
        const some = await paint(root.filter({ has: all }))
        assert.ok(!some.equals(full), 'a checkbox of some')
        for (const scope of ['read', 'data', 'operate', 'deploy', 'admin']) await box(`backend.${scope}`).uncheck()
        const none = await paint(root.filter({ has: all }))
        assert.ok(!none.equals(some) && !none.equals(full), 'a checkbox of none')
        await storeScreenshot(page, `forced colors user ${colorScheme}`)
        assert.deepEqual(await findFlaws(page), [])
      })

      test('settings: which are on, and which scopes are chosen', async () => {
        await goTo(page, '/settings', 'Settings')
        const portal = page.getByRole('switch', { name: 'Portal' })
        await compare(
          page.locator('.mantine-Switch-root').filter({ has: portal }),
          () => portal.focus().then(() => page.keyboard.press('Space')),
          'a switch',
        )
        await page.getByRole('combobox', { name: 'Default scopes' }).click()
        const option = page.getByRole('option', { name: 'todo', exact: true })
        await option.waitFor()
        await page.keyboard.press('ArrowDown')
        const chosen = page.locator('[role=option][data-combobox-selected]')
        await chosen.waitFor()
        const other = page.locator('[role=option]:not([data-combobox-selected])').first()
        assert.notEqual(await colorOf(chosen), await colorOf(other))
        await storeScreenshot(page, `forced colors settings ${colorScheme}`)
        await page.keyboard.press('Escape')
        assert.deepEqual(await findFlaws(page), [])
      })

      test('a route: who may call it, the tab and the page', async () => {
        await goTo(page, '/routes/POST%20%2Ftodo', 'POST /todo')
        const choice = (name: string) => page.getByRole('radio', { name, exact: true })
        const control = page.getByRole('radiogroup', { name: 'Who may call it?' })
        const before = await paint(control)
        await choice('Any valid token').click()
        assert.ok(!(await paint(control)).equals(before), 'who may call it')
        const tab = (name: string) => page.getByRole('tab', { name, exact: true })
        const shown = await paint(tab('YAML'))
        await page.getByRole('button', { name: 'Discard', exact: true }).click()
        await tab('YAML').click()
        assert.ok(!(await paint(tab('YAML'))).equals(shown), 'a tab')
        const link = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Routes', exact: true })
        const current = await paint(link)
        await goTo(page, '/events', 'Events')
        assert.ok(!(await paint(link)).equals(current), 'a page')
        await storeScreenshot(page, `forced colors route ${colorScheme}`)
      })

      // In CI, the tests above have a text field, choices and buttons.
      longTest('a field: which one has the focus, and which one is wrong', async () => {
        const outlineOf = (element: Locator) =>
          element.evaluate((one) => one.ownerDocument.defaultView!.getComputedStyle(one).outlineStyle)
        await goTo(page, '/schemas/Todo', 'Todo')
        const names = page.getByRole('textbox', { name: /^Name of / })
        await names.first().focus()
        assert.deepEqual([await outlineOf(names.nth(0)), await outlineOf(names.nth(1))], ['solid', 'none'])
        const type = page.getByRole('combobox', { name: /^Type of / }).first()
        await type.focus()
        assert.equal(await outlineOf(type), 'solid')
        await page.keyboard.press('Escape')
        await goTo(page, '/users', 'Users')
        await page.getByRole('button', { name: 'New user' }).click()
        const name = page.getByRole('dialog').getByLabel('Name', { exact: true })
        await page.getByRole('dialog').getByRole('button', { name: 'Create user' }).click()
        await name.and(page.locator('[aria-invalid="true"]')).waitFor()
        await page.getByRole('dialog').getByLabel('Email').focus()
        assert.equal(await outlineOf(name), 'dashed')
        await page.keyboard.press('Escape')
      })

      // In CI, the tests above have a text field, choices and buttons.
      longTest('a client: its kind', async () => {
        await goTo(page, '/clients', 'Clients')
        await page.getByRole('button', { name: 'New client' }).click()
        const radios = page.getByRole('dialog').getByRole('radio')
        assert.notEqual(await colorOf(radios.nth(0)), await colorOf(radios.nth(1)))
        const root = page.locator('.mantine-Radio-root').nth(1)
        const off = await paint(root)
        await radios.nth(1).check()
        assert.ok(!(await paint(root)).equals(off), 'a radio button')
        await storeScreenshot(page, `forced colors client ${colorScheme}`)
        assert.deepEqual(await findFlaws(page), [])
        await page.keyboard.press('Escape')
        await page.getByRole('button', { name: /Discard|Leave/ }).click()
      })

      // In CI, the tests above have the same kinds of controls.
      longTest('Try it and filters: empty text that is sent, a file, a warning, and filters that are set', async () => {
        const styleOf = (element: Locator, name: string) =>
          element.evaluate(
            (one, key) => one.ownerDocument.defaultView!.getComputedStyle(one).getPropertyValue(key),
            name,
          )
        await goTo(page, '/routes/POST%20%2Fupload?tab=try', 'POST /upload')
        assert.equal(await styleOf(page.locator('.warnings').first(), 'border-top-style'), 'solid')
        const empty = page.getByRole('button', { name: 'Send note empty' })
        assert.equal(await styleOf(empty, 'outline-style'), 'none')
        await empty.click()
        await page.evaluate('document.activeElement?.blur()')
        assert.equal(await styleOf(empty, 'outline-style'), 'solid')
        const file = page.getByRole('button', { name: 'file', exact: true })
        await file.focus()
        assert.equal(await styleOf(file, 'outline-style'), 'solid')
        await goTo(page, '/routes', 'Routes')
        await page.getByRole('button', { name: 'Filter', exact: true }).click()
        const field = page.locator('.filter-fields select').first()
        await field.focus()
        assert.equal(await styleOf(field, 'outline-style'), 'solid')
        await field.selectOption({ index: 1 })
        await page.keyboard.press('Escape')
        const chip = page.locator('.filter-chip')
        assert.equal(await styleOf(chip, 'border-top-style'), 'solid')
        assert.notEqual(await styleOf(chip, 'border-top-color'), await styleOf(chip, 'background-color'))
        await storeScreenshot(page, `forced colors filters ${colorScheme}`)
        assert.deepEqual(await findFlaws(page), [])
      })

      test('the palette: what Enter opens', async () => {
        await page.keyboard.press('Control+K')
        const items = page.getByRole('dialog').getByRole('option')
        await items.first().waitFor()
        await page.locator('[role=option][aria-selected=true]').waitFor()
        assert.notEqual(
          await colorOf(page.locator('[role=option][aria-selected=true]')),
          await colorOf(page.locator('[role=option][aria-selected=false]').first()),
        )
        await storeScreenshot(page, `forced colors palette ${colorScheme}`)
        await page.keyboard.press('Escape')
        await page.getByRole('dialog').waitFor({ state: 'detached' })
      })
    })

  // The layout of 1280 × 1024 pixels at 400 percent (WCAG 1.4.10). In the long form, enlarged.test.ts has more.
  test('enlarged to 400 percent, an editor is not cut off, and the bar that saves does not cover it', async () => {
    await page.setViewportSize({ width: 320, height: 256 })
    await goTo(page, '/schemas/Todo', 'Todo')
    await page.getByRole('button', { name: 'Add field to Todo' }).focus()
    await page.keyboard.press('Enter')
    await page.keyboard.type('priority')
    const hidden = `[...document.querySelectorAll('#content :is(input, button, select, textarea, a)')]
      .filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > innerWidth)
      .map((one) => one.outerHTML)`
    assert.deepEqual(await page.evaluate(hidden), [])
    assert.equal(await page.evaluate('document.documentElement.scrollHeight - innerHeight'), 0, 'only the page scrolls')
    const isSeen = `(() => {
      const { x, y, height } = document.activeElement.getBoundingClientRect()
      return document.activeElement === document.elementFromPoint(x + 10, y + height / 2)
    })()`
    assert.ok(await page.evaluate<boolean>(isSeen))
    await page.keyboard.press('Control+S')
    await page.getByText(/^Saved in the draft/).waitFor()
  })

  test('the browser complained about nothing but the user without a name', () => {
    const others = opened.complaints.filter((one) => !one.includes('status of 400'))
    assert.deepEqual(others, [])
  })
})
