import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { addClient, addUser } from '../../src/auth/index.ts'
import { changeHostClientStatus } from '../../src/operate/index.ts'
import { findFlaws } from '../support/browser.ts'
import { makePkce, openClientSite, type ClientSite } from '../support/client-site.ts'
import { asCommand, basic, bearer } from '../support/server.ts'
import { lacksShell } from '../support/shell.ts'
import { readTemplate } from '../support/template.ts'
import { checkLooks, checkOverlay, checkPage, goTo } from './backend-world.ts'
import { openPortal, openPortalWorld, origin, password, root, type PortalWorld } from './portal-world.ts'
import { isLong, longTest } from '../support/forms.ts'

const attack = '"><img src=x onerror=alert(1)>'
const newPassword = 'a quiet otter by the river'
const phone = { viewport: { width: 390, height: 844 } }
const routes = 'resources/routes/todo/collection.yml'
const scopes = `  scopes_default: [consumer, todo]
scope:
  todo: { description: Read and change to-dos }
  note: { description: '${attack} يمين' }
`

describe('account, clients, tokens and connected clients in the portal', { timeout: 600_000 }, () => {
  let world: PortalWorld
  let site: ClientSite
  before(async () => {
    // Its list of to-dos needs a token.
    const files = { [routes]: (readTemplate('todo')[routes] ?? '').replace('    public: true\n', '') }
    world = await openPortalWorld({ config: scopes, files })
    site = await openClientSite()
    for (const name of ['ed', 'flo', 'gus', 'hal', 'ida'])
      await addUser(world.server.host.system, { name, password, scopes: ['consumer', 'note', 'todo'] })
  })
  after(async () => {
    await world[Symbol.asyncDispose]()
    await site[Symbol.asyncDispose]()
  })

  const parts = (page: Page) => ({
    button: (name: string) => page.getByRole('button', { name, exact: true }),
    dialog: page.getByRole('dialog'),
    content: page.locator('#content'),
    status: (text: string) => page.getByRole('status').getByText(text).waitFor(),
  })
  const focused = (page: Page) => page.evaluate<string>('document.activeElement.name')
  const codes = (page: Page) => page.getByRole('dialog').locator('.secret code').allTextContents()

  const getToken = async (id: string, secret: string): Promise<string | undefined> => {
    const response = await world.call('/authorization/token', {
      method: 'POST',
      headers: basic(id, secret),
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    })
    return ((await response.json()) as { access_token?: string }).access_token
  }
  const statusOf = async (token: string | undefined, path = '/todo') =>
    (await world.call(path, { headers: bearer(token ?? '') })).status
  const login = async (username: string, word = password) => {
    const response = await world.call('/consumer/login', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username, password: word }),
    })
    return ((await response.json()) as { token?: string }).token
  }
  const makeClient = async (user: string, name: string, more: Partial<Parameters<typeof addClient>[1]> = {}) => {
    const grants = ['client_credentials']
    const client = { name, user, scopes: ['todo'], grants, redirectUris: [], public: false, ...more }
    const { id, secret = '' } = await addClient(world.server.host.system, client)
    return { id, secret }
  }
  /** Without what browsers say about responses that the test provokes. */
  const others = (complaints: readonly string[]) => complaints.filter((one) => !/status of (400|403|404)/.test(one))

  test('a partner registers, creates a client on a phone, and replaces its secret', async () => {
    await using opened = await world.open(phone)
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
    await dialog.getByText('The old secret stops working at once.').waitFor()
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

  // auth/authorize/redeem.test.ts and clients/ run the flow.
  const skip = (!isLong && 'long form') || lacksShell
  test('the commands for a website sign a user in, get a token and call the API', { skip }, async () => {
    await using opened = await world.open()
    const { page, complaints } = opened
    const { button, dialog } = parts(page)
    await openPortal(page, '/clients')
    await button('New client').click()
    await dialog.getByLabel('Name').fill('Web shop')
    await dialog.getByLabel('A website with a server').check()
    await dialog.getByLabel('Redirect URIs').fill(site.redirectUri)
    await button('Create client').click()
    await dialog.getByText('Copy it now.').waitFor()
    const [create = '', address = '', exchange = '', call = ''] = await dialog.locator('pre').allTextContents()
    const run = async (command: string, env: NodeJS.ProcessEnv = {}) => {
      const local = command.replaceAll(origin, world.server.url)
      return (await promisify(execFile)('sh', ['-c', local], { env: { ...process.env, ...env } })).stdout.trim()
    }
    const [VERIFIER = '', challenge = ''] = (await run(`${create}\necho "$VERIFIER $CHALLENGE"`)).split(' ')
    const window = await page.context().newPage()
    await window.goto(address.replace('code_challenge=…', `code_challenge=${challenge}`).replace('state=…', 'state=x'))
    await window.getByRole('heading', { name: 'Back at the client' }).waitFor() // own clients need no consent
    const CODE = site.answers.at(-1)?.searchParams.get('code') ?? ''
    const { access_token: TOKEN } = JSON.parse(await run(exchange, { VERIFIER, CODE })) as { access_token: string }
    const { entry } = JSON.parse(await run(call, { TOKEN })) as { entry: unknown }
    assert.ok(Array.isArray(entry))
    assert.deepEqual(others(complaints), [])
  })

  // In CI, consumer/clients.test.ts changes it, and access.test.ts clicks the same in the backend.
  longTest('a client is changed, disabled, enabled and deleted', async () => {
    const { id, secret } = await makeClient('ed', 'Sync', { scopes: ['todo', 'note'] })
    await using opened = await world.open()
    const { page, complaints } = opened
    const { button, dialog, content, status } = parts(page)
    await openPortal(page, '/clients', 'ed')
    await button('New client').click()
    await dialog.getByLabel('Name').fill('Shop window')
    await dialog.getByLabel('A page in the browser, or an app').check()
    await dialog.getByLabel('Redirect URIs').fill('http://shop.example.com/back')
    await button('Create client').click()
    await dialog.getByText('Select at least one scope').waitFor()
    await dialog.getByLabel('note', { exact: true }).check()
    await button('Create client').click()
    await dialog.getByText('is not a valid redirect URI').waitFor()
    assert.equal(await focused(page), 'redirect_uris')
    assert.equal(await dialog.getByLabel('Name').inputValue(), 'Shop window')
    await dialog.getByLabel('Redirect URIs').fill('https://shop.example.com/back')
    await button('Create client').click()
    await content.getByRole('heading', { name: 'Shop window', exact: true }).waitFor()
    await content.getByText('redirect_uri=https%3A%2F%2Fshop.example.com%2Fback').waitFor()
    assert.equal(await button('New secret').count(), 0, 'a public client has no secret')

    await goTo(page, `/clients/${id}`, 'Sync', root)
    const token = await getToken(id, secret)
    await content.getByLabel('Name').fill('Stock sync')
    await content.getByLabel('todo', { exact: true }).uncheck()
    await content.getByText('Tokens lose removed scopes').waitFor()
    await button('Save changes').click()
    await status('Saved the client')
    await content.getByRole('heading', { name: 'Stock sync', exact: true }).waitFor()
    assert.equal(await statusOf(token), 403)

    await button('Disable').click()
    await dialog.getByText('Its subscriptions are disabled.').waitFor()
    assert.deepEqual(await findFlaws(page), [])
    await dialog.getByRole('button', { name: 'Disable' }).click()
    await status('Disabled Stock sync')
    assert.equal(await getToken(id, secret), undefined)
    await button('Enable').click()
    await dialog.getByRole('button', { name: 'Enable' }).click()
    await status('Enabled Stock sync')
    assert.notEqual(await getToken(id, secret), undefined)

    await changeHostClientStatus(asCommand(world.server.host), { client: id, status: 'disabled' })
    await page.reload()
    await content.getByText('An administrator disabled this client.').waitFor()
    assert.equal(await button('Enable').count(), 0)
    await button('Delete').click()
    await dialog.getByText('This cannot be undone').waitFor()
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await status('Deleted Stock sync')
    await content.getByRole('row', { name: 'Shop window' }).waitFor()
    assert.equal(await content.getByRole('row', { name: 'Stock sync' }).count(), 0)
    assert.deepEqual(others(complaints), [])
  })

  // In CI, pages are checked with names from left to right.
  longTest('a name from right to left stays where names from left to right are', async () => {
    const name = 'تطبيق حجز القطارات'
    const { id } = await makeClient('ed', name)
    await using opened = await world.open()
    const { page, complaints } = opened
    await openPortal(page, '/clients', 'ed')
    await goTo(page, `/clients/${id}`, name, root)
    const leftOf = (found: string) =>
      page.evaluate<number>(`(() => {
        const range = document.createRange()
        range.selectNodeContents(document.querySelector(${JSON.stringify(found)}))
        return Math.round(range.getBoundingClientRect().left)
      })()`)
    assert.equal(await leftOf('#content h1'), await leftOf('#content .page-text'))
    // The line between breadcrumbs comes before the name.
    const direction = `getComputedStyle(document.querySelector('.crumbs li:last-child')).direction`
    assert.equal(await page.evaluate(direction), 'ltr')
    assert.deepEqual(others(complaints), [])
  })

  // In CI, consumer/clients.test.ts refuses it.
  longTest('a client of someone else is not found, and one with administrative scopes cannot be changed', async () => {
    const { id } = await makeClient('carl', 'Secret plan')
    await addUser(world.server.host.system, { name: 'root', password, scopes: ['consumer', 'backend.read'] })
    const own = await makeClient('root', 'Metrics', { scopes: ['backend.read'] })
    await using opened = await world.open()
    const { page, complaints } = opened
    const { button, content } = parts(page)
    await openPortal(page, '/clients', 'root')
    await goTo(page, `/clients/${id}`, 'Page not found', root)
    assert.ok(!(await page.content()).includes('Secret plan'))
    await goTo(page, '/clients/..%2Faccount', 'Page not found', root)
    await goTo(page, `/clients/${own.id}`, 'Metrics', root)
    await content.getByText('This client has administrative scopes').waitFor()
    assert.equal(await button('New secret').count(), 0)
    assert.equal(await button('Save changes').count(), 0)
    assert.equal(await button('Delete').count(), 1)
    assert.deepEqual(others(complaints), [])
  })

  test('email address and password are changed; other sessions and clients end, this one goes on', async () => {
    const { id, secret } = await makeClient('flo', 'Night job')
    const other = await login('flo')
    await using opened = await world.open(phone)
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
      const response = await world.call(path, {
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
    await using opened = await world.open()
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
    const { db } = world.server.host.system
    const { id: user } = await db
      .selectFrom('waypost_user')
      .select('id')
      .where('name', '=', 'ida')
      .executeTakeFirstOrThrow()
    for (let count = 0; count < 50; count++) await makeClient('ida', `Client ${count}`)
    const used = { bucket: JSON.stringify(['try', user]), count: 30, expires_at: Date.now() + 3_600_000 }
    await db.insertInto('waypost_throttle').values(used).execute()
    await using opened = await world.open()
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

  /** Lets a client of carl use the account of a user, who consents in a window of the same browser. */
  const connect = async (page: Page, name: string) => {
    const redirectUris = [site.redirectUri]
    const { id, secret } = await makeClient('carl', name, { grants: ['authorization_code'], redirectUris })
    const { verifier, challenge } = makePkce()
    const window = await page.context().newPage()
    const query = { response_type: 'code', client_id: id, redirect_uri: site.redirectUri, scope: 'todo', state: 'x' }
    const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
    const search = new URLSearchParams({ ...query, ...pkce }).toString()
    await window.goto(`${origin}/authorization/authorize?${search}`)
    await window.getByRole('button', { name: 'Allow' }).click()
    await window.getByRole('heading', { name: 'Back at the client' }).waitFor()
    await window.close()
    const code = site.answers.at(-1)?.searchParams.get('code') ?? ''
    const response = await world.call('/authorization/token', {
      method: 'POST',
      headers: basic(id, secret),
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code,
        code_verifier: verifier,
        redirect_uri: site.redirectUri,
      }),
    })
    return ((await response.json()) as { access_token: string }).access_token
  }

  test('an app of someone else appears among the connected clients until its access is withdrawn', async () => {
    await using opened = await world.open()
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
    await using opened = await world.open()
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

    await using elsewhere = await world.open()
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
    await using opened = await world.open({ viewport: { width: 1440, height: 900 } })
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
