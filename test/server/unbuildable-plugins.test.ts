import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { openPluginBuilder } from '../../src/build/index.ts'
import { loadProject } from '../../src/project/load-project.ts'
import { loadReleasePlugins } from '../../src/host/index.ts'
import { openProjectServer, writeFiles, type Files, type ProjectServer } from '../support/project-server.ts'
import { packageJson, pack, made } from './packed-plugins.ts'

describe('a plugin that cannot be built is a diagnostic at its entry', () => {
  let folder: string
  let server: ProjectServer
  /** One process for all cases. A case that blocks its process has a short limit of its own. */
  let builder: ReturnType<typeof openPluginBuilder>
  before(async () => {
    server = await openProjectServer({ files: { 'waypost.yml': 'routes: {}\n', 'package.json': '{}' } })
    folder = server.host.folder
    builder = openPluginBuilder(folder, 60_000)
  })
  after(async () => {
    builder.close()
    await server[Symbol.asyncDispose]()
  })

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
      message: /"empty": its package\.json specifies no module/,
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
      const impatient = /waits|loops/.test(list) ? openPluginBuilder(folder, 1500) : undefined
      const pluginBuilder = impatient ?? builder
      const { diagnostics, definition } = await loadProject({ root: folder, label: 'x' }, { pluginBuilder })
      impatient?.close()
      assert.deepEqual(
        diagnostics.map((one) => [one.code, one.file, one.range.start.line]),
        [[code, 'waypost.yml', line]],
      )
      assert.match(diagnostics[0]!.message, message)
      assert.match(diagnostics[0]!.hint ?? '', hint)
      assert.equal(definition, undefined)
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
