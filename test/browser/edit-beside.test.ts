// Edits beside those of others: saves under way, an editor, another session, another administrator.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { chooseMore, findFlaws } from '../support/browser.ts'
import { until } from '../support/until.ts'
import { openEditing, savedText, type EditWorld } from './edit-world.ts'
import { longTest } from '../support/forms.ts'

const main = 'waypost.yml'

describe('editing in dev beside others', { timeout: 600_000 }, () => {
  let world: EditWorld
  before(async () => {
    world = await openEditing()
  })
  after(() => world[Symbol.asyncDispose]())

  test('what is typed while a save runs stays, and is saved next; leaving waits for the save', async () => {
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

  // In CI, access.test.ts has an edit that survives the end of the session.
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

  // In CI, backend-edit.test.ts does so with an event, project/draft/edit.test.ts renames, and the test below compares.
  longTest(
    'a scope is declared, described, renamed with its uses and deleted; that of someone else is not overwritten',
    async () => {
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

      await draft.write(
        main,
        (await draft.read(main)).replace('schema: Todo }', 'schema: Todo, scopes: [todo.watch] }'),
      )
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
    },
  )

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
})
