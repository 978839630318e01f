// Someone who gives a scope to every new user learns who then receives what: at Save, on the pages of what it concerns, and
// at Publish, where it must be confirmed.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import type { WatchedPage } from '../support/browser.ts'
import { isLong } from '../support/forms.ts'
import { readTemplate } from '../support/template.ts'
import { checkPage, goTo, openBackendWorld, openSignedIn, type BackendWorld } from './backend-world.ts'

const defaultScope =
  'Every new user gets the scope "note", so everyone can subscribe to the event "note_created" and receive data that is dispatched without "users". Use a scope that is not in scopes_default, or write scopes: [] if every user may subscribe.'
const unused = 'The schema "Draft-Note" is not used. Use it in a route, an event or another schema, or remove it.'
/** The warning about access is at the scope of the event: its name and the line. */
const place = /note_created waypost\.yml:11$/

/** Its notes are private: no public method returns what `note_created` contains. */
const definition = `${readTemplate('todo')['waypost.yml']!.trimEnd()}
  note_created:
    description: A note was created
    schema: { type: object, properties: { text: { type: string } } }
    scopes: [note]
scope:
  todo: { description: Change to-dos }
  note: { description: Read notes }
`

describe('warnings about the definition', { timeout: 300_000 }, () => {
  let world: BackendWorld
  let opened: WatchedPage
  let page: Page
  before(async () => {
    world = await openBackendWorld({ files: { 'waypost.yml': definition }, scopes: ['note'] })
    opened = await world.open({ viewport: { width: 1280, height: 900 } })
    page = opened.page
    await openSignedIn(page, '/settings')
  })
  after(async () => {
    await opened[Symbol.asyncDispose]()
    await world[Symbol.asyncDispose]()
  })

  const region = (name: string | RegExp) => page.locator('#content').getByRole('region', { name })
  const textsOf = async (list: Locator) => {
    await list.first().waitFor()
    return (await list.getByRole('listitem').allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ').trim())
  }
  const save = async () => {
    await page.keyboard.press('Control+S')
    await page.getByText(/^Saved in the draft/).waitFor()
  }
  /** Opens what the save bar says about the last save, and returns it. */
  const savedWarnings = async (title: string) => {
    await page.getByRole('status').filter({ hasText: title }).click()
    return textsOf(page.locator('.save-warnings'))
  }

  test('nothing is shown while there are none', async () => {
    for (const [path, title] of Object.entries({ '/': 'Overview', '/scopes': 'Scopes', '/events': 'Events' })) {
      await goTo(page, path, title)
      assert.equal(await page.locator('.definition-warnings').count(), 0, path)
    }
  })

  test('Save lists what it causes: that everyone who registers can receive the data of an event, and where', async () => {
    await goTo(page, '/settings', 'Settings')
    const scopes = page.getByRole('combobox', { name: 'Default scopes' })
    await scopes.click()
    await page.getByRole('option', { name: 'note', exact: true }).click()
    await page.keyboard.press('Escape')
    await save()
    const [warning, ...others] = await savedWarnings('This change causes 1 warning')
    assert.deepEqual(others, [])
    assert.ok(warning?.startsWith(defaultScope), warning)
    assert.match(warning!, place)
    // An edit begins with the default.
    await goTo(page, '/files/waypost.yml', 'waypost.yml')
    await page.locator('.cm-content').getByText('scopes_default: [consumer, note]').waitFor()
  })

  test('the pages of what it concerns show it, and no other page', async () => {
    const shown = {
      '/': 'Overview',
      '/events': 'Events',
      '/events/note_created': 'note_created',
      '/scopes': 'Scopes',
      '/scopes/note': 'note',
      '/settings': 'Settings',
    }
    for (const [path, title] of Object.entries(shown)) {
      await goTo(page, path, title)
      const [warning, ...others] = await textsOf(region('1 warning'))
      assert.deepEqual(others, [], path)
      assert.ok(warning?.startsWith(defaultScope), `${path}: ${warning}`)
      assert.match(warning!, place)
      // Outside of the long form one of them: all show it with the same component.
      if (isLong || path === '/events/note_created') await checkPage(page, `warnings ${path}`)
    }
    for (const [path, title] of Object.entries({ '/routes': 'Routes', '/events/todo_created': 'todo_created' })) {
      await goTo(page, path, title)
      assert.equal(await page.locator('.definition-warnings').count(), 0, path)
    }
  })

  test('the place of a warning leads to the editor and to the line', async () => {
    await goTo(page, '/scopes', 'Scopes')
    await region('1 warning').getByRole('link', { name: 'note_created' }).click()
    await page.locator('#content').getByRole('heading', { name: 'note_created', level: 1 }).waitFor()
    await region('1 warning').getByRole('link', { name: 'waypost.yml:11' }).click()
    await page.locator('.cm-content').getByText('scopes: [note]').waitFor()
  })

  test('Save lists warnings of every kind', async () => {
    await goTo(page, '/schemas', 'Schemas')
    await page.getByRole('button', { name: 'New schema' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Draft-Note')
    await page.getByRole('dialog').getByRole('button', { name: 'Add schema' }).click()
    await page.locator('#content').getByRole('heading', { name: 'Draft-Note', level: 1 }).waitFor()
    const [warning, ...others] = await savedWarnings('This change causes 1 warning')
    assert.deepEqual(others, [])
    assert.ok(warning?.startsWith(unused), warning)
  })

  test('Publish lists all; those about access must be confirmed before anything is published', async () => {
    await goTo(page, '/publish', 'Publish')
    const access = region('1 new warning about who can read or change data')
    const [warning, ...others] = await textsOf(access)
    assert.deepEqual(others, [])
    assert.ok(warning?.startsWith(defaultScope), warning)
    assert.match(warning!, place)
    const [other, ...more] = await textsOf(region('1 warning'))
    assert.deepEqual(more, [])
    assert.ok(other?.startsWith(unused), other)
    await checkPage(page, 'warnings publish')

    const publish = page.getByRole('button', { name: 'Publish', exact: true })
    const tick = page.getByRole('checkbox', { name: 'I have read the warnings' })
    assert.ok(!(await tick.isChecked()) && (await publish.isDisabled()))
    await tick.check()
    assert.ok(await publish.isEnabled())
    await tick.uncheck()
    assert.ok(await publish.isDisabled())

    // A plan of other changes has other warnings.
    await page.getByRole('checkbox', { name: 'Publish config.scopes_default' }).uncheck()
    await access.waitFor({ state: 'detached' })
    await page.getByRole('checkbox', { name: 'Publish config.scopes_default' }).check()
    await access.waitFor()
    assert.ok(!(await tick.isChecked()) && (await publish.isDisabled()))
    await tick.check()
    await publish.click()
    await page.locator('#content').getByRole('heading', { name: 'Published', level: 1 }).waitFor()
  })

  test('a published warning stays on its pages, and the next publication does not ask again', async () => {
    await goTo(page, '/scopes', 'Scopes')
    await region('1 warning').getByText('Every new user gets the scope "note"').waitFor()
    await goTo(page, '/events/note_created', 'note_created')
    await page.getByLabel('Description').fill('Someone wrote a note')
    await save()
    await goTo(page, '/publish', 'Publish')
    await textsOf(region('2 warnings'))
    assert.equal(await page.getByRole('checkbox', { name: 'I have read the warnings' }).count(), 0)
    assert.ok(await page.getByRole('button', { name: 'Publish', exact: true }).isEnabled())
    assert.deepEqual(opened.complaints, [])
  })
})
