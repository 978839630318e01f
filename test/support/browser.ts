import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import chromium from '@sparticuz/chromium'
import { chromium as playwright, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { withDeadline } from '../../src/kit/index.ts'
import { abortTimeoutMs, until } from './until.ts'

/**
 * Starts a real Chromium from npm. `WAYPOST_TEST_CHROMIUM` names another one if that one does not run.
 * @param more additional arguments
 */
export async function openBrowser(more: readonly string[] = []): Promise<Browser> {
  // These run it in a single process, which crashes with its first page, and disable web security.
  const unwanted = new Set(['--single-process', '--no-zygote', '--disable-web-security'])
  const executablePath = process.env['WAYPOST_TEST_CHROMIUM'] ?? (await chromium.executablePath())
  // Drawing without a graphics card is much cheaper than emulating one.
  const args = [
    ...chromium.args.filter((argument) => !unwanted.has(argument)),
    '--no-sandbox',
    '--disable-gpu',
    ...more,
  ]
  let browser: Browser | undefined
  await until('the browser is unpacked', async () => {
    browser = await playwright.launch({ executablePath, args, timeout: abortTimeoutMs }).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ETXTBSY') return undefined // another test file is extracting it
      throw error
    })
    return browser !== undefined
  })
  const close = browser!.close.bind(browser)
  return Object.assign(browser!, { close: () => limited('end', close()) })
}

/** Playwright limits actions of a page, but waits for these calls as long as a browser hangs. */
function limited<T>(what: string, promise: Promise<T>): Promise<T> {
  return withDeadline(promise, abortTimeoutMs, () => {
    throw new Error(`The browser did not ${what} within ${abortTimeoutMs / 1000} s`)
  })
}

/** A page and all problems in it. */
export interface WatchedPage extends AsyncDisposable {
  readonly page: Page
  /** Console errors and warnings, exceptions, and requests to other origins. */
  readonly complaints: readonly string[]
}

export async function openPage(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await limited('open a context', browser.newContext(options))
  context.setDefaultTimeout(abortTimeoutMs)
  const page = await limited('open a page', context.newPage())
  const evaluate = page.evaluate.bind(page) as (script: unknown, argument?: unknown) => Promise<unknown>
  const evaluateLimited = (script: unknown, argument?: unknown) =>
    limited(`evaluate ${String(script).slice(0, 200)}`, evaluate(script, argument))
  Object.assign(page, { evaluate: evaluateLimited })
  const complaints: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(`${message.type()}: ${message.text()}`)
  })
  page.on('pageerror', (error) => complaints.push(`exception: ${error.message}`))
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (/^(https?|wss?):$/.test(url.protocol) && url.origin !== origin) complaints.push(`left: ${request.url()}`)
  })
  return { page, complaints, [Symbol.asyncDispose]: () => limited('close a context', context.close()) }
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Omits the places that pass, which take longest to describe, and requests for style sheets. */
const options = JSON.stringify({ resultTypes: ['violations', 'incomplete'], preload: false })

/**
 * Returns the violations and undecided results of axe, with their locations.
 * @param within a selector of what to check instead of the whole page
 */
export async function findFlaws(page: Page, within?: string): Promise<string[]> {
  // Menus and dialogs that open or close are half transparent, and incomplete for screen readers. The label of a button
  // that has just been busy becomes visible again.
  await until('transitions have ended', () =>
    page.evaluate<boolean>(
      `[...document.querySelectorAll('[role=menu], [role=dialog], button:not([data-loading]) .mantine-Button-label')]
        .every((one) => getComputedStyle(one).opacity === '1')`,
    ),
  )
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(axe)
  // axe does not decide whether a single character, such as a count beside a long title, is text or an icon, and about an
  // input that is empty.
  const run = () =>
    page.evaluate<
      string[]
    >(`axe.run(${JSON.stringify(within) ?? 'document'}, ${options}).then(({ violations, incomplete }) =>
    [...violations, ...incomplete].flatMap(({ id, nodes }) => nodes
      .filter(({ any }) => any[0]?.data?.messageKey !== 'shortTextContent' && any[0]?.data?.messageKey !== 'emptyValue')
      .map(({ html }) => id + ': ' + html)))`)
  // Axe cannot decide about a page that changes meanwhile, for example after a save.
  for (let last: string[] | undefined; ; await page.waitForTimeout(500)) {
    const flaws = await run()
    if (flaws.length === 0 || flaws.join() === last?.join()) return flaws
    last = flaws
  }
}

/** Stores a screenshot in the folder of `WAYPOST_TEST_SHOTS`, if set. */
export async function storeScreenshot(page: Page, name: string): Promise<void> {
  const folder = process.env['WAYPOST_TEST_SHOTS']
  if (folder === undefined) return
  const path = `${folder}/${name.replaceAll(' ', '-')}`
  await page.screenshot({ path: `${path}.png` })
  await page.screenshot({ path: `${path}-whole.png`, fullPage: true })
}

/** Chooses an item of the menu of a page, for example to rename or delete what the page shows. */
export async function chooseMore(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name }).click()
}
