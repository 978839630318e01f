import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { findFlaws, storeScreenshot, openBrowser, openPage } from '../support/browser.ts'
import { deriveAccent } from '../../src/kit/index.ts'
import { isLong, longTest } from '../support/forms.ts'
import { openBrowserWorld, password, type BrowserWorld } from './authorize-world.ts'

/** Fifty, one of them as long as may be. */
const manyScopes = Array.from({ length: 50 }, (_, count) => `scope-${count}-`.padEnd(count === 0 ? 128 : 16, 'w'))

const [smallest, largest] = [
  { name: 'a small phone', viewport: { width: 320, height: 640 } },
  { name: 'a desktop', viewport: { width: 1280, height: 860 } },
]
const between = [
  { name: 'a phone', viewport: { width: 390, height: 844 } },
  { name: 'a pop-up', viewport: { width: 800, height: 600 } },
]
const sizes = isLong ? [smallest, ...between, largest] : [smallest]

describe('the pages of the authorization code flow, checked visually', { timeout: 600_000 }, () => {
  let browser: Browser
  let world: BrowserWorld
  let urls: { readonly plain: string; readonly device: string; readonly long: string; readonly unknown: string }
  before(async () => {
    browser = await openBrowser()
    world = await openBrowserWorld(manyScopes)
    const plain = await world.addClient({})
    const device = await world.addClient({ public: true })
    const long = await world.addClient({ name: 'W'.repeat(64), scopes: manyScopes })
    urls = {
      plain: world.authorizeUrl(plain.id),
      device: world.authorizeUrl(device.id),
      long: world.authorizeUrl(long.id, { scope: manyScopes.join(' ') }),
      unknown: world.authorizeUrl('nobody'),
    }
  })
  after(async () => {
    await browser.close()
    await world[Symbol.asyncDispose]()
  })

  /** Each page, after what leads to it. */
  const pages: readonly { readonly says: string; show(page: Page): Promise<unknown> }[] = [
    { says: 'login', show: (page) => page.goto(urls.plain) },
    {
      says: 'login with a problem',
      async show(page) {
        await page.goto(urls.plain)
        await logIn(page, 'wrong password')
        await page.getByRole('alert').waitFor()
      },
    },
    { says: 'registration', show: (page) => page.goto(urls.plain.replace('/authorize?', '/register?')) },
    {
      says: 'registration with a problem',
      async show(page) {
        await page.getByLabel('Username').fill('ann')
        await page.getByLabel('Password').fill('correct horse battery')
        await page.getByRole('button', { name: 'Create account' }).click()
        await page.getByRole('alert').waitFor()
      },
    },
    { says: 'consent', show: (page) => logInAt(page, urls.plain) },
    {
      says: 'login once more',
      show: (page) => page.goto(`${urls.plain}&prompt=login`),
    },
    { says: 'consent to a program on the device', show: (page) => page.goto(urls.device) },
    { says: 'consent to fifty scopes of a client with a long name', show: (page) => page.goto(urls.long) },
    { says: 'error', show: (page) => page.goto(urls.unknown) },
  ]

  for (const [index, { name, viewport }] of sizes.entries()) {
    const colours = ['light', 'dark'] as const
    for (const colorScheme of isLong ? colours : [colours[index % 2]!]) {
      test(`on ${name}, ${colorScheme}: accessible, and no element is too wide or too small`, async () => {
        await using opened = await openPage(browser, world.server.url, { viewport, colorScheme })
        const { page, complaints } = opened
        for (const { says, show } of pages) {
          await show(page)
          assert.deepEqual(await findFarAnswers(page), [], says)
          await storeScreenshot(page, `${says} ${viewport.width} ${colorScheme}`)
          await page.evaluate('scrollTo(0, document.body.scrollHeight)') // or buttons that stay would lie over a text
          assert.deepEqual(await findFlaws(page), [], says)
          assert.equal(await page.evaluate('document.documentElement.scrollWidth'), viewport.width, says)
          assert.deepEqual(await findSmallTargets(page), [], says)
          assert.equal(await isDark(page), colorScheme === 'dark', says)
        }
        const isExpected = (one: string) => /status of 40[019] /.test(one)
        assert.deepEqual(
          complaints.filter((one) => !isExpected(one)),
          [],
        )
      })
    }
  }

  const accents = ['#ffffff', ...(isLong ? ['#000000', '#ffcc00', '#1f6feb'] : [])]
  for (const [index, accent] of accents.entries()) {
    const colours = ['light', 'dark'] as const
    const chosen = isLong ? colours : [colours[index % 2]!] // white is hardest to see in a light page
    // In CI, kit/accent.test.ts has the contrast of colours.
    longTest(`with the accent ${accent} and a long description: accessible, ${chosen.join(' and ')}`, async () => {
      const description = 'Orders, stock and deliveries of the Acme Cloud, for shops and their partners. '.repeat(6)
      await world.configure({ accent, description })
      for (const colorScheme of chosen) {
        const viewport = { width: 390, height: 844 }
        await using opened = await openPage(browser, world.server.url, { viewport, colorScheme })
        const { page, complaints } = opened
        for (const { says, show } of pages.slice(0, 5)) {
          await show(page)
          assert.deepEqual(await findFarAnswers(page), [], says)
          await storeScreenshot(page, `${says} ${accent} ${colorScheme}`)
          const button = page.locator('button.strong')
          const [back, border] = await page.evaluate<string[]>(`(() => {
            const { backgroundColor, borderTopColor } = getComputedStyle(document.querySelector('button.strong'))
            return [backgroundColor, borderTopColor]
          })()`)
          assert.equal(back, toRgb(accent), says)
          assert.equal(border, toRgb(deriveAccent(accent)[colorScheme].text), says)
          assert.deepEqual(await findFlaws(page), [], says)
          await button.hover()
          assert.deepEqual(await findFlaws(page), [], `${says}, below the pointer`)
        }
        assert.deepEqual(
          complaints.filter((one) => !/status of 40[019] /.test(one)),
          [],
        )
      }
    })
  }

  // In CI, docs-content.test.ts zooms, and the smallest phone above has the least room.
  longTest('they allow text of twice the size, and can be used with the keyboard alone', async () => {
    await using opened = await openPage(browser, world.server.url, { viewport: { width: 640, height: 480 } })
    const { page } = opened
    await page.goto(urls.plain)
    await page.locator('#username:focus').waitFor()
    await page.keyboard.type('ann')
    await page.keyboard.press('Tab')
    await page.keyboard.type(password)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Allow' }).waitFor()
    await page.evaluate("document.documentElement.style.fontSize = '200%'")
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 640)
    const reached: string[] = []
    for (let step = 0; step < 3; step++) {
      await page.keyboard.press('Tab')
      reached.push(await page.evaluate<string>('document.activeElement.textContent.trim()'))
      const outline = await page.evaluate<string>('getComputedStyle(document.activeElement).outlineStyle')
      assert.equal(outline, 'solid')
    }
    assert.deepEqual(reached, ['Use another account', 'Allow', 'Deny'])
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Back at the client' }).waitFor()
    assert.equal(world.site.answers.at(-1)?.searchParams.get('error'), 'access_denied')
  })
})

