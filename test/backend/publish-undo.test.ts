import assert from 'node:assert/strict'
import { test } from 'node:test'
import { activateRelease, loadActiveRelease } from '../../src/release/index.ts'
import { makeRelease } from '../release/system.ts'
import { openAdmin } from './admin.ts'
import { createNote, describePublishing, events, yml } from './publishing.ts'
import { longTest } from '../support/forms.ts'

describePublishing('a publication', (publishing) => {
  const { write, names, activeId, start, publish, refused, begin } = publishing

  // In CI, rollback.test.ts keeps such a draft.
  longTest('can be undone by a rollback that keeps what it undoes as a draft', async () => {
    await begin()
    const one = (await activeId())!
    await write({ 'waypost.yml': yml + events('added') })
    const { release: two } = await publish()
    const back = (id: string, against: string) =>
      publishing.world.call(`POST /release/${id}/rollback`, { json: { against, keep_draft: true } })
    assert.deepEqual((await back(one, two)).body, { id: one, activated: true })
    assert.deepEqual(await names(), ['/event/added'])
    const { entries } = (await publishing.world.call('GET /draft')).body
    assert.deepEqual([entries[0].name, typeof entries[0].by], ['/event/added', 'string'])
    assert.match((await back(two, one)).body.type, /#WP_BACKEND_ROLLBACK_DRAFT$/)
    assert.equal(await activeId(), one)
    assert.equal((await publish()).release, two)
    assert.deepEqual(await names(), [])
  })

  test('a table can be created again after a rollback: its migration has another name', async () => {
    await begin()
    const one = (await activeId())!
    const create = async (column: string) => {
      const columns = [
        { name: 'id', type: 'id' },
        { name: column, type: 'text' },
      ]
      const design = { name: 'app_pet', columns, key: [], unique: [], index: [] }
      const json = { connection: 'System', table: null, design, preview: false }
      return (await publishing.world.call('POST /draft/migration', { json })).body.change.file as string
    }
    const file = await create('a')
    const { release: two } = await publish({ migrate: true })
    const undone = await publishing.world.call(`POST /release/${one}/rollback`, { json: { against: two } })
    assert.equal(undone.status, 200, undone.text)
    const again = await create('b')
    assert.notEqual(again, file)
    assert.ok(file < again)
    assert.equal((await start({ migrate: true })).status, 202)
  })

  test('a migration with the name of one that ran, and another text, can be discarded', async () => {
    await begin()
    const one = (await activeId())!
    const file = 'migrations/System/20261102-two.yml'
    const two = createNote.replace('app_note', 'app_two')
    await write({ [file]: two })
    const { release } = await publish({ migrate: true })
    const undone = await publishing.world.call(`POST /release/${one}/rollback`, { json: { against: release } })
    assert.equal(undone.status, 200, undone.text)
    await write({ [file]: two.replace('200', '100') })
    await refused({ migrate: true }, 'WP_SERVER_MIGRATIONS_EDITED')
    const { body } = await publishing.world.call('POST /draft/discard', { json: {} })
    assert.deepEqual([body.kept, await names()], [[], []])
    await write({ [file]: two })
    assert.equal(
      (await publishing.world.call('POST /draft/discard', { json: {} })).body.kept.length,
      1,
      'the text that ran stays',
    )
  })
})

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
