// Someone who has only a server and a browser builds, publishes, changes and rolls back an API.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Browser, Locator, Page } from 'playwright-core'
import { Webhook } from 'standardwebhooks'
import { openReceiver, type Receiver } from '../e2e/receiver.ts'
import { startServe, type Serving } from '../e2e/serving.ts'
import { openHost, type Host } from '../../src/host/index.ts'
import { loadActiveId } from '../../src/release/index.ts'
import { readEnvironment } from '../../src/kit/index.ts'
import { chooseMore, findFlaws, openBrowser, openPage, storeScreenshot, type WatchedPage } from '../support/browser.ts'
import { isLong } from '../support/forms.ts'
import { startPostgres } from '../support/postgres.ts'
import { openProject } from '../support/project.ts'
import { systemKinds } from '../support/server.ts'
import { until } from '../support/until.ts'
import { checkPage, origin } from './backend-world.ts'

const password = 'quiet-otter-4417'
const run = promisify(execFile)

/** Returns the files of a zip archive whose files are not compressed. */
function readStored(zip: Buffer): ReadonlyMap<string, string> {
  const files = new Map<string, string>()
  for (let at = 0; zip.readUInt32LE(at) === 0x04034b50;) {
    const [size, length] = [zip.readUInt32LE(at + 22), zip.readUInt16LE(at + 26)]
    const start = at + 30 + length
    files.set(zip.toString('utf8', at + 30, start), zip.toString('utf8', start, start + size))
    at = start + size
  }
  return files
}

/** Its System is the one that `init --template host` sets up; in the long form also on PostgreSQL. */
for (const kind of isLong ? systemKinds : (['sqlite'] as const))
  describe(`an API on a server by clicking, ${kind}`, { timeout: 600_000 }, () => buildApi(kind))

