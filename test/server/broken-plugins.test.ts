import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { longTest } from '../support/forms.ts'
import { openProjectServer, type Files, type ProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'
import { until } from '../support/until.ts'
import { pack, refusalOf, route, use, made } from './packed-plugins.ts'

describe('a broken plugin leaves the release before on the server, and is named', () => {
  let server: ProjectServer
  before(async () => {
    const files = {
      'package.json': '{ "type": "module" }',
      'src/a.ts': 'export default class { handle() { return { served: true } } }\n',
      'waypost.yml': 'routes:\n  /a: { methods: { GET: { public: true, action: src/a.ts } } }\n',
    }
    server = await openProjectServer({ files })
  })
  after(() => server[Symbol.asyncDispose]())

  const cases: readonly (readonly [what: string, files: Files, code: string, message: RegExp])[] = [
    [
      'routes that throw',
      route('bad', `routes() { throw new Error('no routes today') }`),
      'WP_PLUGIN_ROUTES',
      /"bad".*no routes today/,
    ],
    [
      'a route without access',
      route('bad', `routes(app) { app.get('/x', () => 1) }`),
      'WP_PLUGIN_ROUTE_ACCESS',
      /"bad".*GET \/x/,
    ],
    [
      'a reserved path',
      route('bad', `routes(app) { app.get('/backend/x', { config: { public: true } }, () => 1) }`),
      'WP_PLUGIN_PATH',
      /"bad" registers GET \/backend\/x, which is reserved/,
    ],
    [
      'a route of the project',
      route('bad', `routes(app) { app.get('/a', { config: { public: true } }, () => 1) }`),
      'WP_PLUGIN_ROUTE_TWICE',
      /GET \/a: one by the project, one by the plugin "bad"/,
    ],
    [
      'a route of another plugin',
      {
        ...pack('other', `routes(app) { app.get('/x/:id', { config: { public: true } }, () => 1) }`),
        ...route('bad', `routes(app) { app.get('/x/:name', { config: { public: true } }, () => 1) }`),
        'waypost.yml': 'plugins: [other, bad]\nroutes: {}\n',
      },
      'WP_PLUGIN_ROUTE_TWICE',
      /GET \/x\/:name: one by the plugin "other", one by the plugin "bad"/,
    ],
    [
      'an action that throws',
      { ...pack('bad', made(`() => { throw new Error('cannot make') }`)), 'waypost.yml': use() },
      'WP_PLUGIN_MAKE',
      /The plugin "bad" cannot create the action "made" of GET \/a: cannot make/,
    ],
    [
      'an action without handle',
      { ...pack('bad', made(`() => ({})`)), 'waypost.yml': use() },
      'WP_PLUGIN_MAKE',
      /"bad".*did not return an object with a method "handle"/,
    ],
    [
      'a config that does not match',
      {
        ...pack(
          'bad',
          `config: { type: 'object', properties: { size: { type: 'integer' } } }, ${made(`() => ({ handle() {} })`)}`,
        ),
        'waypost.yml': use().replace('[bad]', '[{ name: bad, config: { size: "${env.SIZE:-wide}" } }]'),
      },
      'WP_PLUGIN_CONFIG',
      /The config of the plugin "bad" is invalid: size must be integer/,
    ],
    [
      'a config with a variable that is not set',
      {
        ...pack(
          'bad',
          `config: { type: 'object', properties: { key: { type: 'string' } } }, ${made(`() => ({ handle() {} })`)}`,
        ),
        'waypost.yml': use().replace('[bad]', '[{ name: bad, config: { key: "${env.NOT_SET}" } }]'),
      },
      'WP_SERVER_VARIABLE',
      /requires variables that are not set: NOT_SET \(plugin bad\)/,
    ],
  ]
  // In CI one of each code.
  const isFirst = ([, , code]: (typeof cases)[number], index: number) =>
    cases.findIndex((one) => one[2] === code) === index
  for (const [index, one] of cases.entries()) {
    const [what, files, code, message] = one
    const declare = isFirst(one, index) ? test : longTest
    declare(what, async () => {
      const refusal = await refusalOf(server.deploy(files))
      assert.equal(refusal.code, code, refusal.message)
      assert.match(refusal.message, message)
      assert.deepEqual((await send(server.port, { path: '/a' })).body, { served: true })
    })
  }

  test('a failing hook has no effect on others', async () => {
    const hook = `hooks: { 'generation:ready'() { throw new Error('not ready') } }`
    await server.deploy(route('bad', hook))
    const isLogged = () =>
      server.logs.some(({ msg }) => msg === 'The hook generation:ready of the plugin "bad" failed: not ready')
    await until('the hook is logged', isLogged)
    assert.deepEqual((await send(server.port, { path: '/a' })).body, { served: true })
  })
})
