import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { makeDispatcher } from '../../src/events/index.ts'
import { pino } from 'pino'
import { executeHostCronjobs, runDueListeners } from '../../src/jobs/index.ts'
import { findFlaws, storeScreenshot } from '../support/browser.ts'
import { actionFile } from '../support/project-server.ts'
import { checkLooks, goTo, openBackendWorld, openSignedIn, type BackendWorld } from './backend-world.ts'

const script = `<img src=x onerror="window.isInjected = true">`
const files = {
  'waypost.yml': `
event:
  order_paid: { private: true }
listener:
  bill: { event: order_paid, action: src/bill.ts, retries: [] }
cronjob:
  tidy: { schedule: "0 4 * * *", action: src/tidy.ts }
`,
  'src/bill.ts': actionFile(`
    context.log.info({ order: 17 }, 'calling the bank')
    context.log.warn(${JSON.stringify(script)})
    if (request.body.fails) throw new Error('The bank declined the payment')`),
  'src/tidy.ts': actionFile(`context.log.info({ removed: 3 }, 'old carts removed')`),
}

const logger = pino({ level: 'silent' })
// High enough for each page, because axe cannot decide about what is scrolled out of view.
const height = 1400

describe('the pages of listeners', { timeout: 600_000 }, () => {
  let world: BackendWorld
  before(async () => {
    world = await openBackendWorld({ files })
  })
  after(() => world[Symbol.asyncDispose]())

  const dispatch = async (data: object, options: object = {}) => {
    const dispatcher = makeDispatcher(world.server.host.system, world.server.server.terms().catalog)
    await dispatcher.store([dispatcher.prepare({ event: 'order_paid', data, ...options })])
  }
  const runDue = (listener: string) =>
    runDueListeners(world.server.host, { listener, logger: logger, onRun: () => undefined })

  test('show a dead run with its error and its log, and replay it; runs of a removed listener and a delayed event are cancelled', async () => {
    const { system } = world.server.host
    await dispatch({ order_id: 17, fails: true })
    await dispatch({ order_id: 18 })
    await runDue('bill')
    await dispatch({ order_id: 19 }, { delay: '2h', key: 'order 19' })
    const [row] = await system.db.selectFrom('waypost_run').selectAll().execute()
    const old = { ...row!, id: 'run_00000000000000000001', listener: 'invoice', status: 'pending' as const, log: null }
    const slow = {
      ...row!,
      id: 'run_00000000000000000002',
      status: 'running' as const,
      worker_id: 'wrk_gone',
      log: null,
    }
    await system.db
      .insertInto('waypost_run')
      .values([old, { ...slow, progress: 0.4, progress_text: 'page 40' }])
      .execute()

    await using opened = await world.open({ viewport: { width: 1440, height } })
    const { page, complaints } = opened
    await openSignedIn(page, '/listeners')
    await page.getByText('removed', { exact: true }).waitFor()
    await storeScreenshot(page, 'backend listeners')
    await page.getByRole('link', { name: 'bill' }).click()
    await page.getByText('The bank declined the payment').waitFor()
    await page.getByText('40 % page 40').waitFor()
    await storeScreenshot(page, 'backend listener')
    await page.locator('#content').getByRole('link', { name: 'order_paid' }).click()
    await page.getByText('clients cannot subscribe to it').waitFor()
    assert.equal(await page.getByRole('link', { name: 'Subscribe' }).count(), 0)
    await page.goBack()
    await page.getByText('40 % page 40').waitFor()
    await page.getByRole('row', { name: /dead/ }).getByRole('link').click()
    await page.getByText('calling the bank').waitFor()
    await page.getByText(script).waitFor()
    await page.getByText(/src\/bill\.ts:\d+/).waitFor()
    assert.deepEqual(await findFlaws(page), [])
    await storeScreenshot(page, 'backend run dead')
    await page.getByRole('button', { name: 'Replay' }).click()
    await page.locator('#content').getByText('waiting', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.locator('#content').getByText('cancelled', { exact: true }).waitFor()

    await goTo(page, '/listeners/invoice', 'invoice')
    await page.getByText('1 run waits for a release').waitFor()
    await storeScreenshot(page, 'backend listener removed')
    await page.getByRole('button', { name: 'Cancel waiting runs' }).click()
    await page.getByRole('button', { name: 'Cancel 1 run' }).click()
    await page.getByRole('table').getByText('cancelled', { exact: true }).waitFor()

    await goTo(page, '/events', 'Events')
    await page.getByText('private: only for listeners').waitFor()

    await goTo(page, '/delayed', 'Delayed events')
    await page.getByText('order 19').waitFor()
    await page.getByText('in 2 hr.').waitFor()
    await storeScreenshot(page, 'backend delayed')
    await page.getByRole('button', { name: /^Actions/ }).click()
    await page.getByRole('menuitem', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Cancel event' }).click()
    await page.getByText('No delayed events').waitFor()

    await executeHostCronjobs(world.server.host, { name: 'tidy', logger: logger })
    await goTo(page, '/cronjobs/tidy', 'tidy')
    await page.getByRole('table').getByRole('link').first().click()
    await page.getByText('old carts removed').waitFor()
    await storeScreenshot(page, 'backend cronjob run')
    assert.equal(await page.evaluate('window.isInjected'), undefined)
    await checkLooks(page, { '/listeners': 'Listeners', '/listeners/bill': 'bill', '/delayed': 'Delayed events' })
    assert.deepEqual(complaints, [])
  })
})
