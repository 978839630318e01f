import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { findFlaws } from '../support/browser.ts'
import { isLong, longTest } from '../support/forms.ts'
import { bearer } from '../support/server.ts'
import { checkLooks, checkOverlay, checkPage, goTo } from './backend-world.ts'
import { attack, codes, focused, newPassword, others, parts, withPartners } from './portal-partners.ts'
import { openPortal, origin, password, root } from './portal-world.ts'

const phone = { viewport: { width: 390, height: 844 } }

describe('account, clients, tokens and connected clients in the portal', { timeout: 600_000 }, () => {
  const { world, getToken, statusOf, login, makeClient, connect } = withPartners(['flo', 'gus', 'hal', 'ida'])

  test('a partner registers, creates a client on a phone, and replaces its secret', async () => {
    await using opened = await world().open(phone)
    const { page, complaints } = opened
    const { button, dialog, content } = parts(page)
    await page.goto(`${origin}${root}/clients`)
    await content.getByRole('button', { name: 'Create account' }).click()
    await page.getByLabel('Username').fill('dora')
    await page.getByLabel('Password').fill(newPassword)
    await button('Create account').click()
    await content.getByRole('heading', { name: 'No clients yet' }).waitFor()
    assert.equal(page.url(), `${origin}${root}/clients`)

    await button('New client').click()
    assert.ok(await dialog.getByLabel('todo', { exact: true }).isChecked(), 'the only scope of the API is selected')
    await dialog.getByText('Read and change to-dos').waitFor()
    await button('Create client').click()
    await dialog.getByText('Enter a name').waitFor()
    assert.equal(await focused(page), 'name')
    await dialog.getByLabel('Name').fill('Waypost login')
    await button('Create client').click()
    await dialog.getByText('The client name is not allowed').waitFor()
    assert.equal(await focused(page), 'name')
    await dialog.getByLabel('Name').fill(`Stock ${attack}`)
    await button('Create client').click()
    await dialog.getByText('Copy it now.').waitFor()
    const [id = '', secret = ''] = await codes(page)
    await dialog.getByText(`curl -u ${id}:${secret}`).waitFor()
    await dialog.getByText(`${origin}/todo`).waitFor()
    const token = await getToken(id, secret)
    assert.equal(await statusOf(token), 200)

    await button('Done').click()
    await content.getByRole('heading', { name: `Stock ${attack}`, exact: true }).waitFor()
    assert.ok(!(await page.content()).includes(secret), 'the secret is shown once')
    await button('New secret').click()
    await dialog.getByText('The old secret stops working immediately.').waitFor()
    await dialog.getByLabel('Also revoke all tokens of this client').check()
    await dialog.getByRole('button', { name: 'New secret' }).click()
    await dialog.getByText('Copy it now.').waitFor()
    const [, renewed = ''] = await codes(page)
    assert.equal(await getToken(id, secret), undefined, 'the old secret fails')
    assert.equal(await statusOf(token), 401)
    assert.equal(await statusOf(await getToken(id, renewed)), 200)
    await button('Done').click()
    assert.deepEqual(others(complaints), [])
  })

  // In CI, test/consumer/account.test.ts changes both over HTTP and ends what was issued; the last test opens the page.
  longTest('email address and password are changed; other sessions and clients end, this one goes on', async () => {
    const { id, secret } = await makeClient('flo', 'Night job')
    const other = await login('flo')
    await using opened = await world().open(phone)
    const { page, complaints } = opened
    const { button, content, status } = parts(page)
    await openPortal(page, '/account', 'flo')
    await content.getByText('Read and change to-dos').waitFor()
    await content.getByText(attack).waitFor()
    await content.getByLabel('Email', { exact: true }).fill('flo')
    await button('Save email').click()
    await content.getByText('Enter an email address').waitFor()
    assert.equal(await focused(page), 'email')
    await content.getByLabel('Email', { exact: true }).fill('flo@example.com')
    await button('Save email').click()
    await status('Saved the email address')

    const fill = async (old: string, word: string) => {
      await content.getByLabel('Current password', { exact: true }).fill(old)
      await content.getByLabel('New password', { exact: true }).fill(word)
      await button('Change password').click()
    }
    await content.getByLabel('Disable my clients that use client_credentials').check()
    await fill('wrong horse', newPassword)
    await content.getByText('The old password is wrong').waitFor()
    assert.equal(await focused(page), 'old')
    await fill(password, 'flo@example.com')
    await content.getByText('The password must not be the username or the email address').waitFor()
    assert.equal(await focused(page), 'new')
    await fill(password, newPassword)
    await status('Changed the password')
    assert.equal(await content.getByLabel('New password', { exact: true }).inputValue(), '')
    assert.equal(await statusOf(other, '/consumer/account'), 401)
    assert.equal(await getToken(id, secret), undefined)
    assert.equal(await login('flo'), undefined)
    assert.notEqual(await login('flo', newPassword), undefined)
    await goTo(page, `/clients/${id}`, 'Night job', root)
    await content.getByText('Disabled').waitFor()
    await goTo(page, '/account', 'Account', root)
    assert.equal(await content.getByLabel('Email', { exact: true }).inputValue(), 'flo@example.com')
    assert.deepEqual(others(complaints), [])
  })

  // In CI, test/consumer/account.test.ts changes it over HTTP.
  longTest('a password change can disable all subscriptions', async () => {
    const send = async (method: string, path: string, token: string | undefined, body?: unknown) => {
      const headers = { ...bearer(token ?? ''), ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
      const response = await world().call(path, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      assert.ok(response.ok, `${method} ${path}: ${response.status}`)
      return (await response.json()) as { id: string; status: string }
    }
    const made = { event: 'todo_created', endpoint: 'http://127.0.0.1:9/hook' }
    const { id } = await send('POST', '/consumer/subscription', await login('hal'), made)
    const change = async (page: Page, old: string, word: string) => {
      const { button, content, status } = parts(page)
      await content.getByLabel('Current password', { exact: true }).fill(old)
      await content.getByLabel('New password', { exact: true }).fill(word)
      await button('Change password').click()
      await status('Changed the password')
    }
    await using opened = await world().open()
    const { page, complaints } = opened
    await openPortal(page, '/account', 'hal')
    await change(page, password, newPassword)
    const read = async () => send('GET', `/consumer/subscription/${id}`, await login('hal', newPassword))
    assert.equal((await read()).status, 'active')
    await page.reload() // the other sessions have ended
    await page.locator('#content').getByRole('button', { name: 'Sign in' }).click()
    await page.getByLabel('Username').fill('hal')
    await page.getByLabel('Password').fill(newPassword)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await parts(page).content.getByLabel('Disable my subscriptions').check()
    await change(page, newPassword, `${newPassword} bank`)
    await goTo(page, `/subscriptions/${id}`, 'todo_created', root)
    await page.locator('#content .state').getByText('disabled', { exact: true }).waitFor()
    assert.deepEqual(others(complaints), [])
  })

  // In CI, test/consumer reaches the limits over HTTP.
  longTest('limits are explained where they were reached', async () => {
    const { db } = world().server.host.system
    const { id: user } = await db
      .selectFrom('waypost_user')
      .select('id')
      .where('name', '=', 'ida')
      .executeTakeFirstOrThrow()
    for (let count = 0; count < 50; count++) await makeClient('ida', `Client ${count}`)
    const used = { bucket: JSON.stringify(['try', user]), count: 30, expires_at: Date.now() + 3_600_000 }
    await db.insertInto('waypost_throttle').values(used).execute()
    await using opened = await world().open()
    const { page, complaints } = opened
    const { button, dialog, content } = parts(page)
    await openPortal(page, '/clients', 'ida')
    await button('New client').click()
    await dialog.getByLabel('Name').fill('One too many')
    await dialog.getByLabel('todo', { exact: true }).check()
    await button('Create client').click()
    const alert = dialog.getByRole('alert')
    await alert.getByText('You have reached the limit of 50 clients').waitFor()
    await alert.getByText('Delete a client that you no longer need.').waitFor()
    assert.equal(await dialog.getByLabel('Name').inputValue(), 'One too many')
    // The buttons stay in view, and would cover it.
    const isSeen = `[...document.querySelectorAll('[role=dialog] [role=alert]')].every((one) => {
      const { left, top, width, height } = one.getBoundingClientRect()
      return one.contains(document.elementFromPoint(left + width / 2, top + height / 2))
    })`
    assert.equal(await page.evaluate(isSeen), true)
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await button('Discard').click()
    await goTo(page, '/tokens', 'Tokens', root)
    await content.getByRole('row', { name: 'this session' }).waitFor()
    await button('Create a token').click()
    await dialog.getByRole('button', { name: 'Create a token' }).click()
    await alert.getByText('More than 30 tokens for trying calls were requested within a minute').waitFor()
    await alert.getByText(/^Try again in \d/).waitFor()
    await page.keyboard.press('Escape')
    await goTo(page, '/clients', 'Clients', root)
    assert.equal(await content.getByRole('row', { name: 'One too many' }).count(), 0)
    assert.deepEqual(
      complaints.filter((one) => !/status of (409|429)/.test(one)),
      [],
    )
  })

  // In CI, test/consumer/grants.test.ts withdraws it over HTTP; the last test opens the page.
  longTest('an app of someone else appears among the connected clients until its access is withdrawn', async () => {
    await using opened = await world().open()
    const { page, complaints } = opened
    const { button, dialog, content, status } = parts(page)
    await openPortal(page, '/grants', 'gus')
    await content.getByRole('heading', { name: 'No connected clients' }).waitFor()
    const kept = await connect(page, 'Photo album')
    const token = await connect(page, attack)
    assert.equal(await statusOf(token), 200)
    await page.reload()
    await content.getByRole('heading', { name: attack, exact: true }).waitFor()
    await content.getByText('Read and change to-dos').first().waitFor()
    await button(`Withdraw access: ${attack}`).click()
    await dialog.getByText('The subscriptions that it created for you are deleted.').waitFor()
    assert.deepEqual(await findFlaws(page), [])
    await dialog.getByRole('button', { name: 'Withdraw access' }).click()
    await status('Withdrew the access of')
    await content.getByRole('heading', { name: attack, exact: true }).waitFor({ state: 'detached' })
    assert.equal(await statusOf(token), 401)
    assert.equal(await statusOf(kept), 200, 'that of another app is kept')
    assert.deepEqual(others(complaints), [])
  })

  // In CI, portal-reference.test.ts tries with a token, and consumer/tokens.test.ts revokes.
  longTest('a token is created for trying, and one is revoked', async () => {
    const { id, secret } = await makeClient('gus', 'Importer')
    const token = await getToken(id, secret)
    await using opened = await world().open()
    const { page, complaints } = opened
    const { button, dialog, content, status } = parts(page)
    await openPortal(page, '/tokens', 'gus')
    await content.getByRole('row', { name: 'this session' }).waitFor()
    await button('Create a token').click()
    assert.ok(!(await dialog.getByLabel('consumer', { exact: true }).isChecked()))
    await dialog.getByLabel('note', { exact: true }).uncheck()
    await dialog.getByRole('button', { name: 'Create a token' }).click()
    await dialog.getByText('Copy it now.').waitFor()
    const [tried = ''] = await codes(page)
    assert.equal(await statusOf(tried), 200)
    assert.equal(await statusOf(tried, '/consumer/account'), 403)
    assert.deepEqual(await findFlaws(page), [])
    await button('Done').click()
    await content.getByRole('row', { name: 'API reference' }).waitFor()

    await using elsewhere = await world().open()
    await openPortal(elsewhere.page, '/', 'gus')
    await page.reload()
    await content.getByRole('row', { name: 'Portal' }).nth(1).waitFor()
    // The newest is that of this page, then that of the other browser, then that of this page before the reload.
    const portals = content.getByRole('row', { name: 'Portal' })
    await portals.nth(1).getByRole('button').click()
    await page.getByRole('menuitem', { name: 'Revoke' }).click()
    await dialog.getByText('If another browser uses it, that browser is signed out.').waitFor()
    await dialog.getByRole('button', { name: 'Revoke' }).click()
    await status('Revoked a token of Portal')
    await elsewhere.page.reload()
    await elsewhere.page.getByRole('banner').getByRole('button', { name: 'Sign in' }).waitFor()

    const row = content.getByRole('row', { name: 'Importer' })
    await row.getByRole('button').click()
    await page.getByRole('menuitem', { name: 'Revoke' }).click()
    await dialog.getByText('Importer can get new tokens with its secret.').waitFor()
    await dialog.getByRole('button', { name: 'Revoke' }).click()
    await status('Revoked a token of Importer')
    await row.waitFor({ state: 'detached' })
    assert.equal(await statusOf(token), 401)
    assert.deepEqual(others(complaints), [])
  })

  test('the pages are accessible in both colour schemes, also 390 pixels wide', async () => {
    const { id } = await makeClient('bea', 'Order import')
    const long = 'A client whose name is as long as names can be, with 64 letters.'
    const redirectUris = ['https://orders.example.com/signed-in', 'http://localhost:8080/callback']
    const grants = ['authorization_code', 'refresh_token']
    const website = await makeClient('bea', long, { grants, redirectUris })
    await using opened = await world().open({ viewport: { width: 1440, height: 900 } })
    const { page, complaints } = opened
    const { button, dialog } = parts(page)
    await openPortal(page, '/grants')
    await checkLooks(page, { '/grants': 'Connected clients' }, root) // without any
    await connect(page, 'Photo album')
    await connect(page, attack)
    await page.reload()
    await page.getByRole('heading', { name: 'Photo album', exact: true }).waitFor()
    await checkLooks(
      page,
      {
        '/account': 'Account',
        '/clients': 'Clients',
        [`/clients/${id}`]: 'Order import',
        [`/clients/${website.id}`]: long,
        '/tokens': 'Tokens',
        '/grants': 'Connected clients',
      },
      root,
    )
    if (!isLong) return // overlays.test.ts opens dialogs
    for (const [path, title, names] of [
      [`/clients/${id}`, 'Order import', ['New secret', 'Disable', 'Delete']],
      ['/tokens', 'Tokens', ['Create a token']],
      ['/grants', 'Connected clients', ['Withdraw access: Photo album']],
      ['/clients', 'Clients', ['New client']],
    ] as const) {
      await goTo(page, path, title, root)
      for (const name of names) await checkOverlay('dialog', button(name))
    }
    await button('New client').click()
    await dialog.getByLabel('A website with a server').check()
    await checkPage(page, 'portal new client')
    assert.deepEqual(others(complaints), [])
  })
})
