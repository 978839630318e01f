// A server that is all that someone has, and a browser that reaches it.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, afterEach, before, beforeEach } from 'node:test'
import { promisify } from 'node:util'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { openReceiver, type Receiver } from '../e2e/receiver.ts'
import { startServe, type Serving } from '../e2e/serving.ts'
import { openHost, type Host } from '../../src/host/index.ts'
import { readEnvironment } from '../../src/kit/index.ts'
import { openBrowser, openPage, type WatchedPage } from '../support/browser.ts'
import type { Kind } from '../support/forms.ts'
import { startPostgres } from '../support/postgres.ts'
import { openProject } from '../support/project.ts'
import { origin } from './backend-world.ts'

export const password = 'quiet-otter-4417'
export const run = promisify(execFile)

export type Server = ReturnType<typeof withServer>

export interface ServerOptions {
  /** How the page is shown; by default in a window of usual size. */
  readonly look?: BrowserContextOptions
  readonly variables?: Readonly<Record<string, string>>
}

/**
 * Starts, before the tests of a suite, the server that `init --template host` sets up, and opens a browser. Each test
 * continues where the last one ended.
 */
export function withServer(kind: Kind, { look, variables }: ServerOptions = {}) {
  let home: string
  let postgres: Awaited<ReturnType<typeof startPostgres>> | undefined
  const createDatabase = async () => (postgres = await startPostgres()).createSystem()
  let serving: Serving
  let host: Host
  let receiver: Receiver
  let browser: Browser
  let opened: WatchedPage
  let page: Page

  before(async () => {
    home = await realpath(await mkdtemp(path.join(tmpdir(), 'waypost-server-')))
    const start = openProject(home, {}, async () => undefined)
    await start.ok('init my-api --template host --no-install')
    const own = { ...variables, ...(kind === 'sqlite' ? {} : { WAYPOST_SYSTEM_URL: await createDatabase() }) }
    const project = openProject(path.join(home, 'my-api'), { HOST: '127.0.0.1', ...own }, async () => undefined)
    // What `npm start` runs.
    await project.ok('migrate')
    serving = await startServe(project, {}, ' --cron --first-run-code')
    host = await openHost({ folder: project.folder, variables: { ...readEnvironment(project.folder), ...own } })
    receiver = await openReceiver()
    browser = await openBrowser([`--host-resolver-rules=MAP localhost 127.0.0.1:${serving.port}`])
    opened = await openPage(browser, origin, look ?? { viewport: { width: 1440, height: 900 } })
    page = opened.page
  })
  after(async () => {
    await browser.close()
    await serving.stop()
    await host.close()
    await receiver.close()
    await postgres?.stop()
    await rm(home, { recursive: true, force: true })
  })

  /** Each test continues where the last one ended. */
  let failed = ''
  beforeEach(() => assert.equal(failed, '', 'an earlier step failed'))
  afterEach(async (step) => {
    if (!('passed' in step) || step.passed || failed !== '') return
    failed = step.name
    step.diagnostic(await page.locator('body').innerText())
  })

  const heading = (name: string) => page.locator('#content').getByRole('heading', { name, exact: true, level: 1 })
  const button = (name: string, within: Page | Locator = page) => within.getByRole('button', { name, exact: true })
  const dialog = () => page.getByRole('dialog')
  /** Follows a link of the menu. */
  const go = async (name: string) => {
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }).click()
    await heading(name).waitFor()
  }
  const openRoute = async (name: string) => {
    await go('Routes')
    await page
      .locator('#content')
      .getByRole('link', { name: new RegExp(`^${name}( |$)`) })
      .first()
      .click()
    await heading(name).waitFor()
  }
  /** The server, as another program sees it. */
  const curl = async (operation: string, { token, body }: { token?: string; body?: unknown } = {}) => {
    const [method = '', where = ''] = operation.split(' ')
    const { stdout } = await run('curl', [
      '-s',
      '-X',
      method,
      '-w',
      '\n%{http_code}',
      `http://127.0.0.1:${serving.port}${where}`,
      ...(token === undefined ? [] : ['-H', `Authorization: Bearer ${token}`]),
      ...(body === undefined ? [] : ['-H', 'Content-Type: application/json', '-d', JSON.stringify(body)]),
    ])
    const [, text = '', status = ''] = /^([^]*)\n(\d+)$/.exec(stdout)!
    return { status: Number(status), body: text === '' ? undefined : JSON.parse(text) }
  }
  /** Publishes all changes from the top bar, and waits until this server serves them. */
  const publishAll = async (action: string, confirmed?: string) => {
    await page.getByRole('link', { name: /changes? · Publish$/ }).click()
    await heading('Publish').waitFor()
    await button(action).click()
    if (confirmed !== undefined) await button(confirmed, dialog()).click()
    await heading('Published').waitFor()
    await page.getByText(/ serves it$/).waitFor()
  }

  return {
    heading,
    button,
    dialog,
    go,
    openRoute,
    curl,
    publishAll,
    get home() {
      return home
    },
    get serving() {
      return serving
    },
    get host() {
      return host
    },
    get receiver() {
      return receiver
    },
    get opened() {
      return opened
    },
    get page() {
      return page
    },
  }
}
