// A developer builds the to-do API in `waypost dev` without an editor, and deploys it.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Client } from 'pg'
import type { Browser, Page } from 'playwright-core'
import { Webhook } from 'standardwebhooks'
import { openBrowser, openPage, type WatchedPage } from '../support/browser.ts'
import { checkout } from '../support/cli.ts'
import { startPostgres } from '../support/postgres.ts'
import { openProject } from '../support/project.ts'
import { send } from '../support/send.ts'
import { openTerminal, skipTerminal, type Terminal } from '../support/terminal.ts'
import { until } from '../support/until.ts'
import { checkPage } from './backend-world.ts'
import { openReceiver } from '../e2e/receiver.ts'
import { baseUrl, makeHost, secret, startServe } from '../e2e/serving.ts'
import { isLong } from '../support/forms.ts'

const password = 'quiet-otter-4417'
const savedText = /^Saved \d\d:\d\d/

const skipStory = skipTerminal || (!isLong && 'on-a-server has this story on a server, and backend-edit edits in dev')

describe('the to-do API by clicking', { skip: skipStory, timeout: 600_000 }, () => {
  let home: string
  let folder: string
  let terminal: Terminal
  let browser: Browser
  let opened: WatchedPage
  let page: Page

  before(async () => {
    home = await realpath(await mkdtemp(path.join(tmpdir(), 'waypost-story-')))
    folder = path.join(home, 'todo')
    await mkdir(folder)
    // npm does not reach its registry in tests.
    const npm = `/bin/mkdir -p node_modules && /bin/ln -s '${checkout}' node_modules/waypost`
    terminal = await openTerminal(folder, { npm, git: 'exec /usr/bin/git "$@"' })
    browser = await openBrowser()
  })
  after(async () => {
    await browser.close()
    await terminal[Symbol.asyncDispose]()
    await rm(home, { recursive: true, force: true })
  })

  const read = (file: string) => readFile(path.join(folder, file), 'utf8')
  const write = (file: string, text: string) => writeFile(path.join(folder, file), text)
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=ann', '-c', 'user.email=ann@example.org', ...args], {
      cwd: folder,
      encoding: 'utf8',
    })
  const heading = (name: string) => page.locator('#content').getByRole('heading', { name, exact: true, level: 1 })
  /** Follows a link of the menu. */
  const go = async (name: string) => {
    await page.getByRole('navigation').getByRole('link', { name, exact: true }).first().click()
    await heading(name).waitFor()
  }
  test('dev creates a project in an empty folder and opens the backend', async () => {
    await until('dev asks', () => /Create one\? \(Y\/n\)/.test(terminal.shown()))
    terminal.type('\r')
    const link = new URL(await terminal.opened())
    git('init', '-q')
    git('add', '.')
    git('commit', '-qm', 'Start')
    opened = await openPage(browser, link.origin, { viewport: { width: 1440, height: 900 } })
    page = opened.page
    await page.goto(link.href)
    await page.locator('#content h1').waitFor()
    await page.getByRole('link', { name: '0 files changed' }).waitFor()
    await page.getByRole('heading', { name: 'Build an API' }).waitFor()
  })

  test('a table is designed; dev applies its migration', async () => {
    await go('Tables')
    await page.getByText('Choose New table to design one.').waitFor()
    await page.locator('#content').getByRole('link', { name: 'New table' }).click()
    const column = (number: number) => page.getByLabel(`Column ${number}`, { exact: true })
    await page.getByLabel('Name', { exact: true }).fill('app_todo')
    await column(2).fill('title')
    await page.getByLabel('Length of title').fill('200')
    await page.getByRole('button', { name: 'Add column' }).click()
    await column(3).fill('content')
    await page.getByRole('button', { name: 'status' }).click()
    await page.getByRole('button', { name: 'insert_date' }).click()
    await page.getByText(/Writes migrations\/System\/\d+-create-app-todo\.yml/).waitFor()
    await checkPage(page, 'story new table')
    await page.getByRole('button', { name: 'Create table' }).click()
    await heading('app_todo').waitFor()
    await until('the migration is applied', () => /create-app-todo applied/.test(terminal.shown()))
  })

  test('it becomes an API in one sheet, with the index that its list needs', async () => {
    await page.getByRole('button', { name: 'Create routes' }).click()
    const sheet = page.getByRole('dialog')
    await sheet.getByLabel(/todo is a new scope/).fill('Create and change to-dos')
    await sheet.getByLabel('POST dispatches an event').check()
    await sheet.getByText('dispatch: todo_created').first().waitFor()
    assert.doesNotMatch(
      (await sheet.locator('.api-preview').textContent())!,
      /added\s+public/,
      'reading is private by default',
    )
    await sheet.getByLabel('Anyone can read the rows, without a token').check()
    await sheet.getByText('public: true').first().waitFor()
    await checkPage(page, 'story create routes')
    await sheet.getByRole('button', { name: 'Add index on status, insert_date, id' }).click()
    await sheet.getByText('sort: [-insert_date, -id]').waitFor()
    await sheet.getByRole('button', { name: 'Add 5 methods' }).click()
    await heading('Routes').waitFor()
    await until('dev reports the reload', () => /reload waypost\.yml .* \(backend\)/.test(terminal.shown()))
    assert.match(terminal.shown(), /reload migrations\/System\/\d+-create-app-todo\.yml .*applied.* \(backend\)/s)
  })

  test('Try it creates a to-do, and its event is delivered to the page', async () => {
    await go('Events')
    await page.getByRole('link', { name: 'todo_created' }).first().click()
    await heading('todo_created').waitFor()
    await page.getByRole('button', { name: 'Listen' }).click()
    await page.getByText('Listening, even while you open other pages.').waitFor()
    await page.locator('#content').getByRole('link', { name: 'POST /todo' }).click()
    await heading('POST /todo').waitFor()
    await page.getByPlaceholder('From the action Todo').waitFor()
    await page.getByText('The action Todo defines the responses.').waitFor()
    await page.getByRole('tab', { name: 'Try it' }).click()
    await page.getByText('waypost token:issue --user NAME').waitFor()
    await page.getByLabel('Body').fill('{ "title": "Buy milk", "content": "Two bottles" }')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('201', { exact: true }).first().waitFor()
    await page.getByRole('region', { name: 'Response' }).getByText('Buy milk').waitFor()
    await page.getByText('todo_created delivered').waitFor()
    await page.goBack()
    await heading('todo_created').waitFor()
    await page.getByText('signature ok').waitFor()
    await page
      .getByRole('region', { name: /^Body of dlv_/ })
      .getByText('Buy milk')
      .waitFor()
    await checkPage(page, 'story listen')
    await page.getByRole('button', { name: 'Stop listening' }).click()
    await page.getByText('signature ok').waitFor({ state: 'detached' })
  })

  test('the form and an editor change the same value: the developer chooses, and both files edits are kept', async () => {
    await go('Events')
    await page.getByRole('link', { name: 'todo_created' }).first().click()
    await heading('todo_created').waitFor()
    await page.getByLabel('Description').fill('A to-do was created')
    const before = await read('waypost.yml')
    const theirs = before
      .replace('A row was added to todo', 'Sent for each new row')
      .replace('# yaml', '# The to-do API\n# yaml')
      .replace('maxLength: 40', 'maxLength: 80')
    await write('waypost.yml', theirs)
    await page.getByText('Changed in the folder').waitFor()
    await page.keyboard.press('Control+S')
    const dialog = page.getByRole('dialog', { name: 'Changed since you started' })
    await dialog.getByText('A row was added to todo').waitFor()
    await dialog.getByRole('radio', { name: /In the file Sent for each new row/ }).waitFor()
    await checkPage(page, 'story conflict')
    await dialog.getByRole('radio', { name: /Yours A to-do was created/ }).click()
    await dialog.getByRole('button', { name: 'Continue with these values' }).click()
    await page.keyboard.press('Control+S')
    await page.getByText(savedText).waitFor()
    const saved = theirs.replace('Sent for each new row', 'A to-do was created')
    assert.equal(await read('waypost.yml'), saved)
    await page.getByRole('button', { name: 'Undo' }).click()
    await until('the save is undone', async () => (await read('waypost.yml')) === theirs)
    await page.getByText('Sent for each new row').waitFor()
    await page.getByLabel('Description').fill('A to-do was created')
    await page.keyboard.press('Control+S')
    await page.getByText(savedText).waitFor()
    assert.equal(await read('waypost.yml'), saved)
  })

  test('a broken file: the page says where, the last good state is served, the text is repaired', async () => {
    const good = await read('waypost.yml')
    await write('waypost.yml', good.replace('  todo_created:', '  todo_created: {{'))
    const place = page.getByRole('link', { name: /^waypost\.yml:\d+$/ })
    await place.waitFor()
    await page.getByText('The last valid version is served and shown here').waitFor()
    assert.equal(await page.getByLabel('Description').count(), 0)
    assert.equal((await fetch(`${new URL(page.url()).origin}/todo`)).status, 200)
    await go('Deliveries')
    await go('Routes')
    await page.getByRole('link', { name: 'POST /todo', exact: true }).waitFor()
    await place.click()
    const editor = page.getByRole('textbox', { name: 'waypost.yml' })
    await editor.waitFor()
    await page.locator('.cm-lint-marker-error').first().waitFor()
    await editor.focus()
    for (const key of ['Delete', 'Backspace', 'Backspace']) await page.keyboard.press(key) // the cursor is at the error
    await page.keyboard.press('Control+S')
    await page.getByText('You edit files in').waitFor()
    assert.equal(await read('waypost.yml'), good)
  })

  test('the page Changes is the diff of git', async () => {
    await page.getByRole('link', { name: /files changed/ }).click()
    await heading('Changes').waitFor()
    await page.getByText('waypost deploy --plan').first().waitFor()
    await checkPage(page, 'story changes')
    git('add', '--intent-to-add', '.')
    const files = page.locator('.file-diff')
    const shown = await files.evaluateAll((all) =>
      all.map((one) =>
        [
          one.querySelector('h2')!.textContent,
          ...[...one.querySelectorAll('tr')].map((row) =>
            row.matches('.diff-hunk')
              ? row.textContent.trim()
              : row.querySelector('[aria-hidden]')!.textContent + row.querySelector('code')!.textContent,
          ),
        ].join('\n'),
      ),
    )
    // Generated types are code, which the pages do not show.
    const diff = git('diff', '--no-color', '--', '*.yml', '*.json')
    const expected = diff.split(/^diff --git .*\n/m).slice(1)
    assert.deepEqual(
      shown,
      expected.map((one) => {
        const [, file, hunks] = /^\+\+\+ b\/(.*)\n([^]*)\n$/m.exec(one)!
        return `${file}\n${hunks!.replaceAll(/^(@@ .* @@).*/gm, '$1')}`
      }),
    )
    const link = await page.getByRole('link', { name: 'Open in VS Code' }).first().getAttribute('href')
    assert.ok(link!.startsWith(`vscode://file${folder}/`), link!)
    assert.equal(await page.locator('#content .code').last().textContent(), 'waypost deploy --plan')
  })

  test('the diff of the story is the committed one, the project has no warnings, the browser no complaints', async () => {
    assert.deepEqual(opened.complaints, [])
    await page.close() // it polls dev
    terminal.type('q')
    assert.equal(await terminal.ended, 0)
    git('add', '--intent-to-add', '.')
    const diff = git('diff', '--no-color')
      .replaceAll(/^(index|new file mode) .*\n/gm, '')
      .replaceAll(/\b20\d{12}(?=-create-app-todo)/g, 'DATE')
    const file = path.join(import.meta.dirname, 'by-clicking.diff')
    assert.equal(diff, await readFile(file, 'utf8'))
    const project = openProject(folder, {}, async () => undefined)
    assert.match(await project.ok('validate --strict'), /^No problems: 3 routes, 1 schema, 1 event /)
  })

  test('the folder is deployed to PostgreSQL, and the story runs over HTTP', async () => {
    await using cleanup = new AsyncDisposableStack()
    const postgres = await startPostgres()
    cleanup.defer(postgres.stop)
    const receiver = await openReceiver()
    cleanup.defer(receiver.close)
    const env = {
      WAYPOST_SYSTEM_URL: await postgres.createDatabase(),
      WAYPOST_SECRET: secret,
      WAYPOST_BASE_URL: baseUrl,
    }
    const project = openProject(folder, env, async () => undefined)
    await write(
      'waypost.yml',
      (await read('waypost.yml')).replace('config: {', 'config: { delivery_allow: [127.0.0.0/8],'),
    )
    const readTables = () => Promise.all(['json', 'ts'].map((type) => read(`migrations/System/tables.${type}`)))
    const tables = await readTables()
    assert.match(await project.ok('migrate --connection System'), /Migrated {3}System\/\d+-create-app-todo /)
    assert.deepEqual(await readTables(), tables, 'both databases have the same tables')
    await project.ok('user:add ann --scopes todo,consumer --password-stdin', { input: `${password}\n` })
    await project.ok('user:add eve --scopes consumer --password-stdin', { input: `${password}\n` })
    assert.equal(JSON.parse(await project.ok('deploy --yes --json')).activated, true)
    const host = await makeHost({ ...env, HOST: '127.0.0.1' })
    cleanup.defer(host.remove)
    const serving = await startServe(host)
    cleanup.defer(async () => void (await serving.stop()))
    const call = async (operation: string, body?: unknown, token?: string) => {
      const [method = '', where = ''] = operation.split(' ')
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
      return send(serving.port, { method, path: where, headers, ...(body === undefined ? {} : { body }) })
    }
    const login = async (username: string) => (await call('POST /consumer/login', { username, password })).body.token
    const [ann, eve] = [await login('ann'), await login('eve')]
    const subscribed = await call('POST /consumer/subscription', { event: 'todo_created', endpoint: receiver.url }, ann)
    assert.equal(subscribed.status, 201, subscribed.text)
    assert.equal(
      (await call('POST /consumer/subscription', { event: 'todo_created', endpoint: receiver.url }, eve)).status,
      403,
    )

    const milk = { title: 'Buy milk', content: 'Two bottles' }
    assert.equal((await call('POST /todo', milk)).status, 401)
    assert.equal((await call('POST /todo', milk, eve)).status, 403)
    const created = await call('POST /todo', milk, ann)
    assert.equal(created.status, 201, created.text)
    const { id } = created.body
    assert.deepEqual(created.body, { id, ...milk, status: 1, insert_date: created.body.insert_date })
    assert.deepEqual((await call('GET /todo')).body.entry, [created.body])
    const bread = { title: 'Buy bread', content: 'Rye' }
    assert.equal((await call(`PUT /todo/${id}`, bread, eve)).status, 403)
    assert.equal((await call(`PUT /todo/${id}`, bread, ann)).status, 200)
    assert.equal((await call(`GET /todo/${id}`)).body.title, 'Buy bread')
    assert.equal((await call(`DELETE /todo/${id}`, undefined, eve)).status, 403)
    assert.equal((await call(`DELETE /todo/${id}`, undefined, ann)).status, 204)
    assert.equal((await call(`GET /todo/${id}`)).status, 404)
    assert.deepEqual((await call('GET /todo')).body.entry, [])
    const database = new Client({ connectionString: env.WAYPOST_SYSTEM_URL })
    await database.connect()
    const { rows } = await database.query('select title, status from app_todo').finally(() => database.end())
    assert.deepEqual(rows, [{ title: 'Buy bread', status: 0 }])

    await host.ok('event:execute')
    const [delivery] = receiver.received
    const verified = new Webhook(subscribed.body.secret).verify(
      delivery!.body,
      delivery!.headers as Record<string, string>,
    )
    assert.deepEqual(verified, created.body)
  })
})
