import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sha256 } from '../../src/kit/index.ts'
import { surveyRollback } from '../../src/operate/index.ts'
import {
  activateRelease,
  activateSerialized,
  compareManifests,
  loadActiveRelease,
  loadManifest,
  rollBack,
} from '../../src/release/index.ts'
import { makeGreeting } from '../backend/deployers.ts'
import { startTestServer } from '../support/server.ts'
import { chooseKinds } from '../support/forms.ts'

/** The text that earlier versions stored: with the name of the project and the location of each method. */
function writeFormat1(name: string, config = {}) {
  const { manifest, artifacts } = makeGreeting('hello', { config })
  const { format: _, waypost, routes, ...rest } = manifest
  const located = routes.map((route) => ({
    ...route,
    methods: route.methods.map((method) => ({ ...method, source: 'waypost.yml:3' })),
  }))
  const text = JSON.stringify({ format: 1, waypost, name, routes: located, ...rest })
  return { id: sha256(text), manifest: text, artifacts }
}

for (const kind of chooseKinds('sqlite')) {
  describe(`a release that an earlier version stored, on ${kind}`, () => {
    test('is served as before, with the name of its project as the title, and can be rolled back to', async () => {
      await using world = await startTestServer({ kind, routes: [], config: {} })
      const { system } = world.host
      const old = writeFormat1('old-shop')
      await activateSerialized(system, old, { by: 'ann' })
      const active = await loadActiveRelease(system)
      assert.equal(active?.id, old.id)
      await world.server.serveRelease(active)
      assert.deepEqual((await world.send('GET /greet')).body, { greeting: 'hello' })
      assert.equal((await world.send('GET /openapi.json')).body.info.title, 'old-shop')

      const built = makeGreeting('hello')
      assert.deepEqual(
        compareManifests(active.manifest, built.manifest).map(({ change, kind: of, name, details }) => [
          `${change} ${of} ${name}`,
          details[0]?.text,
        ]),
        [['removed setting title', 'old-shop → default']],
      )
      await activateRelease(system, built, { by: 'ann' })
      const survey = await surveyRollback(world.host, undefined)
      assert.equal(survey.id, old.id)
      await rollBack(system, survey.id, { by: 'ann' })
      const again = await loadActiveRelease(system)
      assert.deepEqual([again?.id, again?.manifest], [old.id, active.manifest])
    })
  })
}

test('the name of a project is no title if it is set, too long, or refers to a variable', async () => {
  await using world = await startTestServer({ kind: 'sqlite', routes: [] })
  const { system } = world.host
  const titleOf = async (name: string, config = {}) => {
    const old = writeFormat1(name, config)
    await activateSerialized(system, old, { by: 'ann' })
    return (await loadManifest(system, old.id)).config['title']
  }
  assert.equal(await titleOf('shop', { title: 'Corner Shop' }), 'Corner Shop')
  assert.equal(await titleOf('shop'.repeat(40)), undefined)
  assert.equal(await titleOf('${env.SHOP}'), undefined)
})
