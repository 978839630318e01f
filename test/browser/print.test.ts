import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setHostVariable } from '../../src/operate/index.ts'
import { asCommand } from '../support/server.ts'
import { readTemplate } from '../support/template.ts'
import { goTo, openBackendWorld, openSignedIn } from './backend-world.ts'
import { checkPrinted } from './printed.ts'

const description = 'An API for books. '.repeat(20).trim()
const long = 'A_NAME_OF_A_VARIABLE_THAT_IS_LONGER_THAN_ITS_COLUMN_ON_A_SCREEN'

test('settings and lists are printed whole, without what only works on a screen', async () => {
  const waypost = `${readTemplate('todo')['waypost.yml']}config: { description: "${description}" }\n`
  await using world = await openBackendWorld({ files: { 'waypost.yml': waypost } })
  const host = asCommand(world.server.host)
  for (let count = 0; count < 60; count += 1) await setHostVariable(host, { name: `${long}_${count}`, value: 'x' })
  await using opened = await world.open({ viewport: { width: 1440, height: 900 } })
  const { page, complaints } = opened
  await openSignedIn(page, '/settings')
  const groups = page.locator('.settings-group')
  await page.getByText('Retention').waitFor()
  const count = await groups.count()
  await checkPrinted(page, async () => {
    assert.equal(await groups.and(page.locator(':visible')).count(), count)
    await page.getByText(description, { exact: true }).and(page.locator('p')).waitFor()
    await page.getByText('keep.audit').waitFor()
  })
  await goTo(page, '/routes', 'Routes')
  await checkPrinted(page)
  await goTo(page, '/audit', 'Audit')
  const rows = page.locator('tbody tr')
  const shown = await rows.count()
  await checkPrinted(page, async () => {
    assert.equal(await rows.and(page.locator(':visible')).count(), shown)
    await page.getByRole('columnheader', { name: 'How' }).waitFor()
    await page.getByText(`${long}_59`, { exact: true }).waitFor()
    await page.getByText('The list continues on other pages.').waitFor()
  })
  await page.getByText('The list continues on other pages.').waitFor({ state: 'hidden' })
  assert.deepEqual(complaints, [])
})
