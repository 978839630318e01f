// A developer watches requests as they happen.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findFlaws } from '../support/browser.ts'
import { send } from '../support/send.ts'
import { until } from '../support/until.ts'
import { goTo, openBackendWorld, openSignedIn } from './backend-world.ts'

test('the page Live shows requests as they happen, and can be paused', async () => {
  await using world = await openBackendWorld({ isLive: true })
  await using opened = await world.open()
  const { page, complaints } = opened
  const requests: string[] = []
  page.on('request', (request) => requests.push(request.url()))
  await openSignedIn(page, '/live')
  const streams = () => requests.filter((url) => url.includes('/backend/traffic'))
  const rowOf = (path: string) => page.getByRole('row').filter({ hasText: path })
  await send(world.server.port, { path: '/todo/1' })
  await rowOf('/todo/1').getByText('404').waitFor()
  await send(world.server.port, { path: '/nowhere?token=hidden' })
  await rowOf('/nowhere?token=…').getByText('404').waitFor()
  assert.equal(streams().length, 1, 'one request shows all of them')
  assert.deepEqual(await findFlaws(page), [])

  await page.getByRole('button', { name: 'Pause' }).click()
  const resume = page.getByRole('button', { name: 'Continue' })
  await resume.waitFor()
  await send(world.server.port, { path: '/todo/2' })
  assert.equal(await rowOf('/todo/2').count(), 0)
  await resume.click()
  await rowOf('/todo/2').waitFor()

  const before = streams().length
  world.endStreams()
  await until('the page connects again', () => streams().length === before + 1)
  await send(world.server.port, { path: '/todo/3' })
  await rowOf('/todo/3').waitFor()
  assert.equal(await rowOf('/todo/').count(), 3)
  const ended = page.waitForEvent('requestfailed', (request) => request.url().includes('/backend/traffic'))
  await goTo(page, '/routes', 'Routes')
  await ended
  assert.deepEqual(complaints, [])
})
