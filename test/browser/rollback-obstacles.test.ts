// A rollback that is not possible says why before anyone tries it: in the list of releases and on the release's page.
// Changes that the settings forbid are made only after a word was typed.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { loadActiveId } from '../../src/release/index.ts'
import { chooseMore, findFlaws, storeScreenshot } from '../support/browser.ts'
import { readTemplate } from '../support/template.ts'
import { checkPage, goTo, openBackendWorld, openSignedIn, type BackendWorld } from './backend-world.ts'
import { longDescribe } from '../support/forms.ts'

const short = (id: string) => id.slice(0, 8)

const migrations = {
  'migrations/System/20270101000000-rename.yml': 'rename_column:\n  app_todo: { content: text }\n',
}

// In CI, test/backend/rollback.test.ts has the reasons over HTTP, and the test below rolls back.
longDescribe('a rollback that is not possible', () => {
  let world: BackendWorld
  const ids: string[] = []
  before(async () => {
    world = await openBackendWorld()
    const { server } = world
    const text = readTemplate('todo')['waypost.yml']!
    const scope = (name: string) => ({
      'waypost.yml': `${text}\nscope:\n  ${name}: { description: Archived to-dos }\n`,
    })
    ids.push(server.release.id, (await server.deploy(scope('one'))).id)
    ids.push((await server.deploy({ ...scope('two'), ...migrations })).id, (await server.deploy(scope('three'))).id)
  })
  after(() => world[Symbol.asyncDispose]())

  test('is disabled with its reason, which the keyboard and screen readers reach', async () => {
    const { server } = world
    await using opened = await world.open({ viewport: { width: 1280, height: 800 } })
    const { page, complaints } = opened
    await openSignedIn(page, '/releases')
    const [, before, after] = ids.map(short)
    const openMenu = async (id: string) => {
      await page.getByRole('button', { name: `Actions: ${id}` }).focus()
      await page.keyboard.press('Enter')
      return page.getByRole('menuitem', { name: `Roll back to ${id}` })
    }
    /** Until the reason is read again, the menu may show an earlier one. */
    const findDisabled = async (id: string, reason: RegExp) => {
      const item = await openMenu(id)
      await item.and(page.locator('[aria-disabled="true"]')).getByText(reason).waitFor()
      return item
    }

    const possible = await openMenu(after!)
    await possible.and(page.locator('[aria-disabled="false"]')).waitFor()
    await page.keyboard.press('Escape')

    const migrated = await findDisabled(
      before!,
      /^Not possible: .* not compatible with migrations that have run since: System\/20270101000000-rename/,
    )
    await page.keyboard.press('ArrowDown')
    await migrated.focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowUp')
    await migrated.and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Enter')
    await migrated.click({ force: true }) // Playwright waits for it to be enabled
    assert.ok(await migrated.isVisible())
    assert.equal(await page.getByRole('dialog').count(), 0)
    await storeScreenshot(page, 'backend rollback obstacle menu')
    // What is under the menu, and the menu of Mantine itself, are not of this test.
    assert.deepEqual(
      (await findFlaws(page)).filter((flaw) => flaw.includes('menuitem')),
      [],
    )
    await page.keyboard.press('Escape')

    await goTo(page, `/releases/${ids[1]}`, `Release ${before}`)
    const button = page.getByRole('button', { name: `Roll back to ${before}` })
    const onPage = page.locator('#content').getByText(/^Not possible: The release .* is not compatible/)
    await onPage.waitFor()
    assert.equal(await button.getAttribute('aria-describedby'), await onPage.getAttribute('id'))
    assert.equal(await button.getAttribute('aria-disabled'), 'true')
    await button.focus()
    await page.keyboard.press('Enter')
    assert.equal(await page.getByRole('dialog').count(), 0)
    await checkPage(page, 'rollback obstacle')

    const old = { id: 'old', name: 'host-9', version: '0.0.1', state: 'serving' as const, started_at: 1 }
    await server.host.system.db
      .insertInto('waypost_server')
      .values({ ...old, heartbeat_at: server.host.system.now() })
      .execute()
    await goTo(page, `/releases/${ids[2]}`, `Release ${after}`)
    await page
      .locator('#content')
      .getByText(/^Not possible: .*some servers run an older version: host-9 \(0\.0\.1\)/)
      .waitFor()
    await server.host.system.db.deleteFrom('waypost_server').where('id', '=', 'old').execute()

    await server.host.system.db
      .updateTable('waypost_release')
      .set({ manifest: '{}' })
      .where('id', '=', ids[2]!)
      .execute()
    await goTo(page, '/releases', 'Releases')
    await findDisabled(after!, /^Not possible: The release [0-9a-f]{8} in System is damaged: its manifest was changed/)
    assert.deepEqual(complaints, [])
  })
})

test(
  'with breaking_changes: forbid, what breaks is sent only after the word was typed',
  { timeout: 300_000 },
  async () => {
    await using world = await openBackendWorld()
    const { server } = world
    const text = `${readTemplate('todo')['waypost.yml']!}\nconfig: { breaking_changes: forbid }\n`
    const base = await server.deploy({ ...migrations, 'waypost.yml': text })
    await server.deploy({
      ...migrations,
      'waypost.yml': text.replace('event:\n', 'event:\n  other: { scopes: [todo] }\n'),
    })
    await using opened = await world.open({ viewport: { width: 1280, height: 1200 } })
    const { page, complaints } = opened
    await openSignedIn(page, `/releases/${base.id}`)
    const dialog = page.getByRole('dialog')
    /** Types the word, and confirms. Returns what the page sends. */
    const confirm = async (action: string, path: RegExp) => {
      const button = dialog.getByRole('button', { name: action, exact: true })
      const word = dialog.getByLabel('To continue, type "breaking"')
      await word.fill('yes')
      assert.ok(await button.isDisabled())
      await word.fill('breaking')
      const sent = page.waitForRequest((request) => request.method() === 'POST' && path.test(request.url()))
      await button.click()
      return (await sent).postDataJSON() as Readonly<Record<string, unknown>>
    }
    const action = `Roll back to ${short(base.id)}`
    await page.getByRole('button', { name: action }).click()
    assert.equal((await confirm(action, /\/rollback$/))['allow_breaking'], true)
    await dialog.waitFor({ state: 'detached' })
    assert.equal(await loadActiveId(server.host.system), base.id)

    await goTo(page, '/events/todo_created', 'todo_created')
    await chooseMore(page, 'Delete todo_created')
    await dialog.getByRole('button', { name: 'Delete todo_created' }).click()
    await page.locator('#content').getByRole('heading', { name: 'Events', exact: true, level: 1 }).waitFor()
    await goTo(page, '/publish', 'Publish')
    await page.getByRole('button', { name: 'Publish 1 breaking change' }).click()
    assert.equal((await confirm('Publish', /\/publish$/))['allow_breaking'], true)
    await page.locator('#content').getByRole('heading', { name: 'Published', level: 1 }).waitFor()
    assert.deepEqual(complaints, [])
  },
)
