// Forms of settings, rates, problems and imports.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { until } from '../support/until.ts'
import { openEditing, savedText, type EditWorld } from './edit-world.ts'

const main = 'waypost.yml'

describe('more forms of dev', { timeout: 600_000 }, () => {
  let world: EditWorld
  before(async () => {
    world = await openEditing()
  })
  after(() => world[Symbol.asyncDispose]())

  test('settings are in groups and found by words; a color is picked; one without effect can only be removed', async () => {
    await world.start()
    const { draft, page } = world
    await draft.write(
      main,
      `${await draft.read(main)}config:\n  delivery_lease: 5m # of an old version\n  keep: { audit: 90d }\n`,
    )
    await draft.dev.reload()
    await world.open('/settings')
    const groups = page.locator('#content .settings-group h2')
    const service = page.getByRole('region', { name: 'Service' })
    await service.waitFor()
    assert.deepEqual(await groups.allTextContents(), [
      'Service',
      'Sign-in and tokens',
      'Requests',
      'Deliveries',
      'Deployments',
      'Retention',
      'Without effect',
    ])
    assert.equal(await page.getByRole('textbox', { name: 'delivery_lease' }).count(), 0)
    await page.getByRole('searchbox', { name: 'Search settings' }).fill('refresh life')
    assert.deepEqual(await page.locator('.settings label').allTextContents(), [
      'Refresh token lifetime',
      'Login lifetime',
    ])
    await page.getByText('2 settings').waitFor({ state: 'attached' })
    await page.getByRole('searchbox', { name: 'Search settings' }).fill('nothing like this')
    await page.getByText('No setting matches.').waitFor()
    await page.getByRole('searchbox', { name: 'Search settings' }).fill('accent')
    await page.getByLabel('Color picker of Accent color').fill('#1f6feb')
    assert.equal(await page.getByRole('textbox', { name: 'Accent color', exact: true }).inputValue(), '#1f6feb')
    await page.getByRole('searchbox', { name: 'Search settings' }).fill('')
    await page.getByRole('textbox', { name: 'Audit log' }).fill('')
    await page.getByRole('textbox', { name: 'Failed logins' }).fill('2d')
    await page.getByRole('switch', { name: 'Portal' }).check({ force: true })
    await page.getByRole('button', { name: 'Remove delivery_lease' }).click()
    await page.keyboard.press('Control+S')
    await page.getByText(savedText).waitFor()
    const saved = await draft.read(main)
    assert.doesNotMatch(saved, /delivery_lease|audit/)
    assert.match(saved, /accent: '#1f6feb'|accent: "#1f6feb"/)
    assert.match(saved, /throttles: 2d/)
    assert.match(saved, /portal: true/)
    await page.getByRole('textbox', { name: 'Failed logins' }).fill('')
    await page.keyboard.press('Control+S')
    await until('the empty map is removed', async () => !(await draft.read(main)).includes('keep'))
    assert.deepEqual(world.complaints, [])
  })

  test('the gutter shows problems while typing, and the same ones after saving', async () => {
    await world.start()
    const { draft, page } = world
    await world.open('/events/todo_created?tab=yaml')
    const editor = page.getByRole('textbox', { name: main })
    const markers = page.locator('.cm-lint-marker-error')
    const problems = page.getByRole('list', { name: 'Problems' }).getByRole('listitem')
    const text = await draft.read(main)
    await editor.click()
    await editor.press('Control+End')
    await page.keyboard.insertText('  broken: {')
    await markers.waitFor()
    assert.equal(await draft.read(main), text)
    await page.keyboard.insertText(' schema: None }')
    await problems.getByText(/"None"/).waitFor()
    const typed = await problems.allTextContents()
    await page.keyboard.press('Control+S')
    await page.getByRole('button', { name: 'Save anyway' }).click()
    await page.getByText('The last valid version is served').waitFor()
    await markers.waitFor()
    assert.deepEqual(await problems.allTextContents(), typed)
    assert.equal(await markers.count(), 1)
    await editor.press('Control+A')
    await page.keyboard.insertText(text)
    await markers.waitFor({ state: 'detached' })
    await problems.first().waitFor({ state: 'detached' })
    await page.keyboard.press('Control+S')
    await page.getByText('You edit files in').waitFor()
  })

  test('definition files of another folder are imported, and nothing else', async () => {
    await world.start()
    const { draft, page } = world
    const folder = await mkdtemp(path.join(tmpdir(), 'waypost-import-'))
    const text = (await draft.read(main)).replace('A to-do was created', 'Imported')
    await writeFile(path.join(folder, main), text)
    await writeFile(path.join(folder, 'package.json'), '{}')
    await world.open('/changes')
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Import files' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.locator('input[type="file"]').setInputFiles(folder)
    await dialog.getByText('1 file differs').waitFor()
    await dialog.getByText('1 other file was skipped.').waitFor()
    assert.equal(await dialog.getByLabel('Delete files that are not in this folder').isChecked(), false)
    await dialog.getByRole('button', { name: 'Import 1 file' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('link', { name: '1 file changed' }).waitFor()
    assert.equal(await draft.read(main), text)
    await assert.rejects(draft.read('package.json'), { code: 'ENOENT' })
    await world.open('/events/todo_created')
    assert.equal(await page.getByLabel('Description').inputValue(), 'Imported')
    await rm(folder, { recursive: true })
    assert.deepEqual(world.complaints, [])
  })

  test('rates are added, changed and deleted; the error of a field does not move the next one', async () => {
    await world.start()
    const { draft, page } = world
    const before = await draft.read(main)
    await world.open('/settings?tab=rates')
    await page.getByRole('button', { name: 'New rate' }).click()
    await page.getByLabel('Name').fill('slow')
    await page.getByRole('button', { name: 'Add rate' }).click()
    await page.getByRole('button', { name: 'Edit slow' }).click()
    await page.getByLabel('Requests').fill('5')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByText(/^5 requests in/).waitFor()
    assert.match(await draft.read(main), /slow:[^#]*limit: 5/)
    await page.getByRole('button', { name: 'Delete slow' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete slow' }).click()
    await page.getByText('No rates are declared.').waitFor()
    await page.getByRole('button', { name: 'New rate' }).click()
    await page.getByLabel('Name').fill('broken')
    await page.getByLabel('In each').fill('soon')
    const requests = await page.getByLabel('Requests').boundingBox()
    await page.getByRole('button', { name: 'Add rate' }).click()
    await page.locator('.mantine-InputWrapper-error').waitFor()
    assert.deepEqual(await page.getByLabel('Requests').boundingBox(), requests, 'the error moved the next field')
    assert.equal((await page.getByLabel('In each').boundingBox())?.y, requests?.y)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Discard' }).click()
    assert.ok((await draft.read(main)).startsWith(before))
    assert.deepEqual(
      world.complaints.filter((one) => !one.includes('status of 422')), // the refused save
      [],
    )
  })
})
