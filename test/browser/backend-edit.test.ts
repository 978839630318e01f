// A developer edits the files of a project in `waypost dev`, in the browser and in an editor.
import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { parse } from 'yaml'
import { chooseMore, findFlaws, storeScreenshot } from '../support/browser.ts'
import { send } from '../support/send.ts'
import { readTemplate } from '../support/template.ts'
import { until } from '../support/until.ts'
import { openEditing, savedText, showAll, type EditWorld } from './edit-world.ts'
import { chooseLooks } from './looks.ts'
import { isLong } from '../support/forms.ts'

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
    await page.locator('.cm-content').click()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Tab')
    await page.locator('.cm-editor:not(.cm-focused)').waitFor() // it is no trap for the keyboard
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

    if (!isLong) return // project/draft/edit.test.ts refuses what would leave an error
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

  test('a route is added with its file, restricted, limited, renamed and deleted', async () => {
    await world.start()
    const { draft, page } = world
    await world.open('/routes')
    await page.getByRole('button', { name: 'New route' }).click()
    await page.getByRole('dialog').getByLabel('Method').selectOption('GET')
    await page.getByLabel('Path').fill('/todo/:todo_id/comment')
    await page.getByRole('combobox', { name: 'Scope', exact: true }).fill('todo')
    await page.getByRole('button', { name: 'Add route' }).click()
    await page.getByRole('tab', { name: 'Form' }).waitFor()
    assert.match(await draft.read('waypost.yml'), /\/todo\/:todo_id\/comment: !include/)

    await page.getByRole('textbox', { name: 'Description', exact: true }).first().fill('Shows what people wrote')
    const bar = await page.getByRole('region', { name: 'Save' }).boundingBox()
    assert.equal(bar!.y + bar!.height, 720, 'the bar stays at the bottom of a page that is longer')
    const inherited = page.getByRole('radio', { name: 'Inherited from /todo/:todo_id/comment: todo' })
    const pathScopes = page.getByRole('combobox', { name: /^Scopes of / })
    await page.getByText('Tokens with a scope', { exact: true }).click()
    await page.getByRole('button', { name: 'Discard', exact: true }).click()
    assert.ok(await inherited.isChecked(), 'a choice without a scope is discarded too')
    await page.getByRole('textbox', { name: 'Description', exact: true }).first().fill('Shows what people wrote')
    // What the other methods of the path share is not changed by mistake.
    assert.equal(await pathScopes.count(), 0)
    await page.getByRole('button', { name: 'Change it for all methods of /todo/:todo_id/comment' }).click()
    await pathScopes.and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Backspace')
    const warning = page.getByRole('dialog', { name: 'Open /todo/:todo_id/comment to any valid token?' })
    await warning.getByRole('button', { name: 'Cancel' }).click()
    await warning.waitFor({ state: 'detached' })
    await page.getByText('Anyone', { exact: true }).click()
    await page.getByLabel('Time limit').fill('5s')
    const age = page.getByLabel('Cache for')
    const isShared = page.getByRole('switch', { name: 'Shared caches may keep responses' })
    await age.fill('60s')
    await isShared.click()
    await page.getByRole('switch', { name: 'Compress responses' }).click()
    await page.getByLabel('Operation ID').fill('listComments')
    await page.keyboard.press('Control+s')
    await page.getByText(/^Saved \d\d:\d\d/).waitFor()
    const file = /comment: !include (\S+)/.exec(await draft.read('waypost.yml'))![1]!
    const text = await draft.read(file)
    assert.match(text, /description: Shows what people wrote/)
    const route = parse(text) as { scopes: unknown; methods: { GET: Readonly<Record<string, unknown>> } }
    assert.deepEqual(route.scopes, ['todo'])
    assert.equal(route.methods.GET['public'], true)
    assert.deepEqual(route.methods.GET['cache'], { max_age: '60s', public: true })
    assert.match(text, /timeout: 5s/)
    assert.match(text, /operationId: listComments/)
    assert.match(text, /compression: false/)
    assert.deepEqual(world.complaints, [])
    if (!isLong) return // project/draft/edit.test.ts renames, and an event is deleted above
    // The switch stays where it must be turned off, and another age keeps it.
    await age.fill('')
    await age.fill('30s')
    await page.getByText('Any valid token', { exact: true }).click()
    assert.ok(await isShared.isChecked())
    await page.getByRole('button', { name: 'Discard', exact: true }).click()
    await age.fill('')
    await page.keyboard.press('Control+s')
    await until('the cache policy is removed', async () => !(await draft.read(file)).includes('cache'))
    await page.setViewportSize({ width: 1280, height: 3600 }) // axe cannot decide about what is scrolled out
    assert.deepEqual(await findFlaws(page), [])

    await chooseMore(page, 'Rename path…')
    await page.getByLabel('New name').fill('/todo/:todo_id/note')
    await page.getByRole('button', { name: 'Rename', exact: true }).click()
    await page.getByRole('heading', { name: 'GET /todo/:todo_id/note' }).waitFor()

    await chooseMore(page, 'Delete GET /todo/:todo_id/note')
    await page.getByText('It was not called in the last 24 hours.').waitFor()
    await page.getByText('It is the last method of its path').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete GET /todo/:todo_id/note' }).click()
    await page.getByRole('heading', { name: 'Routes', level: 1 }).waitFor()
    assert.doesNotMatch(await draft.read('waypost.yml'), /todo_id\/(comment|note)/)
    assert.deepEqual(world.complaints, [])
  })

  test('what is typed while a save runs stays, and is saved next', async () => {
    await world.start()
    const { draft, page } = world
    const held = Promise.withResolvers<void>()
    await page.route('**/backend/draft', async (route) => {
      if (route.request().method() === 'PATCH') await held.promise
      await route.continue()
    })
    await world.open('/events/todo_created')
    await page.getByLabel('Description').fill('First')
    await page.keyboard.press('Control+S')
    await page.getByLabel('Description').fill('First and second')
    held.resolve()
    await until('the first is saved', async () => /description: First, /.test(await draft.read(main)))
    await page.locator('.save-bar [data-loading]').first().waitFor({ state: 'detached' })
    await page.getByText('Unsaved change').waitFor()
    await page.keyboard.press('Control+S')
    await page.getByText(savedText).waitFor()
    assert.match(await draft.read(main), /description: First and second, /)
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
    // Outside of the long form those that only dev has, and an editor: the others are like those of backend-build.test.ts.
    const own = ['/events/todo_created?tab=yaml', '/changes']
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
        await page.evaluate(showAll)
        const height = await page.evaluate<number>('document.documentElement.scrollHeight')
        await page.setViewportSize({ width, height: Math.max(height, 900) }) // axe cannot decide about what is scrolled out
        assert.deepEqual(await findFlaws(page), [], `${path}, ${width}, ${colorScheme}`)
      }
    }
    assert.deepEqual(world.complaints, [])
  })
})
