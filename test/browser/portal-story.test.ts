import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { addClient } from '../../src/auth/index.ts'
import { findSignatureProblem } from '../../src/events/index.ts'
import { openOutbound } from '../../src/outbound/index.ts'
import { openReceiver } from '../events/receiver.ts'
import { makePkce, openClientSite } from '../support/client-site.ts'
import { basic, bearer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { deliverEvents, openPortalWorld, origin } from './portal-world.ts'

test('a partner integrates an API that only its portal explains', { timeout: 600_000 }, async () => {
  await using world = await openPortalWorld({ config: '  scopes_default: [consumer, todo]\n' })
  await using site = await openClientSite()
  await using closing = new AsyncDisposableStack()
  const receiver = await openReceiver()
  closing.defer(() => receiver.close())
  const outbound = openOutbound({ allow: () => [], loopback: true, clock: world.clock })
  closing.defer(() => outbound.close())
  const deliver = () => deliverEvents(world, outbound)
  await using opened = await world.open({ viewport: { width: 390, height: 844 } })
  const { page, complaints } = opened
  const called = new Set<string>()
  page.on('request', (request) => {
    if (request.resourceType() === 'fetch') called.add(new URL(request.url()).pathname)
  })
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const dialog = page.getByRole('dialog')
  const heading = (name: string) => page.locator('#content').getByRole('heading', { name, exact: true, level: 1 })
  const go = async (name: string) => {
    await button('Open navigation').click()
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }).click()
    await heading(name).waitFor()
  }

  // Register, and try a call.
  await page.goto(`${origin}/`)
  await heading('Corner Shop').waitFor()
  await page.locator('#content').getByRole('button', { name: 'Create account' }).click()
  await page.getByLabel('Username').fill('partner')
  await page.getByLabel('Password').fill('a quiet otter by the river')
  await button('Create account').click()
  await page.locator('#content').getByRole('link', { name: 'API reference' }).click()
  await page
    .getByRole('link', { name: /POST.*\/todo/ })
    .first()
    .click()
  await page.getByRole('tab', { name: 'Try it' }).click()
  await button('Send').click()
  await page.locator('.state').getByText('201', { exact: true }).waitFor()

  // Create a client, and get a token with it from outside.
  await go('Clients')
  await button('New client').click()
  await dialog.getByLabel('Name').fill('Stock sync')
  await button('Create client').click()
  await dialog.getByText('Copy it now.').waitFor()
  const [id = '', secret = ''] = await dialog.locator('.secret code').allTextContents()
  await button('Done').click()
  const form = (fields: Record<string, string>, client = basic(id, secret)) =>
    world.call('/authorization/token', { method: 'POST', headers: client, body: new URLSearchParams(fields) })
  const { access_token: token } = (await (await form({ grant_type: 'client_credentials' })).json()) as {
    access_token: string
  }
  const addTodo = (content: string) =>
    world.call('/todo', {
      method: 'POST',
      headers: { ...bearer(token), 'content-type': 'application/json' },
      body: JSON.stringify({ title: 'Order', content }),
    })
  assert.equal((await addTodo('before the subscription')).status, 201)

  // Subscribe, send a test, and read the log.
  await go('Events')
  await page.getByRole('link', { name: 'todo_created' }).click()
  await button('Subscribe').click()
  await dialog.getByLabel('Your endpoint').fill(`${receiver.url}/hook`)
  await dialog.getByRole('button', { name: 'Subscribe' }).click()
  const signing = (await dialog.getByText(/^whsec_/).textContent()) ?? ''
  await button('Done').click()
  await button('Send test').click()
  await heading('waypost.test').waitFor()
  await deliver()
  await page.locator('#content .state').getByText('delivered', { exact: true }).waitFor()
  const isSigned = (key: string) => {
    const { headers, body } = receiver.received.at(-1)!
    const [deliveryId, timestamp, signature] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
      String(headers[name]),
    ) as [string, string, string]
    return findSignatureProblem({ id: deliveryId, timestamp, signature, body }, key, world.clock.now()) === undefined
  }
  assert.ok(isSigned(signing))
  assert.equal((await addTodo('after the subscription')).status, 201)
  await deliver()
  assert.deepEqual(JSON.parse(receiver.received.at(-1)!.body).content, 'after the subscription')
  await page.locator('#content').getByRole('link', { name: /^sub_/ }).click()
  const log = page.getByRole('table', { name: 'Deliveries' })
  for (const name of [/^todo_created /, /^waypost\.test /]) await log.getByRole('link', { name }).waitFor()

  // Rotate the secret.
  await button('More actions').click()
  await page.getByRole('menuitem', { name: 'New secret' }).click()
  await dialog.getByRole('button', { name: 'Create new secret' }).click()
  const renewed = (await dialog.getByText(/^whsec_/).textContent()) ?? ''
  await button('Done').click()
  await addTodo('with the new secret')
  await deliver()
  assert.ok(renewed !== signing && isSigned(renewed))

  // Connect an app of someone else, and withdraw its access.
  const thirdParty = await connectApp(page)
  const callAs = () => world.call('/todo', { method: 'POST', headers: bearer(thirdParty), body: '{}' })
  assert.notEqual((await callAs()).status, 401)
  await go('Connected clients')
  await button('Withdraw access: Photo album').click()
  await dialog.getByRole('button', { name: 'Withdraw access' }).click()
  await page.getByRole('heading', { name: 'No connected clients' }).waitFor()
  await until('its token is rejected', async () => (await callAs()).status === 401)

  // What the portal can do, programs can do as well. The to-do was sent by "Try it".
  const isPublic = (path: string) => /^\/(consumer|authorization)\/|^\/(openapi\.json|todo)$/.test(path)
  assert.ok(called.has('/consumer/client') && called.has('/openapi.json'))
  assert.deepEqual(
    [...called].filter((path) => !isPublic(path)),
    [],
  )
  assert.deepEqual(complaints, [])

  async function connectApp(from: Page): Promise<string> {
    const app = {
      name: 'Photo album',
      user: 'carl',
      scopes: ['todo'],
      grants: ['authorization_code'],
      redirectUris: [site.redirectUri],
      public: false,
    }
    const { id: appId, secret: appSecret = '' } = await addClient(world.server.host.system, app)
    const { verifier, challenge } = makePkce()
    const window = await from.context().newPage()
    const asked = { response_type: 'code', client_id: appId, redirect_uri: site.redirectUri, scope: 'todo' }
    const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
    await window.goto(`${origin}/authorization/authorize?${new URLSearchParams({ ...asked, ...pkce }).toString()}`)
    await window.getByRole('button', { name: 'Allow' }).click()
    await window.getByRole('heading', { name: 'Back at the client' }).waitFor()
    await window.close()
    const code = site.answers.at(-1)?.searchParams.get('code') ?? ''
    const redeemed = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: site.redirectUri }
    const response = await form(redeemed, basic(appId, appSecret))
    return ((await response.json()) as { access_token: string }).access_token
  }
})
