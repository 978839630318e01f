// A rollback that is not possible says why before anyone tries it: in the list of releases and on the release's page.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { findFlaws, storeScreenshot } from '../support/browser.ts'
import { readTemplate } from '../support/template.ts'
import { checkPage, goTo, openBackendWorld, openSignedIn, type BackendWorld } from './backend-world.ts'

const short = (id: string) => id.slice(0, 8)

describe('a rollback that is not possible', { timeout: 300_000 }, () => {
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
    const migration = 'rename_column:\n  app_todo: { content: text }\n'
    ids.push(
      (await server.deploy({ ...scope('two'), 'migrations/System/20270101000000-rename.yml': migration })).id,
      (await server.deploy(scope('three'))).id,
    )
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
    const describe = async (id: string) => {
      const item = await openMenu(id)
      await item.and(page.locator('[aria-disabled="true"]')).getByText('Not possible: ').waitFor()
      return { item, reason: await item.innerText() }
    }

    const possible = await openMenu(after!)
    await possible.and(page.locator('[aria-disabled="false"]')).waitFor()
    await page.keyboard.press('Escape')

    const migrated = await describe(before!)
    assert.match(migrated.reason, /not compatible with migrations that have run since: System\/20270101000000-rename/)
    await page.keyboard.press('ArrowDown')
    await migrated.item.focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowUp')
    await migrated.item.and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Enter')
    await migrated.item.click({ force: true }) // Playwright waits for it to be enabled
    assert.ok(await migrated.item.isVisible())
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
    const damaged = await describe(after!)
    assert.match(damaged.reason, /The release [0-9a-f]{8} in System is damaged: its manifest was changed/)
    assert.deepEqual(complaints, [])
  })
})
