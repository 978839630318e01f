import { CompiledQuery } from 'kysely'
import { shopFiles } from '../backend/row-world.ts'
import { goTo, openBackendWorld, openSignedIn } from './backend-world.ts'
const world = await openBackendWorld({ files: shopFiles, variables: { WAYPOST_BACKEND_DATA: 'on' } })
try {
const { db } = world.server.host.system
const customers = Array.from({ length: 60 }, (_, index) => {
  const id = `0192f0c1-0000-7000-8000-${String(index).padStart(12, '0')}`
  return `('${id}', 'customer${index}@example.com', ${index % 7 === 0 ? 'null' : index % 5 === 0 ? "''" : `'Customer ${index}'`}, ${index % 3 === 0})`
})
for (const text of [
  `insert into shop_customer (id, email, name, active) values ${customers.join(', ')}`,
  `insert into shop_order (customer_id, total, count, day, at, meta) select id, 12.5, 9007199254740993, '2026-11-29', '2026-11-29T10:00:00.000Z', '{"gift":true,"note":"fragile"}' from shop_customer`,
  "insert into shop_line (order_id, number, note) select id, 1, 'first' from shop_order",
]) await db.executeQuery(CompiledQuery.raw(text))
const { page, complaints } = await world.open({ viewport: { width: 1440, height: 900 } })
const shot = (name: string) => page.screenshot({ path: `/tmp/shots-rows/${name}.png` })
await openSignedIn(page, '/tables')
await shot('tables')
await goTo(page, '/tables/System.shop_order/rows', 'shop_order')
await page.getByRole('button', { name: 'Open row 1', exact: true }).waitFor()
await shot('grid')
await page.getByRole('button', { name: 'Count rows' }).click()
await page.getByText('60 rows').waitFor()
await page.getByRole('button', { name: 'Filter', exact: true }).click()
await page.waitForTimeout(300)
await shot('filter')
await page.getByLabel('Condition').selectOption('gt')
await page.getByLabel('Value').fill('10')
await page.getByRole('button', { name: 'Apply filter' }).click()
await page.getByRole('button', { name: 'Open row 11', exact: true }).click()
await page.getByRole('dialog').getByLabel('total').waitFor()
await page.waitForTimeout(400)
await shot('panel')
await page.getByRole('dialog').getByLabel('total').fill('13')
await page.getByRole('button', { name: 'Save changes' }).click()
await page.getByRole('button', { name: 'Undo' }).waitFor()
await page.waitForTimeout(300)
await shot('undo')
await page.getByRole('button', { name: 'Add row' }).click()
await page.waitForTimeout(500)
await shot('new')
await page.getByRole('dialog').getByRole('button', { name: 'Add row' }).click()
await page.waitForTimeout(500)
await shot('new-errors')
await page.keyboard.press('Escape')
await page.emulateMedia({ colorScheme: 'dark' })
await goTo(page, '/tables/System.shop_customer/rows', 'shop_customer')
await page.waitForTimeout(300)
await shot('dark')
await page.getByRole('button', { name: /^Open row/ }).first().click()
await page.waitForTimeout(500)
await shot('dark-panel')
await page.keyboard.press('Escape')
await page.setViewportSize({ width: 390, height: 844 })
await page.emulateMedia({ colorScheme: 'light' })
await page.waitForTimeout(300)
await shot('phone')
await page.getByRole('button', { name: /^Open row/ }).first().click()
await page.waitForTimeout(500)
await shot('phone-panel')
console.log(complaints)
} finally { await world[Symbol.asyncDispose]() }
