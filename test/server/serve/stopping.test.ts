import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import { listServers } from '../../../src/host/index.ts'
import { actionFile } from '../../support/project-server.ts'
import { send } from '../../support/send.ts'
import { until } from '../../support/until.ts'
import { openServeSite } from './site.ts'

/** A route that responds when a file exists, so that a test controls how long a request is in flight. */
const slow = {
  'waypost.yml':
    'routes:\n  /slow: { methods: { GET: { public: true, response: { type: object }, action: src/slow.ts } } }\n',
  'src/slow.ts': actionFile(
    'globalThis.slowRequests = (globalThis.slowRequests ?? 0) + 1; await new Promise((resolve) => (globalThis.endSlow = resolve)); return {}',
  ),
}
const control = globalThis as { slowRequests?: number; endSlow?: () => void }

test('a stopping server reports itself as not ready, accepts requests for a moment, and completes those in flight', async () => {
  await using site = await openServeSite()
  await site.deploy(slow)
  const server = await site.start({ opsPort: 0 }, { WAYPOST_STOP_DELAY: '300ms' })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const inFlight = send(server.port, { path: '/slow' })
  await until('the slow request', () => (control.slowRequests ?? 0) > 0)

  const closed = server.close()
  const ready = await send(server.port, { path: '/health/ready', agent })
  assert.equal(ready.status, 503)
  assert.deepEqual(ready.body, { status: 'The server is shutting down' })
  const during = await send(server.port, { path: '/openapi.json', agent })
  assert.equal(during.status, 200, 'what comes meanwhile is answered')
  assert.equal(during.headers.connection, 'close', 'and the next request goes elsewhere')
  await until('the end of its row', async () => (await listServers(site.host)).length === 0)
  await until('the end of its port', () => isRefused(server.port))
  assert.equal((await send(server.ops!.port, { path: '/health/ready' })).status, 503, 'the ops port tells to the end')

  control.endSlow!()
  assert.equal((await inFlight).status, 200)
  await closed
  await assert.rejects(send(server.ops!.port, { path: '/health/live' }), { code: 'ECONNREFUSED' })
  agent.destroy()
})

test('requests in flight are aborted after WAYPOST_STOP_LIMIT', async () => {
  await using site = await openServeSite()
  await site.deploy(slow)
  control.slowRequests = 0
  const server = await site.start({}, { WAYPOST_STOP_LIMIT: '50ms' })
  const cut = assert.rejects(send(server.port, { path: '/slow' }), { code: 'ECONNRESET' })
  await until('the slow request', () => (control.slowRequests ?? 0) > 0)
  const closed = server.close()
  await cut
  control.endSlow!()
  await closed
})

test('an invalid duration prevents the start, and the error names the variable', async () => {
  await using site = await openServeSite()
  for (const [name, value] of [
    ['WAYPOST_STOP_DELAY', 'soon'],
    ['WAYPOST_STOP_LIMIT', '2h'],
    ['WAYPOST_PRESSURE_LIMIT', '-1'],
  ] as const) {
    await assert.rejects(site.start({}, { [name]: value }), { code: 'WP_SERVER_DURATION', message: new RegExp(name) })
  }
  await assert.rejects(site.start({}, { OPS_PORT: 'ninety' }), { code: 'WP_SERVER_NUMBER', message: /OPS_PORT/ })
})

async function isRefused(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return false
  } catch {
    return true
  } finally {
    socket.destroy()
  }
}
