import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { startServe } from '../test/e2e/serving.ts'
import { makeProject } from '../test/support/project.ts'
import { send } from '../test/support/send.ts'
import { atMost, beside, type Figure } from './goal.ts'
import { scaled } from './scale.ts'
import { quantile } from './statistics.ts'

const lockMs = scaled(2000, 300)
const paceMs = 5
const holder = `
const { DatabaseSync } = require('node:sqlite')
const database = new DatabaseSync(process.argv[1])
database.exec("begin immediate; update app_todo set status = 1")
process.send('locked')
setTimeout(() => { database.exec('commit'); process.disconnect() }, ${lockMs})
`

/** Measures a public route while another process holds the write lock of the server's SQLite file and a write waits. */
export async function measureLocked(): Promise<Figure[]> {
  const project = await makeProject({ HOST: '127.0.0.1' })
  await project.ok('migrate')
  await project.ok('user:add ann --scopes todo --password-stdin', { input: 'quiet-otter-4417' })
  await project.ok('deploy --yes')
  const headers = { authorization: `Bearer ${(await project.ok('token:issue --user ann')).trim()}` }
  const { port, stop } = await startServe(project)
  const agent = new Agent({ keepAlive: true })
  const create = () => send(port, { path: '/todo', body: { title: 'Buy milk', content: 'Two bottles' }, headers })
  const read = async () => {
    const began = performance.now()
    const { status } = await send(port, { path: '/todo', agent })
    if (status !== 200) throw new Error(`a read was answered ${status}`)
    return performance.now() - began
  }
  try {
    await create()
    for (let i = 0; i < 100; i++) await read() // warms up compiled code
    const lock = spawn(process.execPath, ['--no-warnings', '-e', holder, `${project.folder}/.waypost/system.db`], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    await once(lock, 'message')
    const held = new AbortController()
    lock.once('close', () => held.abort())
    const writing = create()
    const reads: Promise<number>[] = []
    while (!held.signal.aborted) {
      reads.push(read())
      await pause(paceMs)
    }
    const times = await Promise.all(reads)
    const { status } = await writing
    if (status !== 201) throw new Error(`the write was answered ${status}`)
    const p99 = { value: quantile(times, 0.99), unit: 'ms' }
    return [
      atMost(`p99 of ${times.length} reads while SQLite's write lock is held elsewhere`, p99, 50),
      beside('  largest', { value: Math.max(...times), unit: 'ms' }),
    ]
  } finally {
    agent.destroy()
    await stop()
    await project.remove()
  }
}
