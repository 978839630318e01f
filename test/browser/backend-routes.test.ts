// A developer adds a route in `waypost dev` and changes who may call it, by clicking.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findFlaws } from '../support/browser.ts'
import { openEditing } from './edit-world.ts'

describe('the editors of routes, connections and cron jobs', { timeout: 600_000 }, () => {
  test('a route is added with its file, restricted, limited, served and deleted', async () => {
    await using world = await openEditing()
    const { draft, page, complaints } = world
    await world.open('/routes')
    await page.getByRole('button', { name: 'New route' }).click()
    await page.getByLabel('Method').selectOption('POST')
    await page.getByLabel('Path').fill('/todo/:todo_id/comment')
    await page.getByLabel('Scope').fill('todo')
    await page.getByRole('button', { name: 'Add route' }).click()
    await page.getByRole('tab', { name: 'Form' }).waitFor()
    assert.match(await draft.read('waypost.yml'), /\/todo\/:todo_id\/comment: !include/)

    await page.getByRole('textbox', { name: 'Description' }).fill('Adds a comment')
    await page.getByRole('radio', { name: 'Anyone' }).check({ force: true })
    await page.getByLabel('Time limit').fill('5s')
    await page.keyboard.press('Control+s')
    await page.getByText(/^Saved \d\d:\d\d/).waitFor()
    const file = /comment: !include (\S+)/.exec(await draft.read('waypost.yml'))![1]!
    const text = await draft.read(file)
    assert.match(text, /description: Adds a comment/)
    assert.match(text, /public: true/)
    assert.match(text, /timeout: 5s/)
    assert.deepEqual(await findFlaws(page), [])

    await page.getByRole('button', { name: 'Delete POST /todo/:todo_id/comment' }).click()
    await page.getByText('It was not called in the last 24 hours.').waitFor()
    await page.getByText('It is the last method of its path').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete POST /todo/:todo_id/comment' }).click()
    await page.getByRole('heading', { name: 'Routes', level: 1 }).waitFor()
    assert.doesNotMatch(await draft.read('waypost.yml'), /comment/)
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
    await page.getByRole('heading', { name: 'tidy', level: 1 }).waitFor()
    assert.match(await draft.read('waypost.yml'), /tidy: \{ schedule: 30 4 \* \* 1, action: src\/tidy\.ts \}/)
    await page.getByLabel('Schedule').fill('61 * * * *')
    await page
      .getByText(/minute/)
      .first()
      .waitFor()
    assert.deepEqual(await findFlaws(page), [])
    assert.deepEqual(complaints, [])
  })
})
