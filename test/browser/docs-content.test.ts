// What the API reference shows of an OpenAPI document, and how it shows a large one.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { findFlaws, openBrowser, openPage } from '../support/browser.ts'
import { actionFile, openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { checkLooks, goTo } from './backend-world.ts'
import { bodyFiles, makePng } from '../runtime/bodies-site.ts'
import { shop } from './docs-world.ts'
import { checkPrinted } from './printed.ts'
import { isLong, longTest } from '../support/forms.ts'

const create = 'Takes a payment by card or transfer'

/** Operations of a large API, far more than are in view. */
const count = isLong ? 1000 : 320

describe('the content of /docs', { timeout: 600_000 }, () => {
  let browser: Browser
  let server: ProjectServer
  before(async () => {
    browser = await openBrowser()
    server = await openProjectServer({ files: shop, isDevelopment: true })
  })
  after(async () => {
    await browser.close()
    await server[Symbol.asyncDispose]()
  })
  const open = (options = {}) => openPage(browser, server.url, { viewport: { width: 1440, height: 900 }, ...options })

  // In CI, markdown.test.ts reads each of these.
  longTest('descriptions have headings, lists, tables and code, and neither HTML nor unsafe links', async () => {
    await using opened = await open()
    const { page, complaints } = opened
    await page.goto(`${server.url}/docs/operation/createPayment`)
    await page.getByRole('heading', { name: create, level: 1 }).waitFor()
    const prose = page.locator('#content .prose').first()
    await prose.getByRole('heading', { name: 'How it works', level: 2 }).waitFor()
    await prose.getByRole('heading', { name: 'Fees', level: 3 }).waitFor()
    assert.equal(await prose.getByRole('listitem').count(), 3)
    assert.deepEqual(await prose.getByRole('columnheader').allTextContents(), ['Method', 'Fee', 'Days'])
    await prose.getByRole('cell', { name: '1.5 %' }).waitFor()
    await prose.getByText('{ "amount": 100 }').waitFor()
    const links = await prose.getByRole('link').all()
    assert.deepEqual(await Promise.all(links.map((one) => one.getAttribute('href'))), [
      'https://example.com/guide',
      '/docs',
    ])
    await prose.getByText('<script>window.ran = true</script>').waitFor()
    assert.equal(await page.evaluate('window.ran'), undefined)
    assert.deepEqual(complaints, [])
  })

  test('files are chosen and sent, and code sends the same', async () => {
    await using books = await openProjectServer({ files: bodyFiles, isDevelopment: true })
    await using opened = await openPage(browser, books.url, { viewport: { width: 1440, height: 900 } })
    const { page, complaints } = opened
    await page.goto(`${books.url}/docs/operation/createBook`)
    await page.getByText('At most 3mb; image/png or image/jpeg').first().waitFor()
    await page.getByRole('tab', { name: 'Try it' }).click()
    await page.getByLabel('title').fill('Sea')
    await page.getByLabel('tags').fill('a\nb')
    const cover = { name: 'c.png', mimeType: 'image/png', buffer: makePng() }
    await page.getByText('Choose a file').first().waitFor()
    await page.locator('input[type="file"]').first().setInputFiles(cover)
    await page.getByRole('button', { name: 'Clear cover' }).waitFor()
    assert.deepEqual(await findFlaws(page, '.mantine-FileInput-root'), [])
    await page.getByRole('button', { name: 'Clear cover' }).click()
    await page.getByRole('button', { name: 'Clear cover' }).waitFor({ state: 'detached' })
    await page.locator('input[type="file"]').first().setInputFiles(cover)
    await page.getByText('Code of this request').click()
    await page.getByText("-F 'cover=@c.png;type=image/png'").waitFor()
    await page.getByRole('button', { name: 'Send' }).click()
    await page.locator('section[aria-live="polite"]').getByText('c.png').waitFor()
    assert.deepEqual(complaints, [])
  })

  test('schemas show alternatives, allowed values, examples, and what only one direction has', async () => {
    await using opened = await open()
    const { page, complaints } = opened
    await page.goto(`${server.url}/docs/operation/createPayment`)
    const request = page.locator('section', { has: page.getByRole('heading', { name: 'Request body' }) })
    await request.waitFor()
    const lineOf = (within: typeof request, name: string) =>
      within.locator('li', { has: page.locator(`:scope > .schema-line > .schema-name:text-is("${name}")`) }).first()
    const text = (await request.textContent())!
    for (const part of ['kind: "card"', 'kind: "transfer"', 'Payer or null', 'write-only', 'each matches ^[a-z]+$'])
      assert.ok(text.includes(part), part)
    assert.equal(await lineOf(request, 'id').count(), 0, 'callers must not send what is read-only')
    assert.match((await lineOf(request, 'amount').textContent())!, /1–1000000In centsExample1002599/)
    assert.match((await lineOf(request, 'note').textContent())!, /deprecated/)
    assert.match((await lineOf(request, 'range').textContent())!, /\[0\]integer\[1\]integer/)
    assert.match((await lineOf(request, 'meta').textContent())!, /\/\^x-\/stringNo other properties are accepted\./)
    const country = lineOf(request, 'country')
    await country.getByText('HR', { exact: true }).waitFor({ state: 'hidden' })
    await country.getByText('3 more').click()
    await country.getByText('HR', { exact: true }).waitFor()

    const created = page.locator('.response').first()
    assert.deepEqual((await created.locator('.schema-view > .schema > li > .schema-line > .schema-name').allTextContents()).slice(0, 3), ['id', 'created', 'amount']) // prettier-ignore
    assert.equal(await lineOf(created, 'secret').count(), 0, 'callers never get what is write-only')
    assert.match((await lineOf(created, 'status').textContent())!, /read-only.*One ofopenpaidfailedrefunded/)
    const statuses = await page.locator('.response-head').allTextContents()
    assert.deepEqual(statuses.filter((one) => !/^(400|401|403|404|413|415|500|503) /.test(one)), ['201 Created', '409 Paid already', '4XX Any other client error', 'default Any other error']) // prettier-ignore
    const sample = page.getByRole('region', { name: 'Example response' })
    const example = JSON.parse((await sample.textContent())!) as Record<string, unknown>
    assert.deepEqual([example['amount'], 'secret' in example, 'created' in example], [100, false, true])
    const code = (await page.getByRole('region', { name: 'Code in curl' }).textContent())!
    assert.match(code, /"amount": 100/)
    assert.doesNotMatch(code, /"created"|"status"/)
    await goTo(page, '/operation/listPayments', 'Lists payments', '/docs')
    await page.locator('.note').waitFor({ state: 'detached' })
    assert.match((await page.locator('#content').textContent())!, /one of these scopes: payment, audit\./)
    await goTo(page, '/operation/getPayment', 'Reads a payment', '/docs')
    await page.getByText('This operation is deprecated').waitFor()
    assert.deepEqual(complaints, [])
  })

  test('is accessible with all of that, at every width and colour, in forced colors and zoomed to 400 percent', async () => {
    await using opened = await open()
    const { page, complaints } = opened
    await page.goto(`${server.url}/docs`)
    await page.locator('.operations').first().waitFor()
    const titles = {
      '/': 'API reference',
      '/operation/createPayment': create,
      '/operation/createPayment?tab=try': create,
      '/operation/listPayments?tab=try': 'Lists payments',
      '/operation/getPayment': 'Reads a payment',
    }
    await checkLooks(page, titles, '/docs')
    const forced = { forcedColors: 'active', reducedMotion: 'reduce', viewport: { width: 1440, height: 6400 } } as const
    const zoomed = { viewport: { width: 320, height: 8000 } }
    // Outside of the long form: forced-colors.test.ts looks at pages with the same styles, also enlarged.
    const others = { forced, 'forced and dark': { ...forced, colorScheme: 'dark' }, zoomed } as const
    for (const [name, options] of isLong ? Object.entries<BrowserContextOptions>(others) : []) {
      await using look = await open(options)
      await look.page.goto(`${server.url}/docs`)
      await look.page.locator('.operations').first().waitFor()
      for (const [path, title] of Object.entries(titles)) {
        await goTo(look.page, path, title, '/docs')
        assert.deepEqual(await findFlaws(look.page), [], `${path} ${name}`)
        const isWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth'
        assert.equal(await look.page.evaluate(isWide), false, `${path} ${name}`)
      }
    }
    assert.deepEqual(complaints, [])
  })

  // In CI, backend.test.ts prints a page with the same styles, and docs.test.ts uses the keyboard.
  longTest('can be read in the order of the page with the keyboard, and printed', async () => {
    await using opened = await open()
    const { page, complaints } = opened
    await page.goto(`${server.url}/docs/operation/createPayment`)
    await page.getByRole('heading', { name: 'Responses' }).waitFor()
    const order: string[] = []
    for (let count = 0; count < 14; count++) {
      await page.keyboard.press('Tab')
      const focused = `(({ activeElement: one }) => one.getAttribute('aria-label') ?? one.textContent)(document)`
      order.push(await page.evaluate<string>(focused))
    }
    const places = ['Skip to content', 'Overview', '/payment3', 'Search…', 'API reference', 'Copy', 'Reference'].map((text) => order.findIndex((one) => one.includes(text))) // prettier-ignore
    assert.ok(places.every((place) => place >= 0), order.join(' | ')) // prettier-ignore
    const levels = await page.evaluate<number[]>(
      '[...document.querySelectorAll("#content :is(h1, h2, h3, h4)")].map((one) => Number(one.localName[1]))',
    )
    assert.equal(levels[0], 1)
    assert.ok(levels.every((level, index) => index === 0 || level <= levels[index - 1]! + 1), levels.join(' ')) // prettier-ignore
    await checkPrinted(page, async () => {
      for (const selector of ['.rail', '.bar', '.neighbours', '[role=tablist]'])
        await page.locator(selector).waitFor({ state: 'hidden' })
      const [whole = 0, shown = 1] = await page.evaluate<number[]>(
        '(({ scrollHeight, clientHeight }) => [scrollHeight, clientHeight])(document.querySelector("#content"))',
      )
      assert.ok(whole > 1200 && whole <= shown + 1, 'nothing is cut')
    })
    assert.deepEqual(complaints, [])
  })

  test(`${count} operations: only what is near is rendered, all can be found, and all are printed`, async () => {
    await using large = await openProjectServer({ files: makeLarge(), isDevelopment: true })
    await using opened = await openPage(browser, large.url, { viewport: { width: 1440, height: 900 } })
    const { page, complaints } = opened
    await page.goto(`${large.url}/docs`)
    await page.getByText(`${count.toLocaleString('en')} operations`).waitFor()
    const links = page.locator('#content .operations a')
    assert.equal(await links.count(), count)
    const rendered = () => page.locator('#content .operations .method').count()
    await until(page, `document.querySelectorAll('#content .operations .method').length > 10`)
    assert.ok((await rendered()) < 200, `${await rendered()} rows`)
    const elements = await page.evaluate<number>('document.querySelectorAll("*").length')
    assert.ok(elements < 6000, `${elements} elements`)
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill('thing 9 delete')
    await page.getByRole('option').first().waitFor()
    assert.ok((await page.getByRole('option').count()) <= 20)
    await page.keyboard.press('Escape')
    await page.getByRole('searchbox').fill(`thing${count / 4 - 1}`)
    await page.getByText('4 operations', { exact: true }).waitFor()
    await page.getByRole('searchbox').fill('')
    await page.getByText(`${count.toLocaleString('en')} operations`).waitFor()
    await links.last().scrollIntoViewIfNeeded()
    await links.last().locator('.method').waitFor()
    await links.last().click()
    await page.getByRole('heading', { name: 'Responses' }).waitFor()
    assert.ok((await page.evaluate<number>('document.querySelectorAll("*").length')) < 3000)
    await page.goBack()
    await page.getByText(`${count.toLocaleString('en')} operations`).waitFor()
    await page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert.equal(await rendered(), count)
    assert.deepEqual(complaints, [])
  })
})

async function until(page: Page, condition: string): Promise<void> {
  await page.waitForFunction(condition)
}

function makeLarge() {
  const methods = ['GET', 'POST', 'PUT', 'DELETE'].map((method) => `${method}: { response: Thing, action: a.ts }`)
  const routes = Array.from({ length: count / 4 }, (_, index) => `  /thing${index}: { scopes: [a], methods: { ${methods.join(', ')} } }`)
  const schema = 'schema:\n  Thing: { type: object, properties: { id: { type: integer } } }\n'
  return { 'waypost.yml': `routes:\n${routes.join('\n')}\n${schema}`, 'a.ts': actionFile('return {}') }
} // prettier-ignore
