// In a window of 1280 × 1024 pixels at 400 percent, the layout has 320 × 256 pixels (WCAG 1.4.10). Everything by the keyboard.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { storeScreenshot, type WatchedPage } from '../support/browser.ts'
import { actionFile } from '../support/project-server.ts'
import { readTemplate } from '../support/template.ts'
import { goTo, openBackendWorld, openSignedIn, type BackendWorld } from './backend-world.ts'

const longEvent = 'customer_invoice_payment_failed_permanently'
const definition = readTemplate('todo')['waypost.yml']!
const files = {
  'waypost.yml': definition
    .replace(
      'routes:',
      'routes:\n  /tagged: { methods: { GET: { public: true, parameters: { tag: { type: array, items: { type: string } } }, action: src/tagged.ts } } }',
    )
    .replace('event:', `event:\n  ${longEvent}: { description: A payment failed, schema: Todo }`),
  'src/tagged.ts': actionFile('return request.query'),
}

describe('enlarged to 400 percent', { timeout: 300_000 }, () => {
  let world: BackendWorld
  let opened: WatchedPage
  let page: Page
  before(async () => {
    world = await openBackendWorld({ files })
    opened = await world.open({
      viewport: { width: 320, height: 256 },
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

  /** The controls that end beyond the right edge, and how much of the window scrolls although only the page in it should. */
  const findHidden = () =>
    page.evaluate<unknown>(`[
      [...document.querySelectorAll(':is(#content, [role="dialog"]) :is(input, button, select, textarea, a)')]
        .filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > innerWidth)
        .map((one) => one.outerHTML),
      document.documentElement.scrollHeight - innerHeight,
    ]`)

  test('editors are not cut off, the bar that saves does not cover them, and only the page scrolls', async () => {
    await goTo(page, '/schemas/Todo', 'Todo')
    const add = page.getByRole('button', { name: 'Add field to Todo' })
    await add.focus()
    await page.keyboard.press('Enter')
    await page.keyboard.type('priority')
    assert.deepEqual(await findHidden(), [[], 0])
    const isSeen = `(() => {
      const { x, y, height } = document.activeElement.getBoundingClientRect()
      return document.activeElement === document.elementFromPoint(x + 10, y + height / 2)
    })()`
    assert.ok(await page.evaluate<boolean>(isSeen))
    await tabTo(page.getByRole('button', { name: 'Save', exact: true }))
    await page.keyboard.press('Enter')
    await page.getByText(/^Saved in the draft/).waitFor()
    assert.equal(
      await page.evaluate('document.activeElement.tagName'),
      'BUTTON',
      'what is next to the button that is gone',
    )
    await goTo(page, '/publish', 'Publish')
    await page.getByRole('button', { name: 'Discard all' }).waitFor()
    assert.deepEqual(await findHidden(), [[], 0])
  })

  test('a button that was busy keeps the focus, and the response comes into view', async () => {
    await goTo(page, '/routes/GET%20%2Ftodo?tab=try', 'GET /todo')
    await page.getByRole('button', { name: 'Send', exact: true }).focus()
    await page.keyboard.press('Enter')
    const status = page.getByText('200', { exact: true }).first()
    await status.waitFor()
    await page.getByRole('button', { name: 'Send', exact: true }).and(page.locator(':focus')).waitFor()
    assert.ok((await status.boundingBox())!.y < 256)
  })

  /** Presses Tab until a control has the focus. It is then in view. */
  async function tabTo(control: Locator): Promise<void> {
    for (let count = 0; count < 40; count++) {
      await page.keyboard.press('Tab')
      if ((await control.and(page.locator(':focus')).count()) === 0) continue
      const { x, y, width, height } = (await control.boundingBox())!
      assert.ok(x >= 0 && x + width <= 320 && y >= 0 && y + Math.min(height, 40) <= 256, `${x} ${y} ${width} ${height}`)
      return
    }
    assert.fail(`not reached: ${String(control)}`)
  }

  test('a page that a link opens has the focus, and the last item of a menu is in sight', async () => {
    await goTo(page, '/schemas', 'Schemas')
    await page.getByRole('link', { name: /^Todo( |$)/ }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Todo', exact: true, level: 1 }).waitFor()
    await page.locator('#content:focus').waitFor()
    await page.getByRole('button', { name: 'Account' }).focus()
    await page.keyboard.press('Enter')
    await page.locator('[role=menu] :focus').waitFor()
    await page.keyboard.press('ArrowUp')
    const last = page.getByRole('menuitem', { name: 'Sign out' })
    await last.and(page.locator(':focus')).waitFor()
    const { y, height } = (await last.boundingBox())!
    assert.ok(y + height <= 256)
    assert.equal(((await findHidden()) as readonly unknown[])[1], 0)
    await page.keyboard.press('Escape')
    await page.getByRole('menu').waitFor({ state: 'detached' })
  })

  test('the chosen event can be read to its end', async () => {
    await goTo(page, '/subscriptions', 'Subscriptions')
    await page.getByRole('button', { name: 'Add subscription' }).focus()
    await page.keyboard.press('Enter')
    const event = page.getByRole('dialog').getByRole('combobox', { name: 'Event' })
    await event.and(page.locator(':focus')).waitFor()
    await page.keyboard.type('customer')
    assert.equal(await event.inputValue(), longEvent)
    await storeScreenshot(page, 'enlarged event')
    assert.deepEqual(await findHidden(), [[], 0])
    await page.getByRole('dialog').locator('code', { hasText: longEvent }).waitFor()
    await page.keyboard.press('Escape')
    await tabTo(page.getByRole('button', { name: 'Discard', exact: true }))
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').first().waitFor({ state: 'detached' })
  })

  test('Try it sends a list', async () => {
    await goTo(page, '/routes/GET%20%2Ftagged?tab=try', 'GET /tagged')
    const tag = page.getByLabel('tag', { exact: true })
    await page.getByRole('tab', { name: 'Try it' }).focus()
    await tabTo(tag)
    await page.keyboard.type('x,y')
    await page.keyboard.press('Enter')
    await page.keyboard.type('z')
    await storeScreenshot(page, 'enlarged list')
    assert.deepEqual(await findHidden(), [[], 0])
    await tabTo(page.getByRole('button', { name: 'Send', exact: true }))
    await page.keyboard.press('Enter')
    const answer = page.getByRole('region', { name: 'Response' })
    await answer.getByText('"tag"').waitFor()
    await storeScreenshot(page, 'enlarged answer')
    assert.deepEqual(JSON.parse((await answer.textContent())!), { tag: ['x,y', 'z'] })
  })

  test('a form says what is missing', async () => {
    await goTo(page, '/subscriptions', 'Subscriptions')
    await page.getByRole('button', { name: 'Add subscription' }).focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Endpoint').fill('https://93.184.216.34/')
    await page.keyboard.press('Enter')
    await dialog.getByText('This is required').waitFor()
  })
})
