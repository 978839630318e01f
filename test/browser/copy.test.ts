// A browser may deny copying. What is copied is then selected, and nothing says that it was copied.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { findFlaws, type WatchedPage } from '../support/browser.ts'
import { goTo, openBackendWorld, openSignedIn, origin, type BackendWorld } from './backend-world.ts'

describe('copying', { timeout: 300_000 }, () => {
  let world: BackendWorld
  let opened: WatchedPage
  let page: Page
  before(async () => {
    world = await openBackendWorld()
    opened = await world.open({ viewport: { width: 1280, height: 1600 } })
    page = opened.page
    await openSignedIn(page, '/clients')
  })
  after(async () => {
    await opened[Symbol.asyncDispose]()
    await world[Symbol.asyncDispose]()
  })

  /** Without a permission, this browser denies it. */
  const allow = () => page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin })
  const deny = () => page.context().clearPermissions()
  const selected = () => page.evaluate<string>('getSelection().toString()')
  const denied = 'The browser did not allow copying. The text is selected: copy it with the keyboard.'

  test('a secret that is shown once is selected if it cannot be copied', async () => {
    await deny()
    for (const name of ['Users', 'Clients']) {
      await page.getByRole('link', { name, exact: true }).click() // where going back leads
      await page.getByRole('heading', { name, level: 1 }).waitFor()
    }
    await page.getByRole('button', { name: 'New client' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('shop')
    await dialog.getByLabel('todo', { exact: true }).check()
    await dialog.getByRole('button', { name: 'Create client' }).click()
    await dialog.getByText('Copy it now.').waitFor()
    const [id, secret] = await dialog.locator('.secret code').allTextContents()
    await dialog.getByRole('button', { name: 'Copy Client secret' }).click()
    await page.getByRole('status').getByText(denied).waitFor()
    assert.equal(await selected(), secret)
    assert.equal(await page.getByText('Copied').count(), 0)
    // Tooltips are not in a landmark.
    assert.deepEqual(
      (await findFlaws(page)).filter((flaw) => !flaw.includes('role="tooltip"')),
      [],
    )

    // Code of several lines.
    const code = await dialog.locator('pre').textContent()
    await dialog.getByRole('button', { name: 'Copy Get a token' }).click()
    assert.equal(await selected(), code)

    await allow()
    await dialog.getByRole('button', { name: 'Copy Client ID' }).click()
    await page.getByRole('status').getByText('Client ID copied').waitFor()
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), id)

    // Going back would lose it.
    await page.goBack()
    const leaving = page.getByRole('dialog', { name: 'Leave this page?' })
    await leaving.getByRole('button', { name: 'Cancel' }).click()
    await leaving.waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')
    await dialog.getByText('Copy it now.').waitFor()
    assert.deepEqual(await dialog.locator('.secret code').allTextContents(), [id, secret])
    await dialog.getByRole('button', { name: 'Done' }).click()
    await dialog.waitFor({ state: 'detached' })
  })

  test('the whole of a shortened text is shown, so that the keyboard copies it', async () => {
    await deny()
    await goTo(page, '/users/ann', 'ann')
    const token = page
      .locator('#content .copy')
      .filter({ hasText: /^[\da-f]{8}$/ })
      .first()
    await token.locator('.copy-button').focus()
    await page.keyboard.press('Enter')
    const whole = page.locator('.copy-whole')
    await whole.and(page.locator(':focus')).waitFor()
    const value = await whole.inputValue()
    assert.ok(value.length > 8 && value.startsWith((await token.locator('.copy-text').textContent())!), value)
    assert.equal(await selected(), value)
    assert.deepEqual(await findFlaws(page), [])
    await page.keyboard.press('Tab')
    await whole.waitFor({ state: 'detached' })
    assert.deepEqual(opened.complaints, [])
  })
})
