import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadActiveRelease } from '../../../src/release/index.ts'
import { describeSystems } from '../../support/project-server.ts'
import { openDeployWorld, projectOf } from './world.ts'
import { chooseKinds } from '../../support/forms.ts'

describeSystems('deploying where the active release was damaged', chooseKinds('sqlite'), ({ newSystem }) => {
  test('the same sources repair it, as the error says; others are rejected', async () => {
    await using world = await openDeployWorld(await newSystem())
    const { system } = world.host
    const { id } = await world.deploy({ 'waypost.yml': projectOf(1) })
    await system.db.updateTable('waypost_release').set({ manifest: '[]' }).where('id', '=', id).execute()
    await assert.rejects(world.deploy({ 'waypost.yml': projectOf(2) }), {
      code: 'WP_RELEASE_CORRUPT',
      hint: /Deploy the same sources again/,
    })
    const again = await world.deploy({ 'waypost.yml': projectOf(1) })
    assert.deepEqual([again.id, again.activated, again.changes], [id, false, []])
    assert.equal((await loadActiveRelease(system))?.id, id)
    assert.equal((await world.deploy({ 'waypost.yml': projectOf(2) })).activated, true)
  })
})
