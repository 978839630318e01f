// A developer edits the files of a project in `waypost dev`, in the browser and in an editor.
import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { chooseMore, findFlaws, storeScreenshot } from '../support/browser.ts'
import { send } from '../support/send.ts'
import { readTemplate } from '../support/template.ts'
import { until } from '../support/until.ts'
import { openEditing, savedText, showAll, type EditWorld } from './edit-world.ts'
import { chooseLooks } from './looks.ts'
import { isLong, longTest } from '../support/forms.ts'

const main = 'waypost.yml'

const long = 'customer-order-line-item-with-a-very-long-name-that-goes-on'

describe('editing in dev', { timeout: 600_000 }, () => {
  let world: EditWorld
  before(async () => {
    world = await openEditing()
  })
  after(() => world[Symbol.asyncDispose]())

  test('code that cannot be loaded and the answer of a proxy keep what was typed, and say what happened', async () => {
    await world.start()
    const { draft, page } = world
    await world.open('/events/todo_created')
    await page.getByLabel('Description').fill('Kept while it is loaded')
    await page.route('**/assets/code-mirror*', (route) => route.abort())
    await page.route('**/backend/ui/', (route) => route.fulfill({ contentType: 'text/html', body: '<p>newer</p>' }))
    await page.getByRole('tab', { name: 'YAML' }).click()
    const problem = page.getByRole('alert').filter({ hasText: 'A part of this page could not be loaded.' })
    await problem.getByText('The server has been updated since you opened this page.').waitFor()
    await page.unrouteAll()
    await problem.getByRole('button', { name: 'Try again' }).click()
    await page.locator('.cm-editor').waitFor()
    await page.getByRole('tab', { name: 'Form' }).click()
    assert.equal(await page.getByLabel('Description').inputValue(), 'Kept while it is loaded')

    const gateway = { status: 502, contentType: 'text/html', body: '<html><h1>502 Bad Gateway</h1></html>' }
    await page.route('**/backend/draft**', (route) =>
      route.request().method() === 'GET' ? route.continue() : route.fulfill(gateway),
    )
    await page.keyboard.press('Control+S')
    await page.getByRole('alert').getByText('The proxy responded with 502').waitFor()
    assert.equal(await page.getByText('<html>').count(), 0)
    await page.unrouteAll()
    await page.keyboard.press('Control+S')
    await page.getByText(savedText).waitFor()
    assert.match(await draft.read(main), /Kept while it is loaded/)

    // A whole page. The window is not loaded before the server can be reached: without a network, nothing would be left.
    await page.evaluate('window.isSamePage = true')
    await page.route('**/assets/**', (route) => route.abort())
    await page.getByRole('link', { name: 'Audit' }).click()
    await page.locator('#content').getByRole('alert').getByText('A part of this page could not be loaded.').waitFor()
    assert.equal(await page.evaluate('window.isSamePage'), true)
    await page.unrouteAll()
    await page.locator('#content').getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { name: 'Audit', level: 1 }).waitFor()

    // A page that is open all day loads its data again whenever it is looked at.
    await world.open('/tables/new')
    await page.getByLabel('Name', { exact: true }).fill('app_kept')
    let failed = 0
    await page.route('**/backend/**', (route) => {
      if (route.request().url().includes('/draft/table')) failed += 1
      return route.fulfill(gateway)
    })
    // What was loaded is no longer recent.
    await page.evaluate(
      `{ const { now } = Date; Date.now = () => now() + 60_000 }
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`,
    )
    await until('loading fails as often as it is tried', () => failed === 3)
    await page.waitForTimeout(100)
    await page.unrouteAll()
    assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'app_kept')
  })

  test('an event is added, described, restricted to a new scope, undone and deleted; its file keeps comments', async () => {
    const before = `# The to-do API
${readTemplate('todo')[main]!.replace('event:\n', 'event:\n  # Sent for each new to-do\n')}`
    await world.start({ [main]: before })
    const { draft, page } = world
    await world.open('/')
    await page.getByText(/^curl http:\S+\/todo$/).waitFor() // until something is called
    assert.equal(await page.getByText('You edit files in').count(), 0)
    await world.open('/events')
    await page.getByText('You edit files in').waitFor()
    await page.getByRole('link', { name: '0 files changed' }).waitFor()

    await page.getByRole('button', { name: 'New event' }).click()
    await page.getByLabel('Name').fill('todo_created')
    await page.getByText('"todo_created" already exists').waitFor()
    await page.getByLabel('Name').fill('todo_done')
    await page.getByLabel('Description').fill('A to-do was completed')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('heading', { name: 'todo_done' }).waitFor()
    const added = `${before}  todo_done: { description: A to-do was completed }\n`
    assert.equal(await draft.read(main), added)
    await page.getByRole('link', { name: '1 file changed' }).waitFor()

    await page.getByLabel('Description').fill('A to-do was completed or removed')
    await page.getByRole('combobox', { name: 'Data' }).click()
    await page.getByRole('option', { name: 'Todo', exact: true }).click()
    await page.getByRole('button', { name: 'New scope…' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('todo.watch')
    await page.getByRole('dialog').getByLabel('Description').fill('See what happens to to-dos')
    await page.getByRole('button', { name: 'Add scope' }).click()
    await page.getByText('4 unsaved changes').waitFor()

    await page.getByRole('link', { name: 'Routes' }).click() // leaving asks first
    await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Cancel' }).click()
    await page.keyboard.press('Control+S')
    await page.getByText(savedText).waitFor()
    const text = await draft.read(main)
    assert.match(text, /todo_done:.*A to-do was completed or removed.*Todo.*todo\.watch/s)
    assert.match(text, /todo\.watch:.*See what happens to to-dos/s)
    assert.ok(text.startsWith(before), 'everything before the new event is as it was')

    const undo = page.getByRole('button', { name: /^Undo/ })
    assert.equal(await undo.textContent(), 'Undo: 3 fields of todo_done, todo.watch')
    for (const name of ['Routes', 'Connections']) {
      await page.getByRole('link', { name, exact: true }).click()
      await page.getByRole('heading', { name, level: 1 }).waitFor()
      assert.equal(await undo.count(), 0, `it is not about ${name}`)
    }
    await page.getByRole('link', { name: 'Events', exact: true }).click()
    await undo.click()
    await until('the file is as before', async () => (await draft.read(main)) === added)
    await page.getByRole('link', { name: 'todo_done' }).first().click()
    await chooseMore(page, 'Delete todo_done')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete todo_done' }).click()
    await page.getByRole('heading', { name: 'Events' }).waitFor()
    assert.equal(await draft.read(main), before)
    assert.equal(draft.git('diff'), '')

    const route = 'resources/routes/todo/entity.yml'
    await draft.write(
      route,
      (await draft.read(route)).replace('response: Todo\n', 'response: Todo\n    dispatch: todo_created\n'),
    )
    await world.open('/events/todo_created')
    await page.getByRole('link', { name: 'GET /todo/:todo_id' }).waitFor()
    await chooseMore(page, 'Delete todo_created')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('It is used here.').waitFor()
    assert.ok(await dialog.getByRole('button', { name: 'Delete todo_created' }).isDisabled())
    assert.deepEqual(world.complaints, [])
  })

  test('changes in the form and in an editor at the same time are combined; a change of another administrator is named', async () => {
    await world.start()
    const { draft, page } = world
    await world.open('/events/todo_created')
    await page.getByLabel('Description').fill('Mine')
    const text = await draft.read(main)
    await draft.write(main, text.replace('schema: Todo }', 'schema: Todo, scopes: [todo] }'))
    await page.getByText('Changed in the folder').waitFor()
    await page.keyboard.press('Control+S')
    const dialog = page.getByRole('dialog', { name: 'Changed since you started' })
    await dialog.getByText('The changes are to different values. Both are kept.').waitFor()
    await dialog.getByRole('button', { name: 'Continue with these values' }).click()
    await page.keyboard.press('Control+S')
    await page.getByText(savedText).waitFor()
    await page.getByRole('button', { name: 'Undo: description of todo_created' }).waitFor()
    assert.match(await draft.read(main), /todo_created: \{ description: Mine, schema: Todo, scopes: \[ ?todo ?\] \}/)

    await page.getByLabel('Description').fill('In this window')
    const ann = { name: 'ann', password: 'correct horse battery', scopes: ['backend.read', 'backend.deploy'] }
    assert.equal((await draft.call('POST /user', ann)).status, 201)
    const login = { method: 'POST', path: '/consumer/login', body: { username: 'ann', password: ann.password } }
    const authorization = `Bearer ${(await send(draft.port, login)).body.token}`
    const edits = [{ at: '/event/todo_created/description', value: 'Of Ann' }]
    assert.equal((await draft.call('PATCH /draft', { edits }, { authorization })).status, 200)
    await page.getByText(/^ann changed this/).waitFor()
    assert.equal(await page.getByLabel('Description').inputValue(), 'In this window')
  })

  test('a change with errors names its field; saved anyway, the last good state is served until it is fixed', async () => {
    await world.start()
    const { draft, page } = world
    await world.open('/settings')
    await page.getByRole('textbox', { name: 'Access token lifetime' }).fill('soon')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Shop')
    await page.keyboard.press('Control+S')
    await page.getByText('Not saved: this error would be new').waitFor()
    await page.locator('[data-at="/config/token_lifetime"]:focus').waitFor()
    assert.ok(!(await draft.read(main)).includes('soon'))
    await page.getByRole('button', { name: 'Save anyway' }).click()
    await page.getByText('The last valid version is served and shown here').waitFor()
    assert.match(await draft.read(main), /token_lifetime: soon/)
    await page.getByRole('textbox', { name: 'Access token lifetime' }).fill('2h')
    await page.keyboard.press('Control+S')
    await page.getByText('You edit files in').waitFor()
    assert.match(await draft.read(main), /token_lifetime: 2h/)
  })

  // In CI, test/backend/request-values.test.ts has these rules.
  longTest('Try it keeps what was typed when the method changes, and gets its new fields', async () => {
    const schemas = 'resources/schema.yml'
    await world.start()
    const { draft, page } = world
    await world.open('/routes/POST%20%2Ftodo?tab=try')
    const body = page.getByLabel('Body')
    const value = async () => JSON.parse(await body.inputValue()) as Readonly<Record<string, unknown>>
    await body.fill(JSON.stringify({ ...(await value()), title: 'Typed' }))
    const { content } = await value()
    const before = await draft.read(schemas)
    await draft.write(
      schemas,
      before
        .replace('[title, content]\n  add', '[title, content, place]\n  add')
        .replace(
          '    content: { type: string }\nTodo-C',
          '    content: { type: string }\n    place: { type: string }\nTodo-C',
        ),
    )
    await draft.dev.reload()
    await until('the new field is shown', async () => 'place' in (await value()))
    const { place, ...rest } = await value()
    assert.deepEqual([typeof place, rest], ['string', { title: 'Typed', content }])
    await draft.write(schemas, before)
    await draft.dev.reload()
    await until('the field is gone', async () => !('place' in (await value())))
    assert.deepEqual(await value(), { title: 'Typed', content })
    assert.deepEqual(world.complaints, [])
  })

  test('the YAML tab is the file itself, completes keys, and Esc Tab leaves it', async () => {
    await world.start()
    const { draft, page } = world
    await world.open('/events/todo_created?tab=yaml')
    const editor = page.getByRole('textbox', { name: main })
    await editor.click()
    await editor.press('Control+End')
    await page.keyboard.insertText('rat')
    await editor.press('Control+Space')
    await page.getByRole('option', { name: /^rate/ }).click()
    await page.getByRole('listbox').waitFor({ state: 'hidden' }) // where Enter would choose
    await page.keyboard.type('\nslow: { limit: 10, window: 1m }')
    await editor.press('Escape') // closes the completion
    await editor.press('Escape')
    await editor.press('Tab')
    await page.locator('.cm-editor:not(.cm-focused)').waitFor()
    await page.keyboard.press('Control+S')
    await page.getByText(savedText).waitFor()
    assert.match(await draft.read(main), /\nrate: *\n *slow: \{ limit: 10, window: 1m \}/)
    assert.deepEqual(world.complaints, [])
  })

  test('the secret of a connection goes to .env: neither to YAML nor into any response', async () => {
    await world.start()
    const { draft, page } = world
    const secret = 'a-secret-of-the-stock-service'
    const seen: string[] = []
    const reads: Promise<unknown>[] = []
    page.on('response', (response) => {
      if (response.url().includes('/backend/'))
        reads.push(
          response.text().then(
            (text) => seen.push(text),
            () => {},
          ),
        )
    })
    await world.open('/connections')
    await page.getByRole('button', { name: 'New connection' }).click()
    await page.getByLabel('Name').fill('Stock')
    await page.getByRole('dialog').getByLabel('Class').selectOption('http')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('textbox', { name: 'url' }).fill('https://stock.example.com')
    await page.getByText('More settings').click()
    await page.getByRole('button', { name: 'Add to auth' }).click()
    await page.getByLabel('bearer').fill(secret)
    const bearer = page.locator('.mantine-TextInput-root', { has: page.getByLabel('bearer') })
    await bearer.getByRole('button', { name: 'Insert a variable' }).click()
    await page.getByRole('menuitem', { name: 'New variable…' }).click()
    const dialog = page.getByRole('dialog', { name: 'New variable' })
    assert.equal(await dialog.getByLabel('Name').inputValue(), 'STOCK_BEARER')
    assert.equal(await dialog.getByLabel('Value').first().getAttribute('type'), 'password')
    assert.equal(await dialog.getByLabel('Value').first().inputValue(), secret)
    await dialog.getByRole('button', { name: 'Add variable' }).click()
    await dialog.waitFor({ state: 'detached' })
    assert.equal(await page.getByLabel('bearer').inputValue(), '${env.STOCK_BEARER}')
    await page.keyboard.press('Control+S')
    await page.getByText(savedText).waitFor()
    const yaml = await draft.read(main)
    assert.match(yaml, /bearer: .*\$\{env\.STOCK_BEARER\}/)
    assert.match(await draft.read('.env'), new RegExp(`^STOCK_BEARER=${secret}$`, 'm'))
    assert.equal((await stat(path.join(draft.root, '.env'))).mode & 0o777, 0o600)
    await page.getByRole('tab', { name: 'YAML' }).click()
    await page.getByRole('textbox', { name: main }).waitFor()
    await world.open('/variables')
    await page.getByText('STOCK_BEARER').first().waitFor()
    await Promise.all(reads)
    assert.ok(seen.some((text) => text.includes('STOCK_BEARER')))
    assert.deepEqual(
      [yaml, ...seen].filter((text) => text.includes(secret)),
      [],
    )
    assert.deepEqual(world.complaints, [])
  })

  test('is accessible in both colour schemes, also 390 pixels wide', async () => {
    await world.start()
    const { draft, page } = world
    await draft.write(main, `${(await draft.read(main)).replace('A to-do was created', 'A new to-do')}  ${long}: {}\n`)
    const paths = [
      '/events',
      '/events/todo_created',
      '/events/todo_created?tab=yaml',
      `/events/${long}`,
      '/routes/POST%20%2Ftodo',
      '/settings',
      '/settings?tab=rates',
      '/files/waypost.yml',
      '/changes',
      '/scopes',
      '/scopes/todo?new={}',
    ]
    // Outside of the long form those that only dev has, and an editor: backend-build.test.ts and backend.test.ts have the others.
    const own = ['/events/todo_created?tab=yaml', `/events/${long}`, '/files/waypost.yml', '/changes']
    for (const path of isLong ? paths : own) {
      await world.open(path)
      const loading = page.locator('#content :is(.mantine-Skeleton-root, [aria-busy="true"])')
      await until('the page has loaded', async () => (await loading.count()) === 0)
      for (const [width, colorScheme] of chooseLooks()) {
        await page.setViewportSize({ width, height: 900 })
        await page.emulateMedia({ colorScheme })
        await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor()
        await page.locator('.rail').waitFor({ state: width < 768 ? 'detached' : 'visible' })
        await storeScreenshot(page, `edit ${path.replaceAll(/\W+/g, ' ').trim()} ${width} ${colorScheme}`)
        const isWider = await page.evaluate(`document.querySelector('#content').scrollWidth > innerWidth`)
        assert.equal(isWider, false, `${path} is wider than ${width}`)
        await page.setViewportSize({ width, height: 2800 })
        await page.evaluate(showAll)
        assert.deepEqual(await findFlaws(page), [], `${path}, ${width}, ${colorScheme}`)
      }
    }
    assert.deepEqual(world.complaints, [])
  })
})
