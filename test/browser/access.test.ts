import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { addClient, addUser } from '../../src/auth/index.ts'
import { findHostClient, findHostUser, issueHostToken } from '../../src/operate/index.ts'
import { asCommand } from '../support/server.ts'
import { findFlaws, storeScreenshot } from '../support/browser.ts'
import { readTemplate } from '../support/template.ts'
import { until } from '../support/until.ts'
import { addAttacks, addLongNames, attack, long } from './access-names.ts'
import {
  goTo,
  logIn,
  logInAgain,
  openBackendWorld,
  openSignedIn,
  origin,
  password,
  type BackendWorld,
} from './backend-world.ts'
import { longTest } from '../support/forms.ts'

describe('the pages of users, clients, scopes and tokens', { timeout: 600_000 }, () => {
  let world: BackendWorld
  before(async () => {
    world = await openBackendWorld({
      files: {
        'waypost.yml': `${readTemplate('todo')['waypost.yml']}\nscope:\n  order: { description: '${attack}' }\n`,
      },
    })
  })
  after(() => world[Symbol.asyncDispose]())
  const post = (path: string, init: RequestInit) => fetch(world.server.url + path, { method: 'POST', ...init })

  /** Signs in again in the window that a dialog of the page opens. */
  async function signInAgain(page: Page, title: string): Promise<void> {
    const dialog = page.getByRole('dialog', { name: title })
    const opening = page.context().waitForEvent('page')
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    const window = await opening
    await logInAgain(window)
    await dialog.waitFor({ state: 'detached' })
  }

  const codes = (dialog: Locator) => dialog.locator('dd code').allTextContents()

  test('a user and a client are created, the secret is used, and a leaked token is found and revoked', async () => {
    await using opened = await world.open({ viewport: { width: 1440, height: 1000 } })
    const { page, complaints } = opened
    await openSignedIn(page, '/users')
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    const dialog = page.getByRole('dialog')

    await button('New user').click()
    await dialog.getByLabel('Name').fill('ann')
    await dialog.getByLabel('Password').fill(password)
    await dialog.getByLabel('order', { exact: true }).check()
    const consumer = dialog.getByLabel('consumer', { exact: true })
    assert.ok(await consumer.isChecked(), 'a default scope is selected')
    await consumer.uncheck()
    await dialog
      .getByText('waypost user:add ann --scopes order --password-stdin && waypost user:scopes ann --remove consumer')
      .waitFor()
    await button('Create user').click()
    await dialog.getByText('The user "ann" already exists').waitFor()
    assert.equal(await page.evaluate('document.activeElement.name'), 'name', 'the field with the problem has the focus')
    assert.equal(await dialog.getByLabel('Password').inputValue(), password)
    const isScrolledOut = (flaw: string) => flaw.startsWith('color-contrast') // of scopes below: undecided
    const flaws = await findFlaws(page)
    assert.deepEqual(
      flaws.filter((flaw) => !isScrolledOut(flaw)),
      [],
    )
    await storeScreenshot(page, 'access new user')
    await dialog.getByLabel('Name').fill('mia')
    await button('Create user').click()
    await page.getByRole('heading', { name: 'mia', exact: true }).waitFor()
    const login = await post('/consumer/login', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'mia', password }),
    })
    assert.equal(login.status, 200)
    assert.deepEqual((await findHostUser(world.server.host, 'mia')).scopes, ['order'])

    await page.getByRole('link', { name: 'Clients', exact: true }).click()
    await button('New client').click()
    await dialog.getByLabel('Name').fill('shop')
    await dialog.getByLabel('Owner').fill('mi')
    await dialog.getByRole('group', { name: 'Scopes' }).getByText('This user does not exist.').waitFor()
    await dialog.getByLabel('Owner').fill('mia')
    await dialog.getByLabel('order', { exact: true }).check()
    await button('Create client').click()
    await dialog.getByText('Copy it now.').waitFor()
    await dialog.getByRole('button', { name: 'Copy Client ID' }).and(page.locator(':focus')).waitFor()
    const [id = '', secret = ''] = await codes(dialog)
    await dialog.getByText(`curl -u ${id}:${secret}`).waitFor()
    assert.deepEqual(await findFlaws(page), [])
    await storeScreenshot(page, 'access secret')
    // Without a permission this browser denies copying. What is shown once is then selected, and going back would lose it.
    await dialog.getByRole('button', { name: 'Copy Client secret' }).click()
    await page.getByRole('status').getByText('The browser did not allow copying. The text is selected').waitFor()
    assert.equal(await page.evaluate('getSelection().toString()'), secret)
    await page.goBack()
    const leaving = page.getByRole('dialog', { name: 'Leave this page?' })
    await leaving.getByRole('button', { name: 'Cancel' }).click()
    await leaving.waitFor({ state: 'detached' })
    assert.deepEqual(await codes(dialog), [id, secret])
    const authorization = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`
    const issued = await post('/authorization/token', {
      headers: { authorization },
      body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'order' }),
    })
    const { access_token: token } = (await issued.json()) as { access_token: string }
    const isValid = async () =>
      (await fetch(`${world.server.url}/authorization/whoami`, { headers: { authorization: `Bearer ${token}` } })).ok
    assert.ok(await isValid())

    await button('Done').click()
    await page.getByRole('heading', { name: 'shop', exact: true }).waitFor()
    assert.ok(!(await page.content()).includes(secret), 'the secret is shown once')
    await button('New secret').click()
    await dialog.getByText('The old secret stops working immediately.').waitFor()
    await dialog.getByRole('button', { name: 'New secret' }).click()
    await dialog.getByText('Copy it now.').waitFor()
    assert.notEqual((await codes(dialog))[1], secret)
    await button('Done').click()
    await page.getByRole('link', { name: 'Show all' }).click()
    const row = page.getByRole('row', { name: 'shop' })
    await row.getByRole('button').click()
    await page.getByRole('menuitem', { name: 'Revoke' }).click()
    await dialog.getByText('It is a token of mia for the client shop.').waitFor()
    await dialog.getByRole('button', { name: 'Revoke' }).click()
    await row.waitFor({ state: 'detached' })
    await page.getByRole('status').getByText('Revoked the token of mia for the client shop').waitFor()
    assert.equal(await isValid(), false)

    await goTo(page, '/users/mia', 'mia')
    await button('Disable').click()
    await dialog.getByText('Ends 1 token immediately.').waitFor()
    await dialog.getByText('waypost user:disable mia').waitFor()
    assert.deepEqual(await findFlaws(page), [])
    await dialog.getByRole('button', { name: 'Disable mia' }).click()
    await page.getByText('Disabled mia. Ended 1 token').waitFor()
    assert.equal((await findHostUser(world.server.host, 'mia')).status, 'disabled')
    assert.deepEqual(
      complaints.filter((one) => !one.includes('409')),
      [],
    )
  })

  // In CI, pages with unsaved changes ask too.
  longTest('a dialog asks before it discards input, and not without', async () => {
    await using opened = await world.open({ viewport: { width: 1440, height: 1000 } })
    const { page, complaints } = opened
    for (const [path, name, field] of [
      ['/users', 'New user', 'Name'],
      ['/clients', 'New client', 'Name'],
    ] as const) {
      if (path === '/users') await openSignedIn(page, path)
      else await page.getByRole('link', { name: 'Clients', exact: true }).click()
      const open = () => page.getByRole('button', { name, exact: true }).click()
      const form = page.getByRole('dialog', { name, exact: true })
      const asked = page.getByRole('dialog', { name: 'Discard what you entered?' })
      await open()
      await page.keyboard.press('Escape')
      await form.waitFor({ state: 'detached' })
      await open()
      await form.getByLabel(field, { exact: true }).fill('half')
      await page.keyboard.press('Escape')
      await asked.waitFor()
      const isUnderneath = (flaw: string) => flaw.startsWith('color-contrast') // undecided below the overlay
      assert.deepEqual(
        (await findFlaws(page)).filter((flaw) => !isUnderneath(flaw)),
        [],
      )
      await page.keyboard.press('Escape')
      await asked.waitFor({ state: 'detached' })
      assert.equal(await form.getByLabel(field, { exact: true }).inputValue(), 'half')
      await form.getByRole('button', { name: 'Cancel' }).click()
      await asked.getByRole('button', { name: 'Keep editing' }).click()
      await asked.waitFor({ state: 'detached' })
      await form.getByRole('button', { name: 'Close' }).click()
      await asked.getByRole('button', { name: 'Discard' }).click()
      await form.waitFor({ state: 'detached' })
    }
    assert.deepEqual(complaints, [])
  })

  // In CI, backend/access-api.test.ts finds the token, and the test above revokes one.
  longTest('a pasted token shows whose it is before it is revoked', async () => {
    const { host } = world.server
    await addUser(host.system, { name: 'pat', scopes: ['order'] })
    const issued = await issueHostToken(asCommand(host), { user: 'pat', scopes: ['order'], expires: '1h' })
    await using opened = await world.open({ viewport: { width: 1440, height: 1000 } })
    const { page } = opened
    await openSignedIn(page, '/tokens')
    const paste = async (token: string) => {
      await page.getByRole('button', { name: 'Revoke a token' }).click()
      await page.getByLabel('Token or its ID').fill(token)
      await page.getByRole('button', { name: 'Show token' }).click()
    }
    await paste(issued.access_token)
    const dialog = page.getByRole('dialog', { name: `Revoke the token ${issued.jti.slice(0, 8)}?` })
    for (const text of ['pat', 'login', 'order']) await dialog.getByText(text, { exact: true }).waitFor()
    assert.deepEqual(await findFlaws(page), [])
    await storeScreenshot(page, 'access pasted token')
    await dialog.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('status').getByText('Revoked the token of pat').waitFor()
    await paste(issued.jti)
    await dialog.getByText('It was already revoked.').waitFor()
    assert.ok(await dialog.getByRole('button', { name: 'Revoke' }).isDisabled())
  })

  test('an edit survives another change, the question for the password, and the end of the session', async () => {
    const { host } = world.server
    await addUser(host.system, { name: 'ida', scopes: ['todo'] })
    await using opened = await world.open()
    const { page } = opened
    await openSignedIn(page, '/users/ida')
    const email = page.getByLabel('Email')
    const save = page.getByRole('button', { name: 'Save changes' })
    const saved = () => page.getByRole('status').getByText('Saved').waitFor()
    const stored = async () => (await findHostUser(host, 'ida')).email
    await page.getByText('waypost token:issue --user ida').waitFor()
    assert.ok(await save.isDisabled(), 'nothing changed')
    await email.fill('ida@example.com')
    await host.system.db
      .updateTable('waypost_user')
      .set({ email: 'new@example.com' })
      .where('name', '=', 'ida')
      .execute()
    await save.click()
    await page.getByRole('alert').getByText('Someone else changed this').waitFor()
    await page.getByText('Now: new@example.com').waitFor()
    assert.equal(await email.inputValue(), 'ida@example.com')
    await save.click()
    await saved()
    assert.equal(await stored(), 'ida@example.com')

    world.clock.forward(16 * 60_000)
    await page.getByLabel('order', { exact: true }).check()
    await page.getByText('waypost user:scopes ida --add order').waitFor()
    await save.click()
    await signInAgain(page, 'Enter your password again')
    await page.getByText('waypost user:scopes ida').waitFor({ state: 'detached' })
    assert.deepEqual((await findHostUser(host, 'ida')).scopes, ['order', 'todo'])

    await page.evaluate('window.isSamePage = true')
    await email.fill('late@example.com')
    world.clock.forward(9 * 3_600_000)
    // A query in the background may show the dialog first, which then covers the button.
    await save.dispatchEvent('click')
    const dialog = page.getByRole('dialog', { name: 'Your session has expired' })
    await dialog.waitFor()
    assert.equal(await email.inputValue(), 'late@example.com')
    await signInAgain(page, 'Your session has expired')
    await saved()
    assert.equal(await stored(), 'late@example.com')
    assert.equal(await page.evaluate('window.isSamePage'), true)
  })

  test('unsaved changes are not lost without a warning', async () => {
    const { system } = world.server.host
    await addUser(system, { name: 'una', scopes: ['todo'] })
    const parts = { scopes: [], redirectUris: [], public: false, grants: ['client_credentials'] }
    const { id } = await addClient(system, { ...parts, name: 'desk', user: 'una' })
    await using opened = await world.open()
    const { page } = opened
    const dialogs: string[] = []
    page.on('dialog', (one) => {
      dialogs.push(one.type())
      void one.dismiss()
    })
    const dialog = page.getByRole('dialog', { name: 'Leave without saving?' })
    const servers = page.getByRole('link', { name: 'Servers', exact: true })
    await openSignedIn(page, '/users/una')
    const todo = page.getByLabel('todo', { exact: true })
    await todo.uncheck()
    await page.getByText('will be removed').waitFor()
    await servers.click()
    await dialog.waitFor()
    assert.deepEqual(await findFlaws(page), [])
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    assert.equal(await todo.isChecked(), false)
    await page.evaluate('void location.reload()')
    await until('the browser asks', () => dialogs.length > 0)
    assert.deepEqual(dialogs, ['beforeunload'])
    assert.equal(await todo.isChecked(), false)
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('will be removed').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'desk' }).click()
    await page.getByLabel('Name').fill('desk 2')
    await servers.click()
    await dialog.getByRole('button', { name: 'Leave page' }).click()
    await page.getByRole('heading', { name: 'Servers', exact: true }).waitFor()
    assert.equal((await findHostClient(world.server.host, id)).name, 'desk')
    assert.equal(dialogs.length, 1)
  })

  // In CI, dialogs are checked at their usual height.
  longTest('the buttons of a high dialog are visible', async () => {
    await using opened = await world.open({ viewport: { width: 1280, height: 600 } })
    const { page } = opened
    for (const [path, open, create] of [
      ['/users', 'New user', 'Create user'],
      ['/clients', 'New client', 'Create client'],
    ] as const) {
      await page.goto(`${origin}/backend/ui${path}`)
      if (path === '/users') await logIn(page)
      await page.getByRole('button', { name: open }).click()
      await page.getByRole('dialog').getByLabel('todo', { exact: true }).waitFor()
      await storeScreenshot(page, `access ${open} 600`)
      await page.getByRole('button', { name: create }).waitFor()
      const isVisible = `(button) => {
        const { x, y, width, height } = button.getBoundingClientRect()
        return button.contains(document.elementFromPoint(x + width / 2, y + height - 2))
      }`
      await until('it is visible', async () =>
        page.evaluate<boolean>(`(${isVisible})(document.querySelector('[role="dialog"] [type="submit"]'))`),
      )
    }
  })

  // In CI, lists are checked with names of usual length.
  longTest('long names do not push columns out of the lists', async () => {
    const { host } = world.server
    await addLongNames(host)
    await using opened = await world.open({ viewport: { width: 1440, height: 1000 } })
    const { page } = opened
    await openSignedIn(page, '/users')
    for (const [path, title] of Object.entries({ '/users': 'Users', '/clients': 'Clients', '/tokens': 'Tokens' })) {
      await goTo(page, path, title)
      await page
        .getByText(long(path === '/clients' ? 'client' : 'user'))
        .first()
        .waitFor()
      for (const width of [1440, 1024]) {
        await page.setViewportSize({ width, height: 1000 })
        const overflow =
          'document.querySelector("#content").scrollWidth - document.querySelector("#content").clientWidth'
        assert.equal(await page.evaluate(overflow), 0, `${path}, ${width}`)
      }
    }
    // A name that is still being typed is that of no one.
    const filter = page.getByRole('button', { name: 'Filter', exact: true })
    await filter.click()
    await page.getByLabel('User', { exact: true }).fill('us')
    await page.keyboard.press('Escape') // at once: the filter is applied nevertheless
    await page.getByRole('heading', { name: 'No matches' }).waitFor()
    await filter.and(page.locator(':focus')).waitFor()
    await page.getByRole('button', { name: 'Remove filter User: us' }).press('Enter')
    await filter.and(page.locator(':focus')).waitFor()
  })

  // In CI, portal-hazards.test.ts has such texts, and test/repo/user-texts.test.ts finds code that would read them as HTML.
  longTest('show texts that look like HTML as texts', async () => {
    const id = await addAttacks(world.server.host)
    await using opened = await world.open()
    const { page, complaints } = opened
    const dialogs: string[] = []
    page.on('dialog', (one) => {
      dialogs.push(one.message())
      void one.dismiss()
    })
    await openSignedIn(page, `/users?search=${encodeURIComponent(attack)}`)
    const look = async (text: string) => {
      await page.getByText(text).first().waitFor()
      assert.equal(await page.locator('img').count(), 0, page.url())
    }
    await look(attack)
    await page.getByRole('button', { name: `Actions: ${attack}` }).click()
    await page.getByRole('menuitem', { name: 'Disable' }).click()
    await look(`Disable ${attack}?`)
    for (const path of [
      `/clients/${id}`,
      '/clients',
      '/scopes',
      '/users/ann',
      `/users/${encodeURIComponent(attack)}`,
    ]) {
      await page.goto(`${origin}/backend/ui${path}`)
      await page.locator('#content h1, #content [role="alert"]').first().waitFor()
      await look(path === '/users/ann' ? 'onerror' : path.includes('img') ? 'does not match' : attack)
    }
    assert.deepEqual(dialogs, [])
    assert.deepEqual(
      complaints.filter((one) => !one.includes('400')),
      [],
    )
  })
})
