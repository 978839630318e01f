import assert from 'node:assert/strict'
import type { Browser, Locator, Page } from 'playwright-core'
import { addUser, backendScopes } from '../../src/auth/index.ts'
import { makeTrafficLog } from '../../src/backend/index.ts'
import type { RequestReport } from '../../src/runtime/index.ts'
import { findFlaws, openBrowser, openPage, storeScreenshot, type WatchedPage } from '../support/browser.ts'
import { makeTestClock, type TestClock } from '../support/clock.ts'
import { openProjectServer, type Files, type ProjectServer } from '../support/project-server.ts'
import { readTemplate } from '../support/template.ts'
import { until } from '../support/until.ts'
import { chooseLooks } from './looks.ts'
import { isLong } from '../support/forms.ts'

export const origin = 'http://localhost:3000'
export const password = 'correct horse battery'

/** A server with the administrator ann, and a browser that reaches it as its issuer. */
export interface BackendWorld extends AsyncDisposable {
  readonly server: ProjectServer
  readonly browser: Browser
  readonly clock: TestClock
  /** With `isLive`: ends the streams of requests, as a reload does. */
  endStreams(): void
  open(options?: Parameters<typeof openPage>[2]): Promise<WatchedPage>
}

export interface BackendWorldOptions {
  readonly files?: Files
  readonly withoutAdministrator?: boolean
  readonly variables?: Readonly<Record<string, string>>
  /** Of ann, besides those of administration and `todo`. */
  readonly scopes?: readonly string[]
  /** Whether the server lists its requests, like that of `dev`. */
  readonly isLive?: boolean
}

export async function openBackendWorld(options: BackendWorldOptions = {}): Promise<BackendWorld> {
  const clock = makeTestClock()
  const files = { ...readTemplate('todo'), ...options.files }
  const variables = { WAYPOST_BASE_URL: origin, ...options.variables }
  const traffic = options.isLive === true ? makeTrafficLog() : undefined
  const live = traffic && { traffic, onResponse: (report: RequestReport) => traffic.add(report, clock.now()) }
  const server = await openProjectServer({ files, variables, clock, keepsFiles: true, ...live })
  const scopes = [...backendScopes, 'todo', ...(options.scopes ?? [])]
  if (!options.withoutAdministrator) await addUser(server.host.system, { name: 'ann', password, scopes })
  const browser = await openBrowser([`--host-resolver-rules=MAP localhost 127.0.0.1:${server.port}`])
  return {
    server,
    browser,
    clock,
    endStreams: () => traffic?.endStreams(),
    open: (more) => openPage(browser, origin, more),
    async [Symbol.asyncDispose]() {
      await browser.close()
      await server[Symbol.asyncDispose]()
    },
  }
}

export async function logIn(page: Page, name = 'ann'): Promise<void> {
  await page.getByLabel('Username').fill(name)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** Enters the password on a page that knows the user. */
export async function logInAgain(page: Page): Promise<void> {
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** Opens a page of the backend as ann. */
export async function openSignedIn(page: Page, path = '/'): Promise<void> {
  await page.goto(`${origin}/backend/ui${path}`)
  await logIn(page)
  await page.locator('#content h1').waitFor()
}

/**
 * Goes to another page as a link does, which is much quicker than loading it.
 * @param heading the title of that page
 * @param root the path below which the pages are
 */
export async function goTo(page: Page, path: string, heading: string, root = '/backend/ui'): Promise<void> {
  await page.evaluate(`history.pushState({}, '', ${JSON.stringify(root + path)})`)
  await page.locator('#content').getByRole('heading', { name: heading, exact: true, level: 1 }).waitFor()
  await page.locator('#content :is([aria-busy="true"], .mantine-Skeleton-root)').first().waitFor({ state: 'detached' })
}

/** Opens something over a page and closes it with the keyboard: what opened it has the focus again. */
export async function checkOverlay(role: 'dialog' | 'menu' | 'listbox', opener: Locator): Promise<void> {
  const page = opener.page()
  const name = `${page.url()} ${(await opener.getAttribute('aria-label')) ?? (await opener.textContent())}`
  await opener.click()
  const opened = page.getByRole(role).first()
  await opened.waitFor()
  await page.keyboard.press('Escape')
  await opened.waitFor({ state: 'detached' })
  await until(`the focus returns: ${name}`, async () => (await opener.and(page.locator(':focus')).count()) === 1)
}

// Higher than every page, because axe cannot decide about what is scrolled out.
const height = 6400

/**
 * Checks pages as `chooseLooks` says: they are accessible, and not wider than the window. Outside of the long form axe
 * checks one list and one entry of these, because pages of a kind have the same components.
 * @param titles the titles of the pages by their paths
 * @param root the path below which the pages are
 */
export async function checkLooks(
  page: Page,
  titles: Readonly<Record<string, string>>,
  root = '/backend/ui',
): Promise<void> {
  const checked = new Set<boolean>()
  for (const [path, title] of Object.entries(titles)) {
    await goTo(page, path, title, root)
    const isEntry = path.lastIndexOf('/') > 0
    const isOfAnotherKind = !checked.has(isEntry)
    checked.add(isEntry)
    if (isLong || isOfAnotherKind) await checkShown(page, root === '/backend/ui' ? path : root + path)
    else assert.equal(await page.evaluate(isWide), false, `${path}: wider than the window`)
  }
  await showUsual(page)
}

/** Checks the page that is shown, as `checkLooks` does. Ends with a wide, light page. */
export async function checkPage(page: Page, name: string): Promise<void> {
  await checkShown(page, name)
  await showUsual(page)
}

const isWide = `[document.documentElement, document.querySelector('#content')]
  .some((one) => one.scrollWidth > one.clientWidth)`

async function checkShown(page: Page, name: string): Promise<void> {
  for (const [width, colorScheme] of chooseLooks()) {
    await page.setViewportSize({ width, height })
    await showLook(page, { width, colorScheme })
    const look = `${name}, ${width}, ${colorScheme}`
    await storeScreenshot(page, `backend ${look.replaceAll(/\W+/g, ' ')}`)
    assert.deepEqual(await findFlaws(page), [], look)
    assert.equal(await page.evaluate(isWide), false, `${look}: wider than the window`)
  }
}

async function showUsual(page: Page): Promise<void> {
  await page.setViewportSize({ width: 1440, height: 900 })
  await showLook(page, { width: 1440, colorScheme: 'light' })
}

async function showLook(
  page: Page,
  { width, colorScheme }: { readonly width: number; readonly colorScheme: 'light' | 'dark' },
): Promise<void> {
  await page.emulateMedia({ colorScheme })
  await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor()
  await page.locator('.rail').waitFor({ state: width === 390 ? 'detached' : 'visible' })
}
