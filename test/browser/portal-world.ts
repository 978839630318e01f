import type { Browser, Page } from 'playwright-core'
import { addUser } from '../../src/auth/index.ts'
import { executeEvents } from '../../src/events/index.ts'
import { openIdentity } from '../../src/host/index.ts'
import { userAgent } from '../../src/kit/index.ts'
import type { Outbound } from '../../src/outbound/index.ts'
import { openBrowser, openPage, type WatchedPage } from '../support/browser.ts'
import { makeTestClock, type TestClock } from '../support/clock.ts'
import { openProjectServer, type Files, type ProjectServer } from '../support/project-server.ts'
import { readTemplate } from '../support/template.ts'
import { origin, password } from './backend-world.ts'

export { logIn, origin, password } from './backend-world.ts'

/** The path of the portal. */
export const root = '/portal'

const settings = `config:
  portal: true
  registration: true
  title: Corner Shop
  description: Orders and stock of the corner shop, for partners.
  accent: '#0f766e'
  delivery_allow: [127.0.0.0/8]
`

/** A server with a portal and the users bea and carl, who may use the to-do API, and a browser. */
export interface PortalWorld extends AsyncDisposable {
  readonly server: ProjectServer
  readonly browser: Browser
  readonly clock: TestClock
  /** Opens a page. It is at no address yet. */
  open(options?: Parameters<typeof openPage>[2]): Promise<WatchedPage>
  /** Calls the server from outside of the browser. */
  call(path: string, options?: RequestInit): Promise<Response>
}

export interface PortalWorldOptions {
  /** Replace or add to those of the to-do template, whose `waypost.yml` has the settings of the portal. */
  readonly files?: Files
  /** Lines that are added to `config` in `waypost.yml`. */
  readonly config?: string
  /** Lines that are added to `event`. */
  readonly events?: string
  readonly variables?: Readonly<Record<string, string>>
}

export async function openPortalWorld({
  files = {},
  config = '',
  events = '',
  variables = {},
}: PortalWorldOptions = {}): Promise<PortalWorld> {
  const clock = makeTestClock()
  const template = readTemplate('todo')
  const project = {
    ...template,
    'waypost.yml': `${template['waypost.yml']!.trimEnd()}\n${events}${settings}${config}`,
    ...files,
  }
  const server = await openProjectServer({
    files: project,
    variables: { WAYPOST_BASE_URL: origin, ...variables },
    clock,
  })
  for (const name of ['bea', 'carl'])
    await addUser(server.host.system, { name, password, scopes: ['consumer', 'todo'] })
  const browser = await openBrowser([`--host-resolver-rules=MAP localhost 127.0.0.1:${server.port}`])
  return {
    server,
    browser,
    clock,
    open: (more) => openPage(browser, origin, more),
    call: (path, options) => fetch(`http://127.0.0.1:${server.port}${path}`, options),
    async [Symbol.asyncDispose]() {
      await browser.close()
      await server[Symbol.asyncDispose]()
    },
  }
}

/** Makes the attempts that are due. @param outbound decides which addresses it may reach */
export async function deliverEvents({ server }: PortalWorld, outbound: Outbound): Promise<void> {
  const { system, clock } = server.host
  const { secrets } = await openIdentity(server.host)
  const { catalog, settings } = server.server.terms()
  const terms = { catalog: () => catalog, settings: () => settings }
  await executeEvents({ system, clock, secrets, outbound, userAgent, ...terms })
}

/** Opens a page of the portal as a user, by its button and the login page. */
export async function openPortal(page: Page, path = '/', name = 'bea'): Promise<void> {
  await page.goto(`${origin}${root}${path}`)
  await page.getByRole('banner').getByRole('button', { name: 'Sign in' }).click()
  await page.getByLabel('Username').fill(name)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Account' }).waitFor()
}
