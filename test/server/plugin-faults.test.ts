// Faults of plugins that take time, or appear only on a server. Each message names the plugin.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { isWaypostError } from '../../src/kit/index.ts'
import { longTest } from '../support/forms.ts'
import { openProjectServer, type Files, type ProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'
import { until } from '../support/until.ts'

function pack(name: string, members: string, top = ''): Files {
  return {
    [`node_modules/${name}/package.json`]: JSON.stringify({
      name,
      version: '1.0.0',
      type: 'module',
      exports: './index.js',
    }),
    [`node_modules/${name}/index.js`]: `${top}\nexport default { name: '${name}', requires: '*', ${members} }\n`,
  }
}

const routes = 'routes:\n  /a: { methods: { GET: { public: true, action: src/a.ts } } }\n'
const start: Files = {
  'package.json': '{ "type": "module" }',
  'src/a.ts': 'export default class { handle() { return { served: true } } }\n',
  'waypost.yml': routes,
}
const listed = (name: string, more = '') => ({ 'waypost.yml': `plugins: [${name}]\n${routes}${more}` })

async function refusalOf(work: Promise<unknown>): Promise<readonly [code: string, message: string]> {
  try {
    await work
  } catch (error) {
    assert.ok(isWaypostError(error), String(error))
    return [error.code, error.message]
  }
  return ['none', 'it was served']
}

const answer = async ({ port }: ProjectServer, path = '/a') => (await send(port, { path })).body
const isLogged = ({ logs }: ProjectServer, text: RegExp) => logs.some(({ msg }) => text.test(String(msg)))

describe('a plugin that never finishes', { concurrency: true }, () => {
  test('registering its routes leaves the previous release on the server', async () => {
    await using server = await openProjectServer({ files: start })
    const files = { ...pack('slow', 'routes: () => new Promise(() => {})'), ...listed('slow') }
    assert.deepEqual(await refusalOf(server.deploy(files)), [
      'WP_PLUGIN_TIMEOUT',
      'The plugin "slow" did not finish registering its routes within 10 s',
    ])
    assert.deepEqual(await answer(server), { served: true })
  })

  // In CI, the test above has the limit, and broken-plugins.test.ts an action that throws.
  longTest('making an action leaves the previous release on the server', async () => {
    await using server = await openProjectServer({ files: start })
    const made = `actions: { slow: { description: '', config: {}, make: () => new Promise(() => {}) } }`
    const more = '  /b: { methods: { GET: { public: true, action: { class: slow } } } }\n'
    assert.deepEqual(await refusalOf(server.deploy({ ...pack('late', made), ...listed('late', more) })), [
      'WP_PLUGIN_MAKE',
      'The plugin "late" cannot create the action "slow" of GET /b: it did not finish within 10 s',
    ])
    assert.deepEqual(await answer(server), { served: true })
  })

  test('a hook is reported, and the release serves', async () => {
    await using server = await openProjectServer({ files: start })
    const hooks = `hooks: { 'generation:ready': () => new Promise(() => {}), 'generation:closed': () => new Promise(() => {}) }`
    await server.deploy({ ...pack('hooked', hooks), ...listed('hooked') })
    assert.deepEqual(await answer(server), { served: true })
    await until('ready is reported', () =>
      isLogged(server, /"hooked" did not finish its hook generation:ready within 5 s/),
    )
    await server.deploy({ 'waypost.yml': routes })
    await until('closed is reported', () =>
      isLogged(server, /"hooked" did not finish its hook generation:closed within 5 s/),
    )
    assert.deepEqual(await answer(server), { served: true })
  })

  test('closing a connection is reported, and stops neither releases nor the server', async () => {
    await using server = await openProjectServer({ files: start })
    const box = `connections: { box: { description: '', config: {}, clientType: '{}', open: async () => ({ client: {}, check: async () => {}, close: () => new Promise(() => {}) }) } }`
    const more = 'connection:\n  Box: { class: box }\n'
    await server.deploy({ ...pack('sticky', box), ...listed('sticky', more) })
    await server.deploy({ 'waypost.yml': routes })
    assert.deepEqual(await answer(server), { served: true })
    const late = /The plugin "sticky" did not finish closing the connection "Box" within 5 s/
    await until('closing is reported', () => isLogged(server, late))
    await server.deploy(listed('sticky', more))
    await server.server.close() // with the connection open
  })

  test('opening a connection delays a release only for a short time, and does not stop the server from closing', async () => {
    await using server = await openProjectServer({ files: start })
    const box = `connections: { box: { description: '', config: {}, clientType: '{}', open: () => new Promise(() => {}) } }`
    await server.deploy({ ...pack('silent', box), ...listed('silent', 'connection:\n  Box: { class: box }\n') })
    assert.deepEqual(await answer(server), { served: true })
  })
})

describe('on a server', () => {
  let server: ProjectServer
  before(async () => {
    server = await openProjectServer({ files: start })
  })
  after(() => server[Symbol.asyncDispose]())

  test('code that only throws there leaves the previous release', async () => {
    const mark = globalThis as { waypostTestServer?: boolean }
    mark.waypostTestServer = true
    const top = `if (globalThis.waypostTestServer) throw new Error('not here')`
    assert.deepEqual(await refusalOf(server.deploy({ ...pack('picky', '', top), ...listed('picky') })), [
      'WP_PLUGIN_LOAD',
      'Cannot load the plugin "picky": not here',
    ])
    delete mark.waypostTestServer
    assert.deepEqual(await answer(server), { served: true })
    // The failure of a hash stays until the content changes.
    assert.equal((await refusalOf(server.deploy({})))[0], 'WP_PLUGIN_LOAD')
    await server.deploy(pack('picky', 'hooks: {}', top))
    assert.deepEqual(await answer(server), { served: true })
  })

  test('a connection that is down at the start works when its system is back', async () => {
    const system = globalThis as { boxIsUp?: boolean }
    const box = `connections: { box: { description: '', config: {}, clientType: '{}',
      async open() {
        if (!globalThis.boxIsUp) throw new Error('the box is down')
        return { client: { full: true }, check: async () => {}, close: async () => {} }
      } } },
      routes(app, host) { app.get('/box', { config: { public: true } }, () => host.connection('Box')) }`
    const action = 'export default class { handle(_, context) { return context.connection("Box") } }\n'
    const more = '  /b: { methods: { GET: { public: true, action: src/b.ts } } }\nconnection:\n  Box: { class: box }\n'
    await server.deploy({ ...pack('down', box), ...listed('down', more), 'src/b.ts': action })
    const statusOf = async (path: string) => (await send(server.port, { path })).status
    for (const path of ['/b', '/box']) assert.equal(await statusOf(path), 503, path)
    assert.deepEqual(await answer(server), { served: true })
    system.boxIsUp = true
    for (const path of ['/b', '/box']) {
      await until(`${path} is back`, async () => (await statusOf(path)) === 200)
      assert.deepEqual(await answer(server, path), { full: true })
    }
    delete system.boxIsUp
  })
})

// In CI, broken-plugins.test.ts has the variable that is missing, and plugins.test.ts a config that routes read.
longTest('a variable that is missing refuses a release, which is served once it is set', async () => {
  const config = `config: { type: 'object', properties: { key: { type: 'string' } } },
    routes(app, host) { app.get('/key', { config: { public: true } }, () => ({ key: host.config.key })) }`
  const files = {
    ...start,
    ...pack('keyed', config),
    'waypost.yml': `plugins: [{ name: keyed, config: { key: "\${env.KEY}" } }]\n${routes}`,
  }
  const without = openProjectServer({ files })
  assert.deepEqual(await refusalOf(without.then((server) => server[Symbol.asyncDispose]())), [
    'WP_SERVER_VARIABLE',
    (await refusalOf(without))[1],
  ])
  assert.match((await refusalOf(without))[1], /KEY \(plugin keyed\)/)
  await using server = await openProjectServer({ files, variables: { KEY: 'secret' } })
  assert.deepEqual(await answer(server, '/key'), { key: 'secret' })
})
