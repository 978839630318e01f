import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeProject } from '../support/project.ts'
import { send } from '../support/send.ts'

const startMs = 2000
const reloadMs = 300

test('dev makes its System and answers within two seconds, and serves a save at once', async (t) => {
  const project = await makeProject()
  const began = performance.now()
  const dev = project.start('dev --port 0')
  try {
    const [, port] = await dev.waitFor(/API {7}http:\/\/localhost:(\d+)/)
    const list = () => send(Number(port), { path: '/todo' })
    assert.equal((await list()).status, 200)
    const started = performance.now() - began
    await dev.waitFor(/Ready in/)

    const reloads: number[] = []
    for (let start = 0; start < 5; start++) {
      const saved = performance.now()
      await project.edit('resources/routes/todo/collection.yml', `default: ${start}`, `default: ${start + 1}`)
      while ((await list()).body.startIndex !== start + 1) assert.ok(performance.now() - saved < 10_000)
      reloads.push(performance.now() - saved)
    }
    const reload = reloads.toSorted((a, b) => a - b)[2]!
    t.diagnostic(`first answer after ${started.toFixed(0)} ms, a save served after ${reload.toFixed(0)} ms`)
    assert.ok(started < startMs, `${started.toFixed(0)} ms`)
    assert.ok(reload < reloadMs, `${reload.toFixed(0)} ms`)
  } finally {
    await dev.stop()
    await project.remove()
  }
})
