import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { addUser } from '../../src/auth/index.ts'
import { changeHostClientStatus } from '../../src/operate/index.ts'
import { findFlaws } from '../support/browser.ts'
import { isLong, longTest } from '../support/forms.ts'
import { asCommand } from '../support/server.ts'
import { lacksShell } from '../support/shell.ts'
import { goTo } from './backend-world.ts'
import { focused, others, parts, withPartners } from './portal-partners.ts'
import { openPortal, origin, password, root } from './portal-world.ts'

// In CI, portal-access.test.ts creates a client; each comment names what has the rest.
const isOmitted = !isLong && 'long form'

describe('clients in the portal', { timeout: 600_000, skip: isOmitted }, () => {
  const { world, site, getToken, statusOf, makeClient } = withPartners(['ed'])

  // auth/authorize/redeem.test.ts and clients/ run the flow.
  const skip = (!isLong && 'long form') || lacksShell
  test('the commands for a website sign a user in, get a token and call the API', { skip }, async () => {
    await using opened = await world().open()
    const { page, complaints } = opened
    const { button, dialog } = parts(page)
    await openPortal(page, '/clients')
    await button('New client').click()
    await dialog.getByLabel('Name').fill('Web shop')
    await dialog.getByLabel('A website with a server').check()
    await dialog.getByLabel('Redirect URIs').fill(site().redirectUri)
    await button('Create client').click()
    await dialog.getByText('Copy it now.').waitFor()
    const [create = '', address = '', exchange = '', call = ''] = await dialog.locator('pre').allTextContents()
    const run = async (command: string, env: NodeJS.ProcessEnv = {}) => {
      const local = command.replaceAll(origin, world().server.url)
      return (await promisify(execFile)('sh', ['-c', local], { env: { ...process.env, ...env } })).stdout.trim()
    }
    const [VERIFIER = '', challenge = ''] = (await run(`${create}\necho "$VERIFIER $CHALLENGE"`)).split(' ')
    const window = await page.context().newPage()
    await window.goto(address.replace('code_challenge=…', `code_challenge=${challenge}`).replace('state=…', 'state=x'))
    await window.getByRole('heading', { name: 'Back at the client' }).waitFor() // own clients need no consent
    const CODE = site().answers.at(-1)?.searchParams.get('code') ?? ''
    const { access_token: TOKEN } = JSON.parse(await run(exchange, { VERIFIER, CODE })) as { access_token: string }
    const { entry } = JSON.parse(await run(call, { TOKEN })) as { entry: unknown }
    assert.ok(Array.isArray(entry))
    assert.deepEqual(others(complaints), [])
  })

  // In CI, consumer/clients.test.ts changes it, and access.test.ts clicks the same in the backend.
  longTest('a client is changed, disabled, enabled and deleted', async () => {
    const { id, secret } = await makeClient('ed', 'Sync', { scopes: ['todo', 'note'] })
    await using opened = await world().open()
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

    await changeHostClientStatus(asCommand(world().server.host), { client: id, status: 'disabled' })
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
    await using opened = await world().open()
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
    await addUser(world().server.host.system, { name: 'root', password, scopes: ['consumer', 'backend.read'] })
    const own = await makeClient('root', 'Metrics', { scopes: ['backend.read'] })
    await using opened = await world().open()
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
})
