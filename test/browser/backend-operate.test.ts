import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { executeEvents, makeDispatcher } from '../../src/events/index.ts'
import { openIdentity } from '../../src/host/index.ts'
import { userAgent } from '../../src/kit/index.ts'
import { addHostSubscription } from '../../src/operate/index.ts'
import { openOutbound, type Outbound } from '../../src/outbound/index.ts'
import { openReceiver, type Receiver } from '../events/receiver.ts'
import { findFlaws, storeScreenshot } from '../support/browser.ts'
import { actionFile } from '../support/project-server.ts'
import { asCommand } from '../support/server.ts'
import { until } from '../support/until.ts'
import { checkLooks, openBackendWorld, openSignedIn, origin, type BackendWorld } from './backend-world.ts'
import { longTest } from '../support/forms.ts'

const script = `<img src=x onerror="window.isInjected = true"><script>window.isInjected = true</script>`
const files = {
  'waypost.yml': `
config: { delivery_allow: [127.0.0.1], delivery_delays: [1s, 1s, 1s] }
event:
  note: { description: A note }
  other: {}
cronjob:
  tidy: { schedule: "0 4 * * *", action: src/tidy.ts }
`,
  'src/tidy.ts': actionFile(`throw new Error(${JSON.stringify(script)})`),
}

// High enough for each page, because axe cannot decide about what is scrolled out of view.
const height = 3000

