import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { findFlaws, storeScreenshot } from '../support/browser.ts'
import { logIn, openBackendWorld, openSignedIn, origin, type BackendWorld } from './backend-world.ts'

describe('the pages of the backend', { timeout: 600_000 }, () => {
  let world: BackendWorld
  before(async () => {
    world = await openBackendWorld()
  })
  after(() => world[Symbol.asyncDispose]())

  test('sign in with the login page, and silently after a reload', async () => {
    await using opened = await world.open()
    const { page, complaints } = opened
    await page.goto(`${origin}/backend`)
    await logIn(page)
    await page.getByRole('heading', { name: 'Hello, ann' }).waitFor()
    assert.equal(page.url(), `${origin}/backend/ui/`)
    await page.reload()
    await page.getByRole('heading', { name: 'Hello, ann' }).waitFor()
    assert.deepEqual(complaints, [])
  })

  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [390, 1440]) {
      test(`are accessible, ${colorScheme}, ${width} pixels wide`, async () => {
        await using opened = await world.open({ colorScheme, viewport: { width, height: 900 } })
        const { page, complaints } = opened
        await openSignedIn(page)
        await storeScreenshot(page, `backend overview ${width} ${colorScheme}`)
        assert.deepEqual(await findFlaws(page), [])
        assert.deepEqual(complaints, [])
      })
    }
  }
})