function buildApi(kind: (typeof systemKinds)[number]): void {
  let home: string
  let postgres: Awaited<ReturnType<typeof startPostgres>> | undefined
  const createDatabase = async () => (postgres = await startPostgres()).createSystem()
  let serving: Serving
  let host: Host
  let receiver: Receiver
  let browser: Browser
  let opened: WatchedPage
  let page: Page

  before(async () => {
    home = await realpath(await mkdtemp(path.join(tmpdir(), 'waypost-server-')))
    const start = openProject(home, {}, async () => undefined)
    await start.ok('init my-api --template host --no-install')
    const own = kind === 'sqlite' ? {} : { WAYPOST_SYSTEM_URL: await createDatabase() }
    const project = openProject(path.join(home, 'my-api'), { HOST: '127.0.0.1', ...own }, async () => undefined)
    // What `npm start` runs.
    await project.ok('migrate')
    serving = await startServe(project, {}, ' --cron --first-run-code')
    host = await openHost({ folder: project.folder, variables: { ...readEnvironment(project.folder), ...own } })
    receiver = await openReceiver()
    browser = await openBrowser([`--host-resolver-rules=MAP localhost 127.0.0.1:${serving.port}`])
    opened = await openPage(browser, origin, { viewport: { width: 1440, height: 900 } })
    page = opened.page
  })
  after(async () => {
    await browser.close()
    await serving.stop()
    await host.close()
    await receiver.close()
    await postgres?.stop()
    await rm(home, { recursive: true, force: true })
  })

  /** Each test continues where the last one ended. */
  let failed = ''
  beforeEach(() => assert.equal(failed, '', 'an earlier step failed'))
  afterEach(async (step) => {
    if (!('passed' in step) || step.passed || failed !== '') return
    failed = step.name
    step.diagnostic(await page.locator('body').innerText())
  })

  const heading = (name: string) => page.locator('#content').getByRole('heading', { name, exact: true, level: 1 })
  const button = (name: string, within: Page | Locator = page) => within.getByRole('button', { name, exact: true })
  const dialog = () => page.getByRole('dialog')
  /** Follows a link of the menu. */
  const go = async (name: string) => {
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }).click()
    await heading(name).waitFor()
  }
  const openRoute = async (name: string) => {
    await go('Routes')
    await page
      .locator('#content')
      .getByRole('link', { name: new RegExp(`^${name}( |$)`) })
      .first()
      .click()
    await heading(name).waitFor()
  }
  /** The server, as another program sees it. */
  const curl = async (operation: string, { token, body }: { token?: string; body?: unknown } = {}) => {
    const [method = '', where = ''] = operation.split(' ')
    const { stdout } = await run('curl', [
      '-s',
      '-X',
      method,
      '-w',
      '\n%{http_code}',
      `http://127.0.0.1:${serving.port}${where}`,
      ...(token === undefined ? [] : ['-H', `Authorization: Bearer ${token}`]),
      ...(body === undefined ? [] : ['-H', 'Content-Type: application/json', '-d', JSON.stringify(body)]),
    ])
    const [, text = '', status = ''] = /^([^]*)\n(\d+)$/.exec(stdout)!
    return { status: Number(status), body: text === '' ? undefined : JSON.parse(text) }
  }
  /** Publishes all changes from the top bar, and waits until this server serves them. */
  const publishAll = async (action: string, confirmed?: string) => {
    await page.getByRole('link', { name: /changes? · Publish$/ }).click()
    await heading('Publish').waitFor()
    await button(action).click()
    if (confirmed !== undefined) await button(confirmed, dialog()).click()
    await heading('Published').waitFor()
    await page.getByText(/ serves it$/).waitFor()
  }

  test('the first page takes the code of the server and creates the administrator', async () => {
    const [, code = ''] = await serving.waitFor(/Code\s+(\S+)/)
    await page.goto(`${origin}/backend`)
    await page.getByLabel('Code').fill(code)
    await page.getByLabel('Username').fill('ann')
    await page.getByLabel('Password').fill(password)
    await button('Create administrator').click()
    await heading('Overview').waitFor()
    await page.getByRole('heading', { name: 'No API yet' }).waitFor()
    await page.getByRole('link', { name: 'No changes' }).waitFor()
    await checkPage(page, 'server first run')
    await page.getByRole('button', { name: /^Empty/ }).click()
    await page.getByRole('dialog', { name: 'New route' }).getByLabel('Path').waitFor()
    await button('Cancel').click()
    await dialog().waitFor({ state: 'detached' })
  })

  test('a table is designed in the draft', async () => {
    await page.getByRole('button', { name: /^From a table/ }).click()
    await heading('New table').waitFor()
    const column = (number: number) => page.getByLabel(`Column ${number}`, { exact: true })
    await page.getByLabel('Name', { exact: true }).fill('app_todo')
    await column(2).fill('title')
    await page.getByLabel('Length of title').fill('200')
    await button('Add column').click()
    await column(3).fill('content')
    await button('status').click()
    await button('insert_date').click()
    await page.getByText(/Writes migrations\/System\/\d+-create-app-todo\.yml\. It runs when you publish\./).waitFor()
    await button('Create table').click()
    await heading('app_todo').waitFor()
    await page.getByRole('link', { name: '1 change · Publish' }).waitFor()
  })

  test('it becomes an API in one sheet; its routes are marked as new and are not served', async () => {
    await button('Create routes').click()
    await dialog()
      .getByLabel(/todo is a new scope/)
      .fill('Create and change to-dos')
    await dialog().getByLabel('POST dispatches an event').check()
    await dialog().getByRole('combobox', { name: 'For holders of' }).click()
    await page.getByRole('option', { name: 'todo', exact: true }).click()
    await dialog().getByText('dispatch: todo_created').first().waitFor()
    const preview = await dialog().locator('.api-preview').textContent()
    assert.doesNotMatch(preview!, /public/, 'reading is private by default')
    await dialog().getByLabel('Anyone can read the rows, without a token').check()
    await dialog().getByText('public: true').first().waitFor()
    await button('Add index on status, insert_date, id', dialog()).click()
    await dialog().getByText('sort: [-insert_date, -id]').waitFor()
    await button('Add 5 methods', dialog()).click()
    await heading('Routes').waitFor()
    await page.getByRole('row', { name: /POST \/todo new/ }).waitFor()
    await checkPage(page, 'server draft routes')
    assert.equal((await curl('GET /todo')).status, 404)
    await openRoute('POST /todo')
    await page.getByRole('tab', { name: 'Try it' }).click()
    await page.getByRole('heading', { name: 'Publish to try' }).waitFor()
  })

  test('a setting is changed in the draft', async () => {
    await go('Settings')
    const field = page.getByRole('combobox', { name: 'Private addresses' })
    await field.fill('127.0.0.0/8')
    await field.press('Enter')
    await page.keyboard.press('Control+S')
    await page.getByText(/^Saved in the draft \d\d:\d\d/).waitFor()
  })

  test('an error in the draft is marked on every page, with a link to it', async () => {
    const lifetime = () => page.getByRole('textbox', { name: 'Access token lifetime' })
    const mark = page
      .getByRole('banner')
      .getByRole('link', { name: /^1 error in the definition\. Show waypost\.yml:\d+$/ })
    assert.equal(await mark.count(), 0)
    await lifetime().fill('soon')
    await page.keyboard.press('Control+S')
    await button('Save anyway').click()
    await mark.waitFor()
    await page.setViewportSize({ width: 1440, height: 1600 }) // axe cannot decide about what is scrolled out
    for (const name of ['Overview', 'Tables', 'Users', 'Publish']) {
      await go(name)
      await mark.waitFor()
      assert.deepEqual(await findFlaws(page), [], name)
    }
    await mark.click()
    await heading('Settings').waitFor()
    assert.equal(await lifetime().inputValue(), 'soon')
    await page.getByRole('region', { name: '1 error' }).getByText('"token_lifetime" must be a duration').waitFor()
    await lifetime().fill('')
    await page.keyboard.press('Control+S')
    await mark.waitFor({ state: 'detached' })
  })

  test('publishing shows SQL, routes and the scope that no one has; its steps survive a reload', async () => {
    await page.getByRole('link', { name: /changes · Publish$/ }).click()
    await heading('Publish').waitFor()
    const plan = page.getByRole('complementary', { name: 'What publishing does' })
    await plan.getByText('No user has the scope todo').waitFor()
    assert.ok(await plan.getByLabel('Give me the scope todo').isChecked())
    await plan
      .getByText(/^resources\/routes\/.*:\d+$/)
      .first()
      .waitFor()
    assert.equal(await plan.getByRole('link', { name: /\/todo$/ }).count(), 2)
    await plan.getByText(/^System\/\d+-create-app-todo$/).click()
    await plan.getByText('create table').waitFor()
    await page.getByLabel('Message').fill('To-dos')
    await checkPage(page, 'server publish')
    await button('Migrate and publish').click()
    await heading('Published').waitFor()
    await page.getByText(/ serves it$/).waitFor()
    await page.reload()
    await heading('Published').waitFor()
    await page.getByText(/^Migrated System\/\d+-create-app-todo/).waitFor()
    await page.getByText(/^Activated [0-9a-f]+$/).waitFor()
    await checkPage(page, 'server published')
  })

  test('Try it creates a row', async () => {
    await page.getByRole('link', { name: 'Try POST /todo' }).click()
    await heading('POST /todo').waitFor()
    await page.getByLabel('Body').fill('{ "title": "Buy milk", "content": "Two bottles" }')
    await button('Send').click()
    await page.getByText('201', { exact: true }).first().waitFor()
    assert.equal((await curl('GET /todo')).body.entry[0].title, 'Buy milk')
  })

  let token: string
  test('a client gets its secret once, and calls the API', async () => {
    await go('Clients')
    await button('New client').click()
    await dialog().getByLabel('Name').fill('shop')
    await dialog().getByLabel('Owner').fill('ann')
    await dialog().getByLabel('todo', { exact: true }).check()
    await button('Create client').click()
    await dialog().getByText('Copy it now.').waitFor()
    // As it is shown; only the browser reaches the server at its issuer.
    const command = (await dialog().locator('pre').textContent())!
    await button('Done').click()
    const { stdout } = await run('sh', ['-c', command.replaceAll(origin, `http://127.0.0.1:${serving.port}`)])
    token = (JSON.parse(stdout) as { access_token: string }).access_token
    const bread = { title: 'Buy bread', content: 'Rye' }
    assert.equal((await curl('POST /todo', { body: bread })).status, 401)
    assert.equal((await curl('POST /todo', { body: bread, token })).status, 201)
    assert.equal((await curl('PUT /todo/1', { body: bread, token })).status, 200)
  })

  test('a subscription receives a signed test and an event', async () => {
    await go('Subscriptions')
    await button('Add subscription').click()
    await dialog().getByLabel('Event').selectOption('todo_created')
    await dialog().getByLabel('Endpoint').fill(receiver.url)
    await button('Add subscription', dialog()).click()
    const secret =
      (await dialog()
        .getByText(/^whsec_/)
        .textContent()) ?? ''
    await button('Done').click()
    await heading('todo_created').waitFor()
    await button('Send test').click()
    await page.locator('#content').getByText('delivered', { exact: true }).waitFor()
    assert.equal((await curl('POST /todo', { body: { title: 'Buy tea', content: 'Green' }, token })).status, 201)
    await until('the event is delivered', () => receiver.received.some(({ body }) => body.includes('Buy tea')))
    const delivery = receiver.received.find(({ body }) => body.includes('Buy tea'))!
    new Webhook(secret).verify(delivery.body, delivery.headers as Record<string, string>)
  })

  test('a change that breaks callers says so, and is published after a question', async () => {
    await openRoute('PUT /todo/:id')
    await chooseMore(page, 'Delete PUT /todo/:id')
    await button('Delete PUT /todo/:id', dialog()).click()
    await heading('Routes').waitFor()
    await page.getByRole('link', { name: '1 change · Publish' }).click()
    await heading('Publish').waitFor()
    await page.getByRole('heading', { name: '1 change that can break clients' }).waitFor()
    await checkPage(page, 'server breaking')
    assert.equal((await curl('PUT /todo/1', { body: {}, token })).status, 400, 'the draft is not served')
    await publishAll('Publish 1 breaking change', 'Publish')
    assert.equal((await curl('PUT /todo/1', { body: {}, token })).status, 405)
  })

  test('a rollback keeps rows, and what it undoes as a draft', async () => {
    await go('Releases')
    const rows = page.getByRole('row').filter({ hasText: 'To-dos' })
    await rows.getByRole('button', { name: /^Actions/ }).click()
    await page.getByRole('menuitem', { name: /^Roll back to/ }).click()
    await dialog().getByText('rows are kept').waitFor()
    assert.ok(await dialog().getByLabel('Keep the undone changes in the draft').isChecked())
    await dialog()
      .getByRole('button', { name: /^Roll back to/ })
      .click()
    await dialog().waitFor({ state: 'detached' })
    await until(
      'the route is served again',
      async () => (await curl('PUT /todo/1', { body: {}, token })).status === 400,
    )
    assert.equal((await curl('GET /todo')).body.entry.length, 3)
    await page.getByRole('link', { name: '1 change · Publish' }).click()
    await heading('Publish').waitFor()
    await page.getByText('removed', { exact: true }).waitFor()
    await button('Discard all').click()
    await button('Discard 1 change', dialog()).click()
    await page.getByRole('heading', { name: 'Nothing to publish' }).waitFor()
  })

  test('what someone else published meanwhile is a conflict: base, theirs and mine side by side', async () => {
    const describeEvent = async (text: string) => {
      await go('Events')
      await page.getByRole('link', { name: 'todo_created' }).first().click()
      await page.getByLabel('Description').fill(text)
      await page.keyboard.press('Control+S')
      await page.getByText(/^Saved in the draft/).waitFor()
    }
    await describeEvent('A to-do was created')
    const form = await page.context().newPage()
    await form.clock.install()
    // A request that the page cancels, because the release changes meanwhile, has a response that never finishes.
    const loadMethod = (isWanted = (_url: string) => true) =>
      form.waitForEvent(
        'requestfinished',
        (sent) => /\/release\/[0-9a-f]+\/method/.test(sent.url()) && isWanted(sent.url()),
      )
    const loading = loadMethod()
    await form.goto(`${origin}/backend/ui/routes/POST%20%2Ftodo?tab=try`)
    const before = (await loading).url()
    const typed = '{ "title": "Typed before the publication" }'
    await form.getByLabel('Body').fill(typed)
    await publishAll('Publish')
    const loaded = loadMethod((url) => url !== before)
    await form.clock.fastForward(60_000) // the page asks again when it gets the focus and its data are old
    await form.evaluate("window.dispatchEvent(new Event('visibilitychange'))")
    await loaded
    assert.equal(await form.getByLabel('Body').inputValue(), typed, 'what is typed stays after a publication')
    await form.close()
    await describeEvent('Sent for each, new to-do')
    await go('Releases')
    await page
      .getByRole('row')
      .filter({ hasText: 'Rollback' })
      .getByRole('button', { name: /^Actions/ })
      .click()
    await page.getByRole('menuitem', { name: /^Roll back to/ }).click()
    await dialog().getByText('Publish or discard them to keep the undone changes.').waitFor()
    await dialog()
      .getByRole('button', { name: /^Roll back to/ })
      .click()
    await dialog().waitFor({ state: 'detached' })
    await page.getByRole('link', { name: '1 change · Publish' }).click()
    await page.getByText('1 conflict with the active release').waitFor()
    await page.getByText('description', { exact: true }).waitFor()
    await page.getByRole('radio', { name: /^Published You changed this .* A row was added to todo/ }).waitFor()
    await checkPage(page, 'server conflict')
    await page.getByRole('radio', { name: /^In the draft You changed this .* Sent for each, new to-do/ }).click()
    await button('Continue with these').click()
    await page.getByRole('complementary', { name: 'What publishing does' }).waitFor()
    await publishAll('Publish')
  })

  test('the draft is downloaded, and a changed folder is imported', async () => {
    await go('Publish')
    await page.getByRole('button', { name: 'More actions' }).click()
    const downloading = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'Download the draft' }).click()
    const zip = path.join(home, 'draft.zip')
    await (await downloading).saveAs(zip)
    const folder = path.join(home, 'downloaded')
    const files = readStored(await readFile(zip))
    assert.ok(files.has('waypost.yml'), [...files.keys()].join())
    for (const [name, text] of files) {
      await mkdir(path.dirname(path.join(folder, name)), { recursive: true })
      await writeFile(path.join(folder, name), text.replace('Sent for each, new to-do', 'Sent once for each to-do'))
    }
    await writeFile(path.join(folder, 'package.json'), '{}')
    await page.getByRole('menu').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Import files' }).click()
    await dialog().locator('input[type="file"]').setInputFiles(folder)
    await dialog().getByText('1 file differs').waitFor()
    await dialog().getByText('1 other file was skipped.').waitFor()
    await dialog().getByText('Sent once for each to-do').first().waitFor()
    await storeScreenshot(page, 'server import')
    await button('Import 1 file').click()
    await page.getByRole('link', { name: '1 change · Publish' }).waitFor()
    await page.getByRole('checkbox', { name: 'Publish todo_created' }).waitFor()
  })

  test('a save is undone; one of two changes is published, and the other one discarded', async () => {
    const changes = (count: string) => page.getByRole('link', { name: `${count} · Publish` }).waitFor()
    const allow = async (range: string) => {
      const field = page.getByRole('combobox', { name: 'Private addresses' })
      await field.fill(range)
      await field.press('Enter')
      await page.keyboard.press('Control+S')
      await changes('2 changes')
    }
    await go('Settings')
    await allow('10.0.0.0/8')
    await page.getByRole('button', { name: /^Undo/ }).click()
    await changes('1 change')
    await allow('10.0.0.0/16')
    await go('Publish')
    await page.getByRole('checkbox', { name: 'Publish todo_created' }).uncheck()
    await page.getByText('1 of 2 changes').waitFor()
    await button('Publish').click()
    await heading('Published').waitFor()
    await changes('1 change')
    await go('Publish')
    await page.getByRole('button', { name: 'Discard the change to todo_created' }).click()
    await button('Discard', dialog()).click()
    await page.getByRole('heading', { name: 'Nothing to publish' }).waitFor()
  })

  test('an earlier release is opened as draft', async () => {
    await go('Releases')
    const first = page.getByRole('row').filter({ hasText: 'Rollback' }).last()
    await first.getByRole('button', { name: /^Actions/ }).click()
    await page.getByRole('menuitem', { name: 'Open as draft' }).click()
    await button('Open as draft', dialog()).click()
    await heading('Publish').waitFor()
    await page.getByRole('checkbox', { name: 'Publish todo_created' }).waitFor()
  })

  test('a failed migration says why, keeps the release and the changes, and publishing works when it is fixed', async () => {
    await host.system.db.schema.createTable('app_pet').addColumn('id', 'integer').execute()
    await button('Discard all').click()
    await dialog()
      .getByRole('button', { name: /^Discard \d+ changes?$/ })
      .click()
    await page.getByRole('heading', { name: 'Nothing to publish' }).waitFor()
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
    await page.locator('#content').getByRole('link', { name, exact: true }).first().click()
    await heading(name).waitFor()
  }
  const saveTable = async () => {
    await button('Save changes').click()
    await button('Save changes').waitFor({ state: 'detached' })
    await page.getByText(/^Saved in the draft/).waitFor()
  }
  const additions = () => page.getByRole('region', { name: 'New columns in the API' })

  test('a column that new rows need is added to the API in the same save', async () => {
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
      opened.complaints.filter((one) => !one.includes('status of 422')),
      ['error: Failed to load resource: the server responded with a status of 403 (Forbidden)'],
    ))

  // After the complaints: the browser reports each refused request.
  test('a draft that cannot be read says why; a damaged one can be discarded', async () => {
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