function toRgb(color: string): string {
  return `rgb(${[1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16)).join(', ')})`
}

async function logInAt(page: Page, url: string): Promise<void> {
  await page.goto(url)
  await logIn(page, password)
  await page.getByRole('button', { name: 'Allow' }).waitFor()
}

async function logIn(page: Page, secret: string): Promise<void> {
  await page.getByLabel('Username').fill('ann')
  await page.getByLabel('Password').fill(secret)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** What is to be hit with a finger and is less than 44 pixels high or wide. */
async function findSmallTargets(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`[...document.querySelectorAll('button, input:not([type=hidden])')]
    .filter((one) => Math.min(one.offsetWidth, one.offsetHeight) < 44).map((one) => one.outerHTML)`)
}

/**
 * What people came for and would have to look for: fields that begin below the upper third of a phone, and buttons that
 * decide something below the lower edge of a window.
 */
async function findFarAnswers(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`[...document.querySelectorAll('input:not([type=hidden]), .actions button')]
    .filter((one, index) => {
      const { top, bottom } = one.getBoundingClientRect()
      const isFirst = one.matches('#username') && innerWidth < 480 && !document.querySelector('.box')
      return bottom > innerHeight || (isFirst && top > innerHeight / 3)
    }).map((one) => one.outerHTML)`)
}

async function isDark(page: Page): Promise<boolean> {
  const colour = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
  const [red = 255] = [...colour.matchAll(/\d+/g)].map(Number)
  return red < 128
}
