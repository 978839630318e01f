import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeTestRoute, startTestServer } from '../support/server.ts'

test('other work gets its turn after each route while a release with many routes is prepared', async () => {
  const routes = Array.from({ length: 100 }, (_, index) =>
    makeTestRoute(`/many/${index}`, { method: 'POST', public: true, request: { properties: { [`p${index}`]: {} } } }),
  )
  await using server = await startTestServer({ kind: 'sqlite' })
  let turns = 0
  let isServed = false
  const count = () => {
    turns += 1
    if (!isServed) setImmediate(count)
  }
  setImmediate(count)
  await server.serve({ kind: 'sqlite', routes })
  isServed = true
  assert.ok(turns >= 100, `${turns} turns`)
  assert.equal((await server.send('POST /many/99', { json: {} })).status, 200)
})
