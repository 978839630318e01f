// Another process that holds the write lock of SQLite must not be felt by who only reads.
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Agent } from 'node:http'
import { test } from 'node:test'
import { makeProject } from '../support/project.ts'
import { send } from '../support/send.ts'
import { startServe } from './serving.ts'

const lockMs = 2000
const paceMs = 5
const holder = `
const { DatabaseSync } = require('node:sqlite')
const database = new DatabaseSync(process.argv[1])
database.exec("begin immediate; update app_todo set status = 1")
process.send('locked')
setTimeout(() => { database.exec('commit'); process.disconnect() }, ${lockMs})
`

test('while a second process holds the write lock of SQLite for 2 s, a public route keeps its p99 under 50 ms', async (t) => {
  const project = await makeProject({ HOST: '127.0.0.1' })
  await project.ok('migrate')
  await project.ok('user:add ann --scopes todo --password-stdin', { input: 'quiet-otter-4417' })
  await project.ok('deploy --yes')
  const token = (await project.ok('token:issue --user ann')).trim()
  const serving = await startServe(project)
  const agent = new Agent({ keepAlive: true })
  try {
    const create = () =>
      send(serving.port, {
        path: '/todo',
        body: { title: 'Buy milk', content: 'Two bottles' },
        headers: { authorization: `Bearer ${token}` },
      })
    const read = async () => {
      const began = performance.now()
      const { status } = await send(serving.port, { path: '/todo', agent })
      assert.equal(status, 200)
      return performance.now() - began
    }
    assert.equal((await create()).status, 201)
    for (let i = 0; i < 100; i++) await read()

    const lock = spawn(process.execPath, ['--no-warnings', '-e', holder, `${project.folder}/.waypost/system.db`], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    await once(lock, 'message')
    const began = performance.now()
    const writing = create().then(({ status }) => ({ status, ms: performance.now() - began }))
    const times = await readSteadily(read, lock)
    const written = await writing

    const p99 = times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.99) - 1] ?? Infinity
    const worst = Math.max(...times)
    t.diagnostic(
      `${times.length} reads, p99 ${p99.toFixed(1)} ms, worst ${worst.toFixed(1)} ms; a write waited ${written.ms.toFixed(0)} ms`,
    )
    assert.ok(times.length >= 200, `${times.length} reads`)
    assert.ok(p99 < 50, `p99 ${p99.toFixed(1)} ms`)
    assert.equal(written.status, 201)
    assert.ok(written.ms > lockMs / 2, 'the lock was held: a write waited for it')
  } finally {
    agent.destroy()
    await serving.stop()
    await project.remove()
  }
})

/** One read each few milliseconds, whether the one before has been answered or not, for as long as the lock is held. */
async function readSteadily(read: () => Promise<number>, lock: ChildProcess): Promise<number[]> {
  const released = once(lock, 'close')
  const over = new AbortController()
  void released.then(() => over.abort())
  const reads: Promise<number>[] = []
  while (!over.signal.aborted) {
    reads.push(read())
    await new Promise((resolve) => setTimeout(resolve, paceMs))
  }
  return Promise.all(reads)
}
