import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { Agent } from 'node:http'
import { connect, type Socket } from 'node:net'
import { platform } from 'node:os'
import { after, before, describe, test } from 'node:test'
import { baseUrl, makeHost, secret, startServe, type Serving } from '../e2e/serving.ts'
import type { TestProject } from '../support/project.ts'
import { send } from '../support/send.ts'
import { until } from '../support/until.ts'

const descriptors = 1024
const login = { path: '/consumer/login', body: { username: 'nobody', password: 'wrong-password' } }

describe('a server with few descriptors', { skip: platform() !== 'linux' }, () => {
  let host: TestProject
  before(async () => {
    host = await makeHost({
      WAYPOST_SYSTEM_URL: 'sqlite:system.db',
      WAYPOST_SECRET: secret,
      WAYPOST_BASE_URL: baseUrl,
      HOST: '127.0.0.1',
    })
    await host.ok('migrate')
  })
  after(() => host.remove())

  test('keeps some for its work, and new callers replace idle ones', async () => {
    const serving = await startServe(host, { descriptors })
    const idle = await openIdle(serving, 1100)
    assert.ok((await countOpen(serving)) < 0.9 * descriptors)
    assert.equal((await send(serving.port, { path: '/health/ready' })).status, 200)
    assert.equal((await send(serving.port, login)).status, 401)
    for (const socket of idle) socket.resume() // a socket that the server has closed reads its end
    const connected = () => idle.filter((socket) => !socket.closed && !socket.readableEnded).length
    // On a busy machine fewer: idle connections are closed after 20 s.
    await until('no more than three quarters of the descriptors are connected', () => connected() + 1 <= 768)
    closeAll(idle)
    const { code, stdout } = await serving.stop()
    assert.equal(code, 0, stdout)
    assert.match(stdout, /"limit":768,"msg":"connection limit reached/)
  })

  test('survives when all descriptors are used by sockets, and recovers when they are closed', async () => {
    const serving = await startServe(host, { descriptors, env: { WAYPOST_CONNECTION_LIMIT: '5000' } })
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const ask = () => send(serving.port, { path: '/health/live', agent })
    assert.equal((await ask()).status, 200)
    const idle = await openIdle(serving, 1100)
    await until('no descriptor is left', async () => (await countOpen(serving)) >= descriptors - 2)
    assert.equal((await ask()).status, 200, 'a connection that was there before')
    for (const request of [login, { path: '/health/ready' }, { path: '/.well-known/jwks.json' }]) {
      const { status } = await send(serving.port, { ...request, agent })
      assert.ok([200, 401, 503].includes(status), `${request.path}: ${status}`)
    }
    closeAll(idle)
    await until('it accepts connections again', () =>
      send(serving.port, { path: '/health/ready' }).then(
        ({ status }) => status === 200,
        () => false,
      ),
    )
    agent.destroy()
    assert.equal((await serving.stop()).code, 0)
  })
})

async function openIdle({ port }: Serving, count: number): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1').on('error', () => undefined))
  await Promise.all(
    sockets.map(async (socket) =>
      Promise.race([once(socket, 'connect'), once(socket, 'close')]).catch(() => undefined),
    ),
  )
  return sockets
}

function closeAll(sockets: readonly Socket[]): void {
  for (const socket of sockets) socket.destroy()
}

async function countOpen({ pid }: Serving): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length
}
