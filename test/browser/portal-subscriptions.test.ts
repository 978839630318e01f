import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { addClient } from '../../src/auth/index.ts'
import { findFlaws, storeScreenshot } from '../support/browser.ts'
import { isLong, longTest } from '../support/forms.ts'
import { until } from '../support/until.ts'
import { isInjected, script, state, withEvents } from './portal-endpoints.ts'
import { openPortal, origin, root } from './portal-world.ts'

// In CI, portal-events.test.ts subscribes to an event; each comment names what has the rest.
const isOmitted = !isLong && 'long form'

describe('subscriptions in the portal, and their deliveries', { timeout: 600_000, skip: isOmitted }, () => {
  const { world, receiver, asBea, deliver, deliverUntilDead, subscribe, addTodo } = withEvents()

  // In CI, backend-operate.test.ts clicks the same in the backend, and events/subscription-deliveries.test.ts has the answers.
  longTest('a failing endpoint: its attempts and answers are shown, and dead deliveries are replayed', async () => {
    const { id } = await subscribe(`${receiver().url}/failing`)
    receiver().choose = () => (response) => response.writeHead(503).end(script)
    await addTodo('one')
    await addTodo('two')
    await deliver()
    await using opened = await world().open()
    const { page, complaints } = opened
    await openPortal(page, `/subscriptions/${id}`)
    const rows = page.getByRole('table', { name: 'Deliveries' }).getByRole('link', { name: /^todo_created / })
    await state(page, 'retrying').first().waitFor()
    await storeScreenshot(page, 'portal retrying')
    world().clock.forward(5000)
    await deliverUntilDead()
    await state(page, 'dead').nth(1).waitFor() // without a reload
    await page.getByLabel('Status').selectOption('delivered')
    await page.getByText('No matches').waitFor()
    await page.getByLabel('Status').selectOption('dead')
    await rows.nth(1).waitFor()
    await rows.first().click()
    await until('all attempts are shown', async () => (await page.locator('.attempts > li').count()) === 4)
    await page.locator('.attempts').getByText('503').first().waitFor()
    await page.locator('.attempts').getByText(script).first().waitFor()
    assert.equal(await isInjected(page), false)
    receiver().choose = () => 204
    await page.getByRole('button', { name: 'Replay' }).click()
    await state(page, 'pending').waitFor()
    await deliver()
    await state(page, 'delivered').waitFor()

    await page.locator('#content').getByRole('link', { name: id }).click()
    await until('the list is current', async () => (await state(page, 'dead').count()) === 1)
    await page.getByRole('button', { name: 'Replay dead deliveries' }).click()
    const dialog = page.getByRole('dialog', { name: 'Replay dead deliveries?' })
    await dialog.getByLabel('Became dead in').selectOption('1h')
    assert.deepEqual(await findFlaws(page), [])
    await dialog.getByRole('button', { name: 'Replay dead deliveries' }).click()
    await page.getByText('1 delivery is sent again').waitFor()
    await deliver()
    await state(page, 'dead').waitFor({ state: 'detached' })
    await page
      .getByRole('button', { name: /^Actions: todo_created/ })
      .first()
      .click()
    await page.getByRole('menuitem', { name: 'Replay' }).click()
    await state(page, 'pending').waitFor()
    await deliver()
    await state(page, 'pending').waitFor({ state: 'detached' })
    assert.deepEqual(complaints, [])
  })

  // In CI, events/subscription-clients.test.ts and breaker.test.ts have the reasons.
  longTest('says why a subscription is disabled or held back, and what a user may do with that of an app', async () => {
    const { id } = await subscribe(`${receiver().url}/gone`)
    const { db } = world().server.host.system
    const set = (values: Readonly<Record<string, string | number | null>>) =>
      db.updateTable('waypost_subscription').set(values).where('id', '=', id).execute()
    receiver().choose = () => 410
    await asBea('POST', `/consumer/subscription/${id}/test`)
    await deliver()
    await using opened = await world().open()
    const { page, complaints } = opened
    await openPortal(page, `/subscriptions/${id}`)
    await page.getByText('your endpoint responded with 410 Gone').waitFor()
    await page.getByRole('button', { name: 'Enable' }).click()
    await state(page, 'active').waitFor()
    await set({ open_until: world().clock.now() + 600_000, failures: 10 })
    await page.reload()
    await page.getByText('Your endpoint failed many times in a row').waitFor()
    await set({ status: 'disabled', disabled_by: 'administrator', open_until: null })
    await page.reload()
    await page.getByText('An administrator disabled this subscription').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Enable' }).count(), 0)

    const app = { user: 'carl', name: 'Foreign', scopes: ['todo'], grants: ['client_credentials'], redirectUris: [] }
    const { id: client_id } = await addClient(world().server.host.system, { ...app, public: false })
    await db.updateTable('waypost_client').set({ name: script }).where('id', '=', client_id).execute()
    await page.goto('about:blank') // the page of an own subscription would poll deliveries, which are now forbidden
    await set({ status: 'active', disabled_by: null, client_id })
    await page.goto(`${origin}${root}/subscriptions/${id}`)
    await page.getByText(`${script} created this subscription with your permission.`).waitFor()
    await page.locator('dd').getByText(receiver().url, { exact: true }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Send test' }).count(), 0)
    assert.equal(await page.getByRole('heading', { name: 'Deliveries' }).count(), 0)
    assert.equal(await isInjected(page), false)
    assert.deepEqual(complaints, [])
    await asBea('DELETE', `/consumer/subscription/${id}`)
  })

  // In CI, events/subscription-clients.test.ts refuses them.
  longTest('of another user are not there', async () => {
    const { id } = await subscribe(`${receiver().url}/hook`)
    await asBea('POST', `/consumer/subscription/${id}/test`)
    const { entry } = await asBea('GET', `/consumer/subscription/${id}/deliveries`)
    await using opened = await world().open()
    const { page, complaints } = opened
    await openPortal(page, '/subscriptions', 'carl')
    await page.getByText('No subscriptions yet').waitFor()
    await storeScreenshot(page, 'portal no subscriptions')
    assert.deepEqual(await findFlaws(page), [])
    for (const address of [
      `/subscriptions/${id}`,
      `/subscriptions/${id}/deliveries/${entry[0].id}`,
      '/events/secret_event',
      '/events/nothing',
      `/subscriptions/${encodeURIComponent(script)}`,
    ]) {
      await page.goto(`${origin}${root}${address}`)
      await page.getByRole('heading', { name: 'Page not found', level: 1 }).waitFor()
    }
    assert.equal(await isInjected(page), false)
    assert.deepEqual(
      complaints.filter((line) => !line.includes('status of 404')),
      [],
    )
  })

  // In CI, the list of subscriptions has pages.
  longTest('the log of deliveries has pages', async () => {
    const { db } = world().server.host.system
    const { id } = await subscribe(`${receiver().url}/log`, 'shelf_changed')
    const now = Date.now()
    const numbers = Array.from({ length: 51 }, (_, index) => String(index).padStart(3, '0'))
    const message = { event: 'shelf_changed', users: null, created_at: now, fanned_out_at: now }
    await db
      .insertInto('waypost_message')
      .values(numbers.map((number) => ({ ...message, id: `msg_log${number}`, data: `{"shelf":"${number}"}` })))
      .execute()
    const delivery = { subscription_id: id, status: 'cancelled' as const, failures: 0, lost: 0 }
    const times = { due_at: now, created_at: now, finished_at: now }
    await db
      .insertInto('waypost_delivery')
      .values(
        numbers.map((number) => ({ ...delivery, ...times, id: `dlv_log${number}`, message_id: `msg_log${number}` })),
      )
      .execute()
    await using opened = await world().open()
    const { page, complaints } = opened
    await openPortal(page, `/subscriptions/${id}`)
    const links = page.getByRole('table', { name: 'Deliveries' }).getByRole('link', { name: /^shelf_changed / })
    await links.nth(49).waitFor()
    assert.equal(await links.count(), 50)
    await page.getByRole('button', { name: 'Next' }).click()
    await until('the second page is shown', async () => (await links.count()) === 1)
    await links.click()
    await page.getByText('"shelf": "000"').waitFor() // the oldest
    await page.goBack()
    await until('the second page is shown again', async () => (await links.count()) === 1)
    await page.getByRole('button', { name: 'First page' }).click()
    await links.nth(49).waitFor()
    await page.getByLabel('Status').selectOption('dead')
    await page.getByText('No matches').waitFor()
    assert.deepEqual(complaints, [])
    await asBea('DELETE', `/consumer/subscription/${id}`)
  })
})
