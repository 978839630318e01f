// Someone who sees the product for the first time does what it is for: with the keyboard only, at 400 percent (a window of
// 1280 × 1024 pixels then has 320 × 256) and in forced colors. After the first address, nothing but keys.
import assert from 'node:assert/strict'
import { before, describe, test, type TestContext } from 'node:test'
import { storeScreenshot } from '../support/browser.ts'
import { chooseKinds, type Kind } from '../support/forms.ts'
import { until } from '../support/until.ts'
import { origin } from './backend-world.ts'
import { openKeyboard, type Keyboard } from './keyboard.ts'
import { password, withServer } from './server-world.ts'

const column = 'customer_reported_priority_of_the_ticket'

/** Its System is the one that `init --template host` sets up; in the long form also on PostgreSQL. */
for (const kind of chooseKinds('sqlite'))
  describe(`with the keyboard only, at 400 percent and in forced colors, ${kind}`, { timeout: 600_000 }, () =>
    doTasks(kind),
  )

function doTasks(kind: Kind): void {
  const server = withServer(kind, {
    look: {
      viewport: { width: 320, height: 256 },
      forcedColors: 'active',
      reducedMotion: 'reduce',
      permissions: ['clipboard-read', 'clipboard-write'],
    },
    variables: { WAYPOST_BACKEND_DATA: 'on' },
  })
  const { heading, dialog } = server
  let keys: Keyboard
  before(() => {
    keys = openKeyboard(server.page)
  })

  /** Declares a task and how many keys it may take, without the letters of what is typed. */
  const task = (name: string, limit: number, run: () => Promise<unknown>) =>
    void test(name, async (context: TestContext) => {
      const before = keys.presses
      await run()
      await keys.checkPage()
      await storeScreenshot(server.page, `keyboard ${name}`)
      const taken = keys.presses - before
      context.diagnostic(`${taken} keys`)
      assert.ok(taken <= limit, `${taken} keys are too many`)
    })
  /** Follows a link of the menu. */
  const follow = async (name: string) => {
    await keys.activate('Open navigation')
    await keys.focusOn('Close navigation')
    await keys.activate(name)
    await heading(name).waitFor()
    await keys.focusOn(/./)
  }

  task('creates the administrator with the code of the server', 10, async () => {
    const { page, serving } = server
    const [, code = ''] = await serving.waitFor(/Code\s+(\S+)/)
    await page.goto(`${origin}/backend`)
    await keys.focusOn('Code')
    await keys.type(code)
    await keys.tabTo('Username')
    await keys.type('ann')
    await keys.tabTo('Password')
    await keys.type(password)
    await keys.press('Enter')
    await heading('Overview').waitFor()
    await page.getByRole('heading', { name: 'No API yet' }).waitFor()
    await keys.tabTo('Skip to content')
  })

  task('designs a table', 60, async () => {
    await keys.press('Enter')
    await keys.activate(/^From a table/)
    await keys.focusOn('Name')
    await keys.type('app_ticket')
    await keys.tabTo('Column 2')
    await keys.type('title')
    await keys.activate('Add column')
    await keys.focusOn('Column 3')
    await keys.type(column)
    await keys.tabTo(`Type of ${column}`)
    await keys.type('enum')
    await keys.tabTo(`Values of ${column}`)
    for (const value of ['low', 'high']) {
      await keys.type(value)
      await keys.press('Enter')
    }
    await keys.activate('status')
    await keys.focusOn('Column 4')
    await server.page.locator('.table-preview').getByText('default: 1').waitFor() // it follows a moment after typing
    await server.page.getByRole('button', { name: 'Create table', disabled: false }).waitFor()
    await keys.activate('Create table')
    await heading('app_ticket').waitFor()
  })

  task('creates its routes, with a scope and an event', 40, async () => {
    await server.page.getByRole('button', { name: 'Create routes' }).waitFor()
    await keys.activate('Create routes')
    await keys.focusOn('Path')
    await keys.tabTo(/^ticket is a new scope/)
    await keys.type('Create and change tickets')
    await keys.tabTo('POST dispatches an event')
    await keys.press('Space')
    await keys.activate('Add 5 methods')
    await heading('Routes').waitFor()
  })

  task('designs a table that refers to the first one, and creates its routes', 100, async () => {
    const { page } = server
    await follow('Tables')
    await keys.activate('New table')
    await keys.focusOn('Name')
    await keys.type('app_comment')
    await keys.tabTo('Column 2')
    await keys.type('ticket')
    await keys.tabTo('ticket references')
    await keys.choose('app_ticket')
    await page.locator('.table-preview').getByText('references: app_ticket').waitFor()
    await keys.activate('Create table')
    await heading('app_comment').waitFor()
    await keys.activate('Create routes')
    await keys.focusOn('Path')
    await keys.activate('Add 5 methods')
    await heading('Routes').waitFor()
  })

  task('embeds its rows in those of the first one', 100, async () => {
    const { page } = server
    await follow('Actions')
    await keys.activate('Ticket')
    await heading('Ticket').waitFor()
    await keys.activate(/^More settings/)
    await keys.activate('Add to embed')
    await keys.focusOn('Name: embed')
    await keys.type('comments')
    await keys.press('Enter')
    await keys.tabTo('by', 'Shift+Tab')
    await keys.tabTo('from', 'Shift+Tab')
    await keys.choose('Comment')
    await keys.tabTo('by')
    await keys.choose('ticket')
    await keys.press('Control+S')
    await page.getByText(/^Saved in the draft/).waitFor()
  })

  task('adds a route that runs SQL, with a field in its response', 50, async () => {
    const { page } = server
    await keys.goTo('Routes')
    await keys.activate('New route')
    await keys.focusOn('Path')
    await keys.type('ticket_count')
    await keys.tabTo('Scope')
    await keys.type('ticket.count')
    await keys.tabTo('Shared action')
    await keys.press('ArrowRight')
    await keys.activate('Add route')
    await heading('GET /ticket_count').waitFor()
    await keys.tabTo('query')
    await keys.type('select count(*) as count from app_ticket')
    await keys.activate('Add response')
    await keys.focusOn('200')
    await keys.press('Enter')
    await keys.focusOn('Response 200')
    await keys.activate('Add field to Response 200')
    await keys.focusOn('Name of field')
    await keys.type('count')
    await keys.tabTo('Type of count')
    await keys.type('integer')
    await keys.press('ArrowDown')
    await keys.press('Enter')
    await keys.press('Control+S')
    await page.getByText(/^Saved in the draft/).waitFor()
  })

  task('restricts a method to a scope of its own', 50, async () => {
    await keys.goTo('/ticket/:id')
    await heading('GET /ticket/:id').waitFor()
    await keys.focusOn(/./)
    await keys.tabTo(/^Inherited from/)
    await keys.press('ArrowDown')
    await keys.press('ArrowDown')
    await keys.focusOn(/^Tokens with a scope/)
    await keys.activate('New scope…')
    await keys.focusOn('Name')
    await keys.type('ticket.read')
    await keys.press('Enter')
    await dialog().waitFor({ state: 'detached' })
    await keys.activate('Save')
    await server.page.getByText(/^Saved in the draft/).waitFor()
  })

  task('lets events reach this machine', 30, async () => {
    await follow('Settings')
    await keys.tabTo('Search settings')
    await keys.type('private')
    await keys.tabTo('Private addresses')
    await keys.type('127.0.0.0/8')
    await keys.press('Enter')
    await keys.press('Control+S')
    await server.page.getByText(/^Saved in the draft/).waitFor()
  })

  task('publishes, after a look at the plan', 50, async () => {
    const { page } = server
    await keys.activate(/changes · Publish$/)
    await heading('Publish').waitFor()
    await server.button('Migrate and publish').waitFor()
    await keys.activate('Review')
    await keys.focusOn('What publishing does')
    await keys.tabTo('Message')
    await keys.type('Tickets')
    await keys.activate('Migrate and publish')
    await heading('Published').waitFor()
    await page.getByText(/ serves it$/).waitFor()
  })

  task('tries a route and reads its response', 30, async () => {
    const { page } = server
    await keys.activate('Try POST /ticket')
    await heading('POST /ticket').waitFor()
    await keys.tabTo('Body')
    await keys.retype(`{ "title": "Prnter is on fire", "${column}": "low" }`)
    await keys.activate('Send')
    await page.getByText('201', { exact: true }).first().waitFor()
    await keys.tabTo('Response')
  })

  task('finds a row by a column with a long name, corrects a typo and undoes that', 70, async () => {
    const { page } = server
    await follow('Tables')
    await keys.activate('app_ticket')
    await heading('app_ticket').waitFor()
    await keys.activate('Rows')
    await page.getByRole('button', { name: 'Open row 1' }).waitFor()
    await keys.activate('Filter')
    await keys.focusOn('Column')
    await keys.type(column.slice(0, 8))
    await keys.activate('Apply filter')
    await keys.focusOn('Filter')
    await keys.activate('Open row 1')
    await dialog().waitFor()
    await keys.tabTo(/^title/)
    await keys.retype('Printer is on fire')
    await keys.activate('Save changes')
    await page.getByText(/^Changed title/).waitFor()
    await keys.focusOn('Open row 1')
    await keys.activate('Undo')
    await page.getByText('Prnter is on fire').waitFor()
  })

  task('adds a value to an enum', 70, async () => {
    await keys.activate('Structure', 'Shift+Tab')
    await heading('app_ticket').waitFor()
    await keys.tabTo(`Values of ${column}`)
    await keys.type('urgent')
    await keys.press('Enter')
    await keys.activate('Save changes')
    await server.page.getByText(/^Saved in the draft/).waitFor()
  })

  task('publishes it, since it can break clients, after a question', 40, async () => {
    await keys.goTo('Publish')
    await heading('Publish').waitFor()
    await server.page.getByRole('button', { name: /^Publish \d+ breaking changes$/ }).waitFor()
    await keys.activate('Review')
    await keys.activate(/^Publish \d+ breaking changes$/)
    await dialog().waitFor()
    await keys.activate('Migrate and publish')
    await heading('Published').waitFor()
    await server.page.getByText(/ serves it$/).waitFor()
  })

  task('creates a user with a scope and copies the password that is shown once', 60, async () => {
    const { page } = server
    await follow('Users')
    await keys.activate('New user')
    await keys.focusOn('Name')
    await keys.type('bob')
    await keys.tabTo('ticket')
    await keys.press('Space')
    await keys.activate('Create user')
    await keys.focusOn('Copy Username')
    await keys.activate('Copy Password')
    const copied = await page.evaluate<string>('navigator.clipboard.readText()')
    await page.getByRole('dialog').getByText(copied, { exact: true }).waitFor()
    await keys.activate('Done')
    await heading('bob').waitFor()
  })

  task('subscribes to an event and looks at its delivery', 60, async () => {
    const { page, receiver } = server
    await keys.goTo('Add subscription')
    await keys.focusOn('Event')
    await keys.type('ticket')
    await keys.tabTo('Endpoint')
    await keys.type(receiver.url)
    await keys.press('Enter')
    await keys.focusOn(/^Copy/)
    await keys.activate('Done')
    await keys.goTo('post /ticket', 'POST/ticket')
    await heading('POST /ticket').waitFor()
    await keys.activate('Try it')
    await keys.activate('Send')
    await until('its event is delivered', () => receiver.received.length > 0)
    await follow('Deliveries')
    await keys.activate(/^ticket_created/)
    await page.locator('#content').getByText('delivered', { exact: true }).first().waitFor()
  })

  task('rolls back, reads who did it, and signs out', 70, async () => {
    const { page } = server
    await keys.goTo('Roll back')
    await keys.focusOn('Close')
    await keys.activate(/^Roll back to/)
    await dialog().waitFor({ state: 'detached' })
    await follow('Audit')
    await page.getByText('release.rollback').first().waitFor()
    await keys.activate('Account')
    await keys.focusOn('System') // the first item
    await keys.press('ArrowUp')
    await keys.focusOn('Sign out')
    await keys.press('Enter')
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
  })

  test('the browser complained about nothing', () => assert.deepEqual(server.opened.complaints, []))
}
