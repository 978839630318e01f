// A table with rows is changed in the pages of `waypost dev`; by-clicking.test.ts makes a new one an API.
import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { addUser } from '../../src/auth/index.ts'
import { openHost } from '../../src/host/index.ts'
import { issueHostToken } from '../../src/operate/index.ts'
import { dev, type DevConsole, type DevServer } from '../../src/project/index.ts'
import { chooseMore, openBrowser, openPage, type WatchedPage } from '../support/browser.ts'
import { writeFiles } from '../support/project-server.ts'
import { until } from '../support/until.ts'
import { checkPage } from './backend-world.ts'

const migration = `create_table:
  app_todo:
    columns:
      id: id
      title: text(200)
      content: { type: text, null: true }
      status: { type: integer, default: 1 }
      insert_date: { type: timestamp, default: now }
`
const yaml = `# my shop
action:
  Todo: { class: sql-table, config: { table: app_todo, columns: [id, title, content] } }
routes:
  /todo: { methods: { GET: { public: true, action: Todo }, POST: { scopes: [todo], action: Todo } } }
scope:
  todo: {}
`

describe('the table designer', () => {
  let root: string
  let server: DevServer
  let browser: Browser
  let opened: WatchedPage
  let page: Page

  before(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'waypost-designer-'))
    await writeFiles(root, {
      'package.json': '{ "type": "module" }',
      'waypost.yml': yaml,
      'migrations/System/20260101-todo.yml': migration,
    })
    const console = new Proxy({} as DevConsole, { get: () => () => undefined })
    server = await dev({ folder: root, variables: {}, port: 0, deliver: false, console })
    browser = await openBrowser()
    opened = await openPage(browser, new URL(server.started.backend!).origin, {
      viewport: { width: 1440, height: 900 },
    })
    page = opened.page
    await page.goto(server.started.backend!)
    await page.locator('#content h1').waitFor()
  })
  after(async () => {
    await browser.close()
    await server.close()
    await rm(root, { recursive: true, force: true })
  })

  const read = (file: string) => readFile(path.join(root, file), 'utf8')
  const migrations = async () =>
    (await readdir(path.join(root, 'migrations/System'))).filter((name) => name.endsWith('.yml'))
  const column = (number: number) => page.getByLabel(`Column ${number}`, { exact: true })

  test('a rename is written as one, and the page says what it breaks', async () => {
    const { token } = await server.issueToken()
    const added = await fetch(`${server.started.url}/todo`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ title: 'Bread', content: 'Rye' }),
    })
    assert.equal(added.status, 201)
    await page.getByRole('link', { name: 'Tables' }).first().click()
    await page.getByRole('link', { name: 'app_todo' }).first().click()
    await column(3).fill('note')
    await page.getByText('was content').waitFor()
    await page.getByText(/Breaking: renames app_todo.content to note/).waitFor()
    await page.getByRole('heading', { name: '1 place changes with it' }).waitFor()
    await page.getByText('Also changes waypost.yml').waitFor()
    await checkPage(page, 'change table')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('button', { name: 'Undo: note of app_todo' }).waitFor()
    assert.equal(await read('waypost.yml'), yaml.replace('content', 'note'))
    await page.getByRole('button', { name: 'Undo' }).click()
    await until('it is undone', async () => (await migrations()).length === 1)
    assert.equal(await read('waypost.yml'), yaml)
    await until('the form shows it', async () => (await column(3).inputValue()) === 'content')
    await column(3).fill('note')
    await page.getByText(/Breaking: renames app_todo.content to note/).waitFor()
    await page.getByRole('button', { name: 'Save changes' }).click()
    await until('the migration is written', async () => (await migrations()).length === 2)
    const file = (await migrations()).find((name) => name.includes('change'))
    assert.equal(await read(`migrations/System/${file}`), 'rename_column:\n  app_todo: { content: note }\n')
    await until('it is applied', async () => (await read('migrations/System/tables.json')).includes('"note"'))
    await until('rows are kept', async () =>
      (await (await fetch(`${server.started.url}/todo`)).text()).includes('"note":"Rye"'),
    )
  })

  test('existing columns change, and what a database cannot do is explained at its field', async () => {
    await page.getByLabel('Length of title').fill('100')
    await page.getByText('"title" cannot change from text(200) to text(100): values may not fit').waitFor()
    await page.getByLabel('Length of title').fill('500')
    await page.getByLabel('note may be null').uncheck()
    await page.getByText('"note" needs a default').waitFor()
    assert.ok(await page.getByRole('button', { name: 'Save changes' }).isDisabled())
    await page.getByLabel('Default of note').fill('-')
    await page.getByText(/Breaking: no longer allows NULL in app_todo.note/).waitFor()
    await page.getByRole('button', { name: 'Save changes' }).click()
    await until('it is applied', async () => /"note": .*"default"/.test(await read('migrations/System/tables.json')))
    await until('rows are kept', async () =>
      (await (await fetch(`${server.started.url}/todo`)).text()).includes('"note":"Rye"'),
    )
    const file = (await migrations()).at(-1)
    assert.match(await read(`migrations/System/${file}`), /note: \{ type: text, null: false, default: "-" \}/)
    await page.getByText('Cannot be undone: rows could be lost').waitFor()
  })

  test('why a migration failed stays on the page', async () => {
    const database = new DatabaseSync(path.join(root, '.waypost/system.db'), { timeout: 5000 })
    database.exec('alter table app_todo add column extra text')
    await page.getByRole('button', { name: 'Add column' }).click()
    await column(6).fill('extra')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('The file is saved, but the migration did not run').waitFor()
    await page
      .getByText(/duplicate column name/)
      .first()
      .waitFor()
    await until('the form shows the file', async () => (await column(6).inputValue()) === 'extra')
    await page.getByRole('button', { name: 'Save changes' }).waitFor({ state: 'detached' })
    assert.equal(await page.getByText('The file is saved, but the migration did not run').isVisible(), true)
    await page.getByText('The API does not return extra yet.').waitFor()
    assert.equal(await page.getByRole('link', { name: 'Open Todo' }).getAttribute('href'), '/backend/ui/actions/Todo')
    database.exec('alter table app_todo drop column extra')
    database.close()
    const file = `migrations/System/${(await migrations()).at(-1)}`
    await writeFiles(root, { [file]: `# again\n${await read(file)}` })
    await page.getByText('The file is saved, but the migration did not run').waitFor({ state: 'detached' })
  })

  test('a second table refers to the first, and its rows have an owner', async () => {
    await page.getByRole('link', { name: 'Tables' }).first().click()
    await page.locator('#content').getByRole('link', { name: 'New table' }).click()
    const database = await page.getByLabel('Connection').boundingBox()
    await page.getByLabel('Name', { exact: true }).fill('app_todo')
    await page.locator('.two-fields .mantine-InputWrapper-error').waitFor()
    assert.deepEqual(await page.getByLabel('Connection').boundingBox(), database, 'an error moved the next field')
    await page.getByLabel('Name', { exact: true }).fill('app_comment')
    await column(2).fill('text of it')
    await page.keyboard.press('Enter')
    await choose(page, 'Column 3 references', 'app_todo')
    assert.equal(await column(3).inputValue(), 'todo_id')
    await page.getByRole('button', { name: 'user_id' }).click()
    await page.keyboard.press('Control+s')
    await page.getByRole('heading', { name: 'app_comment' }).waitFor()
    await page.getByRole('button', { name: 'Create routes' }).click()
    const sheet = page.getByRole('dialog')
    assert.equal(await sheet.getByLabel('Rows belong to the signed-in user').isChecked(), true)
    await sheet.getByText('owner: user_id').first().waitFor()
    assert.equal(await sheet.locator('.warnings').count(), 0)
    const add = sheet.getByRole('button', { name: 'Add 5 methods' })
    const scope = sheet.getByRole('combobox', { name: 'Scope', exact: true })
    await scope.fill('')
    await sheet.getByText('Enter a name, or choose another access for the methods below.').waitFor()
    assert.deepEqual([await add.isDisabled(), await sheet.locator('.problem').count()], [true, 0])
    await sheet.getByText('owner: user_id').first().waitFor()
    await scope.fill('comment')
    await add.click()
    await page.locator('#content').getByRole('heading', { name: 'Routes', exact: true, level: 1 }).waitFor()
    const { token } = await server.issueToken()
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ text_of_it: 'Fresh', todo_id: 1 })
    const posted = await fetch(`${server.started.url}/comment`, { method: 'POST', headers, body })
    assert.equal(posted.status, 201, await posted.text())
    const listed = await fetch(`${server.started.url}/comment`, { headers })
    assert.match(await listed.text(), /"text_of_it":"Fresh"/)

    await page.getByRole('link', { name: 'GET /comment', exact: true }).click()
    await page.getByRole('tab', { name: 'Try it' }).click()
    const more = page.locator('summary', { hasText: 'More parameters' })
    await more.waitFor()
    assert.equal(await page.getByLabel('id.gte').isVisible(), false)
    const send = await page.getByRole('button', { name: 'Send', exact: true }).boundingBox()
    assert.ok(send!.y + send!.height < 900)
    await more.click()
    await page.getByLabel('id.gte').fill('100')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByRole('region', { name: 'Response' }).getByText('"entry": []').waitFor()
    await page.getByRole('link', { name: 'Tables' }).first().click()
    await page.getByRole('link', { name: 'app_todo' }).first().click()
    await chooseMore(page, 'Delete table')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('The table "app_comment" refers to "app_todo"').waitFor()
    await dialog.getByRole('heading', { name: 'Remove this use first' }).waitFor()
    assert.equal(await dialog.getByRole('button', { name: 'Delete table app_todo' }).isDisabled(), true)
    await dialog.getByRole('button', { name: 'Cancel' }).click()
  })

  test('rows of a child belong to the owner of their parent, and a parent of another user is refused', async () => {
    const designTable = async (name: string, fill: () => Promise<void>) => {
      await page.getByRole('link', { name: 'Tables' }).first().click()
      await page.locator('#content').getByRole('link', { name: 'New table' }).click()
      await page.getByLabel('Name', { exact: true }).fill(name)
      await fill()
      await page.keyboard.press('Control+s')
      await page.getByRole('heading', { name }).waitFor()
      await page.getByRole('button', { name: 'Create routes' }).click()
      return page.getByRole('dialog')
    }
    const recipe = await designTable('app_recipe', async () => {
      await column(2).fill('title')
      await page.getByRole('button', { name: 'user_id' }).click()
    })
    await recipe.getByText('owner: user_id').first().waitFor()
    await recipe.getByRole('button', { name: /^Add \d methods$/ }).click()
    await page.locator('#content').getByRole('heading', { name: 'Routes', exact: true, level: 1 }).waitFor()

    const sheet = await designTable('app_ingredient', async () => {
      await column(2).fill('name')
      await page.keyboard.press('Enter')
      await choose(page, 'Column 3 references', 'app_recipe')
    })
    const owner = sheet.getByLabel('Rows belong to the signed-in user')
    // The warning of the first preview names it too.
    const throughParent = async () =>
      (await sheet.locator('.warnings').count()) === 0 &&
      (await sheet.locator('.api-preview').textContent())!.includes('owner: { through: recipe_id }')
    await until('it is proposed', throughParent)
    assert.equal(await owner.isChecked(), true)
    const choice = sheet.getByLabel('Owner', { exact: true })
    assert.equal(await choice.locator(':checked').textContent(), 'recipe_id: the owner of the row in app_recipe')
    await owner.uncheck()
    const open = sheet.getByLabel('recipe_id may refer to rows of app_recipe of all users')
    await sheet.getByText('prevent them from being deleted').first().waitFor()
    await open.check()
    await sheet.getByText('parents: { recipe_id: any }').first().waitFor()
    await sheet.locator('.warnings').getByText('Callers can refer to rows of "app_recipe" of other users').waitFor()
    await checkPage(page, 'create routes of a child')
    await owner.check()
    await open.waitFor({ state: 'detached' })
    await until('it is chosen again', throughParent)
    await checkPage(page, 'create routes through a parent')
    await sheet.getByRole('button', { name: /^Add \d methods$/ }).click()
    await page.locator('#content').getByRole('heading', { name: 'Routes', exact: true, level: 1 }).waitFor()

    const host = await openHost({ folder: root, variables: {}, create: true })
    const as = async (name: string) => {
      await addUser(host.system, { name, scopes: ['recipe', 'ingredient'] })
      const issued = { user: name, scopes: undefined, expires: undefined }
      const { access_token: token } = await issueHostToken({ ...host, actor: { how: 'command', name: 'test' } }, issued)
      return async (method: string, at: string, body?: unknown) => {
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
        const answer = await fetch(server.started.url + at, { method, headers, body: JSON.stringify(body) ?? null })
        return { status: answer.status, body: (await answer.json()) as { id: number; entry: unknown[] } }
      }
    }
    const [eve, mia] = [await as('eve'), await as('mia')]
    const { status, body: own } = await mia('POST', '/recipe', { title: 'Rye bread' })
    assert.equal(status, 201)
    assert.equal((await mia('POST', '/ingredient', { name: 'Rye', recipe_id: own.id })).status, 201)
    const foreign = await eve('POST', '/ingredient', { name: 'Salt', recipe_id: own.id })
    const missing = await eve('POST', '/ingredient', { name: 'Salt', recipe_id: 99 })
    assert.deepEqual([foreign.status, foreign.body], [409, missing.body], 'it tells that the recipe exists')
    assert.equal((await eve('GET', '/ingredient')).body.entry.length, 0)
    assert.equal((await mia('GET', '/ingredient')).body.entry.length, 1)
    await host.close()
  })

  test('nothing was reported by the browser', () => assert.deepEqual(opened.complaints, []))
})

async function choose(page: Page, label: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: label }).click()
  await page.getByRole('option', { name: option, exact: true }).click()
}
