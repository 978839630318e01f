// A developer adds a route in `waypost dev` and changes who may call it, by clicking.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { findFlaws } from '../support/browser.ts'
import { openEditing } from './edit-world.ts'

/** Higher than the page, because axe cannot decide about what is scrolled out. */
async function assertAccessible(page: Page): Promise<void> {
  await page.setViewportSize({ width: 1280, height: 3600 })
  assert.deepEqual(await findFlaws(page), [])
}

describe('the editors of routes, connections and cron jobs', { timeout: 600_000 }, () => {
  test('a route is added with its file, restricted, and limited', async () => {
    await using world = await openEditing()
    const { draft, page, complaints } = world
    await world.open('/routes')
    await page.getByRole('button', { name: 'New route' }).click()
    await page.getByLabel('Method').selectOption('POST')
    await page.getByLabel('Path').fill('/todo/:todo_id/comment')
    await page.getByRole('combobox', { name: 'Scope', exact: true }).fill('todo')
    await page.getByRole('button', { name: 'Add route' }).click()
    await page.getByRole('tab', { name: 'Form' }).waitFor()
    assert.match(await draft.read('waypost.yml'), /\/todo\/:todo_id\/comment: !include/)

    await page.getByRole('textbox', { name: 'Description', exact: true }).first().fill('Adds a comment')
    await page.getByText('Anyone', { exact: true }).click()
    await page.getByLabel('Time limit').fill('5s')
    await page.keyboard.press('Control+s')
    await page.getByText(/^Saved \d\d:\d\d/).waitFor()
    const file = /comment: !include (\S+)/.exec(await draft.read('waypost.yml'))![1]!
    const text = await draft.read(file)
    assert.match(text, /description: Adds a comment/)
    assert.match(text, /public: true/)
    assert.match(text, /timeout: 5s/)
    await assertAccessible(page)

    assert.deepEqual(complaints, [])
  })

  test('a cron job is added with its next runs', async () => {
    await using world = await openEditing()
    const { draft, page, complaints } = world
    await world.open('/cronjobs')
    await page.getByRole('button', { name: 'New cron job' }).click()
    await page.getByLabel('Name').fill('tidy')
    await page.getByLabel('Schedule').fill('30 4 * * 1')
    await page
      .getByText(/^Monday/)
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('heading', { name: 'tidy', level: 1 }).waitFor({ timeout: 20_000 })
    assert.match(await draft.read('waypost.yml'), /tidy:\s.*30 4 \* \* 1.*src\/tidy\.ts/s)
    await page.getByLabel('Schedule').fill('61 * * * *')
    await page
      .getByText(/minute/)
      .first()
      .waitFor()
    await assertAccessible(page)
    assert.deepEqual(complaints, [])
  })
})
