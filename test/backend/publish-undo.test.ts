import assert from 'node:assert/strict'
import { test } from 'node:test'
import { activateRelease, loadActiveRelease } from '../../src/release/index.ts'
import { makeRelease } from '../release/system.ts'
import { openAdmin } from './admin.ts'

test('a release that was activated without its definition files has no draft, which says so', async () => {
  const world = await openAdmin('sqlite')
  await activateRelease(world.system, makeRelease('bare'), { by: 'ann' })
  const { status, body } = await world.call('GET /draft')
  assert.match(`${status} ${body.type} ${body.detail}`, /^\d+ \S+#WP_RELEASE_NO_FILES .* without its definition files/)
  await world.close()
})

test('a rollback keeps no draft where WAYPOST_BACKEND=read turns drafts off', async () => {
  const world = await openAdmin('sqlite', { variables: { WAYPOST_BACKEND: 'read' } })
  const one = await activateRelease(world.system, makeRelease('one'), { by: 'ann' })
  const two = await activateRelease(world.system, makeRelease('two'), { by: 'ann' })
  const json = { against: two.id, keep_draft: true }
  const refused = await world.call(`POST /release/${one.id}/rollback`, { json })
  assert.match(refused.body.type, /#WP_BACKEND_DRAFT$/)
  assert.equal((await loadActiveRelease(world.system))?.id, two.id)
  const done = await world.call(`POST /release/${one.id}/rollback`, { json: { against: two.id } })
  assert.equal(done.status, 200, done.text)
  await world.close()
})
