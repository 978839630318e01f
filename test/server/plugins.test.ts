import assert from 'node:assert/strict'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { version } from '../../src/kit/index.ts'
import { loadBuiltInPlugins } from '../../src/plugin/index.ts'
import { runCli } from '../support/cli.ts'
import { openProjectServer, writeFiles, type ProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'
import { until } from '../support/until.ts'
import { pack, distance, box, geo, local, type Operation, project } from './packed-plugins.ts'

describe('plugins of a release on a server', () => {
  let server: ProjectServer
  before(async () => {
    server = await openProjectServer({ files: project })
  })
  after(() => server[Symbol.asyncDispose]())
  const get = async (at: string, headers = {}) => (await send(server.port, { path: at, headers })).body

  test('provide actions, connections and routes, with their config', async () => {
    const databases = { Archive: 'sqlite', System: 'sqlite' }
    const described = { Archive: 'sqlite' }
    assert.deepEqual(await get('/near'), { to: 'Rome', times: 1, at: 'GET /near', described, databases, unit: 'km' })
    assert.deepEqual(await get('/shout'), { shout: 'HELLO' })
    assert.deepEqual(await get('/box'), { label: 'blue', unit: 'km', name: 'Box' })
    const { release, ...rest } = (await get('/geo')) as { release: string }
    assert.deepEqual(rest, { databases, unit: 'km', box: { label: 'blue', unit: 'km', name: 'Box' } })
    assert.equal(release, server.release.id)
  })

  test('travel as one artifact each, described in the manifest', () => {
    const [one, other] = server.release.manifest.plugins
    assert.ok(one && 'artifact' in one && other && 'artifact' in other)
    assert.deepEqual(
      [one.from, one.version, other.from, other.version],
      ['geo', '2.1.0', './plugins/local.ts', undefined],
    )
    assert.deepEqual(Object.keys(one.catalog.connections), ['box'])
    assert.equal(one.catalog.connections['box']!.clientType, '{ label: string }')
    assert.equal(one.catalog.routes, true)
    for (const { artifact } of [one, other]) assert.ok(server.release.manifest.artifacts[artifact]! > 0)
  })

  test('are part of /openapi.json', async () => {
    const { paths, components } = (await get('/openapi.json')) as {
      paths: Record<string, Record<string, Operation>>
      components: { securitySchemes: { oauth2: { flows: { clientCredentials: { scopes: object } } } } }
    }
    assert.deepEqual(Object.keys(paths), ['/box', '/call/{who}', '/far/{to}', '/geo', '/near', '/shout'])
    assert.deepEqual(Object.keys(paths['/far/{to}']!), ['get', 'post'])
    const { description, security, parameters, requestBody, responses } = paths['/far/{to}']!['post']!
    assert.match(description, /Moves a place[^]*Provided by the plugin geo\./)
    assert.deepEqual(security, [{ oauth2: ['geo'] }, { bearer: [] }])
    assert.deepEqual(
      parameters.map(({ name, schema }) => [name, schema]),
      [
        ['to', { type: 'string', maxLength: 9 }],
        ['fast', { type: 'boolean' }],
      ],
    )
    assert.match(JSON.stringify(requestBody), /"by"|Input|Request/)
    assert.match(JSON.stringify(responses), /"200"/)
    assert.deepEqual(Object.keys(components.securitySchemes.oauth2.flows.clientCredentials.scopes), ['far', 'geo'])
    assert.deepEqual(paths['/geo']!['get']!.security, [])
  })

  test('call operations as a principal, through authorization and validation', async () => {
    const both = await server.authorize('ann', ['geo', 'far'])
    const called = (await get('/call/ann', both)) as { status: number; body: object }
    assert.deepEqual(
      [called.status, called.body],
      [200, { params: { to: 'a/b ann' }, query: { n: [1, 2] }, user: 'ann' }],
    )
    const none = (await get('/call/nobody', both)) as { status: number }
    assert.equal(none.status, 401)
    const lacking = (await get('/call/bob', await server.authorize('bob', ['geo']))) as { status: number }
    assert.equal(lacking.status, 403)
    const forged = { 'waypost-internal-call': '00000000-0000-4000-8000-000000000000' }
    assert.equal((await send(server.port, { path: '/far/x', headers: forged })).status, 401)
  })

  test('an edit of an action changes no plugin and reopens no connection; an edit of a plugin does both', async () => {
    const boxes = () => (globalThis as { boxes?: string[] }).boxes!.length
    const [opened, hashes] = [boxes(), server.release.manifest.plugins.map((one) => JSON.stringify(one))]
    const action = `export default class { handle(_, context) { return { again: context.connection('Box') } } }\n`
    const edited = await server.deploy({ 'src/box.ts': action })
    assert.deepEqual(
      edited.manifest.plugins.map((one) => JSON.stringify(one)),
      hashes,
    )
    assert.equal(((await get('/box')) as { again: { label: string } }).again.label, 'blue')
    assert.equal(boxes(), opened)
    await server.deploy({ 'plugins/local.ts': local('CIAO') })
    assert.deepEqual(await get('/shout'), { shout: 'CIAO' })
    await server.deploy(geo(`hooks: { 'generation:ready'() { globalThis.ready = true } }`))
    await until('the box of the plugin before is closed', () => boxes() === opened + 2)
    assert.equal((globalThis as { ready?: boolean }).ready, true)
  })
})

test('plugin:list shows what plugins provide, and a package that would install a second waypost', async () => {
  const files = {
    ...project,
    ...pack('geo', `connections: { ${box} }, actions: { ${distance} }, config: {}`, {
      more: { dependencies: { waypost: '^1.0.0' } },
    }),
  }
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'waypost-plugins-'))
  await writeFiles(folder.path, files)
  const { code, stdout, stderr } = await runCli(['plugin:list'], { cwd: folder.path })
  assert.equal(code, 0, stderr)
  const builtIn = (await loadBuiltInPlugins()).map(({ plugin: { name, connections = {}, actions = {} } }) => {
    const provided = Object.entries({ connections, actions }).filter(([, classes]) => Object.keys(classes).length > 0)
    const parts = provided.map(([kind, classes]) => `${kind} ${Object.keys(classes).join(', ')}`)
    return `${name} | ${version} | waypost | ${parts.join('; ')}`
  })
  assert.deepEqual(
    stdout
      .trim()
      .split('\n')
      .map((line) => line.replaceAll(/ {2,}/g, ' | ').trim()),
    [
      'PLUGIN | VERSION | SOURCE | PROVIDES',
      ...builtIn,
      'geo | 2.1.0 | in the release | connections box; actions distance',
      './plugins/local.ts | in the release | actions shout',
    ],
  )
  assert.match(stderr, /Warning: geo lists waypost in "dependencies"/)
})
