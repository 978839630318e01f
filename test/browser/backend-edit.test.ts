// A developer edits the files of a project in `waypost dev`, in the browser and in an editor.
import assert from 'node:assert/strict'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { findFlaws, storeScreenshot } from '../support/browser.ts'
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
    await page.getByRole('alert').getByText('The proxy answered 502').waitFor()
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
    await world.open('/events')
    await page.getByText('You edit files in').waitFor()
    await page.getByRole('link', { name: '0 files changed' }).waitFor()

    await page.getByRole('button', { name: 'New event' }).click()
    await page.getByLabel('Name').fill('todo_created')
    await page.getByText('"todo_created" exists already').waitFor()
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
    await page.getByRole('button', { name: 'Delete todo_done' }).click()
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
    await page.getByRole('button', { name: 'Delete todo_created' }).click()
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
    const dialog = page.getByRole('dialog', { name: 'Changed since you began' })
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

  // In CI, changes of others are combined with a save.
  longTest('what is typed while a save runs stays, and is saved next; leaving waits for the save', async () => {
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

    const heldWhileLeaving = Promise.withResolvers<void>()
    await page.route('**/backend/draft', async (route) => {
      if (route.request().method() === 'PATCH') await heldWhileLeaving.promise
      await route.continue()
    })
    await page.getByLabel('Description').fill('Third')
    await page.keyboard.press('Control+S')
    await page.getByRole('link', { name: 'Scopes', exact: true }).click()
    heldWhileLeaving.resolve()
    await page.getByRole('heading', { name: 'Scopes', exact: true }).waitFor() // it did not ask
    assert.match(await draft.read(main), /description: Third, /)

    await world.open('/files/waypost.yml')
    const editor = page.getByRole('textbox', { name: main })
    await editor.click()
    await editor.press('Control+End')
    const heldFile = Promise.withResolvers<void>()
    await page.route('**/backend/draft', async (route) => {
      if (route.request().method() === 'PATCH') await heldFile.promise
      await route.continue()
    })
    await page.keyboard.insertText('# one')
    await page.keyboard.press('Control+S')
    await page.keyboard.insertText(', two')
    heldFile.resolve()
    await until('the first is saved', async () => (await draft.read(main)).endsWith('# one'))
    await page.locator('.save-bar [data-loading]').first().waitFor({ state: 'detached' })
    await page.getByText('Unsaved change').waitFor()
    await page.keyboard.press('Control+S')
    await until('both are saved', async () => (await draft.read(main)).endsWith('# one, two'))
    assert.deepEqual(world.complaints, [])
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
    await page.getByText('The last state without errors is served and shown here').waitFor()
    assert.match(await draft.read(main), /token_lifetime: soon/)
    await page.getByRole('textbox', { name: 'Access token lifetime' }).fill('2h')
    await page.keyboard.press('Control+S')
    await page.getByText('You edit files in').waitFor()
    assert.match(await draft.read(main), /token_lifetime: 2h/)
  })

  test('settings are in groups and found by words; a color is picked; one without effect can only be removed', async () => {
    await world.start()
    const { draft, page } = world
    await draft.write(
      main,
      `${await draft.read(main)}config:\n  delivery_lease: 5m # of an old version\n  keep: { audit: 90d }\n`,
    )
    await draft.dev.reload()
    await world.open('/settings')
    const groups = page.locator('#content .settings-group h2')
    const service = page.getByRole('region', { name: 'Service' })
    await service.waitFor()
    assert.deepEqual(await groups.allTextContents(), [
      'Service',
      'Sign-in and tokens',
      'Requests',
      'Deliveries',
      'Deployments',
      'Retention',
      'Without effect',
    ])
    assert.equal(await page.getByRole('textbox', { name: 'delivery_lease' }).count(), 0)
    await page.getByRole('searchbox', { name: 'Search settings' }).fill('refresh life')
    assert.deepEqual(await page.locator('.settings label').allTextContents(), [
      'Refresh token lifetime',
      'Login lifetime',
    ])
    await page.getByText('2 settings').waitFor({ state: 'attached' })
    await page.getByRole('searchbox', { name: 'Search settings' }).fill('nothing like this')
    await page.getByText('No setting matches.').waitFor()
    await page.getByRole('searchbox', { name: 'Search settings' }).fill('accent')
    await page.getByLabel('Color picker of Accent color').fill('#1f6feb')
    assert.equal(await page.getByRole('textbox', { name: 'Accent color', exact: true }).inputValue(), '#1f6feb')
    await page.getByRole('searchbox', { name: 'Search settings' }).fill('')
    await page.getByRole('textbox', { name: 'Audit log' }).fill('')
    await page.getByRole('textbox', { name: 'Failed logins' }).fill('2d')
    await page.getByRole('switch', { name: 'Portal' }).check({ force: true })
    await page.getByRole('button', { name: 'Remove delivery_lease' }).click()
    await page.keyboard.press('Control+S')
    await page.getByText(savedText).waitFor()
    const saved = await draft.read(main)
    assert.doesNotMatch(saved, /delivery_lease|audit/)
    assert.match(saved, /accent: '#1f6feb'|accent: "#1f6feb"/)
    assert.match(saved, /throttles: 2d/)
    assert.match(saved, /portal: true/)
    await page.getByRole('textbox', { name: 'Failed logins' }).fill('')
    await page.keyboard.press('Control+S')
    await until('the empty map is removed', async () => !(await draft.read(main)).includes('keep'))
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

  // In CI, changes in the form and in an editor are combined.
  longTest('a file that is edited as text and in an editor keeps both changes', async () => {
    await world.start()
    const { draft, page } = world
    const text = await draft.read(main)
    await world.open(`/files/${main}`)
    const editor = page.getByRole('textbox', { name: main })
    await editor.click()
    await editor.press('Control+End')
    await page.keyboard.insertText('# mine\n')
    await draft.write(main, `# theirs\n${text}`)
    await page.getByRole('button', { name: 'Compare' }).click()
    const dialog = page.getByRole('dialog', { name: 'Changed since you began' })
    await dialog.getByRole('region', { name: `Differences of ${main}` }).waitFor()
    assert.deepEqual(await findFlaws(page), [])
    await dialog.getByRole('button', { name: 'Keep both changes' }).click()
    await page.keyboard.press('Control+S')
    await page.getByText(savedText).waitFor()
    assert.equal(await draft.read(main), `# theirs\n${text}# mine\n`)
  })

  // In CI, access.test.ts edits with an expired session.
  longTest('an expired session asks to sign in again; the edit stays and is saved', async () => {
    await world.start()
    const { draft, page } = world
    await world.open('/events/todo_created')
    await page.getByLabel('Description').fill('Typed before')
    await page.context().clearCookies()
    let isExpired = true
    await page.route('**/backend/draft', (route) =>
      isExpired && route.request().method() === 'PATCH' ? route.fulfill({ status: 401, body: '{}' }) : route.fallback(),
    )
    const refused = { status: 400, body: '{"error":"invalid_grant"}' }
    await page.route('**/authorization/token', (route) => {
      const wasExpired = isExpired
      isExpired = false
      return wasExpired ? route.fulfill(refused) : route.fallback()
    })
    const dialog = page.getByRole('dialog', { name: 'Your session has expired' })
    await page.keyboard.press('Control+S')
    await dialog.waitFor()
    const opening = page.context().waitForEvent('page')
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    const window = await opening
    const { name, password } = draft.dev.started.user
    await window.getByLabel('Username').fill(name)
    await window.getByLabel('Password').fill(password)
    await window.getByRole('button', { name: 'Sign in' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText(savedText).waitFor()
    assert.match(await draft.read(main), /Typed before/)
  })

  // In CI, a change with errors names its field.
  longTest('the gutter shows problems while typing, and the same ones after saving', async () => {
    await world.start()
    const { draft, page } = world
    await world.open('/events/todo_created?tab=yaml')
    const editor = page.getByRole('textbox', { name: main })
    const markers = page.locator('.cm-lint-marker-error')
    const problems = page.getByRole('list', { name: 'Problems' }).getByRole('listitem')
    const text = await draft.read(main)
    await editor.click()
    await editor.press('Control+End')
    await page.keyboard.insertText('  broken: {')
    await markers.waitFor()
    assert.equal(await draft.read(main), text)
    await page.keyboard.insertText(' schema: None }')
    await problems.getByText(/"None"/).waitFor()
    const typed = await problems.allTextContents()
    await page.keyboard.press('Control+S')
    await page.getByRole('button', { name: 'Save anyway' }).click()
    await page.getByText('The last state without errors is served').waitFor()
    await markers.waitFor()
    assert.deepEqual(await problems.allTextContents(), typed)
    assert.equal(await markers.count(), 1)
    await editor.press('Control+A')
    await page.keyboard.insertText(text)
    await markers.waitFor({ state: 'detached' })
    await problems.first().waitFor({ state: 'detached' })
    await page.keyboard.press('Control+S')
    await page.getByText('You edit files in').waitFor()
  })

  test('a scope is declared, described, renamed with its uses and deleted; that of someone else is not overwritten', async () => {
    await world.start()
    const { draft, page } = world
    await world.open('/scopes')
    await page.getByRole('button', { name: 'New scope' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('todo.watch')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByLabel('Description').fill('Watch to-dos')
    await draft.write(main, `${await draft.read(main)}scope:\n  todo.watch: { description: See to-dos }\n`)
    await page.getByText('Changed in the folder').waitFor()
    await page.keyboard.press('Control+S')
    const conflict = page.getByRole('dialog', { name: 'Changed since you began' })
    await conflict.getByRole('radio', { name: /In the file See to-dos/ }).click()
    assert.deepEqual(await findFlaws(page), [])
    await conflict.getByRole('button', { name: 'Continue with these values' }).click()
    assert.equal(await page.getByLabel('Description').inputValue(), 'See to-dos')
    await page.getByLabel('Description').fill('See all to-dos')
    await page.keyboard.press('Control+S')
    await page.getByText(savedText).waitFor()
    assert.match(await draft.read(main), /todo\.watch: \{ description: See all to-dos \}/)

    await draft.write(main, (await draft.read(main)).replace('schema: Todo }', 'schema: Todo, scopes: [todo.watch] }'))
    await page.getByRole('link', { name: 'todo_created' }).waitFor()
    await page.getByRole('button', { name: 'Delete todo.watch' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(/^waypost\.yml:\d+$/).waitFor()
    assert.ok(await dialog.getByRole('button', { name: 'Delete todo.watch' }).isDisabled())
    await dialog.getByRole('button', { name: 'Cancel' }).click()

    await page.getByRole('button', { name: 'Rename…' }).click()
    await page.getByLabel('New name').fill('todo.see')
    await page.getByText('1 reference is changed too:').waitFor()
    await page.getByRole('button', { name: 'Rename', exact: true }).click()
    await page.getByRole('heading', { name: 'todo.see' }).waitFor()
    const text = await draft.read(main)
    assert.match(text, /scopes: \[todo\.see\]/)
    assert.match(text, /todo\.see: \{ description: See all to-dos \}/)
    await draft.write(main, text.replace(', scopes: [todo.see]', ''))
    await page.getByText('Nothing refers to it.').waitFor()
    await page.getByRole('button', { name: 'Delete todo.see' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete todo.see' }).click()
    await page.getByRole('heading', { name: 'Scopes', level: 1 }).waitFor()
    assert.doesNotMatch(await draft.read(main), /todo\.see/)
    assert.deepEqual(world.complaints, [])
  })

  // In CI, a scope of someone else is kept in the test above.
  longTest('a new scope of an event that someone else declares meanwhile is compared, not overwritten', async () => {
    await world.start()
    const { draft, page } = world
    await world.open('/events/todo_created')
    await page.getByRole('button', { name: 'New scope…' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('todo.watch')
    await page.getByRole('dialog').getByLabel('Description').fill('Watch to-dos')
    await page.getByRole('button', { name: 'Add scope' }).click()
    await page.getByText('2 unsaved changes').waitFor()
    const other = { at: '/scope/todo.watch', value: { description: 'See to-dos' } }
    assert.equal((await draft.call('PATCH /draft', { edits: [other] })).status, 200)
    await page.getByText(/^You changed this in another window/).waitFor()
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.getByRole('radio', { name: /Yours Watch to-dos/ }).click()
    await page.getByRole('button', { name: 'Continue with these values' }).click()
    await page.keyboard.press('Control+S')
    await page.getByText(savedText).waitFor()
    const text = await draft.read(main)
    assert.match(text, /todo\.watch:\s+(\{ )?description: Watch to-dos/)
    assert.match(text, /todo_created: .*scopes: \[ ?todo\.watch ?\]/, 'the other change is saved too')
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

  // In CI, on-a-server.test.ts imports a folder.
  longTest('definition files of another folder are imported, and nothing else', async () => {
    await world.start()
    const { draft, page } = world
    const folder = await mkdtemp(path.join(tmpdir(), 'waypost-import-'))
    const text = (await draft.read(main)).replace('A to-do was created', 'Imported')
    await writeFile(path.join(folder, main), text)
    await writeFile(path.join(folder, 'package.json'), '{}')
    await world.open('/changes')
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Import files' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.locator('input[type="file"]').setInputFiles(folder)
    await dialog.getByText('1 file differs').waitFor()
    await dialog.getByText('1 other file was skipped.').waitFor()
    assert.equal(await dialog.getByLabel('Delete files that are not in this folder').isChecked(), false)
    await dialog.getByRole('button', { name: 'Import 1 file' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('link', { name: '1 file changed' }).waitFor()
    assert.equal(await draft.read(main), text)
    await assert.rejects(draft.read('package.json'), { code: 'ENOENT' })
    await world.open('/events/todo_created')
    assert.equal(await page.getByLabel('Description').inputValue(), 'Imported')
    await rm(folder, { recursive: true })
    assert.deepEqual(world.complaints, [])
  })

  // In CI, events and scopes are edited in the same way.
  test('rates are added, changed and deleted; the error of a field does not move the next one', async () => {
    await world.start()
    const { draft, page } = world
    const before = await draft.read(main)
    await world.open('/settings?tab=rates')
    await page.getByRole('button', { name: 'New rate' }).click()
    await page.getByLabel('Name').fill('slow')
    await page.getByRole('button', { name: 'Add rate' }).click()
    await page.getByRole('button', { name: 'Edit slow' }).click()
    await page.getByLabel('Requests').fill('5')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByText(/^5 requests in/).waitFor()
    assert.match(await draft.read(main), /slow:[^#]*limit: 5/)
    await page.getByRole('button', { name: 'Delete slow' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete slow' }).click()
    await page.getByText('No rates are declared.').waitFor()
    await page.getByRole('button', { name: 'New rate' }).click()
    await page.getByLabel('Name').fill('broken')
    await page.getByLabel('In each').fill('soon')
    const requests = await page.getByLabel('Requests').boundingBox()
    await page.getByRole('button', { name: 'Add rate' }).click()
    await page.locator('.mantine-InputWrapper-error').waitFor()
    assert.deepEqual(await page.getByLabel('Requests').boundingBox(), requests, 'the error moved the next field')
    assert.equal((await page.getByLabel('In each').boundingBox())?.y, requests?.y)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Discard' }).click()
    assert.ok((await draft.read(main)).startsWith(before))
    assert.deepEqual(
      world.complaints.filter((one) => !one.includes('status of 422')), // the refused save
      [],
    )
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
    for (const path of isLong ? paths : paths.filter((_, index) => index % 2 === 0)) {
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
