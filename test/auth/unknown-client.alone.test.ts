import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { systemKinds } from '../support/server.ts'
import { openWorld, type Credentials, type World } from './world.ts'

const rounds = 400
const unknown = { id: '3f2504e0-4f89-41d3-9a0c-0305e82c3301', secret: 'wrong' }

for (const kind of systemKinds) {
  describe(`the time of a refusal on ${kind}`, () => {
    test('is much the same for a client that there is not as for a wrong secret', async () => {
      await using world = await openWorld(kind)
      const wrong = { id: world.app.id, secret: 'wrong' }
      const times = new Map<Credentials, number[]>([
        [unknown, []],
        [wrong, []],
      ])
      // In turns, so that whatever else the machine does is the same for both; the first ones warm up.
      for (let round = -50; round < rounds; round++) {
        for (const client of round % 2 === 0 ? [unknown, wrong] : [wrong, unknown]) {
          const passed = await timeOf(world, client)
          if (round >= 0) times.get(client)!.push(passed)
        }
      }
      const [one, other] = [...times.values()].map(median) as [number, number]
      const ratio = Math.max(one, other) / Math.min(one, other)
      assert.ok(ratio < 1.5, `unknown ${one.toFixed(3)} ms, wrong secret ${other.toFixed(3)} ms`)
    })
  })
}

async function timeOf(world: World, client: Credentials): Promise<number> {
  const began = performance.now()
  assert.equal((await world.token(client, { grant_type: 'client_credentials' })).status, 401)
  return performance.now() - began
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]!
}
