// A developer watches requests as they happen.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findFlaws } from '../support/browser.ts'
import { send } from '../support/send.ts'
import { openBackendWorld, openSignedIn } from './backend-world.ts'

test('the page Live shows requests as they happen, and can be paused', async () => {
  await using world = await openBackendWorld({ isLive: true })
  await using opened = await world.open()
  const { page, complaints } = opened
  await openSignedIn(page, '/live')
  const rowOf = (path: string) => page.getByRole('row').filter({ hasText: path })
  await send(world.server.port, { path: '/todo/1' })
  await rowOf('/todo/1').getByText('404').waitFor()
  await send(world.server.port, { path: '/nowhere?token=hidden' })
  await rowOf('/nowhere?token=…').getByText('404').waitFor()
  assert.deepEqual(await findFlaws(page), [])

  await page.getByRole('button', { name: 'Pause' }).click()
  const resume = page.getByRole('button', { name: 'Continue' })
  await resume.waitFor()
  await send(world.server.port, { path: '/todo/2' })
  assert.equal(await rowOf('/todo/2').count(), 0)
  await resume.click()
  await rowOf('/todo/2').waitFor()
  assert.deepEqual(complaints, [])
})
