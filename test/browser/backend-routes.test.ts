// A developer adds a route in `waypost dev` and changes who may call it, by clicking.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { findFlaws } from '../support/browser.ts'
import { openEditing, type EditWorld } from './edit-world.ts'
import { longTest } from '../support/forms.ts'

/** Higher than the page, because axe cannot decide about what is scrolled out. */
async function assertAccessible(page: Page): Promise<void> {
  await page.setViewportSize({ width: 1280, height: 3600 })
  assert.deepEqual(await findFlaws(page), [])
}

describe('the editors of routes, connections and cronjobs', { timeout: 600_000 }, () => {
  let world: EditWorld
  before(async () => {
    world = await openEditing()
  })
  after(() => world[Symbol.asyncDispose]())

  test('a route is added with its file, restricted, limited, renamed and deleted', async () => {
    await world.start()
    const { draft, page } = world
    await world.open('/routes')
    await page.getByRole('button', { name: 'New route' }).click()
    await page.getByRole('dialog').getByLabel('Method').selectOption('POST')
    await page.getByLabel('Path').fill('/todo/:todo_id/comment')
    await page.getByRole('combobox', { name: 'Scope', exact: true }).fill('todo')
    await page.getByRole('button', { name: 'Add route' }).click()
    await page.getByRole('tab', { name: 'Form' }).waitFor()
    assert.match(await draft.read('waypost.yml'), /\/todo\/:todo_id\/comment: !include/)

    await page.getByRole('textbox', { name: 'Description', exact: true }).first().fill('Adds a comment')
    const bar = await page.getByRole('region', { name: 'Save' }).boundingBox()
    assert.equal(bar!.y + bar!.height, 720, 'the bar stays at the bottom of a page that is longer')
    await page.getByText('Anyone', { exact: true }).click()
    await page.getByLabel('Time limit').fill('5s')
    await page.getByLabel('Operation ID').fill('addComment')
    await page.keyboard.press('Control+s')
    await page.getByText(/^Saved \d\d:\d\d/).waitFor()
    const file = /comment: !include (\S+)/.exec(await draft.read('waypost.yml'))![1]!
    const text = await draft.read(file)
    assert.match(text, /description: Adds a comment/)
    assert.match(text, /public: true/)
    assert.match(text, /timeout: 5s/)
    assert.match(text, /operationId: addComment/)
    await assertAccessible(page)

    await page.getByRole('button', { name: 'Rename path…' }).click()
    await page.getByLabel('New name').fill('/todo/:todo_id/note')
    await page.getByRole('button', { name: 'Rename', exact: true }).click()
    await page.getByRole('heading', { name: 'POST /todo/:todo_id/note' }).waitFor()

    await page.getByRole('button', { name: 'Delete POST /todo/:todo_id/note' }).click()
    await page.getByText('It was not called in the last 24 hours.').waitFor()
    await page.getByText('It is the last method of its path').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete POST /todo/:todo_id/note' }).click()
    await page.getByRole('heading', { name: 'Routes', level: 1 }).waitFor()
    assert.doesNotMatch(await draft.read('waypost.yml'), /todo_id\/(comment|note)/)
    assert.deepEqual(world.complaints, [])
  })

  // In CI, a route is added in the same way.
  longTest('a cronjob is added with its next runs', async () => {
    await world.start()
    const { draft, page } = world
    await world.open('/cronjobs')
    await page.getByRole('button', { name: 'New cronjob' }).click()
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
    assert.deepEqual(world.complaints, [])
  })
})
