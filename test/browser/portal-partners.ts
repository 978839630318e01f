// Partners who use the portal, their clients, and programs that use these.
import { after, before } from 'node:test'
import type { Page } from 'playwright-core'
import { addClient, addUser } from '../../src/auth/index.ts'
import { makePkce, openClientSite, type ClientSite } from '../support/client-site.ts'
import { basic, bearer } from '../support/server.ts'
import { readTemplate } from '../support/template.ts'
import { openPortalWorld, origin, password, type PortalWorld } from './portal-world.ts'

export const attack = '"><img src=x onerror=alert(1)>'
export const newPassword = 'a quiet otter by the river'
const routes = 'resources/routes/todo/collection.yml'
const scopes = `  scopes_default: [consumer, todo]
scope:
  todo: { description: Read and change to-dos }
  note: { description: '${attack} يمين' }
`

export const parts = (page: Page) => ({
  button: (name: string) => page.getByRole('button', { name, exact: true }),
  dialog: page.getByRole('dialog'),
  content: page.locator('#content'),
  status: (text: string) => page.getByRole('status').getByText(text).waitFor(),
})
export const focused = (page: Page) => page.evaluate<string>('document.activeElement.name')
export const codes = (page: Page) => page.getByRole('dialog').locator('.secret code').allTextContents()

/** Without what browsers say about responses that the test provokes. */
export const others = (complaints: readonly string[]) =>
  complaints.filter((one) => !/status of (400|403|404)/.test(one))

/** Opens a portal before the tests of a suite, and closes it after them. @param names of users who may use all scopes */
export function withPartners(names: readonly string[]) {
  let world: PortalWorld
  let site: ClientSite
  before(async () => {
    // Its list of to-dos needs a token.
    const files = { [routes]: (readTemplate('todo')[routes] ?? '').replace('    public: true\n', '') }
    world = await openPortalWorld({ config: scopes, files })
    site = await openClientSite()
    for (const name of names)
      await addUser(world.server.host.system, { name, password, scopes: ['consumer', 'note', 'todo'] })
  })
  after(async () => {
    await world[Symbol.asyncDispose]()
    await site[Symbol.asyncDispose]()
  })

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
  return { world: () => world, site: () => site, getToken, statusOf, login, makeClient, connect }
}
