import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent } from 'node:http'
import { tracingChannel } from 'node:diagnostics_channel'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { hostname, platform } from 'node:os'
import { test } from 'node:test'
import { listServers, nameServer } from '../../../src/host/index.ts'
import { send, type Answer } from '../../support/send.ts'
import { openServeSite, openServeSiteOn, versionFiles } from './site.ts'

test('the ops port serves health and metrics to the local machine without a token, and no project routes', async () => {
  await using site = await openServeSite()
  await site.deploy(versionFiles('one'))
  const server = await site.start({ opsPort: 0 })
  assert.equal(server.ops!.host, '127.0.0.1')
  const { port } = server.ops!
  assert.deepEqual((await send(port, { path: '/health/live' })).body, { status: 'live' })
  assert.deepEqual((await send(port, { path: '/health/ready?deep' })).body, { status: 'ready' })
  const metrics = await send(port, { path: '/metrics' })
  assert.equal(metrics.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8')
  assert.match(metrics.text, /^waypost_release_behind 0\n(.*\n)*nodejs_eventloop_lag_seconds [\d.e-]+$/m)
  assert.equal((await send(port, { path: '/metrics', method: 'HEAD' })).text, '')
  for (const path of ['/version', '/openapi.json', '/consumer/account', '/', '/metrics/', '/__proto__', '//metrics'])
    assert.equal((await send(port, { path })).status, 404, path)
  const post = await send(port, { path: '/metrics', method: 'POST' })
  assert.equal(post.status, 405)
  assert.equal(post.headers.allow, 'GET, HEAD')
  assert.equal((await send(server.port, { path: '/metrics' })).status, 401, 'the port of the API needs a token')
})

test('a request that arrives as soon as the server listens is answered by the active release', async () => {
  await using site = await openServeSiteOn('postgresql') // each statement is a turn of the event loop
  await site.deploy(versionFiles('one'))
  const early: Promise<Answer>[] = []
  const listened = tracingChannel('net.server.listen')
  const subscriber = {
    asyncEnd(message: object) {
      const { port } = (message as { readonly server: Server }).server.address() as AddressInfo
      early.push(send(port, { path: '/version' }))
    },
  } as Parameters<typeof listened.subscribe>[0]
  listened.subscribe(subscriber)
  try {
    await site.start()
  } finally {
    listened.unsubscribe(subscriber)
  }
  assert.deepEqual((await early[0])?.body, { version: 'one' })
})

test('is closed by default; OPS_PORT and OPS_HOST work like the flag', async () => {
  await using site = await openServeSite()
  assert.equal((await site.start()).ops, undefined)
  const server = await site.start({}, { OPS_PORT: '0', OPS_HOST: '127.0.0.2' })
  assert.equal(server.ops!.host, '127.0.0.2')
})

test('a port that is taken is named with the flag that chooses another one', async () => {
  await using site = await openServeSite()
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  try {
    await assert.rejects(site.start({ port }), {
      code: 'WP_RUNTIME_PORT',
      message: new RegExp(String(port)),
      hint: /--port/,
    })
    await assert.rejects(site.start({ opsPort: port }), { code: 'WP_RUNTIME_PORT', hint: /--ops-port/ })
    await assert.rejects(site.start({ port, reusePort: true }), { code: 'WP_RUNTIME_PORT' }, 'it does not share it')
  } finally {
    other.close()
  }
})

test(
  'two servers that say so share a port, and either answers for the other',
  { skip: platform() !== 'linux' },
  async () => {
    await using site = await openServeSite()
    await site.deploy(versionFiles('one'))
    const one = await site.start({ port: 0, reusePort: true })
    const other = await site.start({ port: one.port, reusePort: true })
    assert.equal(other.port, one.port)
    const ask = async () => {
      const agent = new Agent({ keepAlive: false })
      const answers = await Promise.all(Array.from({ length: 40 }, () => send(one.port, { path: '/version', agent })))
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
    }
    await ask()
    await one.close()
    await ask()
  },
)

test('two servers on one host have different names', async () => {
  await using site = await openServeSite()
  const ports = [(await site.start()).port, (await site.start()).port]
  const names = (await listServers(site.host)).map(({ name }) => name)
  assert.deepEqual(names.toSorted(), ports.map((port) => `${hostname()}:${port}`).toSorted())
  assert.equal(nameServer({ port: 3000, reusePort: true }), `${hostname()}:3000/${process.pid}`)
})
