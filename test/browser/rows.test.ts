// The rows of tables in the pages of the backend, as someone who knows no SQL works with them.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { CompiledQuery } from 'kysely'
import type { Page } from 'playwright-core'
import { shopFiles } from '../backend/row-world.ts'
import type { WatchedPage } from '../support/browser.ts'
import { checkPage, goTo, openBackendWorld, openSignedIn, type BackendWorld } from './backend-world.ts'
import { isLong } from '../support/forms.ts'

const idOf = (index: number) => `0192f0c1-0000-7000-8000-${String(index).padStart(12, '0')}`

/** Rows of a file. The last ones are in another page of the list. */
const count = isLong ? 5000 : 400

const customers = Array.from({ length: 60 }, (_, index) => {
  return `('${idOf(index)}', 'customer${index}@example.com', ${index % 7 === 0 ? 'null' : index % 5 === 0 ? "''" : `'Customer ${index}'`}, ${index % 3 === 0})`
})

describe('the rows of a table', () => {
  let world: BackendWorld
  let opened: WatchedPage
  let page: Page
  let folder: string

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'waypost-rows-'))
    world = await openBackendWorld({ files: shopFiles, variables: { WAYPOST_BACKEND_DATA: 'on' } })
    const { db } = world.server.host.system
    for (const text of [
      `insert into shop_customer (id, email, name, active) values ${customers.join(', ')}`,
      `insert into shop_order (customer_id, total, count, day, at, meta) select id, 12.5, 9007199254740993, '2026-11-29', '2026-11-29T10:00:00.000Z', '{"gift":true,"note":"fragile"}' from shop_customer`,
      "insert into shop_line (order_id, number, note) select id, 1, 'first' from shop_order",
    ])
      await db.executeQuery(CompiledQuery.raw(text))
    opened = await world.open({ viewport: { width: 1440, height: 900 }, acceptDownloads: true })
    page = opened.page
    page.setDefaultTimeout(20_000)
    await openSignedIn(page, '/tables')
  })
  after(() => Promise.all([world[Symbol.asyncDispose](), rm(folder, { recursive: true })]))

  const open = (row: string) => page.getByRole('button', { name: `Open row ${row}`, exact: true }).click()
  const panel = () => page.getByRole('dialog')
  const field = (name: string) => panel().getByRole('textbox', { name: new RegExp(`^${name} `) })

  test('a CSV file is imported, a typo corrected, that undone, an order followed to its customer, a filtered list exported', async () => {
    await goTo(page, '/tables/System.shop_customer/rows', 'shop_customer')
    await page.getByRole('button', { name: 'Import' }).click()
    const lines = Array.from(
      { length: count },
      (_, index) => `${idOf(1000 + index)},new${index}@example.com,Nwe ${index}`,
    )
    const choose = async (text: string) => {
      await panel()
        .locator('input[type="file"]')
        .setInputFiles({
          name: 'customers.csv',
          mimeType: 'text/csv',
          buffer: Buffer.from(`id,email,name\n${text}`),
        })
      await panel()
        .getByRole('button', { name: /^Import/ })
        .click()
    }
    await choose(`${lines[0]}\n${lines[1]}\nno id,x@example.com,x`)
    await panel().getByRole('cell', { name: '4', exact: true }).waitFor()
    const file = path.join(folder, 'changed.csv')
    await writeFile(file, 'id,email\n')
    await panel().locator('input[type="file"]').setInputFiles(file)
    await writeFile(file, 'id,email,name\n')
    await panel()
      .getByRole('button', { name: /^Import/ })
      .click()
    await panel().getByText('changed.csv has changed since you chose it. Choose it again.').waitFor()
    await choose(lines.join('\n'))
    await panel()
      .getByText(`${count.toLocaleString('en')} rows imported`)
      .waitFor()
    assert.ok(opened.complaints.every((one) => one.includes('ERR_UPLOAD_FILE_CHANGED')))
    await page.keyboard.press('Escape')

    await goTo(page, `/tables/System.shop_customer/rows?filter=email%3Dnew7%40example.com`, 'shop_customer')
    await open(idOf(1007))
    await field('name').fill('New 7')
    await panel().getByRole('button', { name: 'Save changes' }).click()
    await page.getByText(`Changed name of row ${idOf(1007)}`).waitFor()
    await page.getByRole('cell', { name: 'New 7', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('cell', { name: 'Nwe 7', exact: true }).waitFor()
    await open(idOf(1007))
    await panel().getByRole('link', { name: 'Audit log' }).click()
    await page
      .getByRole('link', { name: `System.shop_customer · ${idOf(1007)}` })
      .first()
      .waitFor()
    assert.equal(await page.getByText('row.change', { exact: true }).count(), 2)

    await goTo(page, '/tables/System.shop_customer/rows', 'shop_customer')
    await page.getByRole('searchbox', { name: 'Search' }).fill('nwe 321')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Remove filter words: nwe 321' }).waitFor()
    await page.getByRole('cell', { name: 'Nwe 321', exact: true }).waitFor()
    assert.equal(await page.getByRole('button', { name: /^Open row/ }).count(), 1)

    await goTo(page, '/tables/System.shop_order/rows', 'shop_order')
    await page
      .getByRole('row', { name: /^Open row 3 / })
      .getByRole('link', { name: 'Open the row in shop_customer' })
      .click()
    await page.getByText('customer2@example.com').waitFor()
    await open(idOf(2))
    await panel().getByRole('link', { name: 'shop_order' }).click()
    await page.getByRole('button', { name: 'Open row 3', exact: true }).waitFor()
    assert.equal(await page.getByRole('button', { name: /^Open row/ }).count(), 1)

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export CSV' }).click(),
    ])
    assert.equal(download.suggestedFilename(), 'shop_order.csv')
    const exported = await readFile(await download.path(), 'utf8')
    assert.match(exported, /^id,customer_id,total,count,day,at,meta\r\n[^\r]+\r\n$/)
    assert.equal(opened.complaints.length, 1)
  })

  test('a new row says what is missing, and null is not an empty text', async () => {
    await goTo(page, '/tables/System.shop_customer/rows', 'shop_customer')
    await page.getByRole('button', { name: 'Add row' }).click()
    await field('email').fill('zoe@example.com')
    await field('name').fill('x')
    await field('name').fill('')
    await panel().getByRole('button', { name: 'Add row' }).click()
    await panel().getByText('is required').waitFor()
    await panel().getByRole('button', { name: 'Generate' }).click()
    await panel().getByRole('button', { name: 'Add row' }).click()
    await page.getByText('Added row').waitFor()
    await goTo(page, '/tables/System.shop_customer/rows?filter=email%3Dzoe%40example.com', 'shop_customer')
    await page.getByRole('cell', { name: 'empty', exact: true }).waitFor()
    await page.getByRole('button', { name: /^Open row/ }).click()
    await panel().getByRole('button', { name: 'Set name to null' }).click()
    await panel().getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('cell', { name: 'null', exact: true }).waitFor()
  })

  test('rows, a row and the diagram look well', async () => {
    await goTo(page, '/tables/System.shop_line/rows', 'shop_line')
    await page.getByRole('button', { name: 'Open row 1, 1', exact: true }).waitFor()
    if (isLong) await checkPage(page, '/rows') // a list as others
    await open('1, 1')
    await field('note').waitFor()
    await checkPage(page, '/row')
    await page.keyboard.press('Escape')
    await panel().waitFor({ state: 'detached' })
    await goTo(page, '/tables/diagram', 'Diagram')
    await page.getByRole('link', { name: 'shop_line' }).waitFor()
    await checkPage(page, '/diagram')
  })
})
