// Edits beside those of others: saves under way, an editor, another session, another administrator.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { chooseMore, findFlaws } from '../support/browser.ts'
import { until } from '../support/until.ts'
import { openEditing, savedText, type EditWorld } from './edit-world.ts'

const main = 'waypost.yml'

describe('editing in dev beside others', { timeout: 600_000 }, () => {
  let world: EditWorld
  before(async () => {
    world = await openEditing()
  })
  after(() => world[Symbol.asyncDispose]())

  test('leaving waits for a save that runs; what is typed into a file meanwhile stays', async () => {
    await world.start()
    const { draft, page } = world
    await world.open('/events/todo_created')
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

  test('a file that is edited as text and in an editor keeps both changes', async () => {
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
    const dialog = page.getByRole('dialog', { name: 'Changed since you started' })
    await dialog.getByRole('region', { name: `Differences of ${main}` }).waitFor()
    assert.deepEqual(await findFlaws(page), [])
    await dialog.getByRole('button', { name: 'Keep both changes' }).click()
    await page.keyboard.press('Control+S')
    await page.getByText(savedText).waitFor()
    assert.equal(await draft.read(main), `# theirs\n${text}# mine\n`)
  })

  test('an expired session asks to sign in again; the edit stays and is saved', async () => {
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
    const conflict = page.getByRole('dialog', { name: 'Changed since you started' })
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
    await chooseMore(page, 'Delete todo.watch')
    const dialog = page.getByRole('dialog')
    await dialog.getByText(/^waypost\.yml:\d+$/).waitFor()
    assert.ok(await dialog.getByRole('button', { name: 'Delete todo.watch' }).isDisabled())
    await dialog.getByRole('button', { name: 'Cancel' }).click()

    await chooseMore(page, 'Rename…')
    await page.getByLabel('New name').fill('todo.see')
    await page.getByText('1 reference is changed too:').waitFor()
    await page.getByRole('button', { name: 'Rename', exact: true }).click()
    await page.getByRole('heading', { name: 'todo.see' }).waitFor()
    const text = await draft.read(main)
    assert.match(text, /scopes: \[todo\.see\]/)
    assert.match(text, /todo\.see: \{ description: See all to-dos \}/)
    await draft.write(main, text.replace(', scopes: [todo.see]', ''))
    await page.getByText('Nothing refers to it.').waitFor()
    await chooseMore(page, 'Delete todo.see')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete todo.see' }).click()
    await page.getByRole('heading', { name: 'Scopes', level: 1 }).waitFor()
    assert.doesNotMatch(await draft.read(main), /todo\.see/)
    assert.deepEqual(world.complaints, [])
  })

  test('a new scope of an event that someone else declares meanwhile is compared, not overwritten', async () => {
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

  test('a page whose code cannot be loaded says so; loading data again keeps what was typed', async () => {
    await world.start()
    const { page } = world
    await world.open('/events/todo_created')
    const gateway = { status: 502, contentType: 'text/html', body: '<html><h1>502 Bad Gateway</h1></html>' }
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

  test('Try it keeps what was typed when the method changes, and gets its new fields', async () => {
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
})
