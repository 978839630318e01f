import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { systemKinds } from '../support/server.ts'
import { openWorld, type World } from './world.ts'

for (const kind of systemKinds) {
  describe(`the name of a client that is added, on ${kind}`, () => {
    let world: World
    before(async () => {
      world = await openWorld(kind)
    })
    after(() => world.close())

    for (const name of ['   ', 'a\u202Eb', 'a\u200Bb', 'a\u2028b', 'a\0b', 'x'.repeat(65)]) {
      test(`is not ${JSON.stringify(name.slice(0, 10))}: it stands on the consent page`, async () => {
        await assert.rejects(world.addClient({ name }), { code: 'WP_AUTH_NAME' })
      })
    }

    test('may be in any language', async () => {
      for (const name of ['Foto-Drucker', '写真プリンター', 'طابعة الصور', "Ann's 🖨"])
        assert.ok((await world.addClient({ name })).id)
    })
  })
}
