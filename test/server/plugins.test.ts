import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { isWaypostError, version } from '../../src/kit/index.ts'
import { openPluginBuilder } from '../../src/build/index.ts'
import { loadProject } from '../../src/project/load-project.ts'
import { loadReleasePlugins } from '../../src/host/index.ts'
import { loadBuiltInPlugins } from '../../src/plugin/index.ts'
import { runCli } from '../support/cli.ts'
import { openProjectServer, writeFiles, type Files, type ProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'
import { until } from '../support/until.ts'

const packageJson = (more: object = {}) =>
  JSON.stringify({ name: 'geo', version: '2.1.0', type: 'module', exports: './index.js', ...more })

/** A package in `node_modules` whose plugin has these members. */
function pack(name: string, members: string, { top = '', more = {} }: { top?: string; more?: object } = {}): Files {
  const code = `import { definePlugin } from 'waypost'
${top}
export default definePlugin({ name: '${name}', requires: '^1.0.0', ${members} })
`
  return {
    [`node_modules/${name}/package.json`]: packageJson({ name, ...more }),
    [`node_modules/${name}/index.js`]: code,
  }
}

const distance = `distance: {
  description: 'Distance', config: { type: 'object', required: ['to'], properties: { to: { type: 'string' }, times: { type: 'integer', default: 1 } } },
  make: ({ config, use, host }) => ({ handle: () => ({ to: config.to, times: config.times, at: use.method + ' ' + use.path, unit: host.config.unit }) }),
}`
const box = `box: {
  description: 'A box', config: { type: 'object', properties: { label: { type: 'string' } } }, clientType: '{ label: string }',
  async open({ label }, { config, name }) {
    globalThis.boxes = [...(globalThis.boxes ?? []), label]
    return { client: { label, unit: config.unit, name }, async check() {}, async close() { globalThis.boxes.push('closed ' + label) } }
  },
}`
const geo = (more = '') =>
  pack(
    'geo',
    `config: { type: 'object', properties: { unit: { type: 'string', default: 'km', enum: ['km', 'mi'] } }, additionalProperties: false },
    connections: { ${box} }, actions: { ${distance} },
    routes(app, host) {
      app.get('/geo', { config: { public: true } }, () => ({ unit: host.config.unit, box: host.connection('Box'), release: host.release.id }))
      app.post('/far/:to', {
        config: { scopes: ['geo'] },
        schema: {
          description: 'Moves a place',
          params: { type: 'object', properties: { to: { type: 'string', maxLength: 9 } } },
          querystring: { type: 'object', properties: { fast: { type: 'boolean' } } },
          body: { type: 'object', required: ['by'], properties: { by: { type: 'integer' } } },
          response: { 200: { type: 'object', properties: { moved: { type: 'boolean' } } }, '4xx': { type: 'object' } },
        },
      }, () => ({ moved: true }))
      app.get('/files/*', { config: { public: true } }, () => 1)
      app.get('/call/:who', { config: { scopes: ['geo'] } }, async ({ params, principal }) =>
        host.call('GET /far/:to', { params: { to: 'a/b ' + params.who }, query: { n: [1, 2] } }, params.who === 'nobody' ? undefined : principal))
    }, ${more}`,
  )

const yaml = `plugins:
  - name: geo
    config: { unit: "\${env.UNIT:-km}" }
  - ./plugins/local.ts
connection:
  Box: { class: box, config: { label: blue } }
routes:
  /near: { methods: { GET: { public: true, action: { class: distance, config: { to: Rome } } } } }
  /shout: { methods: { GET: { public: true, action: { class: shout } } } }
  /box: { methods: { GET: { public: true, action: src/box.ts } } }
  /far/:to:
    scopes: [far]
    methods: { GET: { parameters: { n: { type: array, items: { type: integer } } }, action: src/far.ts } }
`
const local = (word: string) => `import { definePlugin } from 'waypost'
export default definePlugin({
  name: 'local',
  actions: { shout: { description: 'Shouts', config: {}, make: () => ({ handle: () => ({ shout: '${word}' }) }) } },
})
`
interface Operation {
  readonly description: string
  readonly security: unknown
  readonly parameters: readonly { readonly name: string; readonly schema: object }[]
  readonly requestBody: object
  readonly responses: object
}

const project: Files = {
  'package.json': '{ "type": "module" }',
  'waypost.yml': yaml,
  'plugins/local.ts': local('HELLO'),
  'src/box.ts': `export default class { handle(_, context) { return context.connection('Box') } }\n`,
  'src/far.ts': `export default class { handle({ params, query }, { principal }) { return { params, query, user: principal.user.name } } }\n`,
  ...geo(),
}

describe('plugins of a release on a server', () => {
  let server: ProjectServer
  before(async () => {
    server = await openProjectServer({ files: project })
  })
  after(() => server[Symbol.asyncDispose]())
  const get = async (at: string, headers = {}) => (await send(server.port, { path: at, headers })).body

  test('provide actions, connections and routes, with their config', async () => {
    assert.deepEqual(await get('/near'), { to: 'Rome', times: 1, at: 'GET /near', unit: 'km' })
    assert.deepEqual(await get('/shout'), { shout: 'HELLO' })
    assert.deepEqual(await get('/box'), { label: 'blue', unit: 'km', name: 'Box' })
    const { release, ...rest } = (await get('/geo')) as { release: string }
    assert.deepEqual(rest, { unit: 'km', box: { label: 'blue', unit: 'km', name: 'Box' } })
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

/** What a deployment is refused with. */
async function refusalOf(work: Promise<unknown>): Promise<{ code: string; message: string }> {
  try {
    await work
  } catch (error) {
    assert.ok(isWaypostError(error), String(error))
    return { code: error.code, message: error.message }
  }
  return { code: 'none', message: 'it was served' }
}

const route = (name: string, members: string, options?: Parameters<typeof pack>[2]): Files => ({
  ...pack(name, members, options),
  'waypost.yml': `plugins: [${name}]\n${yaml.slice(yaml.indexOf('routes:')).split('  /near')[0]}  /a: { methods: { GET: { public: true, action: src/a.ts } } }\n`,
})
const use = (config = '{}', more = '') =>
  `plugins: [bad]\nroutes:\n  /a: { methods: { GET: { public: true, action: { class: made, config: ${config} } } } }\n${more}`
const made = (make: string, config = '{}') =>
  `actions: { made: { description: 'Made', config: ${config}, make: ${make} } }`

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
      /"bad".*no object with a method "handle"/,
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
  for (const [what, files, code, message] of cases) {
    test(what, async () => {
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

describe('a plugin that cannot be built is a diagnostic at its entry', () => {
  let folder: string
  let server: ProjectServer
  before(async () => {
    server = await openProjectServer({ files: { 'waypost.yml': 'routes: {}\n', 'package.json': '{}' } })
    folder = server.host.folder
  })
  after(() => server[Symbol.asyncDispose]())

  const named = (name: string, members: string, options?: Parameters<typeof pack>[2]) => ({
    files: pack(name, members, options),
    list: `[${name}]`,
  })
  type Broken = { files: Files; list: string; code: string; message: RegExp; hint?: RegExp; line?: number }
  const cases: Readonly<Record<string, Broken>> = {
    'a package that is missing': {
      files: {},
      list: '[nosuch]',
      code: 'WP_PLUGIN_MISSING',
      message: /"nosuch": the package is not installed/,
    },
    'a file that is missing': {
      files: {},
      list: '[./plugins/nosuch.ts]',
      code: 'WP_PLUGIN_MISSING',
      message: /the file \.\/plugins\/nosuch\.ts does not exist/,
      hint: /correct the path of the file in "plugins:"/,
    },
    'a package without a module': {
      ...named('empty', '', { more: { exports: { './other': './index.js' } } }),
      code: 'WP_PLUGIN_MISSING',
      message: /"empty": its package\.json names no module/,
    },
    'another version': {
      files: {
        ...pack('newer', ''),
        'node_modules/newer/index.js': `export default { name: 'newer', requires: '^99.0.0' }`,
      },
      list: '[newer]',
      code: 'WP_PLUGIN_VERSION',
      message: /"newer" requires waypost \^99\.0\.0/,
    },
    'code that throws': {
      ...named('throws', '', { top: `throw new Error('broken inside\\nand more')` }),
      code: 'WP_PLUGIN_LOAD',
      message: /Cannot load the plugin "throws": broken inside$/,
    },
    'code that ends the process': {
      ...named('exits', '', { top: 'process.exit(3)' }),
      code: 'WP_PLUGIN_LOAD',
      message: /"exits": it ended the process \(exit code 3\)/,
    },
    'code that waits': {
      ...named('waits', '', { top: 'await new Promise(() => {})' }),
      code: 'WP_PLUGIN_TIMEOUT',
      message: /"waits" did not finish loading within/,
    },
    'code that loops': {
      ...named('loops', '', { top: 'for (;;);' }),
      code: 'WP_PLUGIN_TIMEOUT',
      message: /"loops" did not finish loading within/,
    },
    'a description that ends the process': {
      files: pack(
        'leaving',
        `actions: { ring: { description: '', config: {}, describe() { process.exit(4) }, make() {} } }`,
      ),
      list: '[leaving]\nroutes: { /r: { methods: { GET: { public: true, action: { class: ring } } } } }\n#',
      code: 'WP_DEFINITION_CLASS_CONFIG',
      message: /"leaving": it ended the process \(exit code 4\)/,
      line: 2,
    },
    'no plugin': {
      files: { ...pack('text', ''), 'node_modules/text/index.js': `export default 'plugin'` },
      list: '[text]',
      code: 'WP_PLUGIN_INVALID',
      message: /"text" is not a Waypost plugin: its default export is not an object/,
    },
    'a class of Waypost': {
      ...named('own', `connections: { sqlite: { config: {}, open() {} } }`),
      code: 'WP_PLUGIN_CLASS_TWICE',
      message: /"sqlite": "sql" and "own"/,
    },
    'a class of another plugin': {
      files: {
        ...pack('one', made(`() => ({ handle() {} })`)),
        ...pack('two', made(`() => ({ handle() {} })`)),
      },
      list: '[one, two]',
      code: 'WP_PLUGIN_CLASS_TWICE',
      message: /"made": "one" and "two"/,
    },
    'a name of another plugin': {
      files: {
        ...pack('one', ''),
        ...pack('two', ''),
        'node_modules/two/index.js': `export default { name: 'one', requires: '*' }`,
      },
      list: '[one, two]',
      code: 'WP_PLUGIN_NAME_TWICE',
      message: /Two plugins are named "one"/,
    },
    'a config of a plugin without one': {
      files: pack('plain', ''),
      list: '[{ name: plain, config: { a: 1 } }]',
      code: 'WP_DEFINITION_CLASS_CONFIG',
      message: /"a" is not a valid key of "config"/,
    },
    'a config that does not match': {
      files: pack(
        'strict',
        `config: { type: 'object', required: ['unit'], properties: { unit: { enum: ['km', 'mi'] } } }`,
      ),
      list: '[{ name: strict, config: { unit: "m" } }]',
      code: 'WP_DEFINITION_CLASS_CONFIG',
      message: /"config\/unit" must be one of "km", "mi"/,
    },
    'a config that is missing': {
      files: pack(
        'strict',
        `config: { type: 'object', required: ['unit'], properties: { unit: { enum: ['km', 'mi'] } } }`,
      ),
      list: '[strict]',
      code: 'WP_DEFINITION_CLASS_CONFIG',
      message: /"unit" is missing, but required in "config"/,
    },
    'a config schema that is not valid': {
      files: pack('odd', `config: { type: 'nothing' }`),
      list: '[odd]',
      code: 'WP_DEFINITION_CLASS_CONFIG',
      message: /The plugin "odd" has a config schema that is not valid/,
    },
    'native code': {
      files: { ...pack('native', ''), 'node_modules/native/binding.gyp': '{}' },
      list: '[native]',
      code: 'WP_PLUGIN_NATIVE',
      message: /"native" cannot be part of a release: .*binding\.gyp/,
    },
    'more than 10 MB of code': {
      ...named('large', '', { top: `globalThis.large = '${'x'.repeat(10 * 1024 ** 2)}'` }),
      code: 'WP_PLUGIN_SIZE',
      message: /"large" has 10\.0 MB of code/,
    },
  }
  for (const [what, { files, list, code, message, hint = /(?:)/, line = 1 }] of Object.entries(cases)) {
    test(what, async () => {
      await writeFiles(folder, {
        ...files,
        'waypost.yml': list.endsWith('#') ? `plugins: ${list}\n` : `plugins: ${list}\nroutes: {}\n`,
      })
      const builder = openPluginBuilder(folder, /waits|loops/.test(list) ? 1500 : 60_000)
      try {
        const { diagnostics, definition } = await loadProject({ root: folder, label: 'x' }, { pluginBuilder: builder })
        assert.deepEqual(
          diagnostics.map((one) => [one.code, one.file, one.range.start.line]),
          [[code, 'waypost.yml', line]],
        )
        assert.match(diagnostics[0]!.message, message)
        assert.match(diagnostics[0]!.hint ?? '', hint)
        assert.equal(definition, undefined)
      } finally {
        builder.close()
      }
    })
  }

  test('an import from outside the project is a diagnostic', async () => {
    const text = `import ${JSON.stringify(import.meta.filename)}\nexport default {}\n`
    await writeFiles(folder, { 'plugins/out.ts': text, 'waypost.yml': 'plugins: [./plugins/out.ts]\nroutes: {}\n' })
    const { diagnostics } = await loadProject({ root: folder, label: 'x' })
    assert.deepEqual(
      diagnostics.map((one) => [one.code, one.file, one.range.start.line]),
      [['WP_BUILD_OUTSIDE', 'plugins/out.ts', 1]],
    )
  })

  test('a plugin with native code can stay on the server, in a compatible version', async () => {
    const version = (text: string) => ({
      ...pack('native', made(`() => ({ handle: () => '${text}' })`)),
      'node_modules/native/package.json': packageJson({ name: 'native', version: text }),
      'node_modules/native/binding.gyp': '{}',
    })
    await writeFiles(folder, {
      ...version('1.2.0'),
      'waypost.yml': 'plugins: [{ name: native, host: true }]\nroutes: {}\n',
    })
    const { plugins, diagnostics } = await loadProject({ root: folder, label: 'x' })
    assert.deepEqual(diagnostics, [])
    const manifest = { plugins: plugins.map((one) => one.manifest) }
    assert.deepEqual(
      manifest.plugins.map((one) => ['host' in one, one.from, one.version]),
      [[true, 'native', '1.2.0']],
    )
    const host = { folder, imports: undefined }
    assert.ok((await loadReleasePlugins(host, { manifest, artifacts: [] })).actions.has('made'))
    await writeFiles(folder, version('1.1.9'))
    await assert.rejects(loadReleasePlugins(host, { manifest, artifacts: [] }), {
      code: 'WP_PLUGIN_HOST',
      message: /"native".*built with version 1\.2\.0, and version 1\.1\.9 is installed/,
    })
    const empty = { ...host, folder: path.join(folder, 'src') }
    assert.ok(readFileSync(path.join(folder, 'node_modules/native/package.json'), 'utf8').includes('1.1.9'))
    await assert.rejects(
      loadReleasePlugins(empty, {
        manifest: { plugins: [{ ...manifest.plugins[0]!, from: 'nosuch' }] },
        artifacts: [],
      }),
      {
        code: 'WP_PLUGIN_HOST',
        message: /"nosuch" must be installed on this server/,
      },
    )
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
