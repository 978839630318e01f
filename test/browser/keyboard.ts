// Someone who uses only a keyboard.
import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { storeScreenshot } from '../support/browser.ts'
import { until, untilWithin } from '../support/until.ts'

/** Presses keys as a person does, and fails when a person would be lost. */
export interface Keyboard {
  /** How many keys were pressed so far, without the letters of texts. */
  readonly presses: number
  /** Presses a key. What has the focus then must be seen. */
  press(key: string): Promise<void>
  /** Types a text into what has the focus. */
  type(text: string): Promise<void>
  /** Replaces the text of what has the focus. */
  retype(text: string): Promise<void>
  /** Presses Tab, or Shift+Tab, until a control has the focus. @param name its label; the beginning of it for a pattern */
  tabTo(name: string | RegExp, key?: 'Tab' | 'Shift+Tab'): Promise<void>
  /** `tabTo`, then Enter. */
  activate(name: string | RegExp, key?: 'Tab' | 'Shift+Tab'): Promise<void>
  /** Chooses an option of the list of what has the focus. */
  choose(option: string): Promise<void>
  /** Waits until a control has the focus, for example that of a dialog that opens. */
  focusOn(name: string | RegExp): Promise<void>
  /** Chooses a page or a thing from the palette. @param found what it shows for the text */
  goTo(text: string, found?: string): Promise<void>
  /** Fails if the focus is on nothing, a control ends beyond the window, or more than the page scrolls. */
  checkPage(): Promise<void>
}

/** More presses than this without reaching a control are too many for anyone. */
const patience = 50

interface Focus {
  readonly name: string
  readonly isNothing: boolean
  /** Whether it is in the window and nothing covers it. */
  readonly isSeen: boolean
  /** By how many pixels more than the page is scrolled, or could be. */
  readonly excess: number
}

const nameOf = 'one.ariaLabel ?? one.labels?.[0]?.textContent ?? one.textContent'

/** The controls that Tab can reach. */
const controlsScript = `[...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]')]
  .filter((one) => one.tabIndex >= 0 && !one.disabled && one.checkVisibility())
  .map((one) => (${nameOf}).trim())`

const focusScript = `(() => {
  const one = document.activeElement
  const label = one.labels?.[0]
  const { left, right, top, bottom, width } = one.getBoundingClientRect()
  const end = Math.min(bottom, top + 24)
  const hit = document.elementFromPoint(left + width / 2, (top + end) / 2)
  const isWhole = left >= 0 && right <= innerWidth && top >= 0 && end <= innerHeight
  const root = document.documentElement
  return {
    name: (${nameOf}).trim().slice(0, 80),
    isNothing: one === document.body,
    isSeen: one.id === 'content' || (isWhole && (one.contains(hit) || label?.contains(hit) === true)),
    // The page for signing in is the whole document.
    excess: document.querySelector('#content') === null ? 0
      : root.scrollHeight - innerHeight + root.scrollWidth - innerWidth + root.scrollTop,
  }
})()`

const beyondScript = `[
  [...document.querySelectorAll(':is(#content, [role="dialog"]) :is(input, button, select, textarea, a)')]
    .filter((one) => one.checkVisibility() && one.closest('thead') === null && one.getBoundingClientRect().right > innerWidth)
    .map((one) => one.outerHTML),
  [...document.querySelectorAll('#content, [role="dialog"]')].filter((one) => one.scrollWidth > one.clientWidth).length,
]`

export function openKeyboard(page: Page): Keyboard {
  let presses = 0
  const look = () => page.evaluate<Focus>(focusScript)
  const isNamed = (wanted: string | RegExp, name: string) =>
    typeof wanted === 'string' ? name.replace(/ \*$/, '') === wanted : wanted.test(name)
  const send = async (key: string) => {
    presses += 1
    await page.keyboard.press(key)
  }
  /** Looks again where a page is still loading. */
  const see = async () => {
    let focus = await look()
    if (focus.isNothing || focus.isSeen) return focus
    await untilWithin(2000, `${focus.name} is seen`, async () => {
      focus = await look()
      return focus.isSeen
    })
    return focus
  }
  const keyboard: Keyboard = {
    get presses() {
      return presses
    },
    async press(key) {
      await send(key)
      if (key === 'Enter') return // what it does comes later, and may be another document
      assert.ok(!(await see()).isNothing, `${key} loses the focus`)
    },
    type: (text) => page.keyboard.type(text),
    async retype(text) {
      await send('Control+A')
      await page.keyboard.type(text)
    },
    async tabTo(name, key = 'Tab') {
      await until(`${String(name)} is there`, async () =>
        (await page.evaluate<readonly string[]>(controlsScript)).some((one) => isNamed(name, one)),
      )
      const passed: string[] = []
      for (let count = 0; count < patience; count += 1) {
        await send(key)
        const focus = await see() // after its last control, a page leaves the keyboard to the browser: nothing has it
        passed.push(focus.name)
        assert.equal(focus.excess, 0, `the window scrolls at ${focus.name}`)
        if (isNamed(name, focus.name)) return
      }
      assert.fail(`${String(name)} was not reached: ${passed.join(', ')}`)
    },
    async activate(name, key) {
      await keyboard.tabTo(name, key)
      await storeScreenshot(page, `key ${String(1000 + presses)} ${String(name).replaceAll(/\W+/g, '-')}`)
      await send('Enter')
    },
    async choose(option) {
      await send('ArrowDown')
      await page.getByRole('option', { name: option, exact: true }).waitFor()
      await page.evaluate('new Promise((done) => setTimeout(done))') // the list begins at the current option a moment later
      const chosen = page.locator('[role=option][data-combobox-selected]')
      for (let text = ''; text !== option; text = (await chosen.textContent()) ?? '') await send('ArrowDown')
      await send('Enter')
      await page.getByRole('option', { name: option, exact: true }).waitFor({ state: 'detached' })
    },
    async focusOn(name) {
      let last: Focus | undefined
      await until(`${String(name)} has the focus`, async () => {
        last = await look()
        return isNamed(name, last.name) && last.isSeen
      })
      await storeScreenshot(page, `key ${String(1000 + presses)} on ${String(name).replaceAll(/\W+/g, '-')}`)
    },
    async goTo(text, found = text) {
      await send('Control+K')
      const palette = page.getByRole('combobox', { name: /^Search/ })
      await palette.and(page.locator(':focus')).waitFor()
      await page.keyboard.type(text)
      await page.getByRole('option', { selected: true }).filter({ hasText: found }).waitFor()
      await send('Enter')
      await page.getByRole('dialog', { name: 'Search' }).waitFor({ state: 'detached' })
    },
    async checkPage() {
      await until('something has the focus', async () => !(await look()).isNothing)
      assert.equal((await see()).excess, 0, 'the window scrolls')
      assert.deepEqual(await page.evaluate(beyondScript), [[], 0], 'beyond the right edge')
    },
  }
  return keyboard
}
