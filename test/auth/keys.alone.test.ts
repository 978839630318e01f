import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decodeProtectedHeader } from 'jose'
import { rotateHostKey } from '../../src/operate/index.ts'
import { systemKinds, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { openWorld, password } from './world.ts'

for (const kind of systemKinds) {
  describe(`the time of a rotation on ${kind}`, () => {
    test('until every server signs with the new key is under a second', async () => {
      await using world = await openWorld(kind)
      await using second = await world.startSecond()
      const signsWith = async (server: TestServer) => {
        const { body } = await server.send('POST /consumer/login', { json: { username: 'ann', password } })
        return decodeProtectedHeader(body.token).kid
      }
      for (let round = 0; round < 5; round++) {
        const { key } = await rotateHostKey(world.host)
        const passed = await Promise.all(
          [world, second].map(async (server) => {
            const began = performance.now()
            await until('it signs with the new key', async () => (await signsWith(server)) === key)
            return performance.now() - began
          }),
        )
        assert.ok(Math.max(...passed) < 1000, `${passed.join(', ')} ms`)
      }
    })
  })
}
