import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listServers } from '../../../src/host/index.ts'
import { send } from '../../support/send.ts'
import { until } from '../../support/until.ts'
import { openServeSite, versionFiles, type LoggedServer } from './site.ts'

const needing = { more: `config: { body_limit: '\${env.LIMIT}' }\n` }

const tell = async (server: LoggedServer) =>
  (await send(server.port, { path: '/version' })).body?.version as string | undefined

test('a server that cannot start the active release serves the last one that started, and keeps retrying', async () => {
  await using site = await openServeSite()
  for (const name of ['one', 'two']) {
    await site.deploy(versionFiles(name))
    const server = await site.start()
    await until(name, async () => (await tell(server)) === name)
    await until(`the note that ${name} came up`, async () => (await cameUp(name)) !== null)
    await server.close()
  }
  const wanting = await site.deploy(versionFiles('three', needing))

  const variables: Record<string, string> = { ...site.variables }
  const given: Record<string, string> = {}
  const server = await site.start({ variables, refresh: () => Object.assign(variables, given) })
  await until('two', async () => (await tell(server)) === 'two')
  assert.equal((await send(server.port, { path: '/health/ready' })).status, 200, 'it serves, so it is ready')
  await until('its row', async () => (await listServers(site.host))[0]!.release !== null)
  const [row] = await listServers(site.host)
  assert.equal(row!.state, 'failed')
  assert.match(row!.error!, /requires variables that are not set: LIMIT/)
  assert.notEqual(row!.release, wanting.id)
  assert.ok(server.logs.some(({ msg, level }) => level === 50 && /serving the last release that started/.test(msg)))
  assert.match(await server.measure(), /^waypost_release_behind 1$/m)

  given['LIMIT'] = '1mb'
  await until('three', async () => (await tell(server)) === 'three')
  await until('its row', async () => (await listServers(site.host))[0]!.state === 'serving')
  assert.match(await server.measure(), /^waypost_release_behind 0$/m)

  async function cameUp(name: string): Promise<number | null> {
    const rows = await site.host.system.db.selectFrom('waypost_release').select('came_up_at').execute()
    return rows.length === { one: 1, two: 2 }[name] ? rows.at(-1)!.came_up_at : null
  }
})

test('without any such release it serves everything except the project, and is not ready until the release is', async () => {
  await using site = await openServeSite()
  await site.deploy(versionFiles('one', needing))
  const variables: Record<string, string> = { ...site.variables }
  let given = {}
  const server = await site.start({ variables, refresh: () => Object.assign(variables, given) })
  // A caller must not take the routes of the project for removed ones.
  const missing = await send(server.port, { path: '/version' })
  assert.deepEqual([missing.status, missing.headers['retry-after']], [503, '1'])
  assert.equal(missing.body.detail, 'The active release failed to start')
  assert.equal((await send(server.port, { path: '/authorization/whoami', method: 'DELETE' })).status, 405)
  assert.equal((await send(server.port, { path: '/authorization/whoami' })).status, 401)
  const ready = await send(server.port, { path: '/health/ready' })
  assert.equal(ready.status, 503)
  assert.equal(ready.headers['retry-after'], '1')
  assert.deepEqual(ready.body, { status: 'The active release failed to start' })
  given = { LIMIT: '1mb' }
  await until('ready', async () => (await send(server.port, { path: '/health/ready' })).status === 200)
  assert.equal((await send(server.port, { path: '/version' })).body.version, 'one')
})

test('a release is tried again with growing pauses, its row keeps since when; another activation is tried at once', async () => {
  await using site = await openServeSite()
  await site.deploy(versionFiles('one'))
  const server = await site.start({ retryMs: 20 })
  await site.deploy(versionFiles('two', needing))
  const failures = () => server.logs.filter(({ msg }) => /fails? to start|failed to start/.test(msg))
  await until('the first failure', async () => (await states())[0]!.state === 'failed')
  const [first] = await states()
  await until('three more', () => failures().length >= 4)
  assert.deepEqual(
    failures()
      .slice(0, 4)
      .map(({ retryMs }) => retryMs),
    [20, 40, 80, 160],
  )
  assert.deepEqual(await states(), [first], 'the row says since when it fails')
  await site.deploy(versionFiles('three'))
  await until('three', async () => (await tell(server)) === 'three')

  function states() {
    return site.host.system.db.selectFrom('waypost_server').select(['state', 'state_at', 'wanted_id']).execute()
  }
})

test('an import that never ends does not keep the release that is activated behind it', async () => {
  await using site = await openServeSite()
  await site.deploy(versionFiles('one'))
  const server = await site.start()
  const head = 'await new Promise((resolve) => setTimeout(resolve, 2 ** 30).unref())'
  await site.deploy(versionFiles('two', { head }))
  await until('the swap', async () => (await listServers(site.host))[0]!.state === 'swapping')
  await site.deploy(versionFiles('three'))
  await until('three', async () => (await tell(server)) === 'three')
  assert.ok(server.logs.some(({ msg }) => /abandoned for a newer/.test(msg)))
  assert.ok(!server.logs.some(({ level }) => level >= 50), 'nothing failed')
})
