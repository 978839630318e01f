import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addClient, addUser, portalClientId } from '../../src/auth/index.ts'
import { openOutbound } from '../../src/outbound/index.ts'
import { openReceiver } from '../events/receiver.ts'
import { makePkce, openClientSite } from '../support/client-site.ts'
import { isLong } from '../support/forms.ts'
import { actionFile } from '../support/project-server.ts'
import { goTo } from './backend-world.ts'
import { attackFiles, testHazards } from './hazards.ts'
import { deliverEvents, logIn, openPortal, openPortalWorld, origin, password, root } from './portal-world.ts'

testHazards({
  name: 'the portal',
  // In CI, backend-hazards.test.ts attacks pages with the same headers, which runtime/portal.test.ts finds on the portal.
  skip: !isLong && 'long form',
  root,
  clientId: portalClientId,
  title: /Corner Shop/,
  anyTitle: /Corner Shop|Developer portal/,
  openWorld() {
    const config = 'config: { portal: true, registration: true, title: Corner Shop }\n'
    const files = { ...attackFiles, 'waypost.yml': attackFiles['waypost.yml'] + config }
    return openPortalWorld({ files, variables: { WAYPOST_BACKEND: 'off' } })
  },
  openSignedIn: openPortal,
})

// A name has at most 60 characters.
const attack = '</script><script>alert(1)</script><img src=x onerror=a()>'
const prose = `${attack} [link](javascript:alert(1)) <a href="javascript:alert(1)">link</a> ![](x) **bold**`
const text = JSON.stringify(prose)
const scope = '<img/src=x/onerror=a()>' // allowed by RFC 6749

const definition = `
config:
  portal: true
  registration: true
  title: ${JSON.stringify(attack)}
  description: ${text}
  delivery_allow: [127.0.0.0/8]
routes:
  /order:
    methods:
      POST: { scopes: [todo, ${JSON.stringify(scope)}], description: ${text}, dispatch: paid, request: Order, response: Order, action: src/echo.ts }
schema:
  Order: { type: object, description: ${text}, properties: { note: { type: string, description: ${text} } } }
event: { paid: { description: ${text}, schema: Order, scopes: [todo, ${JSON.stringify(scope)}] } }
scope: { todo: { description: ${text} }, ${JSON.stringify(scope)}: { description: ${text} } }
`

test('hostile text is shown as text on all pages', { timeout: 600_000 }, async () => {
  const files = { 'waypost.yml': definition, 'src/echo.ts': actionFile('return request.body') }
  await using world = await openPortalWorld({ files })
  await using site = await openClientSite()
  await using closing = new AsyncDisposableStack()
  const receiver = await openReceiver((response) => response.writeHead(500).end(prose))
  const outbound = openOutbound({ allow: () => [], loopback: true, clock: world.clock })
  closing.defer(() => receiver.close())
  closing.defer(() => outbound.close())
  const { system } = world.server.host
  const scopes = ['consumer', 'todo', scope]
  await addUser(system, { name: 'eve', password, scopes })
  await addUser(system, { name: 'mallory', password, scopes })
  const client = { name: attack, user: 'eve', scopes, public: false }
  const own = await addClient(system, { ...client, grants: ['client_credentials'], redirectUris: [] })
  const grants = ['authorization_code']
  const foreign = await addClient(system, { ...client, user: 'mallory', grants, redirectUris: [site.redirectUri] })
  const send = async (path: string, body: unknown) => {
    const authorization = await world.server.authorize('eve', scopes)
    const headers = { ...authorization, 'content-type': 'application/json' }
    const answer = await world.call(path, { method: 'POST', headers, body: JSON.stringify(body) })
    assert.ok(answer.ok, `${path}: ${answer.status}`)
    return (await answer.json()) as { id: string }
  }
  const { id } = await send('/consumer/subscription', { event: 'paid', endpoint: `${receiver.url}/hook` })
  await send('/order', { note: prose })
  await deliverEvents(world, outbound)

  await using opened = await world.open()
  const { page, complaints } = opened
  const dialogs: string[] = []
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message())
    void dialog.dismiss()
  })
  const assertText = async (name: string, shown = attack) => {
    await page.getByText(shown).first().waitFor()
    const active = page.locator('img, [onerror], a[href^="javascript" i], body script:not([nonce]):not([src])')
    assert.equal(await active.count(), 0, name)
    assert.deepEqual([...dialogs, ...complaints], [], name)
  }

  await page.goto(`${origin}${root}/`)
  await assertText('overview', prose)
  assert.ok((await page.title()).includes(attack))
  await page.locator('#content').getByRole('button', { name: 'Create account' }).click()
  await page.getByRole('button', { name: 'Create account' }).waitFor()
  await assertText('registration')
  await page.goto(`${origin}${root}/`)
  await page.getByRole('banner').getByRole('button', { name: 'Sign in' }).click()
  await page.getByLabel('Username').waitFor()
  await assertText('login')
  await logIn(page, 'eve')
  await page.getByRole('button', { name: 'Account' }).waitFor()

  const pages: readonly [path: string, heading: string][] = [
    ['/reference', 'API reference'],
    ['/reference?tab=authentication', 'API reference'],
    ['/events', 'Events'],
    ['/events/paid', 'paid'],
    ['/subscriptions', 'Subscriptions'],
    [`/subscriptions/${id}`, 'paid'],
    ['/clients', 'Clients'],
    [`/clients/${own.id}`, attack],
    ['/tokens', 'Tokens'],
    ['/account', 'Account'],
  ]
  for (const [path, heading] of pages) {
    await goTo(page, path, heading, root)
    await assertText(path)
  }
  await goTo(page, '/reference', 'API reference', root)
  await page.locator('.operations').getByRole('link').click()
  await page
    .locator('.prose')
    .getByText('[link](javascript:alert(1)) <a href="javascript:alert(1)">link</a> ![](x)')
    .first()
    .waitFor()
  await assertText('operation')
  await goTo(page, `/subscriptions/${id}`, 'paid', root)
  await page.getByRole('link', { name: /^paid / }).click()
  await page.locator('.attempts').getByText(prose).waitFor()
  await assertText('delivery')

  const { challenge } = makePkce()
  const query = {
    response_type: 'code',
    client_id: foreign.id,
    redirect_uri: site.redirectUri,
    scope: `todo ${scope}`,
    state: 'x',
  }
  const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
  const search = new URLSearchParams({ ...query, ...pkce }).toString()
  await page.goto(`${origin}/authorization/authorize?${search}`)
  await page.getByRole('button', { name: 'Allow' }).waitFor()
  await page.getByText(prose).nth(1).waitFor() // of both scopes
  await assertText('consent')
})
