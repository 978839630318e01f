// A table with rows is changed in the pages of `waypost dev`; by-clicking.test.ts makes a new one an API.
import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { dev, type DevConsole, type DevServer } from '../../src/project/index.ts'
import { openBrowser, openPage, type WatchedPage } from '../support/browser.ts'
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
    await page.getByRole('button', { name: 'Undo' }).waitFor()
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

  test('nothing was reported by the browser', () => assert.deepEqual(opened.complaints, []))
})
