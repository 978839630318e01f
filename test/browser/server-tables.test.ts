// Someone who has only a server and a browser changes the tables of an API.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { loadActiveId } from '../../src/release/index.ts'
import { chooseKinds, type Kind } from '../support/forms.ts'
import { until } from '../support/until.ts'
import { checkPage } from './backend-world.ts'
import { firstSteps } from './server-steps.ts'
import { withServer } from './server-world.ts'

/** Its System is the one that `init --template host` sets up; in the long form also on PostgreSQL. */
for (const kind of chooseKinds('sqlite'))
  describe(`tables on a server by clicking, ${kind}`, { timeout: 600_000 }, () => changeTables(kind))

function changeTables(kind: Kind): void {
  const server = withServer(kind)
  const { heading, button, dialog, go, openRoute, curl, publishAll } = server
  before(async () => {
    for (const step of Object.values(firstSteps)) await step(server)
  })

  test('a failed migration says why, keeps the release and the changes, and publishing works when it is fixed', async () => {
    const { page, host } = server
    await host.system.db.schema.createTable('app_pet').addColumn('id', 'integer').execute()
    await go('Tables')
    await page.getByRole('link', { name: 'New table' }).click()
    await heading('New table').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('app_pet')
    await page.getByLabel('Column 2', { exact: true }).fill('name')
    await button('Create table').click()
    await heading('app_pet').waitFor()
    const { body: before } = await curl('GET /todo')
    await page.getByRole('link', { name: '1 change · Publish' }).click()
    await button('Migrate and publish').click()
    await heading('Not published').waitFor()
    const [failed, waiting] = await page.locator('.publish-steps > li').allInnerTexts()
    assert.match(failed!, /^failed\s+Migrate\s[^]*app_pet[^]*already exists/)
    assert.match(waiting!, /^waiting\s+Activate$/)
    await page.getByText('The previous release is still being served. The draft keeps all its changes.').waitFor()
    await checkPage(page, 'server not published')
    assert.deepEqual((await curl('GET /todo')).body, before)
    await host.system.db.schema.dropTable('app_pet').execute()
    await page.getByRole('link', { name: 'Back to the changes' }).click()
    await button('Migrate and publish').click()
    await heading('Published').waitFor()
    await page.getByText(/^Migrated System\/\d+-create-app-pet/).waitFor()
  })

  test('a variable that is missing is set in the plan', async () => {
    const { page, host } = server
    await go('Connections')
    await button('New connection').click()
    await page.getByLabel('Name').fill('Stock')
    await dialog().getByLabel('Class').selectOption('http')
    await button('Continue').click()
    await page.getByRole('textbox', { name: 'url' }).fill('${env.STOCK_URL}')
    await page.keyboard.press('Control+S')
    await page.getByRole('link', { name: '1 change · Publish' }).click()
    const plan = page.getByRole('complementary', { name: 'What publishing does' })
    await plan.getByRole('heading', { name: 'Missing variables' }).waitFor()
    assert.ok(await button('Publish').isDisabled())
    await checkPage(page, 'server missing variable')
    await plan.getByLabel('Value of STOCK_URL').fill('https://stock.example.com')
    await button('Set', plan).click()
    await plan.getByText('set by ann').waitFor()
    await plan.getByRole('heading', { name: 'Missing variables' }).waitFor({ state: 'detached' })
    await publishAll('Publish')
    const stored = await host.system.db.selectFrom('waypost_variable').select('id').execute()
    assert.deepEqual(stored, [{ id: 'STOCK_URL' }])
  })

  const openTable = async (name: string) => {
    await go('Tables')
    await server.page.locator('#content').getByRole('link', { name, exact: true }).first().click()
    await heading(name).waitFor()
  }
  const saveTable = async () => {
    await button('Save changes').click()
    await button('Save changes').waitFor({ state: 'detached' })
    await server.page.getByText(/^Saved in the draft/).waitFor()
  }
  const additions = () => server.page.getByRole('region', { name: 'New columns in the API' })

  test('a column that new rows need is added to the API in the same save', async () => {
    const { page } = server
    await go('Tables')
    await page.locator('#content').getByRole('link', { name: 'New table' }).click()
    await heading('New table').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('app_visit')
    await page.getByLabel('Column 2', { exact: true }).fill('note')
    await button('Create table').click()
    await heading('app_visit').waitFor()
    await button('Create routes').click()
    await dialog()
      .getByLabel(/visit is a new scope/)
      .fill('Record visits')
    await dialog().getByLabel('POST dispatches an event').check()
    await dialog().getByText('schema: VisitCreated').first().waitFor()
    await button('Add 5 methods', dialog()).click()
    await heading('Routes').waitFor()

    await openTable('app_visit')
    await button('Add column').click()
    await page.getByLabel('Column 3', { exact: true }).fill('place')
    const add = additions().getByLabel('Add place to the API')
    await add.waitFor()
    assert.ok(await add.isChecked(), 'new rows need it')
    await additions().getByRole('link', { name: 'VisitCreated' }).waitFor()
    await add.uncheck()
    await additions().getByText('Without place, the API cannot create rows.').waitFor()
    await button('Save changes').click()
    await page
      .getByRole('alert')
      .getByText(/"place"/)
      .first()
      .waitFor()
    await add.check()
    await page.getByText(/Also changes .*waypost\.yml/).waitFor()
    await page.getByText('5 methods added').waitFor({ state: 'detached' }) // it covers a part of the bar
    await checkPage(page, 'server new column')
    await saveTable()
    assert.equal(await page.getByText('The API does not return').count(), 0)
  })

  test('the first call that is offered after publishing succeeds, with the token that it names', async () => {
    const { page } = server
    await publishAll('Migrate and publish')
    await page.getByRole('link', { name: 'Try POST /visit' }).click()
    await heading('POST /visit').waitFor()
    // The token of the calls before does not have the new scope.
    await page.getByText('me (ann)').or(page.getByLabel('Token')).first().waitFor()
    await button('Send').click()
    await page.getByText('201', { exact: true }).first().waitFor()
    await page.getByRole('region', { name: 'Response' }).getByText('"place"').waitFor()
  })

  test('a generated event has the schema of the row, and its test message is a row', async () => {
    const { page, receiver } = server
    await go('Events')
    await page.getByRole('link', { name: 'visit_created' }).first().click()
    await heading('visit_created').waitFor()
    assert.equal(await page.getByRole('combobox', { name: 'Data' }).inputValue(), 'VisitCreated')
    assert.equal(await button('Listen').count(), 0, 'a server delivers to no page')
    await page.getByRole('link', { name: 'Subscribe' }).click()
    await dialog().getByLabel('Endpoint').fill(receiver.url)
    await button('Add subscription', dialog()).click()
    await dialog()
      .getByText(/^whsec_/)
      .waitFor()
    await button('Done').click()
    await heading('visit_created').waitFor()
    const before = receiver.received.length
    await button('Send test').click()
    await until('the test is delivered', () => receiver.received.length > before)
    const { data } = JSON.parse(receiver.received.at(-1)!.body) as { data: object }
    assert.deepEqual(Object.keys(data), ['id', 'note', 'place'])
  })

  test('removing a required column removes all its uses, and calls succeed after publishing', async () => {
    const { page, host } = server
    await openTable('app_visit')
    await button('Remove note').click()
    await page.getByText(/places are removed with it$/).waitFor()
    await saveTable()
    await page.getByRole('link', { name: /changes? · Publish$/ }).click()
    await heading('Publish').waitFor()
    const lost = /^After System\/\d+-change-app-visit you cannot roll back to/
    await page.getByRole('complementary', { name: 'What publishing does' }).getByText(lost).waitFor()
    await page.getByRole('button', { name: /^Publish \d+ breaking changes$/ }).click()
    await dialog().getByText(lost).waitFor()
    await button('Migrate and publish', dialog()).click()
    await heading('Published').waitFor()
    await page.getByText(/ serves it$/).waitFor()
    await openRoute('POST /visit')
    // On a slow network, the fields of the release before are shown meanwhile: they cannot be sent.
    const loading = Promise.withResolvers<void>()
    const active = await loadActiveId({ guardDb: host.system.db })
    await page.route(`**/release/${active}/method**`, (route) => loading.promise.then(() => route.continue()))
    await page.getByRole('tab', { name: 'Try it' }).click()
    const sending = button('Send').click()
    await pause(500)
    loading.resolve()
    await sending
    await page.unrouteAll({ behavior: 'wait' })
    await page.getByText('201', { exact: true }).first().waitFor()
    const answer = page.getByRole('region', { name: 'Response' })
    await answer.getByText('"place"').waitFor()
    assert.equal(await answer.getByText('"note"').count(), 0)
  })

  test('an optional column is left out of the API unless it is chosen, and the page says so', async () => {
    const { page } = server
    await openTable('app_visit')
    await button('Add column').click()
    await page.getByLabel('Column 3', { exact: true }).fill('rating')
    await page.getByLabel('Type of rating').selectOption('integer')
    assert.equal(await additions().getByLabel('Add rating to the API').isChecked(), false)
    await saveTable()
    await page.getByText('The API does not return rating yet.').waitFor()
    assert.equal(await page.getByRole('link', { name: 'Open Visit' }).getAttribute('href'), '/backend/ui/actions/Visit')
    await page.getByRole('link', { name: /changes? · Publish$/ }).click()
    await button('Discard all').click()
    await dialog()
      .getByRole('button', { name: /^Discard \d+ changes?$/ })
      .click()
    await page.getByRole('heading', { name: 'Nothing to publish' }).waitFor()
  })

  test('the browser complained about nothing but the saves that were refused, and the token without a new scope', () =>
    assert.deepEqual(
      server.opened.complaints.filter((one) => !one.includes('status of 422')),
      ['error: Failed to load resource: the server responded with a status of 403 (Forbidden)'],
    ))

  test('a draft that cannot be read says why; a damaged one can be discarded', async () => {
    const { page, host } = server
    const { db } = host.system
    await go('Settings')
    await page.getByRole('combobox', { name: 'Private addresses' }).fill('10.0.0.0/24')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Control+S')
    await page.getByRole('link', { name: '1 change · Publish' }).waitFor()
    await db
      .updateTable('waypost_draft')
      .set({ files: 'f'.repeat(64) })
      .execute()
    await page.getByRole('link', { name: '1 change · Publish' }).click()
    await page.reload()
    await page.getByText('The draft is damaged').waitFor()
    await checkPage(page, 'server damaged draft')
    await button('Discard all').click()
    await button('Discard all changes', dialog()).click()
    await page.getByRole('heading', { name: 'Nothing to publish' }).waitFor()

    // As a deployment without its definition files.
    const activations = db.selectFrom('waypost_activation').selectAll().orderBy('number', 'desc').limit(1)
    const last = await activations.executeTakeFirstOrThrow()
    const next = { ...last, number: last.number + 1, files: null }
    await db.insertInto('waypost_activation').values(next).execute()
    await page.reload()
    await page.getByText(/was activated without its definition files/).waitFor()
    await page.getByText(/Deploy its sources again/).waitFor()
    await go('Routes')
    await page.getByRole('region', { name: 'Draft' }).getByText('The active release is shown, read-only.').waitFor()
    await page.getByRole('link', { name: /^POST \/todo( |$)/ }).waitFor()
  })
}
