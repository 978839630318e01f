import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { openTestProject } from '../../src/project/index.ts'
import { activateRelease } from '../../src/release/index.ts'
import { listServers, openHost, type Host } from '../../src/host/index.ts'
import { serve, type WaypostServer } from '../../src/server/index.ts'
import { copySystem } from '../support/migrated.ts'
import { actionFile, describeSystems, writeFiles, type Files } from '../support/project-server.ts'
import { send } from '../support/send.ts'
import { until } from '../support/until.ts'
import { chooseKinds, longTest } from '../support/forms.ts'

const yml = `
routes:
  /version: { methods: { GET: { public: true, response: Version, action: src/version.ts } } }
schema:
  Version: { type: object, properties: { version: { type: string } } }
`
const version = (text: string, head = ''): Files => ({
  'waypost.yml': yml,
  'src/version.ts': actionFile(`return { version: '${text}', more: 1 }`, head),
})

describeSystems('serve', chooseKinds('postgresql'), ({ newSystem }) => {
  let folder: string
  let host: Host
  let variables: Record<string, string>
  const servers: WaypostServer[] = []
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'waypost-serve-'))
    const systemUrl = await newSystem()
    variables = {
      WAYPOST_SYSTEM_URL: systemUrl.replace('sqlite:', `sqlite:${folder}/`),
      WAYPOST_BASE_URL: 'https://api.example.com',
      WAYPOST_SECRET: 'a secret for a test of at least 32 characters',
      LOG_LEVEL: 'silent',
      HOST: '127.0.0.1',
      WAYPOST_STOP_DELAY: '0s',
      WAYPOST_PRESSURE_LIMIT: '1h',
      LIMIT: 'huge',
    }
    await copySystem(systemUrl, folder)
    host = await openHost({ folder, variables, create: true, unmigrated: true })
  })
  after(async () => {
    for (const server of servers) await server.close()
    await host.close()
    await rm(folder, { recursive: true })
  })

  const start = async (more: Record<string, string> = {}) => {
    const empty = await mkdtemp(path.join(folder, 'host-'))
    const server = await serve({ folder: empty, variables: { ...variables, ...more }, port: 0, retryMs: 100 })
    servers.push(server)
    return server
  }
  const deploy = async (files: Files) => {
    await writeFiles(folder, files)
    return (await (await openTestProject(folder)).install(host)).stored
  }
  const get = async (server: WaypostServer) => (await send(server.port, { path: '/version' })).body?.version as unknown
  /** Metrics of the first server. */
  const state = async () => {
    const { state, error } = (await listServers(host))[0]!
    return error === null ? state : `${state}: ${error}`
  }

  test('without a release answers everything except routes, and serves the first one as soon as it is activated', async () => {
    const server = await start()
    assert.equal((await send(server.port, { path: '/version' })).status, 404)
    assert.equal((await send(server.port, { path: '/health/ready' })).status, 200)
    assert.equal(
      (await send(server.port, { path: '/consumer/login', body: { username: 'a', password: 'b' } })).status,
      401,
    )
    assert.equal(await state(), 'starting')
    await deploy(version('one'))
    await until('one is served', async () => (await get(server)) === 'one')
    await until('it serves', async () => (await state()) === 'serving')
    const { headers } = await send(server.port, { path: '/version' })
    assert.match(headers['strict-transport-security']!, /max-age/)
  })

  test('starts with the active release: no request sees a server without routes', async () => {
    const server = await start()
    assert.equal(await get(server), 'one')
    assert.deepEqual(
      (await listServers(host)).map((one) => one.state),
      ['serving', 'serving'],
    )
    await server.close()
    assert.equal((await listServers(host)).length, 1)
  })

  test('drops properties of results that their schema does not declare', async () => {
    assert.deepEqual((await send(servers[0]!.port, { path: '/version' })).body, { version: 'one' })
  })

  for (const [what, broken, reason] of [
    ['throws while it is loaded', version('bad', `throw new Error('out of order')`), /out of order/],
    [
      'cannot be constructed',
      {
        ...version('bad'),
        'src/version.ts': actionFile('return {}').replace(
          'async handle',
          `constructor() { throw new Error('no start') }\n  async handle`,
        ),
      },
      /no start/,
    ],
    [
      'needs a variable',
      {
        ...version('bad'),
        'waypost.yml': `${yml}connection: { Orders: { class: postgresql, config: { url: '\${env.ORDERS_URL}' } } }\n`,
      },
      /requires variables that are not set: ORDERS_URL/,
    ],
    [
      'has an invalid setting',
      { ...version('bad'), 'waypost.yml': `${yml}config: { body_limit: '\${env.LIMIT}' }\n` },
      /body_limit/,
    ],
  ] as const) {
    // In CI, serve/system-variables.test.ts has variables that are missing and settings that are invalid.
    const declare = /needs|setting/.test(what) ? longTest : test
    declare(
      `a release that ${what} keeps the previous one, and the row shows why until another is active`,
      async () => {
        const good = await deploy(version('good'))
        await until('good is served', async () => (await get(servers[0]!)) === 'good')
        const bad = await deploy(broken)
        assert.notEqual(bad.id, good.id)
        await until('it failed', async () => (await state()).startsWith('failed'))
        assert.match(await state(), reason)
        assert.equal(await get(servers[0]!), 'good')
        assert.equal((await listServers(host))[0]!.release, good.id, 'what it serves is what it served')
        await deploy(version('good'))
        await until('it serves', async () => (await state()) === 'serving')
        assert.equal(await get(servers[0]!), 'good')
      },
    )
  }

  test('damaged artifacts in System are not run, and are retried until they are repaired', async () => {
    await deploy(version('good'))
    await until('good is served', async () => (await get(servers[0]!)) === 'good')
    const { db } = host.system
    await writeFiles(folder, version('mended'))
    const { stored, artifacts } = await (await openTestProject(folder)).install({ ...host, system: { ...host.system } })
    await until('mended is served', async () => (await get(servers[0]!)) === 'mended')

    await deploy(version('good'))
    await until('good is served', async () => (await get(servers[0]!)) === 'good')
    const [{ hash, content }] = artifacts as [{ hash: string; content: string }]
    await db
      .updateTable('waypost_artifact')
      .set({ content: content.replace('mended', 'forged') })
      .where('hash', '=', hash)
      .execute()
    // Activated like a rollback: nothing is stored again.
    await activateRelease(host.system, { manifest: stored.manifest, artifacts: [] }, { by: 'ann' })
    await until('it failed', async () => (await state()).startsWith('failed'))
    assert.match(await state(), /is damaged: artifact \w+ was changed/)
    assert.equal(await get(servers[0]!), 'good')
    await db.updateTable('waypost_artifact').set({ content }).where('hash', '=', hash).execute()
    await until('mended is served', async () => (await get(servers[0]!)) === 'mended')
    await until('it serves', async () => (await state()) === 'serving')
  })

  test('every server of a System follows', async () => {
    const more = await Promise.all([start(), start()])
    await deploy(version('all'))
    for (const server of [servers[0]!, ...more]) await until('all is served', async () => (await get(server)) === 'all')
  })

  test('expired data is deleted by serving processes', async () => {
    const { db } = host.system
    await db.deleteFrom('waypost_system').where('name', '=', 'last_prune').execute()
    await db.insertInto('waypost_throttle').values({ bucket: 'old', count: 1, expires_at: 1 }).execute()
    await start()
    const isThere = () =>
      db.selectFrom('waypost_throttle').select('count').where('bucket', '=', 'old').executeTakeFirst()
    await until('it is deleted', async () => (await isThere()) === undefined)
  })

  test('a closed server leaves no row and answers no requests', async () => {
    for (const server of servers) await server.close()
    assert.deepEqual(await listServers(host), [])
    await assert.rejects(send(servers[0]!.port, { path: '/', agent: new Agent() }), { code: 'ECONNREFUSED' })
  })
})
