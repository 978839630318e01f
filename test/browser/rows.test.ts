// The rows of tables in the pages of the backend, as someone who knows no SQL works with them.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { CompiledQuery } from 'kysely'
import type { Page } from 'playwright-core'
import { shopFiles } from '../backend/row-world.ts'
import type { WatchedPage } from '../support/browser.ts'
import { checkPage, goTo, openBackendWorld, openSignedIn, type BackendWorld } from './backend-world.ts'

const customers = Array.from({ length: 60 }, (_, index) => {
  const id = `0192f0c1-0000-7000-8000-${String(index).padStart(12, '0')}`
  return `('${id}', 'customer${index}@example.com', ${index % 7 === 0 ? 'null' : index % 5 === 0 ? "''" : `'Customer ${index}'`}, ${index % 3 === 0})`
})

describe('the rows of a table', () => {
  let world: BackendWorld
  let opened: WatchedPage
  let page: Page

  before(async () => {
    world = await openBackendWorld({ files: shopFiles, variables: { WAYPOST_BACKEND_DATA: 'on' } })
    const { db } = world.server.host.system
    for (const text of [
      `insert into shop_customer (id, email, name, active) values ${customers.join(', ')}`,
      `insert into shop_order (customer_id, total, count, day, at, meta) select id, 12.5, 9007199254740993, '2026-11-29', '2026-11-29T10:00:00.000Z', '{"gift":true,"note":"fragile"}' from shop_customer`,
      "insert into shop_line (order_id, number, note) select id, 1, 'first' from shop_order",
    ])
      await db.executeQuery(CompiledQuery.raw(text))
    opened = await world.open({ viewport: { width: 1440, height: 900 } })
    page = opened.page
    await openSignedIn(page, '/tables')
  })
  after(() => world[Symbol.asyncDispose]())

  test('look well', async () => {
    await goTo(page, '/tables/System.shop_order/rows', 'shop_order')
    await page.getByRole('button', { name: 'Open row 1', exact: true }).waitFor()
    await checkPage(page, 'rows')
    await page.getByRole('button', { name: 'Open row 1', exact: true }).click()
    await page.getByRole('dialog').getByLabel('total').waitFor()
    await checkPage(page, 'row')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    assert.deepEqual(opened.complaints, [])
  })
})