describe('the pages for operators', { timeout: 600_000 }, () => {
  let world: BackendWorld
  let receiver: Receiver
  let outbound: Outbound
  before(async () => {
    world = await openBackendWorld({ files, scopes: ['consumer'] })
    receiver = await openReceiver((response) =>
      response.writeHead(500, { 'x-shown': script, 'set-cookie': 'session=hunter2' }).end(script),
    )
    outbound = openOutbound({ allow: () => [], loopback: true, clock: world.clock })
  })
  after(async () => {
    await receiver.close()
    await outbound.close()
    await world[Symbol.asyncDispose]()
  })

  const terms = () => world.server.server.terms()
  const deliver = async () => {
    const { host } = world.server
    const { secrets } = await openIdentity(host)
    const { system, clock } = host
    const options = { system, secrets, outbound, clock, userAgent }
    await executeEvents({ ...options, catalog: () => terms().catalog, settings: () => terms().settings })
  }

  test('a failed delivery is found from the overview and replayed; what receivers answer is only text', async () => {
    const { host } = world.server
    const endpoint = `${receiver.url}/hook`
    const services = { outbound, terms: terms() }
    await addHostSubscription(asCommand(host), { user: 'ann', event: 'note', endpoint }, services)
    const dispatcher = makeDispatcher(host.system, terms().catalog)
    await dispatcher.store([dispatcher.prepare({ event: 'note', data: { title: script, big: 1 } })])
    for (let attempt = 0; attempt < 4; attempt++) {
      await deliver()
      world.clock.forward(5000)
    }
    await using opened = await world.open({ viewport: { width: 1440, height } })
    const { page, complaints } = opened
    await openSignedIn(page)
    await page.getByRole('link', { name: 'Show deliveries' }).click()
    await page.getByRole('link', { name: /^note / }).click()
    await page.getByText('500', { exact: true }).first().waitFor()
    await page.getByText(script).first().waitFor()
    await page.getByText('webhook-id').waitFor()
    await page.getByText('x-shown').first().waitFor()
    await page.getByText('not stored').first().waitFor()
    assert.equal((await page.content()).includes('hunter2'), false)
    const times = await page.locator('.attempts summary time').allTextContents()
    assert.ok(times.length > 0)
    for (const time of times) assert.match(time, /^\d+ [A-Z][a-z]+ 20\d\d, \d\d:\d\d:\d\d \S+$/, 'exact, with its zone')
    await storeScreenshot(page, 'backend delivery dead')
    assert.deepEqual(await findFlaws(page), [])
    receiver.choose = () => 204
    await page.getByRole('button', { name: 'Replay' }).click()
    await page.locator('#content').getByText('pending', { exact: true }).waitFor()
    await deliver()
    await page.locator('#content').getByText('delivered', { exact: true }).waitFor()
    await storeScreenshot(page, 'backend delivery replayed')
    assert.equal(await page.evaluate('window.isInjected'), undefined)
    assert.deepEqual(complaints, [])
  })

  // In CI, a failed delivery is found and replayed.
  longTest('retrying deliveries are filtered, and one is tried now', async () => {
    const dispatcher = makeDispatcher(world.server.host.system, terms().catalog)
    await dispatcher.store([dispatcher.prepare({ event: 'note', data: {} })])
    receiver.choose = () => 503
    await deliver()
    await using opened = await world.open({ viewport: { width: 1440, height } })
    const { page, complaints } = opened
    await openSignedIn(page, '/deliveries')
    const rows = page.getByRole('table').getByRole('link', { name: /^note / })
    await rows.nth(1).waitFor()
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await page.getByLabel('Status').selectOption('retrying')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Remove filter Status: retrying' }).waitFor()
    await until('the list is filtered', async () => (await rows.count()) === 1)
    await page.getByRole('button', { name: /^Actions/ }).click()
    await page.getByRole('menuitem', { name: 'Only this endpoint' }).click()
    await page.waitForURL(/endpoint=/)
    await rows.click()
    await page.getByText('waypost event:retry dlv_').waitFor()
    await storeScreenshot(page, 'backend delivery retrying')
    receiver.choose = () => 204
    await page.getByRole('button', { name: 'Try now' }).click()
    await page.getByText('The next attempt is due now').waitFor()
    await deliver()
    await page.locator('#content').getByText('delivered', { exact: true }).waitFor()
    assert.deepEqual(await findFlaws(page), [])
    assert.deepEqual(complaints, [])
  })

  // In CI, portal-events.test.ts does so in the portal, backend/operate-api.test.ts over HTTP.
  longTest('a subscription is added, its secret shown once, and a test is delivered', async () => {
    receiver.choose = () => 204
    await using opened = await world.open({ viewport: { width: 1440, height } })
    const { page, complaints } = opened
    await openSignedIn(page, '/subscriptions')
    await page.getByRole('button', { name: 'Add subscription' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add a subscription' })
    await dialog.getByLabel('Event').selectOption('other')
    await dialog.getByLabel('Endpoint').fill('https://10.0.0.1/hook')
    await dialog.getByRole('button', { name: 'Add subscription' }).click()
    await dialog.getByText('10.0.0.1', { exact: false }).waitFor()
    assert.equal(await page.evaluate('document.activeElement.name'), 'endpoint')
    await dialog.getByLabel('Endpoint').fill(`${receiver.url}/new`)
    await dialog.getByRole('button', { name: 'Add subscription' }).click()
    const shown = page.getByRole('dialog', { name: 'The subscription was added' })
    const secret = (await shown.getByText(/^whsec_/).textContent()) ?? ''
    assert.deepEqual(await findFlaws(page), [])
    await shown.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('heading', { name: 'other', exact: true }).waitFor()
    assert.equal((await page.content()).includes(secret), false)
    await storeScreenshot(page, 'backend subscription')
    await page.getByRole('button', { name: 'Send test' }).click()
    await page.getByRole('heading', { name: 'waypost.test' }).waitFor()
    await deliver()
    await page.locator('#content').getByText('delivered', { exact: true }).waitFor()

    await page.getByRole('link', { name: /^sub_/ }).click()
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    const ask = page.getByRole('dialog', { name: 'Delete this subscription?' })
    await ask.getByText('Its secret is lost').waitFor()
    await ask.getByRole('button', { name: 'Delete subscription' }).click()
    await page.getByRole('heading', { name: 'Subscriptions' }).waitFor()
    await page.getByRole('link', { name: /^note / }).waitFor()
    await page.getByRole('link', { name: /^other / }).waitFor({ state: 'detached' })
    const isRefusal = (line: string) => line.includes('status of 400') // of the first endpoint
    assert.deepEqual(
      complaints.filter((line) => !isRefusal(line)),
      [],
    )
  })

  // In CI, backend/operate-api.test.ts runs it and backend/audit.test.ts reads the log; the last test opens both pages.
  longTest('a cronjob runs at once and shows its error; the audit log has all of it', async () => {
    await using opened = await world.open({ viewport: { width: 1440, height } })
    const { page, complaints } = opened
    await openSignedIn(page, '/cronjobs')
    await page.getByRole('button', { name: 'Actions: tidy' }).click()
    await page.getByRole('menuitem', { name: 'Run now' }).click()
    await page.getByRole('button', { name: 'Run tidy' }).click()
    const jobs = page.getByRole('table', { name: 'Cronjobs' })
    await jobs.getByText('failed', { exact: true }).waitFor()
    await page.getByText(script).waitFor()
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await page.getByLabel('Result', { exact: true }).selectOption('done')
    await page.getByText('No matches').waitFor()
    await page.getByLabel('Result', { exact: true }).selectOption('failed')
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'tidy', exact: true }).click()
    const runs = page.getByRole('table', { name: 'Last runs' })
    await runs.getByText('failed', { exact: true }).waitFor()
    await runs.getByText(script).waitFor()
    await page.getByRole('button', { name: 'Run now' }).click()
    await page.getByRole('button', { name: 'Run tidy' }).click()
    await until('the second run is listed', async () => (await runs.getByText('failed').count()) === 2)
    await page.getByRole('link', { name: 'Cronjobs' }).first().click()
    const { db } = world.server.host.system
    const facts = JSON.stringify({ name: script, scopes: [script] })
    const row = { created_at: Date.now(), how: 'http' as const, user_id: null, client_id: null, subject_id: null }
    await db
      .insertInto('waypost_audit')
      .values({
        ...row,
        id: 'aud_zzz',
        user_name: script,
        action: script,
        kind: 'user',
        subject_name: script,
        before: null,
        after: facts,
      })
      .execute()
    await page.getByRole('link', { name: 'Audit' }).click()
    for (const action of ['cronjob.run', 'subscription.delete', 'delivery.test', 'delivery.replay', script]) {
      await page.getByText(action, { exact: true }).first().waitFor()
    }
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await page.getByLabel('Kind', { exact: true }).selectOption('cronjob')
    await page.getByText('subscription.delete').waitFor({ state: 'detached' })
    await page.getByLabel('Subject', { exact: true }).fill('tidies')
    await page.getByText('No matches').waitFor()
    await page.getByLabel('Subject', { exact: true }).fill('tidy')
    await page.getByText('cronjob.run').first().waitFor()
    assert.equal(await page.evaluate('window.isInjected'), undefined)
    assert.deepEqual(complaints, [])
  })

  // In CI, the first test has such answers, and test/repo/user-texts.test.ts finds code that would read HTML.
  longTest('names, headers and addresses with HTML are only text', async () => {
    const { db } = world.server.host.system
    const { id: user_id } = await db
      .selectFrom('waypost_user')
      .select('id')
      .where('name', '=', 'ann')
      .executeTakeFirstOrThrow()
    const now = Date.now()
    const endpoint = `https://example.com/${script}`
    const own = { id: 'sub_zzz', user_id, event: script, endpoint, secret: '', revision: 1 }
    await db
      .insertInto('waypost_subscription')
      .values({ ...own, status: 'disabled', created_at: now })
      .execute()
    const message = { id: 'msg_zzz', event: script, data: script, created_at: now, fanned_out_at: now, users: null }
    await db.insertInto('waypost_message').values(message).execute()
    const row = { id: 'dlv_zzz', message_id: message.id, subscription_id: own.id, failures: 0, lost: 0 }
    await db
      .insertInto('waypost_delivery')
      .values({ ...row, status: 'cancelled', due_at: now, created_at: now, finished_at: now })
      .execute()
    await using opened = await world.open({ viewport: { width: 1440, height } })
    const { page, complaints } = opened
    await openSignedIn(page, '/deliveries')
    await page.getByText(script).first().waitFor()
    await page.goto(`${origin}/backend/ui/deliveries/dlv_zzz`)
    await page.locator('dd', { hasText: script }).last().waitFor() // the header waypost-event
    await page.goto(`${origin}/backend/ui/subscriptions/sub_zzz`)
    await page.getByRole('heading', { name: script }).waitFor()
    assert.equal(await page.evaluate('window.isInjected'), undefined)
    assert.equal(await page.locator('#content img, #content script').count(), 0)
    assert.deepEqual(complaints, [])
    for (const [table, id] of [
      ['delivery', 'dlv_zzz'],
      ['message', 'msg_zzz'],
      ['subscription', 'sub_zzz'],
    ] as const) {
      await db.deleteFrom(`waypost_${table}`).where('id', '=', id).execute()
    }
  })

  test('are accessible with data, in both colour schemes, also 390 pixels wide', async () => {
    await using opened = await world.open({ viewport: { width: 1440, height } })
    const { page, complaints } = opened
    await openSignedIn(page)
    const { db } = world.server.host.system
    const { id: delivery } = await db.selectFrom('waypost_delivery').select('id').executeTakeFirstOrThrow()
    const { id } = await db.selectFrom('waypost_subscription').select('id').executeTakeFirstOrThrow()
    const lists = {
      '/deliveries': 'Deliveries',
      '/subscriptions': 'Subscriptions',
      '/audit': 'Audit',
      '/cronjobs': 'Cronjobs',
      '/cronjobs/tidy': 'tidy',
      '/listeners': 'Listeners',
      '/delayed': 'Delayed events',
    }
    await checkLooks(page, { ...lists, [`/deliveries/${delivery}`]: 'note', [`/subscriptions/${id}`]: 'note' })
    assert.deepEqual(complaints, [])
  })
})
