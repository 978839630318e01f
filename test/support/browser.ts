import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import chromium from '@sparticuz/chromium'
import { chromium as playwright, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { abortTimeoutMs, until } from './until.ts'

/**
 * A real Chromium, which npm brings; `WAYPOST_TEST_CHROMIUM` names another one where this one does not run.
 * @param more arguments, beside those that it needs here
 */
export async function openBrowser(more: readonly string[] = []): Promise<Browser> {
  // These make it live in one process, which dies with its first page, and let pages do what browsers forbid.
  const unwanted = new Set(['--single-process', '--no-zygote', '--disable-web-security'])
  const executablePath = process.env['WAYPOST_TEST_CHROMIUM'] ?? (await chromium.executablePath())
  const args = [...chromium.args.filter((argument) => !unwanted.has(argument)), '--no-sandbox', ...more]
  let browser: Browser | undefined
  await until('the browser is unpacked', async () => {
    browser = await playwright.launch({ executablePath, args, timeout: abortTimeoutMs }).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ETXTBSY') return undefined // by another file, which is at it
      throw error
    })
    return browser !== undefined
  })
  return browser!
}

/** A page, and everything that went wrong in it. */
export interface WatchedPage extends AsyncDisposable {
  readonly page: Page
  /** Errors and warnings of the console, exceptions, and requests that left the origin. */
  readonly complaints: readonly string[]
}

export async function openPage(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext(options)
  context.setDefaultTimeout(abortTimeoutMs)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(`${message.type()}: ${message.text()}`)
  })
  page.on('pageerror', (error) => complaints.push(`exception: ${error.message}`))
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (/^(https?|wss?):$/.test(url.protocol) && url.origin !== origin) complaints.push(`left: ${request.url()}`)
  })
  return { page, complaints, [Symbol.asyncDispose]: () => context.close() }
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What axe finds in a page, or is not sure of: each with where. */
export async function findFlaws(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  return page.evaluate<string[]>(`axe.run().then(({ violations, incomplete }) =>
    [...violations, ...incomplete].flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`)
}

/** For whoever wants to see a page: `WAYPOST_TEST_SHOTS` names a folder. */
export async function keepShot(page: Page, name: string): Promise<void> {
  const folder = process.env['WAYPOST_TEST_SHOTS']
  if (folder === undefined) return
  const path = `${folder}/${name.replaceAll(' ', '-')}`
  await page.screenshot({ path: `${path}.png` })
  await page.screenshot({ path: `${path}-whole.png`, fullPage: true })
}
