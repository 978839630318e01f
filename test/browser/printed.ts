import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'

/** What is printed although paper has no clicks, and what has less room than it needs. */
const findFaults = `(() => {
  const shown = [...document.querySelectorAll('body *')].filter((one) => one.checkVisibility())
  const nameOf = (one) => one.localName + '.' + one.className + ' ' + one.textContent.slice(0, 40)
  const controls = shown.filter((one) => one.matches('button:not(.sort, summary *), nav:not(.paging), [role=tablist], [role=search]'))
  const isInside = (one) => one.closest('#content') !== null
  const isCut = (one) => {
    const { overflowX, overflowY, clipPath } = getComputedStyle(one)
    if (clipPath !== 'none' || one.closest('.hidden') !== null || one.textContent.trim() === '') return false
    return (overflowX !== 'visible' && one.scrollWidth > one.clientWidth + 1)
      || (overflowY !== 'visible' && one.scrollHeight > one.clientHeight + 1)
  }
  const isOutside = (one) => one.getBoundingClientRect().right > innerWidth + 1
  return [
    ...controls.filter((one) => one.checkVisibility()).map((one) => 'control: ' + nameOf(one)),
    ...shown.filter((one) => isInside(one) && isCut(one)).map((one) => 'cut: ' + nameOf(one)),
    ...shown.filter((one) => isInside(one) && isOutside(one)).map((one) => 'outside: ' + nameOf(one)),
  ]
})()`

/** Checks a page as it is printed on A4: without navigation and buttons, and whole. Ends with the page on the screen. */
export async function checkPrinted(page: Page, work: () => Promise<void> = async () => undefined): Promise<void> {
  const size = page.viewportSize()!
  await page.setViewportSize({ width: 718, height: 1047 })
  await page.emulateMedia({ media: 'print' })
  await page.evaluate("dispatchEvent(new Event('beforeprint'))")
  assert.deepEqual(await page.evaluate<string[]>(findFaults), [])
  await work()
  await page.evaluate("dispatchEvent(new Event('afterprint'))")
  await page.emulateMedia({ media: null })
  await page.setViewportSize(size)
}
