import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkApart } from '../../src/backend/release/check-apart.ts'
import { makeManifestGate } from '../../src/backend/release/manifest-gate.ts'
import { makeGreeting } from './deployers.ts'

const classes = { connections: {}, actions: {} }
const { manifest } = makeGreeting('hello')

/** So many schemas, each with a pattern that takes a moment to compile. */
function makeSlow(count: number) {
  const schemas = Array.from({ length: count }, (_, index) => [
    `S${index}`,
    { type: 'string', pattern: `^(a|b)*c{1,500}${index}$` },
  ])
  return { ...manifest, schemas: Object.fromEntries(schemas) as object }
}

test('a large manifest is checked in a thread, by the same checks', async () => {
  const schemas = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`S${index}`, { type: 'string' }]))
  const gate = makeManifestGate(classes)
  assert.deepEqual(Object.keys((await gate({ ...manifest, schemas })).schemas).length, 3000)
  const wrong = { ...manifest, schemas: { ...schemas, S7: { type: 'sting' } } }
  await assert.rejects(gate(wrong), { code: 'WP_BACKEND_MANIFEST', message: /\/schema\/S7.*"sting"/ })
})

test('what takes too long to check is refused, and keeps nobody waiting', async () => {
  const task = { text: JSON.stringify(makeSlow(20_000)), classes }
  let turns = 0
  const timer = setInterval(() => turns++, 10)
  const problems = await checkApart(task, { timeoutMs: 1000 })
  clearInterval(timer)
  assert.deepEqual(problems, [{ path: '', message: 'takes longer than 1 s to check' }])
  assert.ok(turns > 3, 'this thread went on')
})

test('what takes too much memory to check is refused', async () => {
  const task = { text: JSON.stringify(makeSlow(20_000)), classes }
  assert.deepEqual(await checkApart(task, { timeoutMs: 60_000, memoryMb: 24 }), [
    { path: '', message: 'takes too much memory to check' },
  ])
})
